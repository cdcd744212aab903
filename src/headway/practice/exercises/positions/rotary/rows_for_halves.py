"""Weights for the other layout

A model was trained with pairs: the numbers 2 i and 2 i + 1 of a head turn together.
Another program has halves: it turns number i with number i + D / 2.

Write `rows_for_halves(weight, H)`: the weight of `W_query` or `W_key`, reordered for
that program. `weight` is (H * D, E); row j makes number j of the queries, head after
head. Each head is reordered by itself: what stood at 0, 2, 4, ... of it goes to its
first half, what stood at 1, 3, 5, ... to its second. Give (H * D, E).
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def rows_for_halves(weight: Tensor, H: int) -> Tensor:
    """Reorder the rows of a weight (H * D, E), from pairs to halves in each head."""
    # --- write ---
    pairs = weight.unflatten(0, (H, -1, 2))
    halves = pairs.transpose(1, 2)
    return halves.flatten(0, 2)
    # --- written ---


if __name__ == "__main__":
    numbers = torch.arange(8.0)[:, None]
    print(rows_for_halves(numbers, 1).flatten())
    # tensor([0., 2., 4., 6., 1., 3., 5., 7.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="rows_for_halves",
    read=("positions/rotary/#pairs-or-halves", "Pairs or halves"),
    hints=(
        "With two heads of width 4, which row comes second: row 1, row 2, or row 4?",
        "Give the rows three axes: heads, pairs, and the two of a pair. One exchange "
        "of axes does the rest.",
        "unflatten cuts the first axis into (H, how many pairs, 2); exchange the last "
        "two of these three, and flatten all three into one.",
    ),
    draw=lambda d: (d.normal(d.H * 2 * d.D, d.E), d.H),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"H": 1, "D": 3}),
    law="Queries and keys in one other order give the same scores: reorder both, and "
    "the model is the same.",
    right=[
        """
        # Slices in each head: the words of the task, one by one.
        heads = [torch.cat([one[0::2], one[1::2]]) for one in weight.chunk(H)]
        return torch.cat(heads)
        """,
        """
        # A list of row numbers: it can be printed, and kept for a second weight.
        D = weight.shape[0] // H
        order = [h * D + j for h in range(H) for k in (0, 1) for j in range(k, D, 2)]
        return weight[order]
        """,
        """
        # view names all sizes: (heads, pairs, the two of a pair, E).
        rows, E = weight.shape
        D = rows // H
        return weight.view(H, D // 2, 2, E).transpose(1, 2).reshape(rows, E)
        """,
    ],
    minutes=10,
)
