"""Hide the future

Write `causal_mask(T, S)`: a table of T rows, one for each query, and S columns, one
for each key, boolean, with True where the query may look at the key.

The queries are the newest T of S tokens: the last query belongs to the last key, and
sees every key; the query before it sees all but the last. If there are more queries
than keys, the first ones see nothing.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor


def causal_mask(T: int, S: int) -> Tensor:
    """Give a boolean mask of shape (T, S), True where a query may look at a key."""
    # --- write ---
    every = torch.ones(T, S, dtype=torch.bool)
    return every.tril(S - T)
    # --- written ---


if __name__ == "__main__":
    # Two new queries, four keys.
    print(causal_mask(2, 4).int())
    # tensor([[1, 1, 1, 0],
    #         [1, 1, 1, 1]], dtype=torch.int32)
# --- end of your file ---


EXERCISE = Exercise(
    answer="causal_mask",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "How many keys may the last query see, and how many the one before it?",
        "torch.tril keeps what lies on a diagonal and below it; its second argument "
        "says which diagonal. Which one ends in the lower right corner?",
        "Begin with torch.ones(T, S, dtype=torch.bool), and cut it along the diagonal "
        "that leads to the last key: it is shifted by as many columns as there are "
        "keys more than queries.",
    ),
    draw=lambda d: (d.T, d.S),
    trials=(DIFFERENT, EQUAL, {"T": 7, "S": 5}),
    law="Row t of T sees the first t + S - T keys, and the last row sees all of them.",
    right=[
        """
        queries = torch.arange(S - T, S)
        return torch.arange(S) <= queries[:, None]
        """,
        """
        rows = [[s <= t + S - T for s in range(S)] for t in range(T)]
        return torch.tensor(rows)
        """,
    ],
    wrong=[
        Wrong(
            "tril(S - T)",
            "tril()",
            "the triangle is cut from the upper left corner, so with fewer queries "
            "than keys the newest token is taken for the oldest",
        ),
        Wrong(
            "tril(S - T)",
            "triu(S - T)",
            "the triangle is flipped: the future is seen, and not the past",
        ),
        Wrong("tril(S - T)", "tril(S - T + 1)", "each query sees the next token too"),
        Wrong("tril(S - T)", "tril(S - T - 1)", "no query sees its own token"),
        Wrong("tril(S - T)", "triu(S - T + 1)", "True means hidden, and not visible"),
        Wrong(
            "dtype=torch.bool",
            "dtype=torch.int64",
            "the mask is of numbers and not of True and False",
        ),
        Wrong("tril(S - T)", "clone()", "nothing is hidden"),
        Wrong(
            "tril(S - T)",
            "tril(max(S - T, 0))",
            "the diagonal is never moved to the left, so that with more queries than "
            "keys the first ones see something",
        ),
        Wrong(
            "tril(S - T)",
            "tril(abs(S - T))",
            "the diagonal is moved to the right by the difference without its sign, "
            "also where there are more queries than keys",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, S, dtype=torch.bool)\n    return every.tril()[-T:]",
            "the last T rows of a square are taken, which has no more than S rows",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, S, dtype=torch.bool)\n    return every.tril()[:T]",
            "the first T rows of a square are taken: those of the oldest tokens, and "
            "not of the newest",
        ),
        Wrong(
            "tril(S - T)",
            "tril(S - T).T",
            "rows and columns are swapped: it is the right table, turned around",
        ),
        Wrong(
            "tril(S - T)",
            "triu(1)",
            "True means hidden, and not visible, and the triangle is cut from the "
            "upper left corner",
        ),
        Wrong(
            "tril(S - T)",
            "tril(T - S)",
            "the diagonal is moved to the other side",
            hint="Which way does tril(1) move the diagonal: to the right, or down?",
        ),
        Wrong(
            "torch.ones(T, S, dtype=torch.bool)",
            "torch.ones(S, T, dtype=torch.bool)",
            "rows are for keys, and columns for queries",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, T, dtype=torch.bool)\n    return every.tril(T - S)",
            "T and S are swapped everywhere",
        ),
    ],
    stars=1,
)
