"""Cut tokens into heads

Write `split_heads(x, num_heads)`: cut the E numbers of each token into H heads of D.

x has shape (..., T, E), with any number of axes in front; the result has shape
(..., H, T, D), the heads before the tokens. The first head gets the first D numbers of
each token, the second the next D, and so on. Each number stays with its own token.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Give (..., H, T, D) for tokens (..., T, E), where E is H times D."""
    # --- write ---
    per_token = x.view(*x.shape[:-1], num_heads, -1)
    return per_token.transpose(-3, -2)
    # --- written ---


if __name__ == "__main__":
    print(split_heads(torch.arange(12.0).reshape(3, 4), num_heads=2))
    # tensor([[[ 0.,  1.],
    #          [ 4.,  5.],
    #          [ 8.,  9.]],
    #
    #         [[ 2.,  3.],
    #          [ 6.,  7.],
    #          [10., 11.]]])
# --- end of your file ---


def run(split_heads, x, num_heads):  # type: ignore[no-untyped-def]
    return {
        "the heads of a batch": split_heads(x, num_heads),
        "the heads of one text": split_heads(x[0], num_heads),
        "the heads of a batch of batches": split_heads(x[None], num_heads),
    }


EXERCISE = Exercise(
    answer="split_heads",
    read=(
        "basics/multi_head_attention/#cutting-into-heads-seen-in-memory",
        "Cutting into heads, seen in memory",
    ),
    hints=(
        "Which axis is cut, and which two axes must change places afterwards?",
        "view cuts one axis into two that lie next to each other; transpose swaps two "
        "axes. Numbers of one token must be cut before anything is swapped.",
        "First view with the sizes (..., T, H, D): -1 finds D by itself. Then swap "
        "the axes of tokens and heads, counted from the end.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.H * d.D), d.H),
    ask=run,
    law="Each head holds numbers of every token, and no number leaves its token.",
    right=[
        """
        # Slices in a list: slow, but it can be seen which numbers a head gets.
        D = x.shape[-1] // num_heads
        heads = [x[..., h * D : (h + 1) * D] for h in range(num_heads)]
        return torch.stack(heads, dim=-3)
        """,
        """
        # chunk cuts without a shape: short, where the pieces are wanted one by one.
        return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)
        """,
        """
        # unflatten names the one axis that is cut, so that no other need be listed.
        return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)
        """,
    ],
    stars=2,
    minutes=8,
)
