"""Scores to weights

Write `softmax(scores)`: the softmax of each row, by exponentials and sums.

The weights of one row, along the last axis, are positive and sum to one. Scores may be
large: a score of 1,000 must not overflow.
"""

from headway.practice import Exercise, Forbidden, Property, Wrong
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
    what was subtracted can be told.
    """
    scores = 20 * d.normal(*d.lead, d.T, d.S)
    if d.axes > 1 or d.B == d.T == d.S == EQUAL["S"]:
        scores[..., 0, :].clamp_(max=700.0)
        scores[..., 0, -1] = 711.0
    return scores


def shifted(softmax, scores):  # type: ignore[no-untyped-def]
    return torch.allclose(softmax(scores + 1000), softmax(scores), atol=1e-9)


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
    ],
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
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.softmax(scores, dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
            hint="The weights of one query are one row, and its numbers lie along the "
            "last axis.",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.softmax(scores, dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.softmax(scores, dim=1)",
            "the softmax runs over axis 1, which is not the last",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.softmax(scores, dim=2)",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.mean(dim=-1, keepdim=True)",
            "the mean of a row is subtracted, and not its largest score",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.amin(dim=-1, keepdim=True)",
            "the smallest score of a row is subtracted, and not its largest",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.argmax(dim=-1, keepdim=True)",
            "the place of the largest score is subtracted, and not the score",
            hint="max(dim=...) gives two tensors: first the largest numbers, then "
            "their places.",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=700))",
            "large scores are cut off, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "scores",
            "scores are divided by their sum, without the exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp2(scores - largest)",
            "powers of two are taken, and not of e",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.log_softmax(scores, dim=-1)",
            "the logarithms of the weights are given",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(largest - scores)",
            "the sign is turned, so that the smallest score gets the most",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp2(scores)",
            "powers of two are taken, and the largest score is not subtracted",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.norm(dim=-1, keepdim=True)",
            "each row is divided by its length, and not by its sum",
        ),
        Wrong(
            "largest = scores.amax",
            "B, T, S = scores.shape\n    largest = scores.amax",
            "scores is taken to have three axes, and may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.max(dim=-1, keepdim=True)",
            "max(dim=...) gives a pair, the largest numbers and their places, and the "
            "pair is subtracted",
            hint="Of the pair that max(dim=...) gives, .values are the largest "
            "numbers. amax gives these alone.",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=0, keepdim=True)",
            "it is divided by the sum over the first axis, which are the texts",
            hint="The weights of one row lie along the last axis, and their sum too. "
            "Which dim is that?",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=1, keepdim=True)",
            "it is divided by the sum over axis 1, which is not the last",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores / scores.max())",
            "scores are divided by the largest of all, where it must be subtracted",
            hint="Subtracting a number from all scores changes no weight. Does "
            "dividing by one?",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores / largest)",
            "scores are divided by the largest of their row, where it must be "
            "subtracted",
            hint="Subtracting a number from all scores changes no weight. Does "
            "dividing by one?",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=1)",
            "it is divided by the sum over axis 1, and keepdim is missing too",
            hint="The last axis is -1, however many there are; with keepdim=True it "
            "stays, of size one.",
        ),
    ],
    stars=2,
)
