"""Drop weights in training

Write `drop(weights, p, keep)`: dropout with the noise given, so that it can be judged.

`weights` has any shape; `keep` is a table of the same shape, True where a weight is
kept (in earnest it is drawn at random, False with probability p). What is dropped is
zero. What is kept grows, so that the mean over many draws is the weight itself.
"""

from headway.practice import Exercise, Wrong

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
    draw=lambda d: (d.normal(*d.lead, d.S).abs(), 0.3, d.booleans(*d.lead, d.S)),
    law="On average over many draws nothing has changed.",
    right=["return torch.where(keep, weights, 0.0) * (1 / (1 - p))"],
    wrong=[
        Wrong(
            "(1 - p)",
            "1 - p",
            "the brackets around 1 - p are missing, so that p is subtracted at the end",
            hint="Division goes before subtraction.",
        ),
        Wrong(
            "/ (1 - p)",
            "* 2",
            "what is kept is doubled, which is right for p = 0.5 only",
        ),
        Wrong(
            "/ (1 - p)",
            "* (1 + p)",
            "what is kept grows by the factor 1 + p",
        ),
        Wrong(
            "/ (1 - p)",
            "/ keep.to(weights.dtype).mean()",
            "it is divided by the share that was kept this time, and not by 1 - p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights[keep] / (1 - p)",
            "what is dropped is cut out, and not set to zero",
            hint="weights[keep] is a row of those that are kept, with no gaps.",
        ),
        Wrong(
            " / (1 - p)",
            "",
            "what is kept does not grow",
            exhibit="dropout/#dropout-without-rescaling",
        ),
        Wrong("(1 - p)", "p", "what is kept is divided by the rate of what is dropped"),
        Wrong("/ (1 - p)", "* (1 - p)", "what is kept shrinks, and does not grow"),
        Wrong("weights * keep", "weights * ~keep", "what is to be kept is dropped"),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * keep / (weights * keep).sum(dim=-1, keepdim=True)",
            "each row is made to sum to one again",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights.masked_fill(~keep, -torch.inf) / (1 - p)",
            "weights are dropped by minus infinity, which is for scores",
            exhibit="dropout/#dropout-before-softmax",
        ),
    ],
)
