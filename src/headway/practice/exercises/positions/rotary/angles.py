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
    wrong=[
        Wrong(
            "torch.arange(0, width, 2,",
            "torch.arange(0, width // 2,",
            "the exponent is i over the width; it should be 2 i",
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
            "the base is 10,000 always; it should be the one that is given",
        ),
        Wrong(
            "-twice / width",
            "-twice / (width // 2)",
            "2 i is divided by the number of pairs; it should be by the width",
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
            "outer takes two rows; positions may have any shape",
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
            "whole turns are taken off; it should be the angle itself",
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
            "it is computed in 32 bits and turned into 64 afterwards; it should be "
            "64 from the start",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "width * torch.linspace(0, 1, width // 2, dtype=torch.float64)",
            "the exponents go up to one, so that the last pair has the speed 1 / "
            "base: they end before it",
        ),
        Wrong(
            "    twice = torch.arange(0, width, 2, dtype=torch.float64)\n"
            "    speeds = base ** (-twice / width)\n"
            "    return positions[..., None] * speeds",
            "    twice = torch.arange(0, width, 2).float()\n"
            "    speeds = 1.0 / (base ** (twice / width))\n"
            "    return (positions[..., None] * speeds).double()",
            "1 / base ** (2 i / width) is computed in 32 bits, and turned into 64 "
            "afterwards",
            same_as="it is computed in 32 bits and turned into 64 afterwards; it "
            "should be 64 from the start",
        ),
        Wrong(
            "base ** (-twice / width)",
            "torch.exp(-twice / width)",
            "the base is e always; it should be the one that is given",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base * (-twice / width)",
            "the base is multiplied by the exponent; it should be raised to it",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice / width) * 2 * torch.pi",
            "angles are multiplied by 2 pi; a position is one radian for the first "
            "pair",
        ),
        Wrong(
            "base ** (-twice / width)",
            "(base ** (-twice / width)).flip(-1)",
            "the slowest pair comes first",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions[..., None] / speeds",
            "positions are divided by the speeds; they should be multiplied",
            same_as="the sign of the exponent is lost, so that later pairs are faster",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] - 1) * speeds",
            "every position is one too small",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return -positions[..., None] * speeds",
            "the angles are negative, and would turn backwards",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * speeds).movedim(-1, 0)",
            "the pairs are the first axis; they should be the last",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return torch.einsum('t,i->ti', positions.double(), speeds)",
            "einsum is told of one axis of positions; they may have any shape",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions.double().flatten()[:, None] * speeds",
            "positions are made one row, and their shape is lost",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return speeds.expand(*positions.shape, -1)",
            "the speeds are given, and positions are not looked at",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-(twice + 1) / width)",
            "the exponent is 2 i + 1 over the width; it should be 2 i",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice / (width - 2))",
            "the exponent is divided by the width less two, so that the last pair "
            "is too slow",
            same_as="the exponents go up to one, so that the last pair has the "
            "speed 1 / base: they end before it",
        ),
        Wrong(
            "(-twice / width)",
            "-(twice // width)",
            "2 i / width is rounded down to zero by //, so that all pairs turn "
            "equally fast",
        ),
        Wrong(
            "(-twice / width)",
            "(-twice // width)",
            "the exponent is rounded down to -1 by //, so that all pairs but the "
            "first turn equally fast",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions[..., None, :] * speeds[:, None]",
            "pairs are rows and positions are columns; it should be the other way "
            "round",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * speeds).flatten()",
            "all angles are put into one row",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * speeds).cos()",
            "cosines are given; it should be the angles",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * speeds).rad2deg()",
            "the angles are turned into degrees",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions[..., None] + speeds",
            "speeds are added to the positions; they should be multiplied",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * speeds)[..., : width // 4]",
            "there is one angle for four numbers; it should be one for two",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions[..., None] ** speeds",
            "positions are raised to the speeds; they should be multiplied",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return positions[..., None] * speeds.cumsum(0)",
            "the speeds are added up from pair to pair",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice)",
            "the exponent is not divided by the width",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-(width - twice) / width)",
            "the pairs are counted from the last, and the first is the slowest",
        ),
        Wrong(
            "base ** (-twice / width)",
            "1 - twice / width",
            "the speeds fall evenly, and the base is not used",
        ),
        Wrong(
            "base ** (-twice / width)",
            "torch.linspace(1, 1 / base, len(twice), dtype=torch.float64)",
            "the speeds fall evenly from 1 to 1 / base; each should be one factor "
            "slower",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "torch.arange(width // 2, dtype=torch.float64) + 1",
            "pairs are counted from one, and the exponent lacks its two",
        ),
        Wrong(
            "torch.arange(0, width, 2, dtype=torch.float64)",
            "torch.arange(1, width, 2, dtype=torch.float64)",
            "odd numbers are counted; the exponent has 2 i, the even ones",
            same_as="the exponent is 2 i + 1 over the width; it should be 2 i",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return torch.stack([p * speeds for p in positions])",
            "one loop runs over the first axis; positions may have any shape",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return torch.einsum('bt,i->bti', positions.double(), speeds)",
            "einsum is told of two axes of positions; they may have any shape",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return speeds[:, None] * positions",
            "speeds get an axis behind them, and meet positions from the front",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return torch.cat([positions * speed for speed in speeds], dim=-1)",
            "the columns are joined by torch.cat, which makes no axis for the pairs; "
            "torch.stack does",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return [positions * speed for speed in speeds]",
            "a list of columns is given; torch.stack with dim=-1 makes one tensor",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return (positions[..., None] * base) ** (-twice / width)",
            "position and base are multiplied first; the power should be taken of the "
            "base alone",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base**-2 * twice / 2 / width",
            "the power is taken of -2 alone; i / width should stand in the exponent, "
            "too",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-(twice + 4) / width)",
            "pairs are counted from two",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-2 * twice / width)",
            "there are two factors of two: the even numbers are 2 i already",
            same_as="2 i is divided by the number of pairs; it should be by the width",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (twice / (width // 2))",
            "the sign of the exponent is lost, and 2 i is divided by the number of "
            "pairs",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice / 2 / width)",
            "the exponent is i over the width, without its two",
            same_as="the exponent is i over the width; it should be 2 i",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (twice / 2 / width)",
            "the sign of the exponent is lost, and its two as well",
        ),
        Wrong(
            "base ** (-twice / width)",
            "10_000.0 ** (twice / width)",
            "the base is 10,000 always, and the sign of the exponent is lost",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice / (width // 2)) * 2 * torch.pi",
            "2 i is divided by the number of pairs, and angles are multiplied by 2 pi",
        ),
        Wrong(
            "base ** (-twice / width)",
            "10_000.0 ** (-twice / (width // 2))",
            "the base is 10,000 always, and 2 i is divided by the number of pairs",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-width / twice)",
            "the width is divided by 2 i; it should be the other way round",
        ),
        Wrong(
            "base ** (-twice / width)",
            "(-twice / width)",
            "the exponents are taken for the speeds; the base should be raised to them",
        ),
        Wrong(
            "base ** (-twice / width)",
            "base ** (-twice * width)",
            "2 i is multiplied by the width; it should be divided",
        ),
        Wrong(
            "return positions[..., None] * speeds",
            "return speeds",
            "the speeds alone are given, and no position is multiplied",
        ),
    ],
    stars=1,
    minutes=8,
)
