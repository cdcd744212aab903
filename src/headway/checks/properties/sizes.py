"""Properties of sizes: of batches, texts and contexts."""

import torch

from headway.checks.errors import describe
from headway.checks.evidence import Evidence
from headway.checks.outcome import Outcome, failed, not_applicable, passed
from headway.checks.tolerance import max_difference, tolerance

_LONG = 300  # more than eight bits can count
_TOO_LONG = 4096  # a table of all pairs would take long


def sizes(evidence: Evidence) -> Outcome:
    """Call with batches and texts of several sizes, one token and one text included."""
    subject = evidence.subject
    shapes = [(3, subject.T), (1, subject.T), (subject.B, 1), (1, 1), (2, 2), (5, 3)]
    tried = [shape for shape in shapes if shape[1] <= subject.T]
    for B, T in tried:
        try:
            with torch.no_grad():
                subject(subject.tokens(B, T))
        except Exception as raised:  # whatever a reader's code may raise
            shape = (B, T, subject.d_in)
            return failed(
                f"With tokens of shape {shape} it raised {describe(raised)}: an axis "
                "is taken for another, or a size is fixed."
            )
    return passed(
        f"It gives {evidence.output.shape[-1]} numbers for the {subject.d_in} of a "
        f"token, in {len(tried)} sizes of batch and text.",
        len(tried),
    )


def alone(evidence: Evidence) -> Outcome:
    """Ask that a text gets the same in a batch as alone."""
    everything = torch.ones(evidence.x.shape[:2], dtype=torch.bool)
    worst = evidence.difference_alone(evidence.output, evidence.x, everything)
    if worst <= evidence.tolerance:
        return passed("A text gets the same alone as in a batch.", worst)
    return failed(
        "A text gets something else alone than in a batch: texts are mixed, or the "
        "result depends on the size of the batch.",
        worst,
    )


def longer(evidence: Evidence) -> Outcome:
    """Ask that the rows of a text stay when it goes on, for a long while too."""
    if not evidence.causal:
        return not_applicable(
            "Without hiding the future, all rows change when a text goes on."
        )
    subject, x, output = evidence.subject, evidence.x, evidence.output
    T = subject.T
    long = min(subject.context_length or _LONG, _LONG)
    with torch.no_grad():
        worst = max(
            max_difference(subject(x[:, :t]), output[:, :t]) for t in range(1, T)
        )
        if long > T:
            x = subject.tokens(1, long, seed=4)
            difference = max_difference(subject(x[:, :T]), subject(x)[:, :T])
            worst = max(worst, difference)
    if worst <= evidence.tolerance:
        return passed(f"No row changes when its text goes on, to {long} tokens.", worst)
    return failed(
        "The first rows of a text change when it goes on: a mask is cut from the wrong "
        "corner, or something is divided by the number of tokens.",
        worst,
    )


def context(evidence: Evidence) -> Outcome:
    """Ask that a text longer than the context is refused, or treated rightly."""
    subject = evidence.subject
    limit = subject.context_length
    if limit is None:
        return not_applicable("No context length was given or found.")
    if limit > _TOO_LONG:
        return not_applicable(f"A text of {limit + 1} tokens would take too long.")
    x = subject.tokens(1, limit + 1, seed=5)
    try:
        with torch.no_grad():
            rows = subject(x)
    except Exception as raised:  # a refusal
        return passed(f"Refuses {limit + 1} tokens: {describe(raised)}", limit + 1)
    if not bool(rows.isfinite().all()):
        return failed(f"With {limit + 1} tokens it gives nan.", limit + 1)
    if evidence.causal:
        first = rows[:, :limit]
        other = torch.cat([x[:, :limit], 1 - x[:, limit:]], dim=1)
        with torch.no_grad():
            moved = max_difference(subject(other)[:, :limit], first)
            worst = max(moved, max_difference(subject(x[:, :limit]), first))
        if worst > tolerance(rows):
            return failed(
                f"It takes {limit + 1} tokens, one more than its context, and then the "
                "future gets through: refuse them.",
                worst,
            )
    return passed(f"Takes {limit + 1} tokens, one more than its context, rightly.", 0)
