"""Compare with the equation, and name the mistake that explains a difference."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from headway.checks import naming, projections
from headway.checks.equation import Recipe, compute
from headway.checks.examined import Examined
from headway.checks.hypotheses import HYPOTHESES, Hypothesis
from headway.checks.outcomes import Outcome, error, failed, passed, unasked
from headway.checks.projections import Projections

RIGHT = Recipe()


def equation(it: Examined) -> Outcome:
    """Ask that the result is what the equation gives; if not, name what explains it."""
    if not it.weights and (name := projections.small(it.subject)):
        outcome = failed(
            f"All heads share {name}, and each sees only its own part of a token."
        )
        return outcome._replace(chapter="multi_head_attention")
    if not it.weights:
        heads = it.subject.told.num_heads
        fitting = f" that fit num_heads={heads}" if heads else ""
        return unasked(f"No weights of queries, keys and values were found{fitting}.")
    if it.window:
        return unasked("A window is inside, which the equation does not have.")
    errors = [_error(it, weights, RIGHT) for weights in it.weights]
    nearest = min(errors)
    if nearest <= it.tolerance:
        it.weights[:] = [it.weights[errors.index(nearest)]]  # so it is these
        return passed("It is what the equation gives in 64 bits.", nearest)
    mistakes = _explain(it)
    if mistakes:
        told = ", and when ".join(one.sentence for one in mistakes)
        outcome = failed(f"It is exactly what comes out when {told}.", nearest)
        return outcome._replace(chapter=mistakes[0].chapter)
    if reason := _besides(it):
        return unasked(reason)
    return failed(
        "It is not what the equation gives, and no mistake known here explains it.",
        nearest,
    )


def _besides(it: Examined) -> str:
    """Say what is inside that the equation does not have."""
    if it.subject.positions:
        return "Positions are inside, which the equation does not have."
    if rest := naming.unknown(it.subject):
        return f"It has weights that the equation does not have: {rest[0]}."
    if layer := naming.one_of_many(it.subject):
        return f"It has several layers, and the equation is of one: {layer}."
    return ""


def _explain(it: Examined) -> Sequence[Hypothesis]:
    """Find the one mistake, or the two, that give exactly these rows.

    Two are sought only with the likeliest weights: it takes long.
    """
    singles = [(one,) for one in HYPOTHESES]
    for mistakes in [*singles, *itertools.combinations(HYPOTHESES, 2)]:
        found = it.weights if len(mistakes) == 1 else it.weights[:4]
        changes = [name for one in mistakes for name in one.change]
        if len(set(changes)) < len(changes):
            continue
        recipe = RIGHT
        for one in mistakes:
            recipe = replace(recipe, **one.change)
        if any(_error(it, p, recipe) <= it.tolerance for p in found):
            return mistakes
    return ()


def _error(it: Examined, weights: Projections, recipe: Recipe) -> float:
    """Compare the rows that are finite; weights that do not fit are far off."""
    try:
        rows = compute(it.x, weights, it.causal, recipe)
    except RuntimeError:  # shapes do not fit
        return math.inf
    if rows.shape != it.rows.shape:
        return math.inf
    finite = it.rows.isfinite() & rows.isfinite()
    if finite.sum() < 0.5 * finite.numel():
        return math.inf
    return error(rows[finite], it.rows[finite])
