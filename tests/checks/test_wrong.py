"""No mistake passes: each one fails by the property that it breaks, and is named."""

import itertools
import random
from typing import Any

import pytest

from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES, KnownMistake
from headway.checks.attention.properties import PROPERTIES
from tests.checks.support.asking import rotated, rows_of
from tests.support.attention_in_steps import (
    OF_FUNCTIONS,
    SIZES,
    Attention,
    KeyMasked,
    PairMasked,
    function,
)
from tests.support.mistakes import CALLER_MASKS, MISTAKES, OTHER_CALLS, build
from tests.support.mistakes.designs import KINDS
from tests.support.mistakes.mistake import EQUATION, Mistake


def explained(target: Any, **options: Any) -> str:
    [row] = rows_of(target, EQUATION, **options)
    return row.sentence


def known(mistake: Mistake) -> KnownMistake:
    """Give a mistake as the recipe knows it."""
    [one] = [one for one in KNOWN_MISTAKES if one.change == mistake.change]
    return one


def fails(target: Any, mistake: Mistake, **options: Any) -> None:
    """Ask that the property fails, and that the mistake is named, and no other."""
    told = mistake.declared | options
    broken, equation = rows_of(target, mistake.fails, EQUATION, **told)
    assert broken.verdict == "failed"
    if mistake.change is not None:
        one = known(mistake)
        assert equation.mistakes == (one.id,)
        assert equation.sentence == f"It is exactly what comes out when {one.sentence}."
    elif mistake.says:
        assert equation.sentence.endswith(mistake.says)
    else:
        assert "exactly" not in equation.sentence
        assert equation.mistakes == ()


@pytest.mark.parametrize(("name", "size"), rotated(MISTAKES, [*SIZES]))
def test_a_module_with_a_mistake_fails(name: str, size: str) -> None:
    fails(build(size, MISTAKES[name]), MISTAKES[name])


OF_FUNCTION = [name for name, one in MISTAKES.items() if one.function]


@pytest.mark.parametrize(("name", "heads"), rotated(OF_FUNCTION, [5, 3, 2]))
def test_a_function_with_a_mistake_fails(name: str, heads: int) -> None:
    mistake = MISTAKES[name]
    assert mistake.steps.keys() <= OF_FUNCTIONS
    causal = mistake.options.get("causal", True)
    attend = function(causal=causal, **mistake.steps)
    fails(attend, mistake, num_heads=heads, causal=causal)


SIZES_AND_FUTURES = [*zip(SIZES, [True, False, True], strict=True)]


@pytest.mark.parametrize("kind", [PairMasked, KeyMasked])
@pytest.mark.parametrize(("name", "case"), rotated(CALLER_MASKS, SIZES_AND_FUTURES))
def test_a_mask_that_is_not_obeyed_fails(
    name: str, kind: type[Attention], case: tuple[str, bool]
) -> None:
    size, causal = case
    mistake = CALLER_MASKS[name]._replace(kind=kind, options={"causal": causal})
    fails(build(size, mistake), mistake)


@pytest.mark.parametrize(("name", "size"), rotated(OTHER_CALLS, [*SIZES]))
def test_a_mistake_that_another_kind_of_call_shows_fails(name: str, size: str) -> None:
    [row] = rows_of(build(size, OTHER_CALLS[name]), OTHER_CALLS[name].fails)
    assert row.verdict == "failed"


def test_every_property_fails_of_some_mistake() -> None:
    every = {one.fails for one in (MISTAKES | CALLER_MASKS | OTHER_CALLS).values()}
    assert every == {one.id for one in PROPERTIES} - {"facts"}  # none is declared


def test_every_known_mistake_is_tried() -> None:
    tried = [one.change for one in MISTAKES.values() if one.change is not None]
    tried += [one.change for kind in KINDS.values() for one in kind.wrong]
    assert [one.sentence for one in KNOWN_MISTAKES if one.change not in tried] == []


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
# Every pair of known mistakes was tried once, at one of the sizes. These are not named.
OTHERWISE = {
    # Few rows are numbers.
    ("axis: softmax over the queries", "mask: inverted"): None,
    ("mask: inverted", "heads: merged by a view"): None,
    ("mask: its own place is hidden", "heads: merged by a view"): None,
    # A score of zero is a weight of zero, where there is no softmax.
    ("axis: no softmax", "mask: zeros"): "there is no softmax",
}
# A mask that shows the next token to tokens that are two texts shows all.
ALL_OF_TWO = {
    (mask, "call: texts for tokens")
    for mask in ("mask: the next token is seen", "mask: cut one row too low")
}
NAMED = [pair for pair in NAMED if pair not in {*OTHERWISE, *ALL_OF_TWO}]
DRAWN = random.Random(123).sample(PAIRS, 12)  # noqa: S311
DRAWN_NAMED = random.Random(123).sample(NAMED, 12)  # noqa: S311


@pytest.mark.parametrize(("one", "other", "size"), rotated(DRAWN, [*SIZES]))
def test_a_module_with_two_mistakes_fails(one: str, other: str, size: str) -> None:
    module = build(size, MISTAKES[one], MISTAKES[other])
    rows = rows_of(module, *(one.id for one in PROPERTIES))
    assert any(row.verdict == "failed" for row in rows)


@pytest.mark.parametrize(("one", "other", "size"), rotated(DRAWN_NAMED, [*SIZES]))
def test_two_mistakes_that_are_known_are_both_named(
    one: str, other: str, size: str
) -> None:
    mistakes = MISTAKES[one], MISTAKES[other]
    both = sorted(map(known, mistakes), key=KNOWN_MISTAKES.index)
    [row] = rows_of(build(size, *mistakes), EQUATION)
    said = ", and when ".join(one.sentence for one in both)
    assert row.sentence == f"It is exactly what comes out when {said}."
    assert row.mistakes == tuple(one.id for one in both)


@pytest.mark.parametrize(("one", "other"), OTHERWISE)
def test_two_mistakes_that_cannot_be_named_are_found(one: str, other: str) -> None:
    said = explained(build("five heads", MISTAKES[one], MISTAKES[other]))
    alone = OTHERWISE[one, other]
    if alone is None:
        assert said == "Most of its numbers are nan or infinite."
    else:
        assert said == f"It is exactly what comes out when {alone}."
