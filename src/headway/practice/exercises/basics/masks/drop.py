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
    draw=lambda d: (
        d.normal(*d.lead, d.S).abs(),
        0.1 * (d.axes + 2),
        d.booleans(*d.lead, d.S),
    ),
    law="On average over many draws nothing has changed.",
    right=[
        """
        # where chooses and multiplies nothing: even nan may be dropped.
        return torch.where(keep, weights, 0.0) * (1 / (1 - p))
        """,
        """
        # Grown first, dropped second: the order is free.
        return (weights / (1 - p)).masked_fill(~keep, 0.0)
        """,
    ],
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
            "it is divided by the share that was kept this time; it should be by 1 - p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights[keep] / (1 - p)",
            "what is dropped is cut out; it should be set to zero",
            hint="weights[keep] is a row of those that are kept, with no gaps.",
        ),
        Wrong(
            " / (1 - p)",
            "",
            "what is kept does not grow",
            exhibit="dropout/#dropout-without-rescaling",
        ),
        Wrong("(1 - p)", "p", "what is kept is divided by the rate of what is dropped"),
        Wrong("/ (1 - p)", "* (1 - p)", "what is kept shrinks; it should grow"),
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
        Wrong(
            "weights * keep / (1 - p)",
            "weights / (1 - p)",
            "nothing is dropped",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.where(keep, weights / (1 - p), weights)",
            "what is to be dropped stays as it is",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights / (1 - p) * ~keep",
            "what is to be kept is dropped, and the other grows",
            same_as="what is to be kept is dropped",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.nn.functional.dropout(weights, p)",
            "PyTorch draws at random what is dropped; `keep` should say it",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.nn.Dropout(p)(weights) * keep",
            "weights are dropped twice, once at random",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * (torch.rand_like(weights) > p) / (1 - p)",
            "it is drawn anew what is dropped; `keep` should say it",
        ),
        Wrong(
            "/ (1 - p)",
            "/ keep.to(weights.dtype).mean(dim=-1, keepdim=True)",
            "each row is divided by the share that was kept of it this "
            "time; it should be by 1 - p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * keep * weights.sum(dim=-1, keepdim=True) / (weights "
            "* keep).sum(dim=-1, keepdim=True)",
            "each row gets back the sum that it had; on average is enough",
        ),
        Wrong(
            "/ (1 - p)",
            "/ (1 - p) ** 0.5",
            "it is divided by the root of 1 - p",
        ),
        Wrong(
            "/ (1 - p)",
            "/ (1 - p) ** 2",
            "it is divided by 1 - p twice",
        ),
        Wrong(
            "/ (1 - p)",
            "* (1 / (1 + p))",
            "it is divided by 1 + p",
        ),
        Wrong(
            "/ (1 - p)",
            "+ p",
            "p is added",
        ),
        Wrong(
            "/ (1 - p)",
            "* p",
            "what is kept is multiplied by p",
        ),
        Wrong(
            "/ (1 - p)",
            "* 1 / 1 - p",
            "p is subtracted at the end",
            same_as="the brackets around 1 - p are missing, so that p is "
            "subtracted at the end",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * (keep / (1 - p) + ~keep * p)",
            "what is dropped is multiplied by p; it should be zero",
        ),
        Wrong(
            "weights * keep",
            "weights + keep",
            "`keep` is added to the weights; it should be multiplied",
        ),
        Wrong(
            "weights * keep",
            "keep",
            "the weights are left out",
        ),
        Wrong(
            "weights * keep",
            "weights * (1 - keep)",
            "1 - keep is taken, which PyTorch refuses for True and False, "
            "and which would exchange them",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.softmax(weights.masked_fill(~keep, -torch.inf), dim=-1)",
            "weights are hidden by minus infinity and a softmax is taken; "
            "they should be zero, and the others grow",
        ),
        Wrong(
            "    return weights * keep / (1 - p)",
            "    dropped = weights.clone()\n"
            "    for i in range(weights.shape[0]):\n"
            "        for j in range(weights.shape[1]):\n"
            "            dropped[i, j] = weights[i, j] / (1 - p) if keep[i, j] else "
            "0.0\n"
            "    return dropped",
            "two loops run over two axes; weights may have any number",
        ),
        Wrong(
            "    return weights * keep / (1 - p)",
            "    pairs = zip(weights, keep)\n"
            "    return torch.stack([w / (1 - p) if k else 0 * w for w, k in pairs])",
            "one loop runs over a single axis, and a whole row of `keep` is asked "
            "whether it is true",
        ),
        Wrong(
            "/ (1 - p)",
            "/ (~keep).to(weights.dtype).mean()",
            "it is divided by the share that was dropped this time; it should be by 1 "
            "- p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "(weights - p) * keep / (1 - p)",
            "p is taken off each weight as well",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.where(keep, weights, weights / (1 - p))",
            "what is to be dropped grows, and what is kept stays as it is",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * keep + weights * p",
            "p times each weight is added; what is kept should be divided by 1 - p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "torch.softmax(weights * keep, dim=-1)",
            "a softmax is taken of what is left; it should grow by 1 / (1 - p)",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * ~keep / p",
            "what is to be kept is dropped, and the other is divided by p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * ~keep",
            "what is to be kept is dropped, and nothing grows",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights[keep]",
            "what is dropped is cut out, and nothing grows",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * ~keep * (1 - p)",
            "what is to be kept is dropped, and the other shrinks",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights.masked_fill(~keep, -torch.inf)",
            "weights are dropped by minus infinity, and nothing grows; they should be "
            "zero, and the others grow",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * ~keep * p",
            "what is to be kept is dropped, and the other is multiplied by p",
        ),
        Wrong(
            "(1 - p)",
            "(p - 1)",
            "it is divided by p - 1, which turns the sign; it should be by 1 - p",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights / keep / (1 - p)",
            "weights are divided by `keep`; they should be multiplied by it",
        ),
        Wrong(
            "weights * keep / (1 - p)",
            "weights * 0.0 / (1 - p)",
            "everything is dropped",
        ),
    ],
    minutes=3,
)
