"""Put the heads side by side again

Write `merge_heads(x)`: the inverse of cutting tokens into heads.

x has shape (..., H, T, D), with any number of axes in front; the result has shape
(..., T, E), where E is H times D. Each token gets its numbers of the first head, then
those of the second, and so on.
"""

from headway.practice import Exercise

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
    minutes=6,
)
