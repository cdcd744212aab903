"""Drop weights in training

Write `drop(weights, p, keep)`: dropout with the noise given, so that it can be judged.

`weights` has any shape; `keep` is a table of the same shape, True where a weight is
kept (in earnest it is drawn at random, False with probability p). What is dropped is
zero. What is kept grows, so that the mean over many draws is the weight itself.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def drop(weights: Tensor, p: float, keep: Tensor) -> Tensor:
    """Drop weights (...) where keep (...) is False, and let the others grow."""
    # --- write ---
    return weights * keep / (1 - p)
    # --- written ---


if __name__ == "__main__":
    keep = torch.tensor([True, False, True, False, False, True])
    print(drop(torch.full((6,), 0.25), 0.5, keep))
    # tensor([0.5000, 0.0000, 0.5000, 0.0000, 0.0000, 0.5000])
# --- end of your file ---


EXERCISE = Exercise(
    answer="drop",
    read=("basics/masks/#no-change-on-average", "No change on average"),
    hints=(
        "If a weight survives in one of two draws, how large must it then be?",
        "Zero where keep is False; where it is True, divide by how often that happens.",
        "A weight is kept with probability one minus p.",
    ),
    draw=lambda d: (
        d.normal(*d.lead, d.S).abs(),
        0.1 * (d.axes + 2),
        d.booleans(*d.lead, d.S),
    ),
    law="On average over many draws nothing has changed.",
    right=[
        """
        # where chooses and multiplies nothing: even nan may be dropped.
        return torch.where(keep, weights, 0.0) * (1 / (1 - p))
        """,
        """
        # Grown first, dropped second: the order is free.
        return (weights / (1 - p)).masked_fill(~keep, 0.0)
        """,
    ],
    minutes=3,
)
