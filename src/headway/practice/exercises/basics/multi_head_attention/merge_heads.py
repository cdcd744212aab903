"""Put the heads side by side again

Write `merge_heads(x)`: the inverse of cutting tokens into heads.

x has shape (..., H, T, D), with any number of axes in front; the result has shape
(..., T, E), where E is H times D. Each token gets its numbers of the first head, then
those of the second, and so on.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def merge_heads(x: Tensor) -> Tensor:
    """Give (..., T, E) for heads (..., H, T, D)."""
    # --- write ---
    per_token = x.transpose(-3, -2)
    return per_token.flatten(-2)
    # --- written ---


if __name__ == "__main__":
    heads = torch.tensor(
        [[[0.0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]],
    )
    print(merge_heads(heads))
    # tensor([[ 0.,  1.,  2.,  3.],
    #         [ 4.,  5.,  6.,  7.],
    #         [ 8.,  9., 10., 11.]])
# --- end of your file ---


def run(merge_heads, x):  # type: ignore[no-untyped-def]
    return {
        "the tokens of a batch": merge_heads(x),
        "the tokens of one text": merge_heads(x[0]),
        "the tokens of a batch of batches": merge_heads(x[None]),
    }


EXERCISE = Exercise(
    answer="merge_heads",
    read=(
        "basics/multi_head_attention/#cutting-into-heads-seen-in-memory",
        "Cutting into heads, seen in memory",
    ),
    hints=(
        "Which two axes become one, and are they neighbours, in the right order?",
        "Swap heads and tokens first; then the heads of one token are neighbours of "
        "their numbers, and flatten or reshape joins them.",
        "transpose takes the two axes, counted from the end; flatten(-2) makes one "
        "axis of the last two. If you use view, it may ask for contiguous().",
    ),
    draw=lambda d: (d.normal(d.B, d.H, d.T, d.D),),
    ask=run,
    law="What was cut and is merged again is what it was: nothing is mixed.",
    right=[
        "return torch.cat([*x.unbind(-3)], dim=-1)",
        """
        *front, H, T, D = x.shape
        return x.transpose(-3, -2).contiguous().view(*front, T, H * D)
        """,
        """
        rows = [
            torch.cat([x[..., h, t, :] for h in range(x.shape[-3])], dim=-1)
            for t in range(x.shape[-2])
        ]
        return torch.stack(rows, dim=-2)
        """,
    ],
    wrong=[
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n    return x.reshape(*front, T, H * D)",
            "heads are merged without the transpose",
            exhibit="heads/#heads-merged-without-transpose",
            hint="A reshape takes the numbers as they lie: all of the first head, then "
            "all of the second. What must happen before?",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    per_token = x.movedim(-3, -1)\n    return per_token.flatten(-2)",
            "the heads' numbers are shuffled into each other, one in turn",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.sum(-2)",
            "the heads are added, and not put side by side",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.mean(-2)",
            "the mean over the heads is taken",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.reshape(*x.shape[:-3], -1, x.shape[-1])",
            "the heads stand below each other, as if there were more tokens",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token",
            "heads and tokens have changed places, and nothing is joined",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)",
            "    B, H, T, D = x.shape\n    per_token = x.transpose(-3, -2)",
            "x is taken to have four axes, and a single text has three",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.view(*x.shape[:-3], x.shape[-2], -1)",
            "view is to join axes whose numbers do not lie side by side: it needs "
            "contiguous() before it, or reshape in its place",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n    return x.mT.reshape(*front, T, H * D)",
            "tokens and numbers change places, and not heads and tokens",
        ),
        Wrong(
            "x.transpose(-3, -2)",
            "x.transpose(1, 2)",
            "axes are counted from the front, which fits one number of axes only",
        ),
        Wrong(
            "x.transpose(-3, -2)",
            "x.flip(-3).transpose(-3, -2)",
            "the heads stand in the opposite order",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.flatten(2)",
            "flatten joins all axes from the third on, counted from the front, "
            "which fits a batch alone",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n    return x.flatten(-3, -2)",
            "the heads are put behind each other, and not side by side: there are "
            "H times T rows",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return x.mT.flatten(-2)",
            "tokens and numbers change places and are joined, so that a row is a "
            "head, and not a token",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.reshape(-1, *x.shape[-2:-1], x.shape[-3] * x.shape[-1])",
            "there is always one axis in front, though a text alone has none",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return torch.cat([*x.unbind(0)], dim=-1)",
            "the first axis is taken for the heads, and it may be that of the texts",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "[*x.unbind(-3)]",
            "a list of the heads is given, and they are not joined",
        ),
    ],
)
