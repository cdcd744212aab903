"""First way: zero, then renormalise

Write `renormalise(weights, mask)`: set the hidden weights to zero, and divide each row
by what is left, so that it sums to one again.

Weights have shape (..., T, S); each row sums to one already. The mask has shape (T, S),
True where a query may look. Each row of the mask allows at least one key.
"""

from headway.practice import Exercise, Wrong

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


def visible(d):  # type: ignore[no-untyped-def]
    mask = d.booleans(d.T, d.S)
    mask[:, 0] = True
    return mask


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
    draw=lambda d: (torch.softmax(d.normal(*d.lead, d.T, d.S), dim=-1), visible(d)),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 0.1, "axes": 2}),
    law="What is visible keeps its proportions, and sums to one.",
    right=[
        """
        scores = weights.log().masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1)
        """,
        "return torch.nn.functional.normalize(weights * mask, p=1, dim=-1)",
    ],
    wrong=[
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept",
            "rows are not divided, and sum to less than one",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=-2, keepdim=True)",
            "columns are made to sum to one, and not rows",
        ),
        Wrong(
            "weights * mask",
            "weights * ~mask",
            "the mask is inverted: what may be seen is hidden",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "weights.sum(dim=-1, keepdim=True)",
            "it is divided by the sum of all weights, the hidden ones included",
            same_as="rows are not divided, and sum to less than one",
        ),
        Wrong(
            "return kept / kept.sum(dim=-1, keepdim=True)",
            "return torch.softmax(kept, dim=-1)",
            "the softmax is taken once more, in which a zero counts",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum()",
            "it is divided by the sum of all rows",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=-1)",
            "the sums lie along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "mask.sum(dim=-1, keepdim=True)",
            "it is divided by the number of visible keys",
        ),
        Wrong(
            "kept = weights * mask",
            "B, T, S = weights.shape\n    kept = weights * mask",
            "weights is taken to have three axes, and may have more",
            hint="weights.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=2, keepdim=True)",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
    ],
)
