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
            "the largest score is added; it should be subtracted",
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
            "scores is taken to have three axes; it may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores.max(dim=-1, keepdim=True)",
            "max(dim=...) gives a pair, the largest numbers and their places; the "
            "pair is subtracted, where the numbers alone should be",
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
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=50))",
            "large scores are cut off at 50, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=80))",
            "large scores are cut off at 80, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=88))",
            "large scores are cut off at 88, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=100))",
            "large scores are cut off at 100, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=500))",
            "large scores are cut off at 500, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.clamp(max=709))",
            "large scores are cut off at 709, so that they become equal",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.amax(dim=-2, keepdim=True))",
            "the largest of each column is subtracted; it should be that of the row",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.amax(dim=0, keepdim=True))",
            "the largest over the texts is subtracted; it should be that of the row",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.amax(dim=1, keepdim=True))",
            "the largest along axis 1 is subtracted; it should be that along the last",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.amax(dim=-1))",
            "the largest of the rows are laid along the wrong axis: "
            "keepdim is missing where they are taken",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores) - largest",
            "the largest score is subtracted after the exponential; it "
            "should be before",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores) / torch.exp(largest)",
            "it is divided by the exponential of the largest, and both "
            "overflow; the largest should be subtracted before",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores / scores.sum(dim=-1, keepdim=True))",
            "scores are divided by their sum before the exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "scores - largest",
            "the largest score is subtracted and no exponential taken",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "(scores - largest).abs()",
            "distances from the largest are shared out, and no exponential is taken",
            same_as="the largest score is subtracted and no exponential taken",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.relu(scores)",
            "scores below zero are set to zero, and no exponential is taken",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "scores.abs()",
            "scores lose their sign and are divided by their sum, without "
            "the exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.sigmoid(scores)",
            "a sigmoid is taken in place of the exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - largest) - 1",
            "expm1 is taken, or one is subtracted, so that the largest gets nothing",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "2.718 ** (scores - largest)",
            "e is rounded to 2.718",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "2.71828 ** (scores - largest)",
            "e is rounded to 2.71828",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "10 ** (scores - largest)",
            "powers of ten are taken, and not of e",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / torch.exp(scores).sum(dim=-1, keepdim=True)",
            "the largest is subtracted above the line, and not in the sum below it",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.exp(scores) / grown.sum(dim=-1, keepdim=True)",
            "the largest is subtracted in the sum, and not in what it divides",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.sigmoid(scores)",
            "a sigmoid of each score is taken, so that the weights of a "
            "row do not share one",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / grown.amax(dim=-1, keepdim=True)",
            "each row is divided by its largest; it should be by its sum",
            same_as="it is not divided by the sum",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / grown.mean(dim=-1, keepdim=True)",
            "each row is divided by its mean; it should be by its sum",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / scores.shape[-1]",
            "each row is divided by the number of scores; it should be by its sum",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / scores.sum(dim=-1, keepdim=True)",
            "it is divided by the sum of the scores; it should be by that "
            "of their exponentials",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "(torch.exp(scores) / torch.exp(scores).sum(dim=-1, "
            "keepdim=True)).nan_to_num()",
            "the largest score is not subtracted, and the nan that comes "
            "of it is replaced by zero",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / (grown.sum(dim=-1, keepdim=True) + 1e-6)",
            "a small number is added to the sum, which is never zero",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / (grown.sum(dim=-1, keepdim=True) + 1e-8)",
            "1e-8 is added to the sum, which is never zero",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
            "the softmax is taken twice",
        ),
        Wrong(
            "grown.sum(dim=-1, keepdim=True)",
            "grown.cumsum(dim=-1)",
            "each number is divided by the sum up to it; it should be by "
            "that of the whole row",
        ),
        Wrong(
            "    largest = scores.amax(dim=-1, keepdim=True)\n"
            "    grown = torch.exp(scores - largest)\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "    grown = torch.exp(scores)\n    return grown / grown.sum()",
            "the largest score is not subtracted, and it is divided by the "
            "sum of all numbers",
        ),
        Wrong(
            "    largest = scores.amax(dim=-1, keepdim=True)\n",
            "    scores = scores.flatten(0, -2)\n"
            "    largest = scores.amax(dim=-1, keepdim=True)\n",
            "all axes in front are made one, and the shape is not given back",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.stack([one / one.sum() for one in grown])",
            "one loop runs over the first axis, so that all rows of a text share one "
            "sum",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.stack([torch.softmax(one.flatten(), 0).view_as(one) for one in "
            "scores])",
            "one loop runs over the first axis, so that all rows of a text share one "
            "maximum and one sum",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "torch.stack([(e / e.sum()) for e in [(one - one.max()).exp() for one in "
            "scores]])",
            "one loop runs over the first axis, and takes one maximum and one sum for "
            "all rows of a text",
            same_as="one loop runs over the first axis, so that all rows of a text "
            "share one maximum and one sum",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.min())",
            "the smallest of all scores is subtracted; it should be the largest of "
            "the row",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - scores.mean())",
            "the mean of all scores is subtracted; it should be the largest of the row",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores / 1000)",
            "scores are divided by 1,000; the largest of the row should be subtracted",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - 1000)",
            "1,000 is subtracted from all scores; it should be the largest of the row",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores / scores.abs().amax(dim=-1, keepdim=True))",
            "scores are divided by the largest size of their row, where the largest "
            "must be subtracted",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp((scores - largest) / scores.shape[-1] ** 0.5)",
            "scores are divided by the root of their number; they should be taken as "
            "they are",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores) - torch.exp(largest)",
            "the exponential of the largest is subtracted; the largest should be, "
            "before the exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores).nan_to_num()",
            "the largest score is not subtracted, and an infinite exponential is "
            "replaced by the largest number",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "(torch.exp(scores) / torch.exp(scores).sum(dim=-1, "
            "keepdim=True)).nan_to_num(1.0)",
            "the largest score is not subtracted, and the nan that comes of it is "
            "replaced by one",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores - largest.clamp(min=0.0))",
            "the largest is subtracted only where it is positive, and far below zero "
            "all exponentials are zero",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / (grown.sum(dim=-1, keepdim=True) + 1e-9)",
            "1e-9 is added to the sum, which is never zero",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown / grown.sum(dim=-1).unsqueeze(-2)",
            "the sums of rows get their axis before the last; it should be behind",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=-1, keepdim=True) / grown",
            "the sum is divided by each number; it should be the other way round",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown - grown.sum(dim=-1, keepdim=True)",
            "the sum is subtracted; it should be what is divided by",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown * grown.sum(dim=-1, keepdim=True)",
            "it is multiplied by the sum; it should be divided",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(-scores)",
            "scores get a minus, and the largest is not subtracted",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "torch.exp(scores.abs())",
            "scores lose their sign, and the largest is not subtracted",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "(scores - largest) ** 2",
            "squares of the distances from the largest are taken in place of the "
            "exponential",
        ),
        Wrong(
            "torch.exp(scores - largest)",
            "scores**2",
            "scores are squared in place of the exponential",
        ),
        Wrong(
            "scores.amax(dim=-1, keepdim=True)",
            "scores",
            "each score is subtracted from itself, so that all weights are equal",
        ),
        Wrong(
            "grown / grown.sum(dim=-1, keepdim=True)",
            "grown.sum(dim=-1, keepdim=True)",
            "the sums of the exponentials are given; each should be divided by them",
        ),
    ],
    stars=2,
    minutes=10,
)
