"""The property that compares with the equation."""

from headway.checks import book
from headway.checks.evidence import Evidence
from headway.checks.oracle import consequences, explain, smallest_difference
from headway.checks.outcome import Outcome, failed, not_applicable, passed


def equals(evidence: Evidence) -> Outcome:
    """Ask that the result is what the equation gives; if not, name what explains it."""
    weights = evidence.weights
    if not weights.candidates and weights.small:
        return failed(
            f"All heads share {weights.small}, and each sees only its own part of a "
            "token.",
            section=book.HEADS,
        )
    if not weights.candidates:
        heads = evidence.subject.options.num_heads
        fitting = f" that fit num_heads={heads}" if heads else ""
        return not_applicable(
            f"No weights of queries, keys and values were found{fitting}."
        )
    if evidence.window:
        return not_applicable("A window is inside, which the equation does not have.")
    difference = smallest_difference(evidence)
    if difference <= evidence.tolerance:
        return passed("It is what the equation gives in 64 bits.", difference)
    if mistakes := explain(evidence):
        named = ", and when ".join(one.sentence for one in mistakes)
        return failed(
            f"It is exactly what comes out when {named}.",
            difference,
            section=mistakes[0].section,
            explains=consequences(mistakes),
        )
    if reason := _beyond_the_equation(evidence):
        return not_applicable(reason)
    return failed(
        "It is not what the equation gives, and no mistake known here explains it.",
        difference,
    )


def _beyond_the_equation(evidence: Evidence) -> str:
    """Say what is inside that the equation does not have."""
    if evidence.positions:
        return "Positions are inside, which the equation does not have."
    weights = evidence.weights
    if weights.without_role:
        name = weights.without_role[0]
        return f"It has weights that the equation does not have: {name}."
    if weights.layer:
        return f"It has several layers, and the equation is of one: {weights.layer}."
    return ""
