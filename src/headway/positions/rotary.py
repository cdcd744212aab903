"""Rotary positions: queries and keys are turned by where their tokens stand."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway import _require


def rotary_frequencies(width: int, *, base: float = 10_000.0) -> Float[Tensor, "D/2"]:
    r"""Give the angle, in radians, by which each pair turns from a token to the next.

    $$\theta_i = b^{-2i/D}, \qquad i = 0, \dots, D/2 - 1$$
    """
    i = torch.arange(0, width, 2, dtype=torch.float64)
    return base ** (-i / width)


class Rotary:
    r"""Turn each pair of numbers of a vector by an angle that grows with the position."""

    def __init__(
        self,
        width: int,
        *,
        base: float = 10_000.0,
        frequencies: Float[Tensor, "D/2"] | None = None,
        magnitude: float = 1.0,
        halves: bool = False,
    ) -> None:
        if frequencies is None:
            frequencies = rotary_frequencies(width, base=base)
        self.width = width
        self.frequencies = frequencies.double()
        self.magnitude = magnitude
        self.halves = halves

    def __call__(
        self, x: Float[Tensor, "*B T D"], positions: Int[Tensor, "*#B #T"]
    ) -> Float[Tensor, "*B T D"]:
        """Turn vectors by where their tokens stand."""
        # From integers and in 64 bits: half precision cannot tell position 257 from 256.
        angles = positions.unsqueeze(-1) * self.frequencies.to(x.device)
        cos = (angles.cos() * self.magnitude).to(x.dtype)
        sin = (angles.sin() * self.magnitude).to(x.dtype)
        if self.halves:
            a, b = x.chunk(2, dim=-1)
            return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
