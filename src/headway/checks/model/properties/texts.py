"""Texts of a batch, and texts that go on."""

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, note, passed
from headway.checks.core.tolerance import max_difference
from headway.checks.model.model_evidence import ModelEvidence

# What compares texts in other company.
_OF_MIXED_TEXTS = (
    "alone",
    "padding-right",
    "padding-left",
    "packing",
    "greedy",
    "half-precision",
    "training",
)
_PADDED = ("padding-right", "padding-left")


def independent(evidence: ModelEvidence) -> Outcome:
    """Ask that a change in one text moves no other."""
    worst = evidence.between
    if not evidence.mixed:
        return passed("A change in one text moves no other.", worst)
    return failed(
        "A change in one text moves the logits of another: two axes are confused, "
        "or something is computed over the batch.",
        worst,
        explains=_OF_MIXED_TEXTS,
    )


def alone(evidence: ModelEvidence) -> Outcome:
    """Ask that a text gets the same alone, in company, and in another place."""
    subject, ids = evidence.subject, evidence.ids
    worst, refused = 0.0, ""
    for order in ([0], [1], [2, 0], [2, 1, 0], [0, 1, 2, 0, 1, 2, 2, 1]):
        try:
            rows = subject(ids[order])
        except theirs() as raised:
            refused = f"{len(order)} texts at once raised {describe(raised)}."
            continue
        worst = max(worst, max_difference(rows, evidence.logits[order]))
    if worst <= evidence.tolerance and refused:
        return note(refused, worst)
    if worst <= evidence.tolerance:
        return passed("A text gets the same alone as in any batch.", worst)
    return failed(
        "A text gets different logits alone, or at a different place of the batch: "
        "something depends on how many texts there are.",
        worst,
        explains=_PADDED,
    )


def longer(evidence: ModelEvidence) -> Outcome:
    """Ask that a text that goes on keeps its first logits."""
    subject, ids = evidence.subject, evidence.ids
    if not subject.causal:
        return _any_length(evidence)
    worst, where, refused = 0.0, 0, ""
    for T in range(1, subject.T):
        try:
            rows = subject(ids[:, :T])
        except theirs() as raised:
            refused = refused or f"A text of {T} tokens raised {describe(raised)}."
            continue
        apart = max_difference(rows, evidence.logits[:, :T])
        if apart > worst:
            worst, where = apart, T
    if worst > evidence.tolerance:
        return failed(
            f"The first {where} tokens get different logits when the text goes on: "
            "something depends on how long it is.",
            worst,
            explains=_PADDED,
        )
    if refused:
        return note(refused, worst)
    return passed("A text that goes on keeps its first logits.", worst)


def _any_length(evidence: ModelEvidence) -> Outcome:
    for T in range(1, evidence.subject.T):
        evidence.subject(evidence.ids[:, :T])
    return passed("It takes texts of any length.", evidence.subject.T)
