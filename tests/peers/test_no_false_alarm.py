"""`check` finds no fault in attention that others have published, but those it has.

Run by `make peers`, without the shape checks of the other tests, as a reader has it.
Each subject is checked twice: with all that can be said of it, and with no more than
how to call it.
"""

import re
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

import pytest
import torch
from packaging.utils import canonicalize_name

from headway.checks import Report, check
from tests.peers.subjects import BUILDERS, Builder, gpt2_eager

# What they warn of is theirs to fix.
pytestmark = pytest.mark.filterwarnings("ignore")

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
FULLY_MASKED = {
    # Asked for its weights, as it is by default, it takes a softmax of nothing but
    # minus infinity: pytorch/pytorch issues 41508 and 160064, both open.
    "fully-masked": "A fully masked row is nan"
}
# By subject and property: how the sentence of a true alarm begins.
EXPECTED: dict[str, Mapping[str, str]] = {
    "torch_module": FULLY_MASKED,
    "torch_module_tokens_first": FULLY_MASKED,
    "torch_module_without_bias": FULLY_MASKED,
}
# The same where nobody says which scale is meant.
EXPECTED_UNTOLD = EXPECTED | {
    "t5": {"equation": "It is exactly what comes out when scores are not"},
    "gemma2": {
        "equation": "It is exactly what comes out when scores are "
        "multiplied by 0.0625, and not by 0.408."
    },
}


@pytest.fixture(autouse=True)
def _anew() -> None:
    """Draw the same weights in any order; what is compiled does not count for all."""
    torch.manual_seed(0)
    torch.compiler.reset()


def alarms(report: Report, expected: Mapping[str, str]) -> dict[str, str]:
    """Give the failed rows, with the sentence cut to what is expected of it."""
    return {
        row.id: row.sentence[: len(expected.get(row.id, row.sentence))]
        for row in report.failed
    }


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_with_all_options(build: Builder) -> None:
    expected = EXPECTED.get(build.__name__, {})
    attend, options = build()
    report = check(attend, **options)
    assert alarms(report, expected) == expected, str(report)
    assert any(row.verdict == "passed" for row in report.rows)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_with_the_call_alone(build: Builder) -> None:
    expected = EXPECTED_UNTOLD.get(build.__name__, {})
    attend, options = build()
    short = {name: options[name] for name in ("d_in", "call") if name in options}
    report = check(attend, **short)
    assert alarms(report, expected) == expected, str(report)
    assert report.facts["future"].value == ("hidden" if options["causal"] else "seen")
    if "num_heads" in options:
        heads = report.facts.get("heads")
        assert heads is None or heads.value == str(options["num_heads"])


def test_a_mask_that_the_model_must_make_is_missed() -> None:
    # By the formula GPT-2's attention hides nothing: its model has to pass the mask.
    attend, options = gpt2_eager()
    options["call"] = "m(x)[0]"
    failed = {row.id for row in check(attend, **options).failed}
    assert {"leak", "equation"} <= failed


def test_only_subjects_are_expected_to_fail() -> None:
    assert {*EXPECTED} <= {build.__name__ for build in BUILDERS}


def test_all_that_is_installed_here_is_pinned() -> None:
    here = {
        f"{canonicalize_name(package.name)}=={package.version}"
        for package in distributions()
        if Path(str(package.locate_file(""))).is_relative_to(sys.prefix)
    }
    rest = CONSTRAINTS.read_text(encoding="utf-8").partition("# `make peers`")[2]
    pins = rest.partition("\n\n")[0]
    listed = re.findall(r"^(.+)(==.+)$", pins, flags=re.MULTILINE)
    assert here == {canonicalize_name(name) + version for name, version in listed}
