"""Turn instead of add

Write `rotate(x, angles)`: turn each pair of neighbours of a vector by its angle.

`x` has shape (..., T, D) with an even D; `angles` is (T, D // 2). The pair of the
numbers 2 i and 2 i + 1 is turned by angle i:

    (a, b)  becomes  (a cos - b sin,  a sin + b cos)
"""

from headway.practice import Exercise, Property
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
    stars=2,
    minutes=8,
)
