"""First way: zero, then renormalise

Write `renormalise(weights, mask)`: set the hidden weights to zero, and divide each row
by what is left, so that it sums to one again.

Weights have shape (..., T, S); each row sums to one already. The mask has shape (T, S),
True where a query may look. Each row of the mask allows at least one key.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def renormalise(weights: Tensor, mask: Tensor) -> Tensor:
    """Hide weights (..., T, S) by a mask (T, S), True where a query may look."""
    # --- write ---
    kept = weights * mask
    return kept / kept.sum(dim=-1, keepdim=True)
    # --- written ---


if __name__ == "__main__":
    weights = torch.tensor([[0.25, 0.75], [0.50, 0.50]])
    print(renormalise(weights, torch.tensor([[True, False], [True, True]])))
    # tensor([[1.0000, 0.0000],
    #         [0.5000, 0.5000]])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    scores, mask = d.normal(*d.lead, d.T, d.S), d.booleans(d.T, d.S)
    if not d.axes:  # what is left is little, since a hidden key had nearly all
        scores[..., -1] += 16
        mask[:, -1] = False
    mask[:, 0] = True
    return torch.softmax(scores, dim=-1), mask


EXERCISE = Exercise(
    answer="renormalise",
    read=(
        "basics/masks/#first-way-zero-then-renormalise",
        "First way: zero, then renormalise",
    ),
    hints=(
        "What do the weights of a row sum to, after some of them became zero?",
        "Multiply by the mask, then divide by the sum of each row.",
        "The sums must keep their axis (keepdim=True), so that each row is divided by "
        "its own.",
    ),
    draw=draw,
    trials=(
        {},
        dict.fromkeys("BHGTSDVEW", 4),
        {"loud": 0.1, "axes": 2},
        {"axes": 0, "T": 1},
    ),
    law="What is visible keeps its proportions, and sums to one.",
    right=[
        """
        # By way of scores: the logarithm of a weight is one, and minus infinity hides.
        scores = weights.log().masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1)
        """,
        """
        # The library divides by the sum of absolute numbers; weights are positive.
        return torch.nn.functional.normalize(weights * mask, p=1, dim=-1)
        """,
        """
        # where chooses and multiplies nothing: what is hidden may even be nan.
        kept = torch.where(mask, weights, 0.0)
        return kept / kept.sum(dim=-1, keepdim=True)
        """,
    ],
    minutes=4,
)
