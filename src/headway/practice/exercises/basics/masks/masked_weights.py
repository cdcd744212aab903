"""Second way: minus infinity

Write `masked_weights(scores, mask)`: the softmax of each row over what is visible.

Scores have shape (..., T, S), the mask (T, S) is True where a query may look. Hidden
keys get a weight of exactly zero. A row that sees nothing gives zeros, and not nan.
Gradients of the scores are finite, for such a row too. The scores are left as they are.
"""

from headway.practice import Exercise, Property, Wrong

# --- your file ---
import torch
from torch import Tensor


def masked_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Give weights (..., T, S); rows of the mask (T, S) may hide everything."""
    # --- write ---
    empty = ~mask.any(dim=-1, keepdim=True)
    hidden = scores.masked_fill(~(mask | empty), -torch.inf)
    weights = torch.softmax(hidden, dim=-1)
    return weights.masked_fill(empty, 0.0)
    # --- written ---


if __name__ == "__main__":
    mask = torch.tensor([[True, False], [True, True], [False, False]])
    print(masked_weights(torch.zeros(3, 2), mask))
    # tensor([[1.0000, 0.0000],
    #         [0.5000, 0.5000],
    #         [0.0000, 0.0000]])
# --- end of your file ---


def with_an_empty_row(d):  # type: ignore[no-untyped-def]
    """Draw a mask where one row sees nothing, none all, and each key is seen."""
    mask = d.booleans(d.T, d.S)
    mask[:, 0] = True
    mask[d.T // 2] = False
    if d.T > 1 and d.S > 1:
        mask[0] |= ~mask.any(dim=0)
        mask[mask.all(dim=-1), 0] = False
    return mask


def scores_far_from_zero(d):  # type: ignore[no-untyped-def]
    """Draw scores; loud ones lie below -10000, or so high that they overflow."""
    scores = d.normal(*d.lead, d.T, d.S)
    scores[0] -= 1000.0 * (d.loud - 1.0)
    scores[1:] += 1000.0 * (d.loud - 1.0)
    return scores


def gradients_finite(masked_weights, scores, mask):  # type: ignore[no-untyped-def]
    scores = scores.clone().requires_grad_()
    masked_weights(scores.clone(), mask).square().sum().backward()
    return scores.grad is not None and bool(scores.grad.isfinite().all())


# All lines of the solution, for mistakes that take no care of rows that see nothing.
PLAIN = """    empty = ~mask.any(dim=-1, keepdim=True)
    hidden = scores.masked_fill(~(mask | empty), -torch.inf)
    weights = torch.softmax(hidden, dim=-1)
    return weights.masked_fill(empty, 0.0)"""

EXERCISE = Exercise(
    answer="masked_weights",
    read=("basics/masks/#second-way-minus-infinity", "Second way: minus infinity"),
    hints=(
        "Which score has an exponential of zero? And what is zero divided by zero?",
        "masked_fill gives a new table, with another number where the mask you hand it "
        "is True. Do not lose what it gives.",
        "Let a row that sees nothing see everything while the softmax runs, and fill "
        "its weights with zeros afterwards; then no nan is ever made.",
    ),
    draw=lambda d: (scores_far_from_zero(d), with_an_empty_row(d)),
    properties=[
        Property(
            "gradients are finite, for rows that see nothing too", gradients_finite
        )
    ],
    law="No weight goes to what is hidden; a row that sees nothing shares nothing.",
    right=[
        """
        grown = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
        large = scores.masked_fill(~mask, -1e300).amax(dim=-1, keepdim=True)
        grown = (scores.clamp(max=large) - large).exp() * mask
        total = grown.sum(dim=-1, keepdim=True)
        return grown / total.masked_fill(total == 0, 1.0)
        """,
        """
        from headway import hide_by_minus_infinity

        return torch.where(mask, hide_by_minus_infinity(scores, mask), 0.0)
        """,
    ],
    wrong=[
        Wrong(
            "hidden = scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores.masked_fill(~(mask | empty), -torch.inf)\n    hidden = scores",
            "the result of masked_fill is lost, so nothing is hidden",
            exhibit="masks/#masked-fill-without-assignment",
        ),
        Wrong(
            "~(mask | empty), -torch.inf",
            "mask | empty, -torch.inf",
            "the mask is inverted: what may be seen is hidden",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            "-torch.inf",
            "0.0",
            "hidden scores are set to zero, whose exponential is one",
        ),
        Wrong(
            "-torch.inf",
            "-10.0",
            "hidden scores are set to -10, which lets a little through",
            exhibit="masks/#mask-fills-too-high",
        ),
        Wrong(
            "scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores * (mask | empty)",
            "scores are multiplied by the mask, so that hidden ones are zero",
            exhibit="masks/#scores-multiplied-by-the-mask",
            same_as="hidden scores are set to zero, whose exponential is one",
        ),
        Wrong(
            "scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores + (mask | empty)",
            "a mask of zeros and ones is added to the scores",
            exhibit="masks/#mask-of-ones-added",
        ),
        Wrong(
            "weights = torch.softmax(hidden, dim=-1)",
            "weights = torch.softmax(scores, dim=-1) * mask",
            "weights are hidden after the softmax, and their sum is not one",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "    return weights.masked_fill(empty, 0.0)",
            "    return weights",
            "a row that sees nothing sees everything",
        ),
        Wrong(
            "hidden = scores.masked_fill",
            "B, T, S = scores.shape\n    hidden = scores.masked_fill",
            "scores is taken to have three axes, and may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=2)",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)",
            "a row that sees nothing is left to the softmax, which divides zero by "
            "zero there: nan",
            exhibit="padding/#fully-masked-row",
            hint="Which row has no exponential but zeros?",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)",
            "the mask is inverted, so that a row that sees nothing sees everything",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)",
            "a number far below zero hides, and where all scores are this number, all "
            "keys get the same weight",
            hint="What does a softmax give for a row of equal numbers?",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores * mask, dim=-1)",
            "scores are multiplied by the mask: hidden ones are zero, whose "
            "exponential is one, in a row that sees nothing too",
            exhibit="masks/#scores-multiplied-by-the-mask",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)",
            "the softmax runs over the queries: columns sum to one, and not rows",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -100.0), -1) * mask",
            "hidden scores are set to a number such as -100 or -10000, which lies "
            "above scores that are smaller still",
            exhibit="masks/#mask-fills-too-high",
        ),
        Wrong(
            PLAIN,
            "    grown = scores.exp() * mask\n"
            "    return (grown / grown.sum(dim=-1, keepdim=True)).nan_to_num()",
            "the largest score is not subtracted: exponentials of large ones overflow, "
            "and those of small ones are zero",
            hint="torch.softmax subtracts the largest score before the exponential.",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores + ~mask * -torch.inf, dim=-1)",
            "zero, where a key is visible, is multiplied by minus infinity: nan",
            hint="masked_fill and where choose, and multiply nothing.",
        ),
    ],
    survivors={"-1 -> 1": "the mask has two axes, so that the last is axis 1"},
    stars=2,
)
