"""Hide the future

Write `causal_mask(T, S)`: a table of T rows, one for each query, and S columns, one
for each key, boolean, with True where the query may look at the key.

The queries are the newest T of S tokens: the last query belongs to the last key, and
sees every key; the query before it sees all but the last. If there are more queries
than keys, the first ones see nothing.
"""

from headway.practice import Exercise
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
    stars=1,
    minutes=5,
)
