"""Scores to weights

Write `softmax(scores)`: the softmax of each row, by exponentials and sums.

The weights of one row, along the last axis, are positive and sum to one. Scores may be
large: a score of 1,000 must not overflow.
"""

from headway.practice import Exercise, Forbidden, Property
from headway.practice.task.definition import EQUAL

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


def drawn_scores(d):  # type: ignore[no-untyped-def]
    """Draw scores; where they are loud, one is only a little too large for exp.

    One is where all sizes are equal, too: there a missing keepdim is no error, so that
    what was subtracted can be told. Another row is far below zero.
    """
    scores = 20 * d.normal(*d.lead, d.T, d.S)
    if d.axes > 1 or d.B == d.T == d.S == EQUAL["S"]:
        scores[..., 0, :].clamp_(max=700.0)
        scores[..., 0, -1] = 711.0
        scores[..., 1:2, :] -= 3000.0
    return scores


def shifted(softmax, scores):  # type: ignore[no-untyped-def]
    return torch.allclose(softmax(scores + 1000), softmax(scores), atol=1e-9)


def alone(softmax, scores):  # type: ignore[no-untyped-def]
    *_, row = scores.flatten(0, -2)
    *_, weights = softmax(scores).flatten(0, -2)
    return torch.allclose(softmax(row), weights, atol=1e-9)


def sums(softmax, scores):  # type: ignore[no-untyped-def]
    total = softmax(scores).sum(dim=-1)
    return torch.allclose(total, torch.ones_like(total))


EXERCISE = Exercise(
    answer="softmax",
    forbids=[
        Forbidden(
            "The task says: by exponentials and sums. torch.softmax takes both for "
            "you.",
            "return torch.softmax(scores, dim=-1)",
            names=("softmax", "log_softmax", "softmin"),
        )
    ],
    read=("basics/simple_attention/#from-scores-to-weights", "From scores to weights"),
    hints=(
        "Which function makes any number positive and keeps the order?",
        "Take the exponential of all scores, and divide each row by its sum.",
        "Subtracting one number from all scores of a row changes no weight; which "
        "number keeps the exponential from overflowing?",
    ),
    draw=lambda d: (drawn_scores(d),),
    law="The weights of a row sum to one, and do not change when a number is added to "
    "all of its scores.",
    properties=[
        Property("the weights of each row sum to one", sums),
        Property(
            "no weight changes when 1,000 is added to all scores of a row", shifted
        ),
        Property("a row alone, of shape (S), gets the same weights", alone),
    ],
    right=[
        """
        # max(dim=...) gives numbers and places; keepdim lets each row keep its own.
        e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        return e / e.sum(dim=-1, keepdim=True)
        """,
        """
        # Row by row: slow, but it can be read like the equation.
        rows = scores.reshape(-1, scores.shape[-1])
        weights = []
        for row in rows:
            e = (row - row.max()).exp()
            weights.append(e / e.sum())
        return torch.stack(weights).reshape(scores.shape)
        """,
        """
        # By the logarithm of the sum: the one number of a row that kernels keep.
        largest = scores.amax(dim=-1, keepdim=True)
        total = torch.exp(scores - largest).sum(dim=-1, keepdim=True)
        return torch.exp(scores - (largest + total.log()))
        """,
    ],
    stars=2,
    minutes=10,
)
