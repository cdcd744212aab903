"""Angles for every position

Rotary positions turn each pair of numbers by an angle that grows with the position.
Write `angles(positions, width, base)`: pair i of width // 2 turns by

    position * base ** (-2 i / width),   i = 0, 1, ...

`positions` has any shape (...), whole numbers; the result is (..., width // 2), in 64
bits.
"""

from headway.practice import Exercise, Wrong

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
        i = torch.arange(width // 2).double()
        exponent = -2 * i / width
        return torch.outer(
            positions.flatten().double(), torch.tensor(base).double() ** exponent
        ).reshape(*positions.shape, -1)
        """,
    ],
    wrong=[
        Wrong(
            "torch.arange(0, width, 2,",
            "torch.arange(0, width // 2,",
            "the exponent is i over the width, where 2 i is meant",
            exhibit="positions/#a-speed-for-each-channel",
        ),
        Wrong(
            "torch.arange(0, width, 2,",
            "torch.arange(2, width + 2, 2,",
            "pairs are counted from one",
        ),
        Wrong(
            "-twice / width",
            "twice / width",
            "the sign of the exponent is lost, so that later pairs are faster",
        ),
        Wrong(
            "positions[..., None] * speeds",
            "(positions[..., None] + 1) * speeds",
            "positions are counted from one",
        ),
        Wrong(
            "base ** (-twice / width)",
            "10_000.0 ** (-twice / width)",
            "the base is 10,000, whatever is given",
        ),
        Wrong(
            "-twice / width",
            "-twice / (width // 2)",
            "it is divided by the number of pairs, where the width is meant",
        ),
        Wrong(
            "positions[..., None] * speeds",
            "torch.arange(positions.shape[-1])[:, None] * speeds + "
            "0 * positions[..., None]",
            "the places in the row are counted, and the positions are not used",
            exhibit="positions/#counted-from-zero",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return torch.outer(positions, speeds)",
            "outer takes two rows, and positions may have any shape",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return positions[:, None] * speeds",
            "the new axis is the second, and not the last: it fits a row of "
            "positions alone",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return positions * speeds",
            "no axis is made for the pairs, so that positions meet pairs",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "torch.arange(0, width, 2)",
            "the speeds are computed in 32 bits",
            hint="An arange of whole numbers becomes 32 bits when it is divided. "
            "dtype= makes it 64 from the start.",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return (positions[..., None] * speeds).repeat_interleave(2, dim=-1)",
            "each angle is given twice, for both numbers of a pair",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return (positions[..., None] * speeds).repeat(*[1] * "
            "positions.ndim, 2)",
            "all angles are given twice, for both halves of a vector",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "torch.arange(width, dtype=torch.float64)",
            "there is an angle for each number, and not for each pair",
            exhibit="positions/#a-speed-for-each-channel",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return (positions[..., None] * speeds).remainder(2 * torch.pi)",
            "whole turns are taken off, where the angle itself is asked for",
        ),
        Wrong(
            "    return positions[..., None] * speeds",
            "    return (positions[..., None] * speeds).cos(), (positions[..., "
            "None] * speeds).sin()",
            "cosines and sines are given, and not the angles",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base**-twice / width",
            "a pair of parentheses is missing: the power is taken first, and then "
            "divided",
        ),
        Wrong(
            "    twice = torch.arange(0, width, 2, dtype=torch.float64)\n"
            "    speeds = base ** (-twice / width)\n"
            "    return positions[..., None] * speeds",
            "    twice = torch.arange(0, width, 2)\n"
            "    speeds = base ** (-twice / width)\n"
            "    return (positions[..., None] * speeds).double()",
            "it is computed in 32 bits, and turned into 64 afterwards",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "width * torch.linspace(0, 1, width // 2, dtype=torch.float64)",
            "the exponents go up to one, so that the last pair has the speed 1 / "
            "base: they end before it",
        ),
    ],
    stars=1,
)
