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
        "the tokens of a batch of batches": merge_heads(torch.stack([x, -x])),
        "the tokens of a batch of one": merge_heads(x[:1]),
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
        """
        # unbind and cat: no axis changes its place, and no size is needed.
        return torch.cat([*x.unbind(-3)], dim=-1)
        """,
        """
        # view copies nothing by itself: contiguous() shows where the copy is made.
        *front, H, T, D = x.shape
        return x.transpose(-3, -2).contiguous().view(*front, T, H * D)
        """,
        """
        # Two loops: slow, but it can be seen what each token gets, and in which order.
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
            "x is taken to have four axes; a single text has three",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "per_token.view(*x.shape[:-3], x.shape[-2], -1)",
            "view cannot join axes whose numbers do not lie side by side; call "
            "contiguous() before it, or take reshape in its place",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n    return x.mT.reshape(*front, T, H * D)",
            "tokens and numbers change places, and not heads and tokens",
        ),
        Wrong(
            "x.transpose(-3, -2)",
            "x.transpose(1, 2)",
            "axes are counted from the front: 1 and 2 are heads and tokens of a "
            "batch only",
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
            "there is always one axis in front; a single text has none",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return torch.cat([*x.unbind(0)], dim=-1)",
            "the first axis is taken for the heads; in a batch it is that of the texts",
        ),
        Wrong(
            "per_token.flatten(-2)",
            "[*x.unbind(-3)]",
            "the heads are given as a list, and not joined",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    return x.transpose(1, 2).reshape(*front, T, H * D)",
            "axes 1 and 2 are exchanged, which are heads and tokens of a batch "
            "only, and reshape hides that",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return x.transpose(0, 1).flatten(-2)",
            "axes are counted from the front: 0 and 1 are heads and tokens of a "
            "single text only",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    return x.transpose(0, 1).reshape(*front, T, H * D)",
            "axes 0 and 1 are exchanged, which are heads and tokens of a single "
            "text only, and reshape hides that",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return x.permute(0, 2, 1, 3).flatten(-2)",
            "permute is given four axes; a single text has three",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return x.permute(1, 0, 2).flatten(-2)",
            "permute is given three axes; a batch has four",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return per_token.flatten(-3)",
            "the tokens are joined as well, so that a text is one long row",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return torch.cat([*x.unbind(1)], dim=-1)",
            "axis 1 is taken for the heads, which it is in a batch only",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return per_token.flatten(1)",
            "flatten joins all axes from the second on, counted from the front, "
            "which fits a single text only",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return per_token[..., 0, :]",
            "the numbers of the first head alone are given",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return torch.stack([*x.unbind(-3)])",
            "the heads are stacked as a new axis in front, and not joined",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return x.transpose(0, 1).flatten(1)",
            "axes are counted from the front, from the swap to the join, which fits "
            "a single text only",
        ),
        Wrong(
            "    return per_token.flatten(-2)",
            "    return x.transpose(1, 2).flatten(2)",
            "axes are counted from the front, from the swap to the join, which fits "
            "a batch only",
        ),
        Wrong(
            "per_token = x.transpose(-3, -2)",
            "per_token = x.transpose(0, 1) if x.ndim == 3 else x.transpose(1, 2)",
            "one text and a batch of texts are told apart, and with more axes in "
            "front the wrong ones change places",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return torch.cat([*x.unbind(-3)], dim=1)",
            "the heads are joined along axis 1; it should be the last",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return x.transpose(-3, -2).flatten(-2).squeeze()",
            "axes of size one are removed at the end",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    return x.transpose(-3, -2).reshape(-1, H * D)",
            "all axes in front are joined with the tokens",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return x.mT.flatten(-3, -2)",
            "numbers are rows and tokens are columns; it should be the other way round",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    found = x.new_zeros(*front, T, H * D)\n"
            "    for h in range(H):\n"
            "        found[..., h * H : h * H + D] = x[..., h, :, :]\n"
            "    return found",
            "the numbers of head h begin at h times H; they should begin at h times D",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, T, H, D = x.shape\n"
            "    return x.transpose(-3, -2).reshape(*front, T, H * D)",
            "sizes are read as (T, H, D), and x is (H, T, D)",
        ),
        Wrong(
            "return per_token.flatten(-2)",
            "return x.flatten(-3)",
            "heads, tokens and numbers are joined to one row of a text, without the "
            "transpose",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    found = x.new_zeros(*front, T, H * D)\n"
            "    for h in range(H):\n"
            "        found[..., h : h + D] = x[..., h, :, :]\n"
            "    return found",
            "the numbers of head h begin at h; they should begin at h times D",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    found = x.new_zeros(*front, T, H * D)\n"
            "    for h in range(H):\n"
            "        found[..., h::H] = x[..., h, :, :]\n"
            "    return found",
            "a loop writes a head into every H-th number",
            same_as="the heads' numbers are shuffled into each other, one in turn",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    *front, H, T, D = x.shape\n"
            "    return x.transpose(-3, -2).reshape(*front, T * H, D)",
            "tokens and heads are joined to rows; the heads should stand side by side",
            same_as="the heads stand below each other, as if there were more tokens",
        ),
        Wrong(
            "    per_token = x.transpose(-3, -2)\n    return per_token.flatten(-2)",
            "    return x.flatten(-2)",
            "tokens and numbers of a head are joined; heads and numbers of a token "
            "should be",
        ),
    ],
    minutes=6,
)
