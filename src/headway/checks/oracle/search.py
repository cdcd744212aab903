"""Compare with the equation, and find the mistake that explains a difference."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from headway.checks.evidence import Evidence
from headway.checks.evidence.weights import Projections
from headway.checks.oracle.mistakes import KNOWN_MISTAKES, KnownMistake
from headway.checks.oracle.recipe import Recipe, compute
from headway.checks.tolerance import max_difference

RIGHT = Recipe()


def choose_weights(evidence: Evidence) -> Evidence:
    """Keep, of the weights that may be meant, those that give the output.

    Returns:
        The evidence with one candidate, if one gives the output; else as it was.
    """
    if evidence.window or evidence.repeats.random or not evidence.weights.candidates:
        return evidence
    nearest = min(
        evidence.weights.candidates, key=lambda one: difference(evidence, one, RIGHT)
    )
    if difference(evidence, nearest, RIGHT) > evidence.tolerance:
        return evidence
    weights = replace(evidence.weights, candidates=(nearest,))
    return replace(evidence, weights=weights)


def smallest_difference(evidence: Evidence) -> float:
    """Give how far the output is from the equation, with the weights nearest to it."""
    return min(difference(evidence, one, RIGHT) for one in evidence.weights.candidates)


def explain(evidence: Evidence) -> Sequence[KnownMistake]:
    """Find the one mistake, or the two, that give exactly this output.

    Pairs are tried only with the likeliest weights: it takes long.
    """
    singles = [(one,) for one in KNOWN_MISTAKES]
    for mistakes in [*singles, *itertools.combinations(KNOWN_MISTAKES, 2)]:
        changes = [name for one in mistakes for name in one.change]
        if len(set(changes)) < len(changes):
            continue
        recipe = RIGHT
        for one in mistakes:
            recipe = one(recipe)
        candidates = evidence.weights.candidates
        if len(mistakes) > 1:
            candidates = candidates[:4]
        if any(
            difference(evidence, p, recipe) <= evidence.tolerance for p in candidates
        ):
            return mistakes
    return ()


def difference(evidence: Evidence, weights: Projections, recipe: Recipe) -> float:
    """Compare the numbers that are finite; weights that do not fit are far off."""
    try:
        expected = compute(evidence.x, weights, evidence.causal, recipe)
    except RuntimeError:  # shapes do not fit
        return math.inf
    if expected.shape != evidence.output.shape:
        return math.inf
    finite = evidence.output.isfinite() & expected.isfinite()
    if finite.sum() < 0.5 * finite.numel():
        return math.inf
    return max_difference(expected[finite], evidence.output[finite])
