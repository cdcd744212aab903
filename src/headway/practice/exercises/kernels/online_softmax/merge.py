"""Merge two halves

Two machines have each attended to half of the keys. Write `merge(a, lse_a, b, lse_b)`:
what attention to all keys gives.

`a` and `b` are rows (T, V); `lse_a` and `lse_b` (T) are the log-sum-exp of the scores
that went into them: a half without a key to see has minus infinity there, and zeros as
its row. If both have none, the row is zero. Give the rows, and their log-sum-exp.
Log-sum-exps may be far above zero, and far below.
"""

from headway.practice import Exercise

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
    a[0], lse_a[0], b[-1], lse_b[-1] = 0.0, -torch.inf, 0.0, -torch.inf
    if len(a) > 1:
        a[1], lse_a[1], b[1], lse_b[1] = 0.0, -torch.inf, 0.0, -torch.inf
    if len(a) > 3:
        lse_a[2], lse_b[2] = lse_a[2] - 4 * d.loud, lse_b[2] - 4 * d.loud
        lse_a[3] += 4 * d.loud
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
        # A softmax over two log-sum-exps: the halves are like two keys.
        both = torch.stack([lse_a, lse_b])
        shares = torch.softmax(both, dim=0).nan_to_num(0.0)
        rows = (shares[..., None] * torch.stack([a, b])).sum(dim=0)
        return rows, both.logsumexp(dim=0)
        """,
        """
        # A sigmoid: how much one half counts, from one difference.
        share = torch.sigmoid(lse_a - lse_b).nan_to_num(0.0)[:, None]
        rows = torch.lerp(b, a, share)
        return rows, torch.logaddexp(lse_a, lse_b)
        """,
    ],
    survivors={"0.0 -> 1.0": "minus infinity minus any number is minus infinity"},
    stars=1,
    minutes=8,
)
