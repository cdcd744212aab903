"""Angles for every position

Rotary positions turn each pair of numbers by an angle that grows with the position.
Write `angles(positions, width, base)`: pair i of width // 2 turns by

    position * base ** (-2 i / width),   i = 0, 1, ...

`positions` has any shape (...), whole numbers; the result is (..., width // 2), in 64
bits.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def angles(positions: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    """Give the angle of each pair at positions (...): (..., width // 2)."""
    # --- write ---
    twice = torch.arange(0, width, 2, dtype=torch.float64)
    speeds = base ** (-twice / width)
    return positions[..., None] * speeds
    # --- written ---


if __name__ == "__main__":
    print(angles(torch.tensor([0, 3]), 4))
    # tensor([[0.0000, 0.0000],
    #         [3.0000, 0.0300]], dtype=torch.float64)
# --- end of your file ---


EXERCISE = Exercise(
    answer="angles",
    read=(
        "positions/rotary/#many-pairs-each-at-its-own-speed",
        "Many pairs, each at its own speed",
    ),
    hints=(
        "How fast does the first pair turn, and how fast the last?",
        "Make the speeds once, from the even numbers 0, 2, ..., then multiply each "
        "position with all of them.",
        "torch.arange(0, width, 2) counts 2 i; the exponent has a minus, and divides "
        "by the width.",
    ),
    draw=lambda d: (d.integers(50, *d.lead, d.T), 2 * d.D, 1000.0),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"axes": 0}, {"axes": 2}),
    law="The first pair turns by one radian a position, whatever the base; each pair "
    "after it is slower by one factor.",
    right=[
        """
        # outer of a flat row: for those who like products of two vectors.
        i = torch.arange(width // 2).double()
        exponent = -2 * i / width
        return torch.outer(
            positions.flatten().double(), torch.tensor(base).double() ** exponent
        ).reshape(*positions.shape, -1)
        """,
        """
        # A loop over the pairs: each factor can be seen, and each has its own angle.
        factor = base ** (-2 / width)
        columns = [positions.double() * factor**i for i in range(width // 2)]
        return torch.stack(columns, dim=-1)
        """,
        """
        # By logarithms, as most models write it: a sum in place of a power.
        import math

        twice = torch.arange(0, width, 2).double()
        return positions.unsqueeze(-1) * torch.exp(twice * (-math.log(base) / width))
        """,
    ],
    stars=1,
    minutes=8,
)
