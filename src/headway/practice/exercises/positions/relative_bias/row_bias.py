"""One row a head, and still exact

A model writes: only the newest token asks. Then one row for each head is enough to say
how far back each key lies.

Write `row_bias(H, S)`: the bias of ALiBi for the newest of S tokens, shape (H, 1, S),
in 64 bits. Head h, counted from one, has the slope 2 ** (-8 h / H); H is a power of
two. Near keys must have the small numbers: zero for the newest key, then minus the
slope, minus twice the slope, and so on, so that rounding spoils only what is far.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def row_bias(H: int, S: int) -> Tensor:
    """Give the bias (H, 1, S) of H heads for the newest of S tokens."""
    # --- write ---
    heads = torch.arange(1, H + 1, dtype=torch.float64)
    slopes = 2 ** (-8 * heads / H)
    behind = (S - 1) - torch.arange(S)
    return -slopes[:, None, None] * behind
    # --- written ---


if __name__ == "__main__":
    print(row_bias(4, 5)[0])
    # tensor([[-1.0000, -0.7500, -0.5000, -0.2500, -0.0000]], dtype=torch.float64)
# --- end of your file ---


EXERCISE = Exercise(
    answer="row_bias",
    read=(
        "positions/relative_bias/#the-property-only-the-difference-counts",
        "The property: only the difference counts",
    ),
    hints=(
        "How far back does the newest key lie, and the first of S?",
        "A column of slopes, one for each head, times a row of distances, which fall "
        "to zero at the newest key; with a minus.",
        "Count h from one in 64 bits. The row counts down from S - 1, and slopes need "
        "two axes more behind their own.",
    ),
    draw=lambda d: (d.H, d.S),
    trials=({"H": 8}, {"H": 4, "S": 4}, {"H": 2, "S": 1}, {"H": 16, "S": 30}),
    law="The bias depends on the distance alone, and near keys have small numbers, "
    "which are exact in any type.",
    right=[
        """
        # Two loops in a list: slow, but each number can be seen.
        rows = [[-(2 ** (-8 * h / H)) * (S - 1 - s) for s in range(S)]
                for h in range(1, H + 1)]
        return torch.tensor(rows, dtype=torch.float64)[:, None]
        """,
        """
        # The book's slopes, and einsum for a table of all products.
        from headway import alibi_slopes
        slopes = alibi_slopes(H).double()
        return torch.einsum("h,s->hs", slopes, torch.arange(1 - S, 1.0).double())[
            :, None
        ]
        """,
        """
        # Powers of one factor: slopes are a geometric row, which cumprod makes.
        slopes = torch.full((H,), 2 ** (-8 / H), dtype=torch.float64).cumprod(0)
        return torch.outer(slopes, torch.arange(1 - S, 1).double()).unsqueeze(1)
        """,
    ],
    stars=1,
    minutes=8,
)
