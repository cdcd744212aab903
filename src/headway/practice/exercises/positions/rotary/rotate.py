"""Turn instead of add

Write `rotate(x, angles)`: turn each pair of neighbours of a vector by its angle.

`x` has shape (..., T, D) with an even D; `angles` is (T, D // 2). The pair of the
numbers 2 i and 2 i + 1 is turned by angle i:

    (a, b)  becomes  (a cos - b sin,  a sin + b cos)
"""

from headway.practice import Exercise, Property, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn the pairs of x (..., T, D) by angles (T, D // 2)."""
    # --- write ---
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.flatten(-2)
    # --- written ---


if __name__ == "__main__":
    quarter = torch.tensor([[torch.pi / 2]])
    print(rotate(torch.tensor([[1.0, 0.0]]), quarter).round(decimals=4))
    # tensor([[0., 1.]])
# --- end of your file ---


def angles_of(T, width):  # type: ignore[no-untyped-def]
    twice = torch.arange(0, width, 2, dtype=torch.float64)
    return torch.arange(T)[:, None] * 100.0 ** (-twice / width)


def only_distance(rotate, x, angles):  # type: ignore[no-untyped-def]
    T, width = x.shape[-2:]
    far = angles_of(T + 5, width)
    near = rotate(x, angles) @ rotate(x, angles).mT
    return torch.allclose(near, rotate(x, far[5:]) @ rotate(x, far[5:]).mT)


EXERCISE = Exercise(
    answer="rotate",
    read=("positions/rotary/#turn-instead-of-add", "Turn instead of add"),
    hints=(
        "Which numbers make a pair here: neighbours, or those half a vector apart?",
        "Take the even and the odd places apart, turn them, and lay them side by side "
        "again.",
        "x[..., 0::2] are the even places. torch.stack along a new last axis and "
        "flatten(-2) interleave two tensors.",
    ),
    # Also with no axis before the tokens; the width is even.
    draw=lambda d: (
        d.normal(*d.lead, d.T, d.D + d.D % 2),
        angles_of(d.T, d.D + d.D % 2),
    ),
    trials=(DIFFERENT, EQUAL, {"axes": 2}, {"axes": 0}),
    properties=[
        Property("scores depend only on how far apart two tokens are", only_distance)
    ],
    law="A rotation changes no length, and the score of two tokens depends only on "
    "their distance.",
    right=[
        """
        # Complex numbers: a turn is one product, and a pair is one number.
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).flatten(-2)
        """,
        """
        # Partners times the sine: no number is written twice, as many libraries do.
        both = angles.repeat_interleave(2, dim=-1)
        partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return x * both.cos() + partner * both.sin()
        """,
        """
        # Written into places of a new tensor: nothing need be interleaved.
        turned = torch.empty_like(x)
        cos, sin = angles.cos(), angles.sin()
        turned[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        turned[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
        return turned
        """,
    ],
    wrong=[
        Wrong(
            "a * cos - b * sin",
            "a * cos + b * sin",
            "the minus sign of the rotation is lost",
            exhibit="positions/#rotary-sign-lost",
        ),
        Wrong(
            "x[..., 0::2], x[..., 1::2]",
            "x.chunk(2, dim=-1)",
            "numbers half a vector apart are taken for a pair, and laid side by side",
            alone=True,
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos + b * sin, -a * sin + b * cos",
            "it is turned backwards",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.sin(), angles.cos()",
            "cosine and sine are exchanged",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.cos()[:1], angles.sin()[:1]",
            "all tokens are turned by the angles of the first",
        ),
        Wrong(
            "    return turned.flatten(-2)",
            "    return torch.cat(turned.unbind(-1), dim=-1)",
            "the turned pairs are laid half a vector apart, and not side by side",
            alone=True,
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "    return turned.flatten(-2)",
            "    return x + turned.flatten(-2)",
            "the turned vector is added to x; it should take its place",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    x = x.clone()\n"
            "    x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin\n"
            "    x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos\n"
            "    return x",
            "the first of a pair is written before the second is made of it, in "
            "place or by a view",
            hint="Both new numbers are made of both old ones. A slice such as x[..., "
            "0::2] is a view, and changes with x: keep copies, or build a new "
            "tensor.",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    x[..., 0::2] = a * cos - b * sin\n"
            "    x[..., 1::2] = a * sin + b * cos\n"
            "    return x",
            "a and b are views of x, and x is written while they are still needed",
            same_as="the first of a pair is written before the second is made of it, "
            "in place or by a view",
        ),
        Wrong(
            "    return turned.flatten(-2)",
            "    return turned",
            "pairs keep an axis of their own",
        ),
        Wrong(
            "    return turned.flatten(-2)",
            "    return turned.flatten(2)",
            "axes are counted from the front, which fits x of three axes only",
        ),
        Wrong(
            "a, b = x[..., 0::2], x[..., 1::2]",
            "b, a = x[..., 0::2], x[..., 1::2]",
            "the two of a pair are exchanged before",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * sin + b * cos, a * cos - b * sin",
            "the two of a pair are exchanged afterwards",
        ),
        Wrong(
            "a * sin + b * cos",
            "a * sin - b * cos",
            "the second number has the sign that the first should have",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    both = torch.cat([angles, angles], dim=-1)\n"
            "    other = torch.stack([-b, a], dim=-1).flatten(-2)\n"
            "    return x * both.cos() + other * both.sin()",
            "angles are laid out for halves, and the numbers are paired with "
            "neighbours",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    both = angles.repeat_interleave(2, dim=-1)\n"
            "    a, b = x.chunk(2, dim=-1)\n"
            "    return x * both.cos() + torch.cat([-b, a], dim=-1) * both.sin()",
            "angles are laid out for neighbours, and the numbers are paired half "
            "a vector apart",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    return x + angles.repeat_interleave(2, dim=-1)",
            "angles are added to the numbers, and nothing is turned",
        ),
        Wrong(
            "x[..., 0::2], x[..., 1::2]",
            "x[:, 0::2], x[:, 1::2]",
            "every second entry of the second axis is taken; it should be of the last",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    a, b = x.chunk(2, dim=-1)\n"
            "    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)",
            "numbers half a vector apart are turned together, the layout of "
            "halves, as in Llama; a pair should be neighbours",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, -a * sin + b * cos",
            "both numbers have a minus before the sine; the second should have a plus",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b * cos",
            "the second number gets no sine of the first",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos, a * sin + b * cos",
            "the first number gets no sine of the second",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos, b * cos",
            "the sines are left out, so that pairs get shorter and do not turn",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b * sin + a * cos",
            "the second number is made of the wrong partners: it should be a times "
            "the sine, and b times the cosine",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "(2 * angles).cos(), (2 * angles).sin()",
            "angles are twice as large, or all is turned twice",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles[:, :1].cos(), angles[:, :1].sin()",
            "all pairs are turned by the angle of the first",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.flip(-1).cos(), angles.flip(-1).sin()",
            "the angles stand in the opposite order",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles, angles",
            "angles stand in for their sines and cosines",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    B, T, D = x.shape\n"
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "x is taken to have three axes; it may have any number",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    T, D = x.shape\n"
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "x is taken to have two axes; it may have any number",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    a, b = x[:, :, 0::2], x[:, :, 1::2]\n"
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "the third axis is taken for the numbers; it should be the last",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-2)",
            "the two of the pairs are joined along the tokens; they should be "
            "along the last axis",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * "
            "cos], dim=-1)\n"
            "    return turned.flatten(-2)",
            "    return torch.stack([a, b], dim=-1).flatten(-2) * "
            "torch.stack([cos, sin], dim=-1).flatten(-2)",
            "first numbers are multiplied by the cosine, second ones by the sine, "
            "and nothing is mixed",
        ),
        Wrong(
            "x[..., 0::2], x[..., 1::2]",
            "x[..., : angles.shape[-1]], x[..., 1 : angles.shape[-1] + 1]",
            "the numbers i and i + 1 are taken for a pair; it should be 2 i and 2 "
            "i + 1",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    turned = torch.zeros_like(x)\n"
            "    for i in range(angles.shape[-1]):\n"
            "        first, second = x[..., i], x[..., i + 1]\n"
            "        turned[..., i] = first * cos[:, i] - second * sin[:, i]\n"
            "        turned[..., i + 1] = first * sin[:, i] + second * cos[:, i]\n"
            "    return turned",
            "the loop takes the numbers i and i + 1 for a pair, so that pairs "
            "overlap; it should be 2 i and 2 i + 1",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos])\n"
            "    return turned.reshape(x.shape)",
            "the two of the pairs are stacked in front, and a reshape mixes all "
            "numbers",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    return torch.stack([a * cos - b * sin, a * sin + b * cos])",
            "the two of the pairs are stacked as an axis in front; they should "
            "lie side by side",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    both = angles.repeat_interleave(2, dim=-1)\n"
            "    return x * both.cos() + torch.cat([-b, a], dim=-1) * both.sin()",
            "partners are joined as two halves; each should stand at its number's "
            "place",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b",
            "only the first of each pair is turned",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a, a * sin + b * cos",
            "only the second of each pair is turned",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "(angles * torch.arange(len(angles))[:, None]).cos(), (angles * "
            "torch.arange(len(angles))[:, None]).sin()",
            "angles are multiplied by the positions; they have a row for each "
            "token already",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    turned[..., -1, :] = x[..., -2:]\n"
            "    return turned.flatten(-2)",
            "the last pair is left as it is",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    a, b = x.chunk(2, dim=-1)\n"
            "    return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)",
            "numbers half a vector apart are turned, and backwards; a pair should "
            "be neighbours",
        ),
        Wrong(
            "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "    return turned.flatten(-2)",
            "    return torch.complex(a * cos - b * sin, a * sin + b * cos)",
            "complex numbers are given; torch.view_as_real and flatten make two "
            "of each",
        ),
        Wrong(
            "x[..., 0::2], x[..., 1::2]",
            "x.view(x.shape[0], x.shape[1], -1, 2).unbind(dim=-1)",
            "the first two axes are taken for texts and tokens; there may be "
            "fewer or more",
        ),
    ],
    stars=2,
    minutes=8,
)
