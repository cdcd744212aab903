"""Cut tokens into heads

Write `split_heads(x, num_heads)`: cut the E numbers of each token into H heads of D.

x has shape (..., T, E), with any number of axes in front; the result has shape
(..., H, T, D), the heads before the tokens. The first head gets the first D numbers of
each token, the second the next D, and so on. Each number stays with its own token.
"""

from headway.practice import Exercise, Wrong

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
        D = x.shape[-1] // num_heads
        heads = [x[..., h * D : (h + 1) * D] for h in range(num_heads)]
        return torch.stack(heads, dim=-3)
        """,
        "return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)",
        "return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)",
    ],
    wrong=[
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return torch.stack(x.chunk(num_heads, dim=-2), dim=-3)",
            "the tokens are cut into pieces, and not the numbers of each token",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)",
            "the heads are stacked as axis 1, which lies before the tokens of a batch "
            "of three axes only",
            hint="Which axis is it, counted from the end?",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return x.chunk(num_heads, dim=-1)",
            "the heads are given as a tuple, and are not stacked",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    T = x.shape[-2]\n"
            "    return x.mT.reshape(*x.shape[:-2], num_heads, T, -1)",
            "tokens and numbers change places first, and the reshape then mixes them",
            hint="After .mT the numbers of a head lie as (D, T). What must still "
            "change places after the cut?",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return x.mT.unflatten(-2, (num_heads, -1))",
            "tokens and numbers of a head stand the wrong way round: (D, T)",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.permute(0, 2, 1, 3)",
            "permute is given four axes, and one text cut into heads has three",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    T = x.shape[-2]\n"
            "    return x.reshape(*x.shape[:-2], num_heads, T, -1)",
            "one reshape asks for the final shape at once, and mixes the tokens",
            exhibit="heads/#heads-split-without-transpose",
            hint="A reshape never changes the order in memory. In which order do the "
            "numbers of one token lie there?",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token",
            "heads and tokens have not changed places",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.view(*x.shape[:-1], -1, num_heads)\n"
            "    return per_token.movedim(-1, -3)",
            "numbers are dealt out to the heads like cards, one each in turn",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.transpose(-2, -1)",
            "heads and numbers change places, and not heads and tokens",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.movedim(-2, 0)",
            "the heads stand before the texts, and not before the tokens",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)",
            "    B, T, E = x.shape\n"
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)",
            "x is taken to have three axes, and a single text has two",
            hint="x.shape[:-1] is all axes but the last, however many there are.",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.transpose(1, 2)",
            "axes are counted from the front, which fits one number of axes only",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.view(*x.shape[:-1], -1, num_heads)\n"
            "    return per_token.transpose(-3, -2)",
            "the number of heads and the width of a head are taken for each other",
        ),
    ],
    stars=2,
)
