"""Merge two halves

Two machines have each attended to half of the keys. Write `merge(a, lse_a, b, lse_b)`:
what attention to all keys gives.

`a` and `b` are rows (T, V); `lse_a` and `lse_b` (T) are the log-sum-exp of the scores
that went into them: a half without a key to see has minus infinity there, and zeros as
its row. If both have none, the row is zero. Give the rows, and their log-sum-exp.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def merge(a: Tensor, lse_a: Tensor, b: Tensor, lse_b: Tensor) -> tuple[Tensor, Tensor]:
    """Merge rows (T, V) with log-sum-exps (T) into one."""
    # --- write ---
    lse = torch.logaddexp(lse_a, lse_b)
    finite = lse.masked_fill(lse == -torch.inf, 0.0)
    share_a = torch.exp(lse_a - finite)[:, None]
    share_b = torch.exp(lse_b - finite)[:, None]
    return share_a * a + share_b * b, lse
    # --- written ---


if __name__ == "__main__":
    a, b = torch.tensor([[10.0]]), torch.tensor([[30.0]])
    rows, lse = merge(a, torch.tensor([1.0]).log(), b, torch.tensor([3.0]).log())
    print(rows, lse.exp())
    # tensor([[25.]]) tensor([4.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    def half():  # type: ignore[no-untyped-def]
        return d.normal(d.S, d.V) / d.loud, d.normal(d.S)

    (a, lse_a), (b, lse_b) = half(), half()
    a[0], lse_a[0] = 0.0, -torch.inf
    if len(a) > 1:
        a[1], lse_a[1], b[1], lse_b[1] = 0.0, -torch.inf, 0.0, -torch.inf
    return a, lse_a, b, lse_b


EXERCISE = Exercise(
    answer="merge",
    read=(
        "kernels/online_softmax/#the-property-any-pieces-in-any-order",
        "The property: any pieces, in any order",
    ),
    hints=(
        "Which part of the whole sum of exponentials did each half have?",
        "Each row counts by its share, the exponential of its log-sum-exp minus that "
        "of the whole; logaddexp gives the latter without overflow.",
        "Minus infinity minus minus infinity is nan: put a zero in place of the "
        "whole's before you subtract, where nothing is seen.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="The order of merging does not matter, and a half that saw nothing counts "
    "for nothing.",
    right=[
        """
        both = torch.stack([lse_a, lse_b])
        shares = torch.softmax(both, dim=0).nan_to_num(0.0)
        rows = (shares[..., None] * torch.stack([a, b])).sum(dim=0)
        return rows, both.logsumexp(dim=0)
        """,
    ],
    survivors={"0.0 -> 1.0": "minus infinity minus any number is minus infinity"},
    wrong=[
        Wrong(
            "share_a * a + share_b * b",
            "(a + b) / 2",
            "the plain mean is taken",
            exhibit="pieces/#merged-by-plain-means",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.log(torch.exp(lse_a) + torch.exp(lse_b))",
            "exponentials are taken without their largest, and overflow",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "lse.masked_fill(lse == -torch.inf, 0.0)",
            "lse",
            "nothing is subtracted from nothing, so that such rows are nan",
            exhibit="pieces/#two-empty-pieces",
        ),
        Wrong(
            "share_a * a + share_b * b",
            "share_b * a + share_a * b",
            "the shares are exchanged",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.logaddexp2(lse_a, lse_b)",
            "logarithms to base two are added",
            exhibit="pieces/#a-logarithm-to-base-two",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.maximum(lse_a, lse_b)",
            "the larger log-sum-exp is taken for that of both",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "lse_a + lse_b",
            "logarithms are added, where sums should be",
        ),
        Wrong(
            "share_a * a + share_b * b",
            "a + b",
            "both are added, without their shares",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, torch.maximum(lse_a, lse_b)",
            "the rows are right, and the larger log-sum-exp is given for that of both",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse_a + lse_b",
            "the rows are right, but their log-sum-exps are added as they are",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a.exp()[:, None], lse_b.exp()[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the rows are multiplied by whole sums of exponentials, which overflow, "
            "or are both zero",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a.exp()[:, None], lse_b.exp()[:, None]\n"
            "    return share_a * a + share_b * b, lse",
            "each row counts by its whole sum of exponentials, and is not divided by "
            "that of both",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a[:, None], lse_b[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the log-sum-exps themselves are taken for shares: their exponentials "
            "are forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    largest = torch.maximum(lse_a, lse_b)\n"
            "    both = torch.exp(lse_a - largest) + torch.exp(lse_b - largest)\n"
            "    return share_a * a + share_b * b, largest + both.log()",
            "the largest is taken off by hand, and where it is minus infinity, that "
            "gives nan for the log-sum-exp",
            exhibit="pieces/#two-empty-pieces",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, finite",
            "the log-sum-exp of a row that sees no key is given as zero, and not as "
            "minus infinity",
        ),
    ],
    stars=1,
)
