"""Compare with the equation, and find the mistake that explains a difference."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.buckets import other_buckets
from headway.checks.attention.oracle.comparing import Comparison, Place
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES, KnownMistake
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.single_heads import in_some_heads
from headway.checks.attention.oracle.wrong_constants import wrong_constant
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section
from headway.checks.core.tolerance import largest, max_difference

RIGHT = Recipe()
_SIMPLE = (2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 16.0)
_MOST_PAIRS = 5000  # half a second
_MOST_RARE = 24  # layouts
_ROUNDED = 1e-2  # of the largest number; what is farther off is not rounded


class Match(NamedTuple):
    """How near the equation comes to the output.

    Attributes:
        difference: How far it is from the output.
        weights: The weights with which it comes nearest; `None` if there are none.
        design: What is inside besides, so that it comes nearest.
    """

    difference: float
    weights: Projections | None
    design: Design


class Explanation(NamedTuple):
    """What a difference from the equation comes from.

    Attributes:
        sentence: What was done, as a whole sentence.
        section: What to read about it.
        ids: The short names of the mistakes that the sentence names.
        mistakes: The mistakes, if they are known ones.
    """

    sentence: str
    section: Section
    ids: tuple[str, ...]
    mistakes: Sequence[KnownMistake] = ()


def choose_weights(evidence: Evidence) -> Evidence:
    """Keep, of the weights that may be meant, those that give the output.

    Returns:
        The evidence with one candidate, if one gives the output; else as it was.
    """
    if evidence.repeats.random or not evidence.weights.candidates:
        return evidence
    found = match(evidence)
    if found.weights is None or found.difference > evidence.tolerance:
        return evidence
    weights = replace(evidence.weights, candidates=(found.weights,))
    return replace(evidence, weights=weights)


def match(evidence: Evidence) -> Match:
    """Find the weights and the design with which the equation comes nearest."""
    comparison = Comparison(evidence)
    best, nearest = math.inf, None
    with torch.no_grad():
        for place in _places(evidence, evidence.causal):
            near = comparison.glance(place, RIGHT)
            if near >= best:
                continue
            if (far := comparison.difference(place, RIGHT)) < best:
                best, nearest = far, place
            if best <= evidence.tolerance:
                break
    if nearest is None:
        return Match(math.inf, None, evidence.designs[0])
    return Match(best, comparison.weights(nearest), comparison.design(nearest))


def fits(evidence: Evidence) -> bool:
    """Ask whether the equation gives the output, with what stands around it or not."""
    every = (evidence, *without_surroundings(evidence))
    return any(match(one).difference <= one.tolerance for one in every)


def without_surroundings(evidence: Evidence) -> list[Evidence]:
    """Give the evidence of attention alone, without what stands around it."""
    return [
        replace(
            evidence,
            subject=one.subject,
            output=one.output,
            bare=(one,),
            weights=one.weights or evidence.weights,
        )
        for one in evidence.bare
    ]


def explain(evidence: Evidence, *, pairs: bool = True) -> Explanation | None:
    """Find the mistake, or the two, that give exactly this output.

    What takes long is asked last, and with the likeliest weights and designs alone.

    Args:
        evidence: What calls showed.
        pairs: Whether to look for two mistakes at once, which takes longest.
    """
    comparison = Comparison(evidence)
    steps: tuple[Callable[[Comparison], Explanation | None], ...] = (
        _single,
        _other_heads,
        _multiple,
        _rounded,
        _in_some_heads,
        _other_buckets,
        _number,
        *([_pair] if pairs else []),
    )
    with torch.no_grad():
        return next((one for step in steps if (one := step(comparison))), None)


def _places(
    evidence: Evidence, causal: bool, weights: int | None = None, designs: int = 10**6
) -> Iterator[Place]:
    """Give what may be meant, the likeliest first."""
    found = range(len(evidence.weights.candidates))[:weights]
    for design in range(min(designs, len(evidence.designs))):
        for one in found:
            yield Place(one, design, causal)


def _likely_places(
    evidence: Evidence, weights: int, designs: int, most: int
) -> Iterator[Place]:
    """Give what may be meant; if nothing tells of the future, with both intents.

    Args:
        evidence: What calls showed.
        weights: How many candidates to take, of those whose names tell what they are;
            if no names tell, half as many.
        designs: How many designs to take.
        most: How many places to take at all.
    """
    certain = sum(one.certain for one in evidence.weights.candidates)
    intents = [evidence.causal]
    if evidence.future.origin == "measured":
        intents.append(not evidence.causal)
    every = (
        place
        for design in range(min(designs, len(evidence.designs)))
        for causal in intents
        for place in _places(evidence, causal, min(certain or weights // 2, weights))
        if place.design == design
    )
    yield from itertools.islice(every, most)


def _single(comparison: Comparison) -> Explanation | None:
    evidence = comparison.evidence
    for place in _likely_places(evidence, 48, 6, 64):
        setting = comparison.setting(place)
        fitting = [
            one
            for one in KNOWN_MISTAKES
            if one.is_possible(setting) and comparison.is_equal(place, one(RIGHT))
        ]
        if fitting:
            return _either(comparison, place, fitting)
    return _scaled(comparison)


def _scaled(comparison: Comparison) -> Explanation | None:
    """Look for a wrong scale alone in layouts that are not the common ones."""
    evidence = comparison.evidence
    rare = [n for n, one in enumerate(evidence.weights.candidates) if not one.certain]
    for number in rare[:_MOST_RARE]:
        place = Place(number, 0, evidence.causal)
        for one in KNOWN_MISTAKES:
            scale = one.change.keys() <= {"scale", "scale_after_softmax"}
            if not scale or not one.is_possible(comparison.setting(place)):
                continue
            if comparison.is_equal(place, one(RIGHT)):
                return _either(comparison, place, [one])
    return None


def _either(
    comparison: Comparison, place: Place, fitting: Sequence[KnownMistake]
) -> Explanation:
    """Name the mistake that fits; of several in one step, the plainest."""
    different = {tuple(one.change): one for one in reversed(fitting)}.values()
    several = [one for one in fitting if one in different][:2]
    sentence = ", or when ".join(one.sentence for one in several)
    sentence += _or_a_factor(comparison, place, several[0])
    found = _exactly(comparison, place, sentence, several[:1])
    return found._replace(ids=tuple(one.id for one in several))


def _or_a_factor(comparison: Comparison, place: Place, one: KnownMistake) -> str:
    """Say which plain factor would give the same scores as an odd scale."""
    scale = one.change.get("scale", "1")
    if len(one.change) > 1 or scale in ("1", "1/D", "sqrt(D)", "1/sqrt(D)", "twice"):
        return ""
    oracle = comparison.oracle(place)
    factor = oracle.scale(scale) / oracle.scale("right")
    size = max(factor, 1 / factor)
    if any(abs(size - plain) < 1e-9 for plain in _SIMPLE):
        return f", or when they are multiplied by {factor:.3g} once more"
    return ""


def _exactly(
    comparison: Comparison,
    place: Place,
    sentence: str,
    mistakes: Sequence[KnownMistake],
) -> Explanation:
    """Say what was found, and if another intent was taken than seemed to be meant."""
    named = _otherwise(comparison, place, sentence, "", mistakes[0].section)
    return named._replace(ids=tuple(one.id for one in mistakes), mistakes=mistakes)


def _otherwise(
    comparison: Comparison, place: Place, sentence: str, name: str, section: Section
) -> Explanation:
    """Say what was found that is no change of the recipe, by its short name."""
    if place.causal != comparison.evidence.causal:
        sentence += f", if the future is {'hidden' if place.causal else 'seen'}"
    sentence = f"It is exactly what comes out when {sentence}."
    return Explanation(sentence, section, (name,))


def _other_heads(comparison: Comparison) -> Explanation | None:
    """Look whether tokens are split into another number of heads."""
    evidence = comparison.evidence
    for place in _likely_places(evidence, 1, 2, 4):
        p = comparison.weights(place)
        wide = p.query.shape[0]
        for heads in (n for n in range(1, wide + 1) if wide % n == 0 and n != p.heads):
            other = replace(p, heads=heads)
            if not other.fits:
                continue
            weights = replace(evidence.weights, candidates=(other,))
            split = Comparison(replace(evidence, weights=weights))
            kept = replace(RIGHT, factor=math.sqrt(p.heads / heads))  # the scale is
            first = place._replace(weights=0)
            if split.is_equal(first, RIGHT) or split.is_equal(first, kept):
                sentence = (
                    f"tokens are split into {heads} heads of {wide // heads} numbers, "
                    f"and not into {p.heads} of {wide // p.heads}"
                )
                return _otherwise(
                    comparison, place, sentence, "other-number-of-heads", book.HEADS
                )
    return None


def _multiple(comparison: Comparison) -> Explanation | None:
    """Look whether the output, or what heads found, is the right one times a number."""
    for place in _likely_places(comparison.evidence, 4, 3, 12):
        p = comparison.weights(place)
        unbiased = replace(RIGHT, biases="qkv")
        if (factor := _factor(comparison, place, RIGHT)) is not None:
            sentence = f"It is exactly {factor:.3g} times what the equation gives."
            return Explanation(sentence, book.EQUATION, ("output-multiplied",))
        if p.out is None or "out" not in p.biases:
            continue
        if (factor := _factor(comparison, place, unbiased)) is not None:
            sentence = f"what the heads found is multiplied by {factor:.3g}"
            return _otherwise(
                comparison, place, sentence, "heads-multiplied", book.WEIGHTED_MEAN
            )
    return None


def _factor(comparison: Comparison, place: Place, recipe: Recipe) -> float | None:
    """Give by what number the output is a multiple of what a recipe gives."""
    output = comparison.evidence.output.double()
    expected = comparison.rows(place, recipe)
    if expected is None or expected.shape != output.shape:
        return None
    if recipe != RIGHT:
        output = output - comparison.weights(place).biases["out"]
    factor = float((expected * output).sum() / (expected * expected).sum())
    apart = max_difference(factor * expected, output)
    return factor if apart <= comparison.tolerance else None


def _rounded(comparison: Comparison) -> Explanation | None:
    """Look whether the output is that of the equation, but for coarse rounding."""
    evidence = comparison.evidence
    nearest = min(
        _places(evidence, evidence.causal, 4, 6),
        key=lambda place: comparison.glance(place, RIGHT),
    )
    off = comparison.difference(nearest, RIGHT)
    off /= max(largest(evidence.output), 1e-30)
    if off > _ROUNDED or not _is_rough(evidence, off):
        return None
    return Explanation(
        f"It is the equation, rounded: it is off by {off:.1g} of its largest number. "
        "Something inside is computed in 16 bits.",
        book.HALF_PRECISION,
        ("rounded-to-16-bits",),
    )


def _is_rough(evidence: Evidence, off: float) -> bool:
    """Ask whether small steps change the output by jumps, as roundings do.

    What is smooth moves by equal steps in opposite directions, if these are small.
    """
    subject, x = evidence.subject, evidence.x
    generator = torch.Generator().manual_seed(4)
    step = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x) * 1e-4
    there, here, back = (subject(one) for one in (x + step, x, x - step))
    bend = max_difference(there + back, 2 * here) / max(largest(here), 1e-30)
    return 0.05 * off < bend < math.inf


def _in_some_heads(comparison: Comparison) -> Explanation | None:
    """Look whether one head is wrong, or all but one."""
    evidence = comparison.evidence
    for place in _likely_places(evidence, 2, 2, 6):
        setting = comparison.setting(place)
        for one in KNOWN_MISTAKES:
            if not one.is_possible(setting):
                continue
            if heads := in_some_heads(comparison, place, one(RIGHT)):
                sentence = f"{heads}, {one.sentence}"
                return _exactly(comparison, place, sentence, [one])
    return None


def _other_buckets(comparison: Comparison) -> Explanation | None:
    """Look whether distances fall into other buckets than they should."""
    for place in _likely_places(comparison.evidence, 2, 1, 2):
        if sentence := other_buckets(comparison, place):
            return _otherwise(
                comparison, place, sentence, "other-buckets", book.BUCKETS
            )
    return None


def _number(comparison: Comparison) -> Explanation | None:
    """Look whether a number is another than it should be, and find which."""
    if _is_same_for_all_queries(comparison):
        return None
    for place in _likely_places(comparison.evidence, 2, 2, 4):
        if found := wrong_constant(comparison, place):
            return _otherwise(comparison, place, *found)
    return None


def _is_same_for_all_queries(comparison: Comparison) -> bool:
    """Ask whether weights are equal, for whatever reason: many mistakes give that."""
    rows = comparison.some
    return float((rows - rows[:, :1]).abs().max()) <= comparison.tolerance


def _pair(comparison: Comparison) -> Explanation | None:
    """Look for two mistakes at once."""
    if _is_same_for_all_queries(comparison):
        return None
    left = _MOST_PAIRS
    for place in _likely_places(comparison.evidence, 4, 2, 8):
        setting = comparison.setting(place)
        possible = [one for one in KNOWN_MISTAKES if one.is_possible(setting)]
        for number, one in enumerate(possible):
            wrong = one(RIGHT)
            for other in possible[number + 1 :]:
                if one.change.keys() & other.change.keys():
                    continue
                if (left := left - 1) < 0:
                    return None
                if comparison.is_equal(place, other(wrong)):
                    sentence = f"{one.sentence}, and when {other.sentence}"
                    return _exactly(comparison, place, sentence, [one, other])
    return None
