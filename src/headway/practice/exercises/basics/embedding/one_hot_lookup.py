"""Look up by a product

Write `one_hot_lookup(table, indices)`: the same rows as before, by a product. Make a
row of zeros with a single one for each index, and multiply.

The table is (N, E); the indices have any shape (...). The result is (..., E), of the
type of the table.
"""

from headway.practice import Exercise, Forbidden

# --- your file ---
import torch
from torch import Tensor


def one_hot_lookup(table: Tensor, indices: Tensor) -> Tensor:
    """Multiply one-hot rows (..., N) by a table (N, E), which gives (..., E)."""
    # --- write ---
    numbers = torch.arange(table.shape[0])
    one_hot = indices.unsqueeze(-1) == numbers
    return one_hot.to(table.dtype) @ table
    # --- written ---


if __name__ == "__main__":
    table = torch.tensor([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]])
    print(one_hot_lookup(table, torch.tensor([2, 0])))
    # tensor([[2.0000, 2.1000],
    #         [0.0000, 0.1000]])
# --- end of your file ---


def drawn_indices(d):  # type: ignore[no-untyped-def]
    """Draw indices; with more axes the last word of the vocabulary never stands."""
    return d.integers(d.S - (d.axes > 1), *d.lead, d.T)


def picks_rows(args, result, given):  # type: ignore[no-untyped-def]
    """Whether rows of the table itself are picked, by numbers and not by slices."""
    of_table = any(
        isinstance(one, Tensor) and one.shape == given[0].shape for one in args
    )
    parts = args[-1] if isinstance(args[-1], tuple) else (args[-1],)
    return of_table and any(isinstance(one, (Tensor, int, list)) for one in parts)


EXERCISE = Exercise(
    answer="one_hot_lookup",
    forbids=[
        Forbidden(
            "The task says: by a product. Here rows of the table are picked, as in the "
            "task before.",
            "return table[indices]",
            names=("getitem", "index_select", "embedding", "take", "gather"),
            when=picks_rows,
        )
    ],
    read=(
        "basics/embedding/#looking-up-is-a-product-in-disguise",
        "Looking up is a product in disguise",
    ),
    hints=(
        "Which row of numbers, times the table, gives back one row of the table?",
        "Compare each index with the numbers 0, 1, ..., N - 1: where they agree stands "
        "the one.",
        "torch.nn.functional.one_hot makes the rows, too. It gives whole numbers, and "
        "a product needs both sides to be of one type.",
    ),
    draw=lambda d: (d.normal(d.S, d.E), drawn_indices(d)),
    law="A product with a one-hot row is a look-up; all other rows are multiplied by "
    "zero.",
    right=[
        """
        # The library makes the rows: whole numbers, so that they take the table's type.
        one_hot = torch.nn.functional.one_hot(indices, len(table))
        return one_hot.to(table.dtype) @ table
        """,
        """
        # A loop: slow, but each single one can be seen being set.
        flat = indices.flatten()
        one_hot = torch.zeros(len(flat), len(table), dtype=table.dtype)
        for place, index in enumerate(flat.tolist()):
            one_hot[place, index] = 1
        return (one_hot @ table).reshape(*indices.shape, table.shape[1])
        """,
        """
        # scatter_ writes all ones at once, where a table of zeros is there already.
        zeros = torch.zeros(*indices.shape, len(table), dtype=table.dtype)
        return zeros.scatter_(-1, indices.unsqueeze(-1), 1.0) @ table
        """,
    ],
    stars=1,
    minutes=6,
)
