"""A number that is another than it should be, found from what comes out."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from headway.checks.attention.oracle.comparing import Comparison, Place
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.rotation import base_of
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section

_RIGHT = Recipe()
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 36
_LEAST, _MOST = 1e-3, 1e3  # beyond these, no number says what was done
_FELT = 1.01


class _Number(NamedTuple):
    """A number that may be wrong.

    Attributes:
        id: The short name of the mistake.
        guesses: What it may be, in order.
        recipe: The recipe with such a number.
        sentence: What to say of it.
        section: What to read about it.
    """

    id: str
    guesses: list[float]
    recipe: Callable[[float], Recipe]
    sentence: Callable[[float], str]
    section: Section


def wrong_constant(
    comparison: Comparison, place: Place
) -> tuple[str, str, Section] | None:
    """Find a number that, wrong as it is, explains the output.

    Returns:
        What was done, its short name, and what to read about it.
    """
    for one in _numbers(comparison, place):
        if (number := _explaining(comparison, place, one)) is not None:
            return one.sentence(number), one.id, one.section
    return None


def _explaining(comparison: Comparison, place: Place, one: _Number) -> float | None:
    """Give the number that explains the output, if no other does as well."""

    def off(number: float) -> float:
        return comparison.glance(place, one.recipe(number))

    number = _smallest(off, one.guesses)
    if one.section is book.SCALE and not _LEAST < abs(number) < _MOST:
        return None  # all weights are equal, for whatever reason
    if not comparison.is_equal(place, one.recipe(number)):
        return None
    return number if off(number * _FELT) > comparison.tolerance else None


def _numbers(comparison: Comparison, place: Place) -> Iterator[_Number]:
    """Give what may be wrong, the likeliest first."""
    design, right = comparison.design(place), comparison.oracle(place).scale("right")
    sizes = [math.exp(n / 3) for n in range(-21, 22)]
    yield _Number(
        "wrong-scale",
        [-size for size in reversed(sizes)] + sizes,
        lambda number: _RIGHT.but(factor=number),
        lambda number: (
            f"scores are multiplied by {number * right:.3g}, and not by {right:.3g}"
        ),
        book.SCALE,
    )
    if place.causal or design.window is not None:
        yield _Number(
            "mask-fills-constant",
            [n / 2 for n in range(-30, 21)],
            lambda number: _RIGHT.but(fill=number),
            lambda number: (
                f"hidden scores are set to {number:.3g}, and not to minus infinity"
            ),
            book.MINUS_INFINITY,
        )
        yield _Number(
            "mask-takes-off-constant",
            [n / 2 for n in range(-10, 41)],
            lambda number: _RIGHT.but(taken_off=number),
            lambda number: f"{number:.3g} is taken off hidden scores, and not infinity",
            book.MINUS_INFINITY,
        )
    if design.rotation is not None and (base := base_of(design.rotation)) is not None:
        yield _Number(
            "wrong-rotary-base",
            [math.exp(n / 2) for n in range(1, 38)],
            lambda number: _RIGHT.but(base=number),
            lambda number: (
                f"the base of the rotation is {number:.4g}, and not {base:.4g}"
            ),
            book.ROTARY_SPEEDS,
        )


def _smallest(off: Callable[[float], float], guesses: list[float]) -> float:
    """Find where something is smallest: by guesses, then by the golden section."""
    found = [off(number) for number in guesses]
    best = min(range(len(guesses)), key=found.__getitem__)
    low, high = guesses[max(best - 1, 0)], guesses[min(best + 1, len(guesses) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    off_left, off_right = off(left), off(right)
    for _ in range(_STEPS):
        if off_left <= off_right:
            high, right, off_right = right, left, off_left
            left = high - _GOLDEN * (high - low)
            off_left = off(left)
        else:
            low, left, off_left = left, right, off_right
            right = low + _GOLDEN * (high - low)
            off_right = off(right)
    return (low + high) / 2
