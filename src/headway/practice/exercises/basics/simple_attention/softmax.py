"""Scores to weights

Write `softmax(scores)`: the softmax of each row, without `torch.softmax`.

The weights of one row, along the last axis, are positive and sum to one. Scores may be
large: a score of 1,000 must not overflow.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def softmax(scores: Tensor) -> Tensor:
    """Turn scores of any shape (..., S) into weights of the same shape."""
    # --- write ---
    largest = scores.amax(dim=-1, keepdim=True)
    grown = torch.exp(scores - largest)
    return grown / grown.sum(dim=-1, keepdim=True)
    # --- written ---


if __name__ == "__main__":
    print(softmax(torch.tensor([[0.0, 0.0], [1.0, 2.0]])))
    # tensor([[0.5000, 0.5000],
    #         [0.2689, 0.7311]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="softmax",
    read=("basics/simple_attention/#from-scores-to-weights", "From scores to weights"),
    hints=(
        "Which function makes any number positive and keeps the order?",
        "Take the exponential of all scores, and divide each row by its sum.",
        "Subtracting one number from all scores of a row changes no weight; which "
        "number keeps the exponential from overflowing?",
    ),
    draw=lambda d: (20 * d.normal(d.B, d.T, d.S),),
    law="The weights of a row sum to one, and do not change when a number is added to "
    "all of its scores.",
    right=[
        """
        rows = scores.reshape(-1, scores.shape[-1])
        weights = []
        for row in rows:
            e = (row - row.max()).exp()
            weights.append(e / e.sum())
        return torch.stack(weights).reshape(scores.shape)
        """,
        "return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()",
    ],
    wrong=[
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores)",
            "the largest score is not subtracted, so that large ones overflow",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=-2, keepdim=True)",
            "it is divided by the sum over the queries, not over the keys",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum()",
            "it is divided by the sum of all numbers",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown",
            "it is not divided by the sum",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=-1)",
            "the sums of rows are laid along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.max()",
            "one maximum is subtracted from all rows, so that small rows become 0/0",
        ),
        Wrong(
            "scores - largest",
            "scores + largest",
            "the maximum is added, not subtracted",
        ),
    ],
)
