"""Turn instead of add

Write `rotate(x, angles)`: turn each pair of neighbours of a vector by its angle.

`x` has shape (..., T, D) with an even D; `angles` is (T, D // 2). The pair of the
numbers 2 i and 2 i + 1 is turned by angle i:

    (a, b)  becomes  (a cos - b sin,  a sin + b cos)
"""

from headway.practice import Exercise, Property, Wrong

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
    draw=lambda d: (d.normal(d.B, d.H, d.T, d.D), angles_of(d.T, d.D)),
    properties=[
        Property("scores depend only on how far apart two tokens are", only_distance)
    ],
    law="A rotation changes no length, and the score of two tokens depends only on "
    "their distance.",
    right=[
        """
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).flatten(-2)
        """,
    ],
    wrong=[
        Wrong(
            "a * cos - b * sin",
            "a * cos + b * sin",
            "a minus is lost, so that pairs are not rotated",
            exhibit="positions/#lost-minus",
        ),
        Wrong(
            "x[..., 0::2], x[..., 1::2]",
            "x.chunk(2, dim=-1)",
            "numbers half a vector apart are taken for a pair, and laid side by side",
            exhibit="positions/#two-layouts",
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
            exhibit="positions/#two-layouts",
        ),
        Wrong(
            "    return turned.flatten(-2)",
            "    return x + turned.flatten(-2)",
            "the turned vector is added, and does not take the place of the first",
        ),
    ],
)
