"""Several texts in one row

Texts stand one behind the other in a row, without padding. Write
`same_document(ids)`: who may look at whom.

`ids` (B, T) holds the number of the text that each token belongs to. A token may look
at itself, and at those tokens of its own text that came before it, and at no other. The
mask has shape (B, T, T), boolean, True where a query may look.
"""

from headway.practice import Exercise

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
    stars=1,
    minutes=6,
)
