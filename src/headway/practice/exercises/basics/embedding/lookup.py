"""From an index to a vector

Write `lookup(table, indices)`: one row of the table for each index.

The table has N rows of E numbers, one row for each word of the vocabulary. The indices
are the words of a text, or of several texts: whole numbers from 0 to N - 1, of any
shape. Each index becomes a vector of E numbers, of the type of the table.
"""

from headway.practice import Exercise, Property
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def lookup(table: Tensor, indices: Tensor) -> Tensor:
    """Look up a table (N, E) at indices of shape (...), which gives (..., E)."""
    # --- write ---
    return table[indices]
    # --- written ---


if __name__ == "__main__":
    table = torch.tensor([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]])
    print(lookup(table, torch.tensor([2, 0, 2])))
    # tensor([[2.0000, 2.1000],
    #         [0.0000, 0.1000],
    #         [2.0000, 2.1000]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="lookup",
    read=("basics/embedding/#from-an-index-to-a-vector", "From an index to a vector"),
    hints=(
        "How do you take one row out of a table, if you know its number?",
        "A tensor may be indexed by a tensor of whole numbers; what shape comes out?",
        "Put the indices into the square brackets behind the table, with nothing "
        "beside them, so that they choose along the first axis.",
    ),
    draw=lambda d: (d.normal(d.S, d.E), d.integers(d.S, *d.lead, d.T)),
    trials=(DIFFERENT, EQUAL, LOUD, {"T": 1}),
    law="A word has the same vector wherever it stands.",
    properties=[
        Property(
            "vectors have the type of the table, such as float32",
            lambda f, table, indices: f(table.float(), indices).dtype == torch.float32,
        )
    ],
    right=[
        """
        # The library's function: what nn.Embedding calls, with the indices first.
        return torch.nn.functional.embedding(indices, table)
        """,
        """
        # A loop: slow, but each row can be seen being fetched.
        rows = [table[i] for i in indices.flatten().tolist()]
        return torch.stack(rows).reshape(*indices.shape, -1)
        """,
        """
        # index_select says along which axis is chosen; it takes indices of one axis.
        rows = table.index_select(0, indices.flatten())
        return rows.unflatten(0, indices.shape)
        """,
    ],
    stars=1,
    minutes=2,
)
