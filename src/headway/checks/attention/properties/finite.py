"""The property that all rows are numbers."""

import torch

from headway.checks.attention.evidence import Evidence
from headway.checks.core.outcome import Outcome, failed, passed

# What compares rows, or needs all of them: it fails of itself where a row is nan.
_MADE_OF_ROWS = (
    "equation",
    "leak",
    "past",
    "equal-tokens",
    "order",
    "batch",
    "other-keys",
    "alone",
    "earlier-rows",
    "cache",
    "strides",
    "context-length",
    "training",
    "dropout",
    "masks",
    "padding",
    "fully-masked",
    "gradients",
    "gradcheck",
    "large-scores",
    "half-precision",
)


def finite(evidence: Evidence) -> Outcome:
    """Ask that ordinary tokens get rows of finite numbers."""
    bad = (~evidence.output.isfinite()).any(dim=-1).any(dim=0)
    count = int(bad.sum())
    if not count and _of_zeros(evidence):
        return failed(
            "A token of zeros gets nan: something is divided by its size, and no eps "
            "is added, as in a norm without one.",
            mistakes=["norm-without-eps"],
        )
    if not count:
        return passed("Ordinary tokens get rows of finite numbers.", 0)
    kind = "nan" if bool(evidence.output.isnan().any()) else "infinite"
    rows = [int(t) + 1 for t in bad.nonzero()]
    return failed(
        f"{_subject(rows, len(bad))} {kind}, and so is all that is made of "
        f"{'it' if count == 1 else 'them'}.",
        count,
        explains=_MADE_OF_ROWS,
    )


@torch.no_grad()
def _of_zeros(evidence: Evidence) -> bool:
    """Ask whether a token of zeros gets a row that is not finite."""
    x = evidence.x.clone()
    x[:, 1 % x.shape[1]] = 0.0
    return not bool(evidence.subject(x).isfinite().all())


def _subject(rows: list[int], T: int) -> str:
    """Begin a sentence on some of the rows of a text."""
    if len(rows) == 1:
        return f"Row {rows[0]} is"
    if len(rows) == T:
        return "All rows are"
    if len(rows) == 2:
        return f"Rows {rows[0]} and {rows[1]} are"
    return f"{len(rows)} of {T} rows, the first of them row {rows[0]}, are"
