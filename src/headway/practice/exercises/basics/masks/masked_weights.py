"""Second way: minus infinity

Write `masked_weights(scores, mask)`: the softmax of each row over what is visible.

Scores have shape (..., T, S), the mask (T, S) is True where a query may look. Hidden
keys get a weight of exactly zero. A row that sees nothing gives zeros, and not nan.
Gradients of the scores are finite, for such a row too. Scores may be large, hidden ones
larger than all that are visible. They are left as they are.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

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


def run(masked_weights, scores, mask):  # type: ignore[no-untyped-def]
    weights = masked_weights(scores, mask)
    scores = scores.detach().clone().requires_grad_()
    again = masked_weights(scores.clone(), mask)
    gradients = "none"
    if isinstance(again, Tensor) and again.requires_grad:
        again.square().sum().backward()
        gradients = "finite" if scores.grad.isfinite().all() else "nan"
    return {"the weights": weights, "gradients of the scores": gradients}


def drawn(d):  # type: ignore[no-untyped-def]
    """Draw both; if twice as loud, the hidden lie far above the visible."""
    scores, mask = scores_far_from_zero(d), with_an_empty_row(d)
    return scores + (2000.0 if d.loud == 2.0 else 0.0) * ~mask, mask


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
    draw=drawn,
    trials=(DIFFERENT, EQUAL, LOUD, {"loud": 2.0}),
    ask=run,
    law="No weight goes to what is hidden; a row that sees nothing shares nothing.",
    right=[
        """
        # By hand: the largest visible score is subtracted, and the mask multiplies.
        large = scores.masked_fill(~mask, -1e30).amax(dim=-1, keepdim=True)
        grown = (scores.clamp(max=large) - large).exp() * mask
        total = grown.sum(dim=-1, keepdim=True)
        return grown / total.masked_fill(total == 0, 1.0)
        """,
        """
        # A large finite number hides, too; then a row without keys has no nan to hide.
        lowest = torch.finfo(scores.dtype).min
        return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask
        """,
        """
        # The book's own function, which other chapters use.
        from headway import hide_by_minus_infinity

        return torch.where(mask, hide_by_minus_infinity(scores, mask), 0.0)
        """,
    ],
    survivors={"-1 -> 1": "the mask has two axes, so that the last is axis 1"},
    stars=2,
    minutes=12,
)
