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
    wrong=[
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept",
            "rows are not divided by what is left; they sum to less than one",
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
            "it is divided by the sum of all weights, the hidden ones included, which "
            "is one already",
            same_as="rows are not divided by what is left; they sum to less than one",
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
            "weights are taken to have three axes; they may have more",
            hint="weights.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=2, keepdim=True)",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=1, keepdim=True)",
            "axes are counted from the front: sums over axis 1, which is "
            "the keys of a single table only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=0, keepdim=True)",
            "sums run over the first axis, which are the texts",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=1)",
            "sums run over axis 1, and keepdim is missing too",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=-2)",
            "sums run over the queries, and keepdim is missing too",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=0)",
            "sums run over the first axis, and keepdim is missing too",
            same_as="sums run over the first axis, which are the texts",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.amax(dim=-1, keepdim=True)",
            "each row is divided by its largest; it should be by its sum",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.mean(dim=-1, keepdim=True)",
            "each row is divided by its mean; it should be by its sum",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.norm(dim=-1, keepdim=True)",
            "each row is divided by its length; it should be by its sum",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "(kept.sum(dim=-1, keepdim=True) + 1e-6)",
            "1e-6 is added to the sum, which is never zero: each row has a visible key",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "(kept.sum(dim=-1, keepdim=True) + 1e-8)",
            "1e-8 is added to the sum, which is never zero: each row has a visible key",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "(1 - kept.sum(dim=-1, keepdim=True))",
            "each row is divided by what was hidden; it should be by what is left",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept * kept.sum(dim=-1, keepdim=True)",
            "each row is multiplied by its sum; it should be divided",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept - kept.sum(dim=-1, keepdim=True)",
            "the sum of each row is subtracted; it should divide",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept + mask * (1 - kept.sum(dim=-1, keepdim=True)) / "
            "mask.sum(dim=-1, keepdim=True)",
            "what was hidden is shared out equally among the visible keys; "
            "they should keep their proportions",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept + (1 - kept.sum(dim=-1, keepdim=True)) / kept.shape[-1]",
            "what was hidden is shared out equally among all keys",
        ),
        Wrong(
            "return kept / kept.sum(dim=-1, keepdim=True)",
            "return torch.softmax(weights.masked_fill(~mask, -torch.inf), dim=-1)",
            "hidden weights are set to minus infinity and the softmax is "
            "taken of weights; it is for scores",
        ),
        Wrong(
            "return kept / kept.sum(dim=-1, keepdim=True)",
            "return torch.softmax(weights, dim=-1) * mask",
            "the softmax is taken of weights, and hidden ones are set to "
            "zero afterwards",
        ),
        Wrong(
            "weights * mask",
            "weights.masked_fill(~mask, -torch.inf)",
            "hidden weights are set to minus infinity, which is for "
            "scores; weights are hidden by zero",
        ),
        Wrong(
            "weights * mask",
            "weights.masked_fill(mask, -torch.inf)",
            "the mask is inverted, and visible weights are set to minus infinity",
        ),
        Wrong(
            "weights * mask",
            "weights + mask",
            "the mask is added to the weights; it should be multiplied",
        ),
        Wrong(
            "weights * mask",
            "weights * (1 - mask)",
            "1 - mask or a difference with the mask is taken, which "
            "PyTorch refuses for True and False; ~mask inverts it",
        ),
        Wrong(
            "weights * mask",
            "weights * mask.T",
            "the mask is transposed",
        ),
        Wrong(
            "weights * mask",
            "weights[mask]",
            "visible weights are cut out by the mask; hidden ones should become zero",
        ),
        Wrong(
            "weights * mask",
            "weights[..., mask]",
            "visible weights are cut out, so that rows are lost; hidden "
            "ones should become zero",
        ),
        Wrong(
            "weights * mask",
            "weights",
            "the mask is not used",
        ),
        Wrong(
            "weights * mask",
            "weights.tril()",
            "the future is hidden, and the mask is not used",
        ),
        Wrong(
            "weights * mask",
            "weights @ mask",
            "weights and mask are multiplied as tables; it should be number by number",
        ),
        Wrong(
            "weights * mask",
            "weights * mask[0]",
            "the first row of the mask is taken for all queries",
        ),
        Wrong(
            "    kept = weights * mask\n",
            "    kept = weights\n    kept.masked_fill(~mask, 0.0)\n",
            "the result of masked_fill is lost, so nothing is hidden",
            same_as="the mask is not used",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=-1, keepdim=True).clamp(min=1e-3)",
            "the sum is kept above a limit, and what is left may be less",
        ),
        Wrong(
            "    kept = weights * mask",
            "    kept = weights * mask[:, None]",
            "the mask gets an axis too many, and is laid along the texts",
        ),
        Wrong(
            "    kept = weights * mask",
            "    kept = torch.stack([w * mask for w in weights])",
            "the first axis is gone through as the texts; there may be none, or two",
        ),
        Wrong(
            "    kept = weights * mask",
            "    kept = torch.stack([row * mask[t] for t, row in enumerate(weights)])",
            "rows are gone through along the first axis, as if there were no texts",
        ),
        Wrong(
            "    return kept / kept.sum(dim=-1, keepdim=True)",
            "    return kept / kept.sum(dim=-1, keepdim=True), kept.sum(dim=-1)",
            "rows and sums are given; the rows alone are asked for",
        ),
        Wrong(
            "    return kept / kept.sum(dim=-1, keepdim=True)",
            "    kept / kept.sum(dim=-1, keepdim=True)",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.amax()",
            "all rows are divided by the largest weight of the table",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(dim=(-2, -1), keepdim=True)",
            "it is divided by the sum of a whole table; it should be by that of each "
            "row",
        ),
        Wrong(
            "    return kept / kept.sum(dim=-1, keepdim=True)",
            "    return weights / kept.sum(dim=-1, keepdim=True)",
            "hidden weights are not set to zero: only the sum leaves them out",
        ),
        Wrong(
            "weights * mask",
            "weights.masked_fill(~mask, 1.0)",
            "hidden weights are set to one; it should be zero",
        ),
        Wrong(
            "weights * mask",
            "weights.masked_fill(~mask, 1e-9)",
            "hidden weights are set to a small number; it should be zero",
        ),
        Wrong(
            "weights * mask",
            "weights.masked_fill(~mask, -1e9)",
            "hidden weights are set to a large negative number, which is for scores; "
            "weights are hidden by zero",
        ),
        Wrong(
            "    return kept / kept.sum(dim=-1, keepdim=True)",
            "    return torch.softmax(weights.masked_fill(~mask, 0.0), dim=-1) * mask",
            "the softmax is taken once more, and hidden weights are set to zero "
            "before and after it",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.square().sum(dim=-1, keepdim=True)",
            "each row is divided by the sum of its squares",
        ),
        Wrong(
            "weights * mask",
            "weights & mask",
            "& joins weights and mask, which PyTorch refuses for fractions; * "
            "multiplies",
        ),
        Wrong(
            "weights * mask",
            "weights * -mask",
            "the mask gets a minus, which PyTorch refuses for True and False",
        ),
        Wrong(
            "kept.sum(dim=-1, keepdim=True)",
            "kept.sum(keepdim=True)",
            "sum is told keepdim without an axis",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "kept / kept.sum(dim=-1, keepdim=True).sqrt()",
            "each row is divided by the root of its sum",
        ),
        Wrong(
            "weights * mask",
            "weights * mask.tril()",
            "the future is hidden, too",
        ),
        Wrong(
            "weights * mask",
            "weights * mask.any(dim=0)",
            "a key is kept for all queries if any of them may see it",
        ),
        Wrong(
            "kept / kept.sum(dim=-1, keepdim=True)",
            "(kept / kept.sum(dim=-1, keepdim=True)).squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    minutes=4,
)
