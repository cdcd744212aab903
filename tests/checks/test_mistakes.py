"""No mistake passes: each one fails by the property that it breaks, and is named."""

import itertools
import random

import pytest
from wrong import (
    EQUATION,
    GIVEN,
    MISTAKES,
    OF_FUNCTIONS,
    SIZES,
    Attention,
    KeyMasked,
    Mistake,
    PairMasked,
    build,
    function,
)

from headway.checks import Report, check
from headway.checks.hypotheses import HYPOTHESES

sizes = pytest.mark.parametrize("size", SIZES)


def names(report: Report) -> list[str]:
    return [row.name for row in report.failed]


def said(report: Report) -> str:
    return next(row.sentence for row in report.rows if row.name == EQUATION)


def sentence(mistake: Mistake) -> str:
    """Give what is said of a mistake that the recipe knows."""
    [one] = [h.sentence for h in HYPOTHESES if h.change == mistake.change]
    return one


def holds(report: Report, mistake: Mistake) -> None:
    """Ask that the report names the property, and the mistake, and nothing else."""
    assert not report.ok
    assert mistake.fails in names(report)
    if mistake.change is not None:
        assert said(report) == f"It is exactly what comes out when {sentence(mistake)}."
    else:
        assert "exactly" not in said(report)


@sizes
@pytest.mark.parametrize("name", MISTAKES)
def test_a_module_with_a_mistake_fails(name: str, size: str) -> None:
    holds(check(build(size, MISTAKES[name])), MISTAKES[name])


@pytest.mark.parametrize("heads", [5, 3, 2])
@pytest.mark.parametrize("name", [n for n, one in MISTAKES.items() if one.function])
def test_a_function_with_a_mistake_fails(name: str, heads: int) -> None:
    mistake = MISTAKES[name]
    assert mistake.steps.keys() <= OF_FUNCTIONS
    causal = mistake.options.get("causal", True)
    attend = function(causal=causal, **mistake.steps)
    holds(check(attend, num_heads=heads, causal=causal), mistake)


@pytest.mark.parametrize(
    ("size", "causal"), [*zip(SIZES, [True, False, True], strict=True)]
)
@pytest.mark.parametrize("kind", [PairMasked, KeyMasked])
@pytest.mark.parametrize("name", GIVEN)
def test_a_mask_that_is_not_obeyed_fails(
    name: str, kind: type[Attention], size: str, causal: bool
) -> None:
    mistake = GIVEN[name]._replace(kind=kind, options={"causal": causal})
    holds(check(build(size, mistake)), mistake)


def test_every_property_fails_of_some_mistake() -> None:
    every = {one.fails for one in [*MISTAKES.values(), *GIVEN.values()]}
    assert every == {row.name for row in check(function(causal=True)).rows}


def test_every_hypothesis_is_a_mistake_that_is_tried() -> None:
    tried = [one.change for one in MISTAKES.values() if one.change is not None]
    assert all(one.change in tried for one in HYPOTHESES)


# Two at once.


def meet(one: str, other: str) -> bool:
    """Ask whether a module can have both mistakes."""
    first, second = MISTAKES[one], MISTAKES[other]
    masks = "mask" in (one.partition(":")[0], other.partition(":")[0])
    seeing = {"causal": False} in (first.options, second.options)
    grouped = {"groups": True} in (first.options, second.options)
    full = any("roles" in name or "shared" in name for name in (one, other))
    return not (
        first.steps.keys() & second.steps.keys()
        or (masks and seeing)
        or (grouped and full)  # all heads must have keys of their own
    )


PAIRS = [pair for pair in itertools.combinations(MISTAKES, 2) if meet(*pair)]
NAMED = [
    (one, other)
    for one, other in PAIRS
    if MISTAKES[one].change
    and MISTAKES[other].change
    and not MISTAKES[one].change.keys() & MISTAKES[other].change.keys()
]
# Every pair of known mistakes was tried once, at one of the sizes. These are not named,
# nor is a mask that shows the next token to tokens that are two texts: it shows all.
OTHERWISE = {
    # Few rows are numbers.
    ("axis: softmax over the queries", "mask: inverted"): None,
    ("mask: inverted", "heads: merged by a view"): None,
    ("mask: its own place is hidden", "heads: merged by a view"): None,
    # A score of zero is a weight of zero, where there is no softmax.
    ("axis: no softmax", "mask: zeros"): "there is no softmax",
}
NAMED = [pair for pair in NAMED if pair not in OTHERWISE]
DRAWN = random.Random(123).sample(PAIRS, 12)  # noqa: S311
DRAWN_NAMED = random.Random(123).sample(NAMED, 12)  # noqa: S311


@sizes
@pytest.mark.parametrize(("one", "other"), DRAWN)
def test_a_module_with_two_mistakes_fails(one: str, other: str, size: str) -> None:
    assert not check(build(size, MISTAKES[one], MISTAKES[other])).ok


@sizes
@pytest.mark.parametrize(("one", "other"), DRAWN_NAMED)
def test_two_mistakes_that_are_known_are_both_named(
    one: str, other: str, size: str
) -> None:
    mistakes = MISTAKES[one], MISTAKES[other]
    both = sorted(map(sentence, mistakes), key=[h.sentence for h in HYPOTHESES].index)
    assert said(check(build(size, *mistakes))) == (
        f"It is exactly what comes out when {', and when '.join(both)}."
    )


@pytest.mark.parametrize(("one", "other"), OTHERWISE)
def test_two_mistakes_that_cannot_be_named_are_found(one: str, other: str) -> None:
    report = check(build("five heads", MISTAKES[one], MISTAKES[other]))
    assert not report.ok
    alone = OTHERWISE[one, other]
    if alone is None:
        assert "no mistake known here explains it" in said(report)
    else:
        assert said(report) == f"It is exactly what comes out when {alone}."
