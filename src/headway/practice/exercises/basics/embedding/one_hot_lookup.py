"""Look up by a product

Write `one_hot_lookup(table, indices)`: the same rows as before, by a product. Make a
row of zeros with a single one for each index, and multiply.

The table is (N, E); the indices have any shape (...). The result is (..., E), of the
type of the table.
"""

from headway.practice import Exercise, Forbidden, Wrong

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
    wrong=[
        Wrong(
            "torch.arange(table.shape[0])",
            "torch.arange(table.shape[0]) + 1",
            "indices are counted from one",
        ),
        Wrong(
            "torch.arange(table.shape[0])",
            "torch.arange(table.shape[1])",
            "the one-hot rows are as long as a vector; they should be as long as the "
            "vocabulary",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype) @ table.mT",
            "the table is transposed",
        ),
        Wrong("== numbers", ">= numbers", "all rows up to the index are added up"),
        Wrong("== numbers", "!= numbers", "zeros and ones are exchanged"),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype)",
            "the one-hot rows themselves are given back",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot @ table",
            "true and false are multiplied by numbers, which PyTorch refuses",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.nn.functional.one_hot(indices)",
            "one_hot is not told the size of the vocabulary, and makes rows as "
            "long as the largest index of this text needs",
            hint="one_hot takes a second argument, the number of classes. What happens "
            "without it if the last word of the vocabulary does not stand in the "
            "text?",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.nn.functional.one_hot(indices - 1, len(numbers))",
            "one is subtracted from each index, so that index 0 becomes -1, which "
            "has no row",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.zeros(*indices.shape, len(numbers))\n"
            "    one_hot[..., indices] = 1",
            "each row gets the ones of all words, and not of its own alone",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.zeros(len(indices), len(numbers))\n"
            "    one_hot[torch.arange(len(indices)), indices] = 1",
            "the indices are taken to have one axis; they may have more",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.long() @ table",
            "whole numbers are multiplied by others, which PyTorch refuses",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.float() @ table",
            "the one-hot rows have 32 bits, whatever the table has, which PyTorch "
            "refuses",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype).softmax(dim=-1) @ table",
            "a softmax is taken of the one-hot rows, in which zeros count too",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers\n"
            "    return one_hot.to(table.dtype)",
            "one_hot = torch.zeros(len(indices), len(numbers))\n"
            "    one_hot[torch.arange(len(indices)), indices] = 1\n"
            "    return one_hot",
            "the indices are taken to have one axis, and the one-hot rows have 32 bits;"
            " indices may have more axes, and the table another type",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "table @ one_hot.to(table.dtype)",
            "the table stands on the left, and the one-hot rows on the right",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.long() @ table.long()",
            "the table is made whole numbers, so that all digits behind the point "
            "are lost",
            hint="Both sides must be of one type. Which of the two may be changed, so "
            "that nothing is lost?",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.zeros(len(indices), len(numbers))\n"
            "    for place, index in enumerate(indices):\n"
            "        one_hot[place, index] = 1",
            "the loop goes over the texts, so that all words of a text put their ones "
            "into one row",
            hint="A loop over a table of indices gives its rows, and not its numbers. "
            "How do you get one row of zeros for each index?",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.long() @ table.long()).to(table.dtype)",
            "the table is made whole numbers for the product, and what stands behind "
            "the point does not come back afterwards",
            hint="Both sides must be of one type. Which of the two may be changed, so "
            "that nothing is lost?",
        ),
        Wrong(
            "indices.unsqueeze(-1) ==",
            "indices.flatten().unsqueeze(-1) ==",
            "all texts are put into one, and their shape is lost",
        ),
        Wrong(
            "indices.unsqueeze(-1) ==",
            "indices[0].unsqueeze(-1) ==",
            "only the first text is looked up",
        ),
        Wrong(
            "indices.unsqueeze(-1) == numbers",
            "indices == numbers",
            "the indices get no axis of their own to be compared along",
        ),
        Wrong(
            "indices.unsqueeze(-1) == numbers",
            "(indices.unsqueeze(-1) == numbers).mT",
            "the one-hot rows are turned into columns",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype) * table",
            "`*` multiplies number by number; `@` is the product of tables",
        ),
        Wrong(
            "== numbers",
            "<= numbers",
            "all rows from the index on are added up",
        ),
        Wrong(
            "== numbers",
            "< numbers",
            "all rows behind the index are added up",
        ),
        Wrong(
            "== numbers",
            "> numbers",
            "all rows before the index are added up",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.to(table.dtype).unsqueeze(-1) * table).sum(dim=-1)",
            "the sum runs over the numbers of each row; it should run over the rows",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype).unsqueeze(-1) * table",
            "the products are not added up, so that a whole table stands at each index",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.to(table.dtype) @ table).sum(dim=-2)",
            "the rows of a text are added up; each should stay",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.zeros(*indices.shape, len(numbers))\n"
            "    one_hot[indices] = 1",
            "the rows with the numbers of the indices are filled with "
            "ones; one number of each row should be one",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = torch.zeros(*indices.shape, len(numbers)).scatter(\n"
            "        -1, indices, 1.0\n"
            "    )",
            "scatter is given the indices without an axis of their own",
        ),
        Wrong(
            "indices.unsqueeze(-1) ==",
            "indices.unsqueeze(1) ==",
            "the new axis stands behind the first; it should be the last, however "
            "many there are",
        ),
        Wrong(
            "indices.unsqueeze(-1) == numbers",
            "indices == numbers[:, None]",
            "the numbers get the new axis; it should be the indices",
        ),
        Wrong(
            "one_hot = indices.unsqueeze(-1) == numbers",
            "one_hot = (indices.unsqueeze(-1) == numbers) * indices.unsqueeze(-1)",
            "the index stands where the one should be, so that rows are multiplied by "
            "it",
        ),
        Wrong(
            "indices.unsqueeze(-1) ==",
            "indices.unsqueeze(-1) + 1 ==",
            "one is added to each index, so that the row behind it is given",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "indices.to(table.dtype) @ table",
            "the indices themselves are multiplied with the table; one-hot rows "
            "should be",
        ),
        Wrong(
            "    return one_hot.to(table.dtype) @ table",
            "    flat = one_hot.to(table.dtype).flatten(0, "
            "-2).cumsum(0).clamp(max=1)\n"
            "    return (flat @ table).reshape(*indices.shape, -1)",
            "the ones of earlier indices are left in the row; each should begin with "
            "zeros",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.float() @ table.float()).to(table.dtype)",
            "the product is computed in 32 bits, and made the table's type afterwards",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.to(table.dtype) @ table).mT",
            "the last two axes of the result are exchanged; it should be (..., E)",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "(one_hot.to(table.dtype).flatten(0, -2) @ table).reshape(table.shape[1], "
            "*indices.shape)",
            "the rows are reshaped to (E, ...); it should be (..., E)",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            "one_hot.to(table.dtype).unsqueeze(-2) @ table",
            "an axis of size one is left in front of the vectors",
        ),
        Wrong(
            "one_hot.to(table.dtype) @ table",
            'torch.einsum("tn,ne->te", one_hot.to(table.dtype), table)',
            "einsum names the axis of one text; three dots stand for any number",
        ),
        Wrong(
            "    one_hot = indices.unsqueeze(-1) == numbers\n",
            "    one_hot = torch.zeros(*indices.shape, len(numbers))\n"
            "    one_hot = one_hot.scatter(0, indices.unsqueeze(-1), 1.0)\n",
            "scatter writes along the first axis; it should be the last",
        ),
        Wrong(
            "numbers = torch.arange(table.shape[0])\n"
            "    one_hot = indices.unsqueeze(-1) == numbers\n"
            "    return one_hot.to(table.dtype) @ table",
            "numbers = torch.arange(int(indices.max()) + 1)\n"
            "    one_hot = indices.unsqueeze(-1) == numbers\n"
            "    return one_hot.to(table.dtype) @ table[-len(numbers) :]",
            "there is a column for each number up to the largest index, and as "
            "many rows are taken from the end of the table",
        ),
    ],
    stars=1,
    minutes=6,
)
