"""A short memory

Write `short_memory(T, W)`: a mask that lets each of T tokens see the latest W tokens,
itself included, and no more.

The mask has shape (T, T), boolean, True where a token may look. This is called a
sliding window.
"""

from headway.practice import Exercise, Wrong

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
        t, s = torch.arange(T)[:, None], torch.arange(T)
        return (s <= t) & (t - s < W)
        """,
    ],
    wrong=[
        Wrong(
            "1 - W",
            "-W",
            "one token too many is seen: W count without the token itself",
            exhibit="caches/#window-too-wide",
        ),
        Wrong("1 - W", "2 - W", "one token too few is seen"),
        Wrong("past.triu(1 - W)", "past", "nothing is forgotten"),
        Wrong(".tril()", ".tril(W - 1)", "the window reaches into the future as well"),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T) < W)",
            "the first W tokens are seen, and not the latest",
        ),
        Wrong("past.triu(1 - W)", "past.triu(1 - W).T", "rows and columns are swapped"),
        Wrong(
            "past.triu(1 - W)",
            "past & ~past.triu(1 - W)",
            "the mask is inverted: what the window holds is hidden",
        ),
        Wrong(
            ".tril()",
            ".clone()",
            "the future is seen: only what is forgotten is cut off",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.tril(-1).triu(-W)",
            "the window ends before the token itself: a token does not see itself",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past | torch.ones_like(past).triu(1 - W)",
            "the two conditions are joined by or, so that one of them is enough",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T)[:, None] // W == torch.arange(T) // W)",
            "the text is cut into blocks of W, and each token sees its own block",
        ),
    ],
)
