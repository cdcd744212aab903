"""A short memory

Write `short_memory(T, W)`: a mask that lets each of T tokens see the latest W tokens,
itself included, and no more.

The mask has shape (T, T), boolean, True where a token may look. This is called a
sliding window.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def short_memory(T: int, W: int) -> Tensor:
    """Give a mask (T, T): True for a token and the W - 1 before it."""
    # --- write ---
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return past.triu(1 - W)
    # --- written ---


if __name__ == "__main__":
    print(short_memory(6, 3).int())
    # tensor([[1, 0, 0, 0, 0, 0],
    #         [1, 1, 0, 0, 0, 0],
    #         [1, 1, 1, 0, 0, 0],
    #         [0, 1, 1, 1, 0, 0],
    #         [0, 0, 1, 1, 1, 0],
    #         [0, 0, 0, 1, 1, 1]], dtype=torch.int32)
# --- end of your file ---


EXERCISE = Exercise(
    answer="short_memory",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "How many places below the diagonal is the first key that is forgotten?",
        "Cut twice: what lies above the diagonal is the future, and what lies far "
        "below it is forgotten.",
        "tril keeps what lies on a diagonal and below, triu what lies on it and above. "
        "Diagonals below the middle have negative numbers.",
    ),
    draw=lambda d: (d.S, d.W),
    trials=({}, {"S": 9, "W": 1}, {"S": 5, "W": 5}, {"S": 4, "W": 7}),
    law="Every row sees W keys, except the first W - 1, which see all there are. "
    "Models for long texts use it: with a kernel that skips what is hidden, the cost "
    "grows with T times W and not with T times T.",
    right=[
        """
        # Distances compared: both rules can be read, the past and the window.
        t, s = torch.arange(T)[:, None], torch.arange(T)
        return (s <= t) & (t - s < W)
        """,
        """
        # Row by row: slow, but each slice is the window itself.
        mask = torch.zeros(T, T, dtype=torch.bool)
        for t in range(T):
            mask[t, max(0, t - W + 1) : t + 1] = True
        return mask
        """,
        """
        # The past, without what is older: two triangles subtracted.
        every = torch.ones(T, T, dtype=torch.bool)
        return every.tril() & ~every.tril(-W)
        """,
    ],
    minutes=5,
)
