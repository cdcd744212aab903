"""Properties are asked alone: none changes what another one sees."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks import check
from headway.checks.attention.evidence import Evidence
from headway.checks.attention.found_facts import facts
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.run import ask
from headway.checks.core.report import name_causes
from headway.checks.core.settings import isolated_settings
from tests.checks.support.asking import calling, evidence_of, rows_of, said
from tests.checks.support.right import MASKED
from tests.support.attention_in_steps import SIZES, Attention, function
from tests.support.mistakes import MISTAKES, build
from tests.support.mistakes.mistake import TRAINING

NAMES = [one.id for one in PROPERTIES]
SUBJECTS: dict[str, Any] = {
    "right": lambda: Attention(SIZES["five heads"], p=0.2),
    "masked": lambda: MASKED["both"](SIZES["two heads"]),
    # Its weights may be turned, and its heads are counted by trying.
    "several candidates": lambda: nn.MultiheadAttention(15, 3, batch_first=True),
    "a function": lambda: function(causal=True),
    "wrong": lambda: build("three heads", MISTAKES["heads: merged by a view"]),
    "keeping": lambda: build("two heads", MISTAKES["call: keys are kept"]),
    "random in eval": lambda: build("two heads", MISTAKES["dropout: dropout in eval"]),
    "random": lambda: Attention(
        SIZES["two heads"], call=lambda m, run, x: run(x) + torch.rand(()).to(x)
    ),
}


def state(evidence: Evidence) -> dict[str, Any]:
    """Copy all that a property could change."""
    module = evidence.subject.module or nn.Module()
    return {
        **{name: value.clone() for name, value in module.state_dict().items()},
        **{f"{name} trains": part.training for name, part in module.named_modules()},
        **{f"{n} drops": p.p for n, p in module.named_modules() if hasattr(p, "p")},
        "x": evidence.x.clone(),
        "output": evidence.output.clone(),
        "influence": evidence.influence.clone(),
        "candidates": len(evidence.weights.candidates),
        "extra": dict(evidence.subject.extra),
    }


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_order_of_the_properties_does_not_matter(name: str) -> None:
    torch.default_generator.manual_seed(1)
    report = check(SUBJECTS[name]())
    torch.default_generator.manual_seed(1)
    evidence = evidence_of(SUBJECTS[name]())
    before, known = state(evidence), facts(evidence)
    with isolated_settings():
        backwards = ask(PROPERTIES[::-1], evidence)
    assert name_causes(backwards[::-1]) == report.rows
    assert facts(evidence) == known == report.facts
    after = state(evidence)
    assert before.keys() == after.keys()
    for key, value in before.items():
        same = torch.equal if isinstance(value, torch.Tensor) else lambda a, b: a == b
        assert same(value, after[key]), key


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "wrong" else pytest.mark.slow)
        for name in SUBJECTS
    ],
)
def test_a_property_alone_says_what_it_says_among_others(name: str) -> None:
    every = rows_of(SUBJECTS[name](), *NAMES)
    for number, row in enumerate(every):
        with isolated_settings():
            [alone] = ask([PROPERTIES[number]], evidence_of(SUBJECTS[name]()))
        assert alone == row


def test_each_property_has_a_name_of_its_own() -> None:
    assert len({*NAMES}) == len(NAMES) == 26


def test_a_kernel_that_this_device_lacks_is_no_mistake() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if m.training:
            raise RuntimeError("No available kernel. Aborting execution.")
        return run(x)

    words = "PyTorch has no kernel for it on this device."
    assert said(calling(call), TRAINING) == ("not applicable", words)
