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
        # Positions compared: the form that also fits a window, or tokens out of order.
        queries = torch.arange(S - T, S)
        return torch.arange(S) <= queries[:, None]
        """,
        """
        # Two loops in one line: each entry says itself what it is.
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
            "the mask is of numbers; it should be of True and False",
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
            "the first T rows of a square are taken: those of the oldest tokens; "
            "they should be those of the newest",
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
        Wrong(
            "tril(S - T)",
            "tril(-1)",
            "the triangle is cut from the upper left corner, and no query "
            "sees its own token",
        ),
        Wrong(
            "tril(S - T)",
            "tril(1)",
            "the triangle is cut from the upper left corner, and each "
            "query sees the next token too",
        ),
        Wrong(
            "tril(S - T)",
            "triu()",
            "the triangle is cut from the upper left corner and flipped: "
            "the future is seen",
        ),
        Wrong(
            "tril(S - T)",
            "triu(T - S)",
            "the triangle is flipped, and the diagonal moved to the other side",
        ),
        Wrong(
            "tril(S - T)",
            "tril(S)",
            "the diagonal is moved by S, which hides nothing",
            same_as="nothing is hidden",
        ),
        Wrong(
            "tril(S - T)",
            "tril(-T)",
            "the diagonal is moved down by T, which hides all",
        ),
        Wrong(
            "tril(S - T)",
            "tril(T)",
            "the diagonal is moved by T; it should be by S - T",
        ),
        Wrong(
            "tril(S - T)",
            "tril(T - S - 1)",
            "the diagonal is moved to the other side, and by one more",
        ),
        Wrong(
            "tril(S - T)",
            "tril(S - T).flip(0)",
            "the order of the queries is turned around",
        ),
        Wrong(
            "tril(S - T)",
            "tril(S - T).flip(1)",
            "the order of the keys is turned around",
        ),
        Wrong(
            "tril(S - T)",
            "tril(S - T)[None]",
            "there is an axis in front that is not asked for",
        ),
        Wrong(
            "torch.ones(T, S, dtype=torch.bool)",
            "torch.zeros(T, S, dtype=torch.bool)",
            "a table of False is cut, in which nothing is seen",
            same_as="the diagonal is moved down by T, which hides all",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, S, dtype=torch.bool)\n    return every.tril()",
            "the mask is a square of S; it should have T rows",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(T, T, dtype=torch.bool)\n    return every.tril()",
            "the mask is a square of T; it should have S columns",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.full((T, S), -torch.inf)\n    return every.triu(S - T + 1)",
            "a table to be added is given, with zeros and minus infinity; "
            "it should be of True and False",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.full((T, S), -torch.inf)\n    return every.triu(1)",
            "a table to be added is given, cut from the upper left corner; "
            "it should be of True and False",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.zeros(T, S, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        every[t, : t + S - T + 1] = True\n"
            "    return every",
            "the end of a slice is below zero for the first of more "
            "queries than keys, and Python counts that from the end",
            hint="max(0, ...) keeps the end of a slice from going below zero.",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.zeros(T, S, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        every[t, : t + S - T] = True\n"
            "    return every",
            "the end of a slice is left out, so that no query sees its own "
            "token; below zero Python counts it from the end",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(T, S, dtype=torch.bool)\n"
            "    every[:, S - T :] = torch.ones(T, T, "
            "dtype=torch.bool).tril()\n"
            "    return every",
            "the triangle is put into the last T columns, and there may be fewer",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, S, dtype=torch.bool)\n"
            "    return every.tril()[S - T :]",
            "the square is cut from row S - T, which is below zero for "
            "more queries than keys",
            same_as="the last T rows of a square are taken, which has no more than "
            "S rows",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.zeros(T, S, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        for s in range(t + 1):\n"
            "            every[t, s] = True\n"
            "    return every",
            "query t sees keys up to number t, and with more queries than keys "
            "there is no such key",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "return torch.arange(S) <= torch.arange(S - T, S).clamp(min=0)[:, None]",
            "positions below zero are set to zero, so that queries without a key "
            "see the first one",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "past = torch.ones(T, S - T, dtype=torch.bool)\n"
            "    return torch.cat([past, torch.ones(T, T, "
            "dtype=torch.bool).tril()], dim=1)",
            "a square for T keys is put behind the S - T older ones, and with "
            "more queries than keys that number is below zero",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "past = torch.ones(T, max(0, S - T), dtype=torch.bool)\n"
            "    return torch.cat([past, torch.ones(T, T, "
            "dtype=torch.bool).tril()], dim=1)",
            "a square for T keys is put behind the older ones, also where there "
            "are fewer keys than T",
        ),
        Wrong(
            "tril(S - T)",
            "tril(min(S - T, 0))",
            "the diagonal is never moved to the right, so that with more keys "
            "than queries the newest are hidden",
        ),
        Wrong(
            "every.tril(S - T)",
            "every.tril(S - T) & (T <= S)",
            "with more queries than keys nothing is seen; only the first queries "
            "should see nothing",
        ),
        Wrong(
            "every = torch.ones(T, S, dtype=torch.bool)\n    return every.tril(S - T)",
            "every = torch.ones(S, S, dtype=torch.bool)\n"
            "    return every.tril()[:, -T:]",
            "the last T columns of a square are taken; it should be the last T rows",
        ),
    ],
    stars=1,
    minutes=5,
)
