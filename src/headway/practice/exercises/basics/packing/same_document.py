"""Several texts in one row

Texts stand one behind the other in a row, without padding. Write
`same_document(ids)`: who may look at whom.

`ids` (B, T) holds the number of the text that each token belongs to. A token may look
at itself, and at those tokens of its own text that came before it, and at no other. The
mask has shape (B, T, T), boolean, True where a query may look.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def same_document(ids: Tensor) -> Tensor:
    """Give a mask (B, T, T) for the documents (B, T) that tokens belong to."""
    # --- write ---
    T = ids.shape[-1]
    same = ids[:, :, None] == ids[:, None, :]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return same & past
    # --- written ---


if __name__ == "__main__":
    print(same_document(torch.tensor([[0, 0, 1, 1]])).int())
    # tensor([[[1, 0, 0, 0],
    #          [1, 1, 0, 0],
    #          [0, 0, 1, 0],
    #          [0, 0, 1, 1]]], dtype=torch.int32)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    ids = d.order(3)[d.integers(3, d.B, d.S).sort(dim=-1).values]
    apart = 5 * d.order(d.B)[:, None]  # each row has documents of its own
    return (ids + apart if d.case else ids,)


EXERCISE = Exercise(
    answer="same_document",
    read=(
        "basics/packing/#one-row-and-a-mask-of-documents",
        "One row, and a mask of documents",
    ),
    hints=(
        "Two things must be true at once. Which?",
        "Compare every number with every other, by two axes that broadcast; then hide "
        "the future, too.",
        "ids with an axis behind it, compared with ids with an axis before it, is a "
        "table for each row; & joins it with a triangle.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHTSDVEW", 4), {"case": 1}),
    law="Packed texts get what each gets alone.",
    right=[
        """
        # A loop over rows and tokens: slow, but each condition can be read.
        rows = []
        for row in ids.tolist():
            T = range(len(row))
            rows.append([[row[s] == row[t] and s <= t for s in T] for t in T])
        return torch.tensor(rows)
        """,
        """
        # tril of the table itself: short, since False is what it leaves above.
        return (ids[:, :, None] == ids[:, None, :]).tril()
        """,
        """
        # One-hot vectors: their dot product is one for tokens of one text.
        hot = torch.nn.functional.one_hot(ids).float()
        return (hot @ hot.mT).tril() > 0.5
        """,
    ],
    survivors={"-1 -> 1": "ids have two axes, so that the last is axis 1"},
    wrong=[
        Wrong("return same & past", "return same", "the future of a text is seen"),
        Wrong(
            "return same & past",
            "return past.expand(len(ids), T, T)",
            "texts see each other: only the future is hidden",
        ),
        Wrong(
            "return same & past",
            "return same | past",
            "one of the two is enough; both must hold",
        ),
        Wrong(
            "None] == ids",
            "None] != ids",
            "the numbers must differ, so that a text sees only others",
        ),
        Wrong("None] == ids", "None] >= ids", "a text sees those before it in the row"),
        Wrong(
            ".tril()",
            ".tril(-1)",
            "no token sees itself",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            ".tril()",
            ".triu()",
            "the triangle of the mask is flipped",
            exhibit="triangles/#mask-flipped",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:1, :, None] == ids[:1, None, :]",
            "the documents of the first row are taken for all",
        ),
        Wrong(
            "return same & past",
            "return ~(same & past)",
            "True means hidden, and not visible",
        ),
        Wrong(
            "return same & past",
            "return past",
            "texts see each other, and there is one triangle for all rows: ids "
            "are not looked at",
        ),
        Wrong(
            "return same & past",
            "return (same & past)[0]",
            "the axis of the rows is gone: the first row is given for all",
        ),
        Wrong(
            "return same & past",
            "return (same & past)[:, None]",
            "there is an axis for the heads; it should be (B, T, T)",
        ),
        Wrong(
            "return same & past",
            "return (same & past).int()",
            "ones and zeros are given; it should be True and False",
        ),
        Wrong(
            "return same & past",
            "return same * past.float()",
            "numbers with a point are given; it should be True and False",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return same & past",
            "    same = ids[:, None] == ids[None]\n    return same.tril()",
            "rows of the batch are compared with each other, and not tokens of a row",
        ),
        Wrong(
            "return same & past",
            "return (same & past)[:1].expand_as(same)",
            "the documents of the first row are taken for all rows of the batch",
        ),
        Wrong(
            "None] == ids",
            "None] <= ids",
            "a text sees those after it in the count, and not itself alone",
        ),
        Wrong(
            "None] == ids",
            "None] > ids",
            "a text sees those with a smaller number, and not itself",
        ),
        Wrong(
            ".tril()",
            ".tril(1)",
            "the next token is seen, if it is of the same text",
        ),
        Wrong(
            "T = ids.shape[-1]",
            "T = ids.shape[0]",
            "the number of rows is taken for the number of tokens",
        ),
        Wrong(
            "return same & past",
            "return torch.where(same & past, 0.0, -torch.inf)",
            "zeros and minus infinity are given; it should be True and False",
        ),
        Wrong(
            "return same & past",
            "return (same & past).any(dim=1)",
            "the axis of the queries is gone",
        ),
        Wrong(
            "return same & past",
            "return same ^ past",
            "one of the two must hold and not the other; both must hold",
        ),
        Wrong(
            "return same & past",
            "return same & ~past",
            "only the future of a text is seen: the triangle is turned around",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "(ids[:, :, None] - ids[:, None, :]).abs() <= 1",
            "texts with neighbouring numbers see each other",
        ),
        Wrong(
            "return same & past",
            "steps = ids[:, 1:] == ids[:, :-1]\n"
            "    return torch.diag_embed(steps, offset=-1) | "
            "torch.eye(T, dtype=torch.bool)",
            "a token sees itself and the one before alone, and not all of its text",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "torch.stack(\n"
            "        [\n"
            "            (ids == n)[:, :, None] & (ids == n)[:, None, :]\n"
            "            for n in ids[0].unique()\n"
            "        ]\n"
            "    ).any(dim=0)",
            "the documents of the first row are gone through for all rows, so "
            "that those of other rows see nothing",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "torch.stack(\n"
            "        [\n"
            "            (ids == n)[:, :, None] & (ids == n)[:, None, :]\n"
            "            for n in range(len(ids.unique()))\n"
            "        ]\n"
            "    ).any(dim=0)",
            "documents are counted from zero to how many there are, so that "
            "larger numbers see nothing",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    ids = ids.sort(dim=-1).values\n"
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "documents are laid in the order of their numbers; they should stay "
            "in that of the row",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    new = (ids[:, 1:] != ids[:, :-1]).long()\n"
            "    ids = torch.nn.functional.pad(new, (0, 1)).cumsum(dim=-1)\n"
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "a new text is counted from the last token of the one before",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    new = (ids[:, 1:] > ids[:, :-1]).long()\n"
            "    ids = torch.nn.functional.pad(new, (1, 0)).cumsum(dim=-1)\n"
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "only a larger number begins a new text; numbers may fall, too",
        ),
        Wrong(
            "return same & past",
            "return same & past & (ids != 0)[:, None]",
            "the text of number zero is taken for padding",
        ),
        Wrong(
            "return same & past",
            "return (same & past).mT",
            "rows and columns are swapped",
            same_as="the triangle of the mask is flipped",
        ),
        Wrong(
            "return same & past",
            "return (same & past).unsqueeze(0)",
            "there is one axis too many in front",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:, :, None] == ids",
            "only one side gets a new axis, so that tokens are compared with rows "
            "of the batch",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:, None, :] == ids",
            "the new axis stands before the tokens on one side alone, so that "
            "rows are compared with rows",
        ),
        Wrong(
            "torch.ones(T, T, dtype=torch.bool).tril()",
            "torch.ones(T, T).tril()",
            "the triangle is of numbers with a point, which & does not take",
        ),
        Wrong(
            "return same & past",
            "return same[:, -1:] & past",
            "only the last token's text is seen, by all tokens of the row",
        ),
        Wrong(
            "same & past",
            "same and past",
            "`and` asks for one answer; `&` joins tables of true and false",
        ),
        Wrong(
            "return same & past",
            "return torch.eye(T, dtype=torch.bool) & same",
            "each token sees itself alone",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:, :, None] == ids[:, :, None]",
            "both sides get the same new axis, so that each token is compared "
            "with itself",
            same_as="texts see each other: only the future is hidden",
        ),
    ],
    stars=1,
    minutes=6,
)
