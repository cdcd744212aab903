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
    draw=lambda d: (d.integers(50, d.B, d.T), 2 * d.D, 1000.0),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4)),
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
    ],
)
