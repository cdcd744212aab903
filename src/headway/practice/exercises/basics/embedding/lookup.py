"""From an index to a vector

Write `lookup(table, indices)`: one row of the table for each index.

The table has N rows of E numbers, one row for each word of the vocabulary. The indices
are the words of a text, or of several texts: whole numbers from 0 to N - 1, of any
shape. Each index becomes a vector of E numbers, of the type of the table.
"""

from headway.practice import Exercise, Property, Wrong
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
    wrong=[
        Wrong(
            "table[indices]",
            "table[:, indices]",
            "the indices choose columns, and not rows",
            hint="Is a word a row of the table, or a column?",
        ),
        Wrong("table[indices]", "table[indices - 1]", "indices are counted from one"),
        Wrong(
            "table[indices]",
            "table[indices.flatten()]",
            "all texts are put into one, and their shape is lost",
        ),
        Wrong(
            "table[indices]", "table[indices[0]]", "only the first text is looked up"
        ),
        Wrong(
            "table[indices]",
            "table[indices] * indices.unsqueeze(-1)",
            "each row is multiplied by its index",
        ),
        Wrong("table[indices]", "table[indices.sort().values]", "the words are sorted"),
        Wrong(
            "table[indices]",
            "table[indices].transpose(-1, -2)",
            "the axes of tokens and of numbers are swapped",
        ),
        Wrong(
            "table[indices]",
            "table.T[indices]",
            "the table is turned around first, so that indices choose columns",
        ),
        Wrong(
            "table[indices]",
            "torch.gather(table, 0, indices)",
            "torch.gather picks a single number for each index, down the columns; "
            "it should be a row",
        ),
        Wrong(
            "table[indices]",
            "torch.gather(table, 1, indices)",
            "torch.gather picks a single number for each index, along the rows; "
            "it should be a row",
        ),
        Wrong(
            "table[indices]",
            "indices[table]",
            "the arguments are swapped: the indices are indexed by the table",
        ),
        Wrong(
            "table[indices]",
            "torch.nn.functional.embedding(table, indices)",
            "the arguments of embedding are swapped: it takes the indices first",
        ),
        Wrong(
            "table[indices]",
            "table[indices.permute(*range(indices.ndim)[::-1])]",
            "the axes of the indices are turned around first",
        ),
        Wrong(
            "table[indices]",
            "torch.take(table, indices)",
            "torch.take counts the numbers of the table, and not its rows",
        ),
        Wrong(
            "table[indices]",
            "table.gather(0, indices.unsqueeze(1).expand(-1, table.shape[1]))",
            "the indices of a single text are spread for gather; there may be "
            "more texts",
            hint="unsqueeze(1) and expand(-1, ...) fit indices of one axis. Square "
            "brackets take indices of any shape.",
        ),
        Wrong(
            "table[indices]",
            "table.gather(0, indices.unsqueeze(-1).expand(-1, table.shape[1]))",
            "the indices are spread for gather, with sizes for a single text",
            hint="expand(-1, ...) fits indices of one axis. Square brackets take "
            "indices of any shape.",
        ),
        Wrong(
            "table[indices]",
            "table.index_select(0, indices)",
            "index_select is given indices of several axes; it takes one axis alone",
            hint="Square brackets take indices of any shape.",
        ),
        Wrong(
            "table[indices]",
            "[table[i] for i in indices]",
            "a list is given; it should be one tensor, as torch.stack makes one",
        ),
        Wrong(
            "table[indices]",
            "[table[i] for i in indices.flatten()]",
            "a list with a vector for each index is given; it should be "
            "one tensor of the shape of the indices",
        ),
        Wrong(
            "table[indices]",
            "table[indices[-1]]",
            "only the last text is looked up",
        ),
        Wrong(
            "table[indices]",
            "table[indices[..., 0]]",
            "only the first word of each text is looked up",
        ),
        Wrong(
            "table[indices]",
            "table[indices[..., -1]]",
            "only the last word of each text is looked up",
        ),
        Wrong(
            "table[indices]",
            "table[indices].squeeze()",
            "squeeze removes axes of size one, such as that of a text with one word",
        ),
        Wrong(
            "table[indices]",
            "table[indices + 1]",
            "one is added to each index: the row behind is taken, and "
            "there is none behind the last",
        ),
        Wrong(
            "table[indices]",
            "table[indices].sum(dim=-2)",
            "the rows of a text are added up; each should stay",
        ),
        Wrong(
            "table[indices]",
            "table[indices].mean(dim=-2)",
            "the mean of the rows of a text is taken; each row should stay",
        ),
        Wrong(
            "table[indices]",
            "table[indices.unique()]",
            "each word is looked up once, however often it comes, in the "
            "order of the table",
        ),
        Wrong(
            "table[indices]",
            "table[: indices.shape[-1]]",
            "the first rows of the table are given, whatever the indices are",
        ),
        Wrong(
            "table[indices]",
            "torch.nn.functional.one_hot(indices, len(table)) @ table",
            "it is looked up by a product with one-hot rows, which are whole numbers",
        ),
        Wrong(
            "table[indices]",
            "torch.nn.functional.one_hot(indices, len(table)).float() @ table",
            "it is looked up by a product with one-hot rows of 32 bits; "
            "they should have the type of the table",
        ),
        Wrong(
            "table[indices]",
            "torch.nn.Embedding(*table.shape)(indices).to(table.dtype)",
            "a new nn.Embedding draws a table of its own, and the one that "
            "is given is not used",
        ),
        Wrong(
            "table[indices]",
            "torch.cat([table[i] for i in indices])",
            "the rows are joined by torch.cat, which makes no new axis; torch.stack "
            "does",
        ),
        Wrong(
            "table[indices]",
            "torch.stack([table[int(i)] for i in indices])",
            "there is one loop, as for a single text, and a whole text is taken for "
            "one index",
        ),
        Wrong(
            "table[indices]",
            "table[indices].tolist()",
            "the numbers are given as lists; it should be one tensor",
        ),
        Wrong(
            "table[indices]",
            "table[indices[..., None]]",
            "the indices get an axis of size one, which stays in the result",
        ),
        Wrong(
            "table[indices]",
            "table[indices.mT]",
            "the indices are transposed first, so that texts and places change",
        ),
        Wrong(
            "table[indices]",
            "table[indices] * (indices != 0)[..., None]",
            "index 0 is taken for padding, and its row is set to zero",
        ),
        Wrong(
            "table[indices]",
            "table[-indices]",
            "the rows are counted from the end",
        ),
        Wrong(
            "table[indices]",
            "table.flip(0)[indices]",
            "the table is turned upside down first",
        ),
        Wrong(
            "table[indices]",
            "table[indices] * table.shape[1] ** 0.5",
            "each vector is multiplied by the root of its width; it should be the row "
            "as it is",
        ),
        Wrong(
            "table[indices]",
            "torch.nn.functional.one_hot(indices).to(table.dtype) @ table",
            "one_hot counts words up to the largest index that occurs; it must be "
            "told that there are N",
        ),
        Wrong(
            "table[indices]",
            "table.index_select(0, indices.flatten())",
            "index_select takes a flat row of indices, and the shape of the texts is "
            "not given back",
            same_as="all texts are put into one, and their shape is lost",
        ),
        Wrong(
            "    return table[indices]",
            "    B, T = indices.shape\n    return table[indices]",
            "indices are taken to have two axes; they may have any number",
        ),
        Wrong(
            "table[indices]",
            "table.index_select(1, indices.flatten()).reshape(*indices.shape, -1)",
            "index_select chooses along axis 1, the numbers of a word; it should be "
            "axis 0",
        ),
        Wrong(
            "table[indices]",
            "table[indices.flatten()].reshape(-1, *indices.shape)",
            "the numbers of a word are put in front by reshape; they should be the "
            "last axis",
        ),
        Wrong(
            "table[indices]",
            "table[indices].reshape(*indices.shape[:-1], -1, indices.shape[-1])",
            "the sizes of tokens and numbers are exchanged by reshape",
        ),
        Wrong(
            "table[indices]",
            "table[indices][..., None]",
            "there is one axis too many at the end",
        ),
        Wrong(
            "table[indices]",
            "table[indices][None]",
            "there is one axis too many in front",
        ),
        Wrong(
            "table[indices]",
            "table[indices[:1]]",
            "only the first text is looked up, and keeps its axis",
        ),
        Wrong(
            "table[indices]",
            "table @ torch.nn.functional.one_hot(indices, len(table)).to(table.dtype)",
            "the one-hot rows stand on the wrong side of the product",
        ),
        Wrong(
            "table[indices]",
            "table[indices].squeeze(-2)",
            "an axis of size one is removed before the last, such as that of a text "
            "with one word",
            same_as="squeeze removes axes of size one, such as that of a text with "
            "one word",
        ),
        Wrong(
            "table[indices]",
            "table",
            "the whole table is given, and the indices are not used",
        ),
    ],
    stars=1,
    minutes=2,
)
