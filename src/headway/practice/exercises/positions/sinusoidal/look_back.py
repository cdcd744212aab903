"""Look some tokens back

A head is to look at the token `back` places before its own. Its keys are the rows of
the waves, and its query must be the row that stands `back` places earlier.

Write `look_back(rows, back)`: `rows` (T, E) are rows of the waves, of places that you
are not told; E is even. Numbers 2 i and 2 i + 1 of a row are the sine and the cosine of
place * 10000 ** (-2 i / E). Give the rows that stand `back` places earlier, (T, E), in
64 bits as the rows are.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def look_back(rows: Tensor, back: int) -> Tensor:
    """Turn rows of waves (T, E) back by some places, which gives (T, E)."""
    # --- write ---
    E = rows.shape[-1]
    speeds = 10_000.0 ** (-torch.arange(0, E, 2, dtype=torch.float64) / E)
    cos, sin = (back * speeds).cos(), (back * speeds).sin()
    a, b = rows[:, 0::2], rows[:, 1::2]
    earlier = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)
    return earlier.flatten(1)
    # --- written ---


if __name__ == "__main__":
    from headway import sinusoidal_positions

    fourth = sinusoidal_positions(torch.tensor([4]), 6, dtype=torch.float64)
    print(look_back(fourth, 3))
    # tensor([[0.8415, 0.5403, 0.0464, 0.9989, 0.0022, 1.0000]],
    #        dtype=torch.float64)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    from headway import sinusoidal_positions

    places = 3 + d.integers(500 * int(d.loud), d.T)
    return sinusoidal_positions(places, 2 * d.D, dtype=torch.float64), 1 + d.W


EXERCISE = Exercise(
    answer="look_back",
    read=(
        "positions/sinusoidal/#the-property-a-step-is-a-rotation",
        "The property: a step is a rotation",
    ),
    hints=(
        "By which angle does one hand turn in `back` places, and does that depend on "
        "where it stood?",
        "The sine of a difference is sin a cos b - cos a sin b, and the cosine is "
        "cos a cos b + sin a sin b: a row has sin a and cos a already.",
        "Take sines and cosines of the row apart with 0::2 and 1::2, the sine and the "
        "cosine of back * speeds for each hand, and lay what comes out side by side.",
    ),
    draw=draw,
    # In the last, even the slowest hand has gone round.
    trials=(
        {},
        {"T": 4, "D": 4, "W": 4},
        {"T": 1, "D": 1, "W": 1},
        {"D": 3, "W": 1, "loud": 1000.0},
    ),
    law="One matrix moves every place by as many: it need not know where it begins.",
    right=[
        """
        # One matrix for all rows: what the section calls a step is a rotation.
        E = rows.shape[1]
        speeds = 10_000.0 ** (-torch.arange(0, E, 2).double() / E)
        turns = []
        for angle in -back * speeds:
            cos, sin = angle.cos(), angle.sin()
            turns.append(torch.stack([cos, sin, -sin, cos]).view(2, 2))
        return rows @ torch.block_diag(*turns).T
        """,
        """
        # The angles are read off, and moved: atan2 knows in which quarter they are.
        E = rows.shape[1]
        speeds = 10_000.0 ** (-torch.arange(0, E, 2).double() / E)
        hands = torch.atan2(rows[:, 0::2], rows[:, 1::2]) - back * speeds
        return torch.stack([hands.sin(), hands.cos()], dim=-1).flatten(1)
        """,
        """
        # Complex numbers: cosine and sine are one number, and a turn is one product.
        E = rows.shape[1]
        speeds = 10_000.0 ** (-torch.arange(0, E, 2).double() / E)
        hands = torch.complex(rows[:, 1::2].contiguous(), rows[:, 0::2].contiguous())
        hands = hands * torch.polar(torch.ones_like(speeds), -back * speeds)
        return torch.stack([hands.imag, hands.real], dim=-1).flatten(1)
        """,
    ],
    survivors={"-1 -> 1": "rows have two axes, and the last of them is number 1"},
    stars=2,
    minutes=15,
)
