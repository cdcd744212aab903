"""No false alarm: what is right passes, however it is written."""

from typing import Any

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch import nn

from headway.checks import Report, check
from tests.checks.support.asking import rotated
from tests.checks.support.right import MASKED, NAMED, STEPS, STORED, by_adding
from tests.support.attention_in_steps import GROUPED, SIZES, Attention, function
from tests.support.mistakes.mistake import EQUATION, ORDER, SUM

FUTURES = [True, False]  # hidden, or seen


def verdicts(report: Report) -> dict[str, str]:
    return {row.id: row.verdict for row in report.rows}


def holds(report: Report) -> None:
    assert [(row.id, row.sentence) for row in report.failed] == []
    assert verdicts(report)[EQUATION] == "passed"


@pytest.mark.parametrize(("size", "causal"), rotated(SIZES, FUTURES))
def test_a_module_passes(size: str, causal: bool) -> None:
    holds(check(Attention(SIZES[size], causal=causal, p=0.2)))


@pytest.mark.parametrize(("heads", "causal"), rotated([1, 2, 3, 5, 7], FUTURES))
def test_a_function_passes(heads: int, causal: bool) -> None:
    holds(check(function(causal=causal), num_heads=heads, causal=causal))


WAYS = [(step, way) for step, ways in STEPS.items() for way in ways]


@pytest.mark.parametrize(("step", "way", "causal"), rotated(WAYS, FUTURES))
def test_a_step_that_is_written_otherwise_passes(
    step: str, way: str, causal: bool
) -> None:
    sizes = SIZES["five heads"]
    module = Attention(sizes, causal=causal, p=0.2, **{step: STEPS[step][way]})
    holds(check(module))


@pytest.mark.parametrize(("kind", "causal"), rotated([*STORED, *MASKED], FUTURES))
def test_other_weights_and_masks_pass(kind: str, causal: bool) -> None:
    make = (STORED | MASKED)[kind]
    report = check(make(SIZES["three heads"], causal=causal))
    holds(report)
    if kind in MASKED:
        rows = verdicts(report)
        assert rows["masks"] == "passed"
        assert rows["padding"] == "passed"
        assert rows["fully-masked"] == "passed"


@pytest.mark.parametrize(
    ("size", "groups", "causal"), rotated(SIZES, [1, None], FUTURES)
)
def test_keys_for_groups_of_heads_pass(
    size: str, groups: int | None, causal: bool
) -> None:
    sizes, fewer = GROUPED[size]
    holds(check(Attention(sizes, causal=causal, groups=groups or fewer)))


@pytest.mark.parametrize(
    ("dtype", "causal"), rotated([torch.float32, torch.bfloat16], FUTURES)
)
def test_the_type_that_is_given_does_not_matter(
    dtype: torch.dtype, causal: bool
) -> None:
    module = Attention(SIZES["two heads"], causal=causal).to(dtype)
    holds(check(module))


@pytest.mark.parametrize(
    ("kind", "not_asked"),
    [
        ("rotary", {ORDER}),
        ("learned positions", {SUM, ORDER}),
        ("window", {ORDER}),
    ],
)
def test_what_the_equation_does_not_have_is_no_mistake(
    kind: str, not_asked: set[str]
) -> None:
    report = check(NAMED[kind](SIZES["five heads"]))
    holds(report)
    asked = {row.id for row in report.rows if row.verdict == "passed"}
    assert not asked & not_asked


# Any of it together.

options = {
    name: st.sampled_from([None, *ways.values()])
    for name, ways in STEPS.items()
    if name != "repeat"
}
TOGETHER = {"as it is": Attention} | STORED | MASKED


CASES = {
    "kind": st.sampled_from([*TOGETHER]),
    "size": st.sampled_from([*SIZES]),
    "steps": st.fixed_dictionaries(options),
    "causal": st.booleans(),
    "bias": st.booleans(),
    "joined": st.booleans(),
    "p": st.sampled_from([None, None, None, 0.0, 0.3]),
}


def any_of_it_passes(
    kind: str, size: str, steps: dict[str, Any], p: float | None, **rest: bool
) -> None:
    given = {name: step for name, step in steps.items() if step is not None}
    if kind == "adds":
        given.pop("score", None)
    if kind in MASKED and given.get("hide") is by_adding:
        given.pop("hide")  # nan in the gradients of a fully masked row is a mistake
    report = check(TOGETHER[kind](SIZES[size], p=p, **rest, **given))
    assert [(row.id, row.sentence) for row in report.failed] == []


def some(count: int) -> Any:
    """Try so many examples; a check takes time, so nothing is shrunk."""
    return settings(
        max_examples=count, deadline=None, derandomize=True, phases=[Phase.generate]
    )


@some(8)
@given(**CASES)
def test_a_combination_passes(**case: Any) -> None:
    any_of_it_passes(**case)


@pytest.mark.slow
@some(100)
@given(**CASES)
def test_any_combination_passes(**case: Any) -> None:
    any_of_it_passes(**case)


# And PyTorch's own.


@pytest.mark.parametrize("batch_first", [True, False])
def test_the_module_of_pytorch_passes(batch_first: bool) -> None:
    module = nn.MultiheadAttention(15, 3, batch_first=batch_first, dropout=0.1)
    report = check(module)
    failed = {row.id for row in report.failed}
    assert failed <= {"fully-masked"}  # it gives nan
    assert verdicts(report)[EQUATION] == "passed"
