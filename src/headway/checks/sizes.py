"""Properties of sizes: of batches, texts and contexts."""

import torch

from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, error, failed, largest, passed, unasked
from headway.checks.subject import explain

_LONG = 300  # more than eight bits can count
_TOO_LONG = 4096  # a table of all pairs would take long


def sizes(it: Examined) -> Outcome:
    """Call with batches and texts of several sizes, one token and one text included."""
    subject = it.subject
    shapes = [(3, subject.T), (1, subject.T), (subject.B, 1), (1, 1), (2, 2), (5, 3)]
    tried = [shape for shape in shapes if shape[1] <= subject.T]
    for B, T in tried:
        try:
            with torch.no_grad():
                subject(subject.tokens(B, T))
        except Exception as raised:  # whatever a reader's code may raise
            shape = (B, T, subject.d_in)
            return failed(
                f"With tokens of shape {shape} it raised {explain(raised)}: an axis is "
                "taken for another, or a size is fixed."
            )
    return passed(
        f"It gives {it.rows.shape[-1]} numbers for the {subject.d_in} of a token, in "
        f"{len(tried)} sizes of batch and text.",
        len(tried),
    )


def alone(it: Examined) -> Outcome:
    """Ask that a text gets the same in a batch as alone."""
    with torch.no_grad():
        worst = max(
            error(it.subject(it.x[b : b + 1]), it.rows[b : b + 1])
            for b in range(it.subject.B)
        )
    if worst <= it.tolerance:
        return passed("A text gets the same alone as in a batch.", worst)
    return failed(
        "A text gets something else alone than in a batch: texts are mixed, or the "
        "result depends on the size of the batch.",
        worst,
    )


def longer(it: Examined) -> Outcome:
    """Ask that the rows of a text stay when it goes on, for a long while too."""
    if not it.causal:
        return unasked(
            "Without hiding the future, all rows change when a text goes on."
        )
    T = it.subject.T
    long = min(it.subject.context_length or _LONG, _LONG)
    with torch.no_grad():
        worst = max(error(it.subject(it.x[:, :t]), it.rows[:, :t]) for t in range(1, T))
        if long > T:
            x = it.subject.tokens(1, long, seed=4)
            worst = max(worst, error(it.subject(x[:, :T]), it.subject(x)[:, :T]))
    if worst <= it.tolerance:
        return passed(f"No row changes when its text goes on, to {long} tokens.", worst)
    return failed(
        "The first rows of a text change when it goes on: a mask is cut from the wrong "
        "corner, or something is divided by the number of tokens.",
        worst,
    )


def context(it: Examined) -> Outcome:
    """Ask that a text longer than the context is refused, or treated rightly."""
    limit = it.subject.context_length
    if limit is None:
        return unasked("No context length was told or found.")
    if limit > _TOO_LONG:
        return unasked(f"A text of {limit + 1} tokens would take too long.")
    x = it.subject.tokens(1, limit + 1, seed=5)
    try:
        with torch.no_grad():
            rows = it.subject(x)
    except Exception as raised:  # a refusal
        return passed(f"Refuses {limit + 1} tokens: {explain(raised)}", limit + 1)
    if not bool(rows.isfinite().all()):
        return failed(f"With {limit + 1} tokens it gives nan.", limit + 1)
    if it.causal:
        with torch.no_grad():
            short = it.subject(x[:, :limit])
            other = torch.cat([x[:, :limit], 1 - x[:, limit:]], dim=1)
            moved = error(it.subject(other)[:, :limit], rows[:, :limit])
            worst = max(moved, error(short, rows[:, :limit]))
        if worst > 1e-5 * largest(rows):
            return failed(
                f"It takes {limit + 1} tokens, one more than its context, and then the "
                "future gets through: refuse them.",
                worst,
            )
    return passed(f"Takes {limit + 1} tokens, one more than its context, rightly.", 0)
