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
            "a head is (D, T); it should be (T, D)",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.permute(0, 2, 1, 3)",
            "permute is given four axes; one text cut into heads has three",
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
            "the cut is right, but heads and tokens have not changed places",
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
            "x is taken to have three axes; a single text has two",
            hint="x.shape[:-1] is all axes but the last, however many there are.",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.transpose(1, 2)",
            "axes are counted from the front: 1 and 2 are tokens and heads of a "
            "batch only",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.view(*x.shape[:-1], -1, num_heads)\n"
            "    return per_token.transpose(-3, -2)",
            "the number of heads and the width of a head are taken for each other",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    return per_token.transpose(0, 1)",
            "axes are counted from the front: 0 and 1 are tokens and heads of a "
            "single text only",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    return per_token.permute(1, 0, 2)",
            "permute is given three axes; a batch cut into heads has four",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    return torch.cat(x.chunk(num_heads, dim=-1), dim=-2)",
            "the heads are joined along the tokens, as if the text were longer, "
            "and get no axis of their own",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.reshape(-1, x.shape[-2], num_heads, "
            "x.shape[-1] // num_heads)\n"
            "    return per_token.transpose(1, 2)",
            "there is always one axis before the heads, whatever x has in front",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    return torch.stack([x[..., h : h + per_token.shape[-1]] "
            "for h in range(num_heads)], dim=-3)",
            "the numbers of head h begin at h; they should begin at h times D",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    H = num_heads\n"
            "    return torch.stack([x[..., h * H : (h + 1) * H] for h "
            "in range(H)], dim=-3)",
            "each head gets H numbers; it should get D",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    T = x.shape[-2]\n"
            "    return x.reshape(num_heads, *x.shape[:-2], T, -1)",
            "one reshape puts the heads in front of all axes, and mixes the tokens",
        ),
        Wrong(
            "    return per_token.transpose(-3, -2)",
            "    if x.ndim == 2:\n"
            "        return per_token.transpose(0, 1)\n"
            "    return per_token.transpose(1, 2)",
            "one text and a batch of texts are told apart, and with more axes in "
            "front the wrong ones change places",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.view(x.shape[0], x.shape[1], num_heads, -1)\n"
            "    return per_token.transpose(1, 2)",
            "the first two axes are taken for texts and tokens; a single text "
            "begins with its tokens",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.transpose(-3, -2)[..., :-1, :, :]",
            "the last head is left out",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    if x.ndim > 2:\n"
            "        B, T, E = x.shape\n"
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "one text and a batch of texts are thought of, and no more axes in front",
        ),
        Wrong(
            "num_heads, -1)",
            "num_heads, x.shape[-1] / num_heads)",
            "a width is a whole number, and / gives none: // does",
        ),
        Wrong(
            "per_token.transpose(-3, -2)",
            "per_token.transpose(-3, -2).flip(-3)",
            "the heads stand in reverse order",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    T = x.shape[-2]\n"
            "    return x.reshape(*x.shape[:-2], num_heads, -1, T).mT",
            "a reshape to (H, D, T) comes before any exchange of axes, and mixes "
            "the tokens",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    D = x.shape[-1] // num_heads\n"
            "    return x.reshape(x.shape[0], num_heads, -1, D)",
            "one reshape asks for texts, heads, tokens and numbers at once: it "
            "mixes the tokens, and takes the first axis for the texts",
            exhibit="heads/#heads-split-without-transpose",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    per_token = x.unflatten(-1, (num_heads, -1))\n"
            "    return torch.einsum('bthd->bhtd', per_token)",
            "einsum names each axis, so that more or fewer in front are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return torch.cat(x.chunk(num_heads, dim=-1), dim=-3)",
            "heads are joined along an axis that stands before the tokens; they "
            "should get one of their own, as by torch.stack",
        ),
        Wrong(
            "    per_token = x.view(*x.shape[:-1], num_heads, -1)\n"
            "    return per_token.transpose(-3, -2)",
            "    return x.reshape(*x.shape[:-2], -1, x.shape[-1] // num_heads)",
            "all heads of all tokens stand in one axis; heads should have their own",
        ),
    ],
    stars=2,
    minutes=8,
)
