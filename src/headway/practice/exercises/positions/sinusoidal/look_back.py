"""Look some tokens back

A head is to look at the token `back` places before its own. Its keys are the rows of
the waves, and its query must be the row that stands `back` places earlier.

Write `look_back(rows, back)`: `rows` (T, E) are rows of the waves, of places that you
are not told; E is even. Numbers 2 i and 2 i + 1 of a row are the sine and the cosine of
place * 10000 ** (-2 i / E). Give the rows that stand `back` places earlier, (T, E), in
64 bits as the rows are.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos + b * sin, b * cos - a * sin",
            "the rows are turned on, to what stands behind the token, and not back",
        ),
        Wrong(
            "a, b = rows[:, 0::2], rows[:, 1::2]",
            "b, a = rows[:, 0::2], rows[:, 1::2]",
            "the first of two numbers is taken for the cosine; it is the sine",
        ),
        Wrong(
            "b * cos + a * sin",
            "b * cos - a * sin",
            "one sign is wrong, so that it is no turn: lengths are not kept",
            exhibit="positions/#rotary-sign-lost",
        ),
        Wrong(
            "rows[:, 0::2], rows[:, 1::2]",
            "rows.chunk(2, dim=1)",
            "all sines are looked for in the first half, as some code has them",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return torch.cat(earlier.unbind(-1), dim=1)",
            "sines and cosines are not laid side by side again",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "torch.arange(0, E, 2, dtype=torch.float64)",
            "torch.arange(E // 2, dtype=torch.float64)",
            "the exponent is i over the width; it should be 2 i",
            exhibit="positions/#a-speed-for-each-channel",
        ),
        Wrong(
            "cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "cos, sin = (back + 0 * speeds).cos(), (back + 0 * speeds).sin()",
            "all hands are turned by one angle, and not each at its own speed",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows.roll(back, dims=0)",
            "the rows are moved, as if they stood in the order of a text",
        ),
        Wrong(
            "b * cos + a * sin",
            "a * sin - b * cos",
            "the sign of the cosine is wrong",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "b * cos + a * sin, a * cos - b * sin",
            "the cosine is put before the sine",
        ),
        Wrong(
            "torch.arange(0, E, 2, dtype=torch.float64)",
            "torch.arange(0, E, 2)",
            "the speeds are computed in 32 bits",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    from headway import sinusoidal_positions as waves\n\n"
            "    places = torch.arange(len(rows)) - back\n"
            "    return waves(places, E, dtype=torch.float64)",
            "places are counted from zero, and the rows that are given are not used",
            exhibit="positions/#counted-from-zero",
        ),
        Wrong(
            "(-torch.arange(0, E, 2, dtype=torch.float64) / E)",
            "(-torch.arange(0, E, 2, dtype=torch.float64) / (E // 2))",
            "2 i is divided by the number of pairs, so that 2 is counted twice; it "
            "should be by the width",
        ),
        Wrong(
            "(-torch.arange",
            "(torch.arange",
            "the sign of the exponent is lost, so that later pairs are faster",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows.roll(-back, dims=0)",
            "the rows are moved up, as if they stood in the order of a text",
        ),
        Wrong(
            "    earlier = torch.stack(",
            "    a = a * cos - b * sin\n"
            "    return torch.stack([a, b * cos + a * sin], dim=-1).flatten(1)\n"
            "    earlier = torch.stack(",
            "the sine is turned first, and the cosine is made of what it has become",
            hint="Keep both numbers of a pair until both new ones are made.",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return earlier",
            "pairs keep an axis of their own",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    place = torch.atan2(rows[:, 0], rows[:, 1])[:, None] - back\n"
            "    found = place * speeds\n"
            "    return torch.stack([found.sin(), found.cos()], dim=-1).flatten(1)",
            "the place is read from the first pair, which has gone round many "
            "times: only the angle within one round can be read",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    wave = torch.stack([sin, cos], dim=-1).flatten()\n"
            "    return rows - wave",
            "the waves of a place are subtracted from those of another: places "
            "subtract, and waves do not",
        ),
        Wrong(
            "cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "back = back * torch.arange(len(rows))[:, None]\n"
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "each row is turned farther than the one before; all should go back by "
            "as many places",
        ),
        Wrong(
            "cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "back = back - 1\n"
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "the rows go back by one place too few",
        ),
        Wrong(
            "cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "back = back + 1\n"
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "the rows go back by one place too many",
        ),
        Wrong(
            "cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "back = 1\n    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "the rows go back by one place, whatever `back` is",
        ),
        Wrong(
            "10_000.0 ** (-torch.arange(0, E, 2, dtype=torch.float64) / E)",
            "torch.exp(-torch.arange(0, E, 2, dtype=torch.float64) / E)",
            "the base is e; it should be 10000",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos, b * cos",
            "the sines are left out, so that nothing is turned",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos - b * sin, b * cos",
            "the cosine gets nothing of the sine",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a - sin, b - cos",
            "sine and cosine of the step are subtracted; the pair should be turned "
            "by it",
            same_as="the waves of a place are subtracted from those of another: "
            "places subtract, and waves do not",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows - back",
            "`back` is subtracted from the numbers of a row; its place should be moved",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    place = torch.acos(rows[:, 1:2]) - back\n"
            "    found = place * speeds\n"
            "    return torch.stack([found.sin(), found.cos()], dim=-1).flatten(1)",
            "the place is read from the first cosine, which is the same at many places",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    place = torch.asin(rows[:, 0:1]) - back\n"
            "    found = place * speeds\n"
            "    return torch.stack([found.sin(), found.cos()], dim=-1).flatten(1)",
            "the place is read from the first sine, which is the same at many places",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    hands = torch.asin(a) - back * speeds\n"
            "    return torch.stack([hands.sin(), hands.cos()], dim=-1).flatten(1)",
            "angles are read from sines alone, which do not tell in which half "
            "they are; atan2 of both does",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    hands = torch.acos(b) - back * speeds\n"
            "    return torch.stack([hands.sin(), hands.cos()], dim=-1).flatten(1)",
            "angles are read from cosines alone, which do not tell in which half "
            "they are; atan2 of both does",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    hands = torch.atan(a / b) - back * speeds\n"
            "    return torch.stack([hands.sin(), hands.cos()], dim=-1).flatten(1)",
            "angles are read from sine over cosine, which loses their signs; atan2 "
            "of both keeps them",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    hands = torch.atan2(b, a) - back * speeds\n"
            "    return torch.stack([hands.sin(), hands.cos()], dim=-1).flatten(1)",
            "atan2 is given the cosine first; it should be the sine",
            same_as="the first of two numbers is taken for the cosine; it is the sine",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return earlier.flatten(1)[:1].expand_as(rows)",
            "all rows get what the first gets",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    from headway import sinusoidal_positions as waves\n"
            "\n"
            "    table = waves(torch.arange(600), E, dtype=torch.float64)\n"
            "    place = (table @ rows.T).argmax(dim=0)\n"
            "    return table[place - back]",
            "rows are looked for in a table of the first places; any place may come",
        ),
        Wrong(
            "torch.arange(0, E, 2, dtype=torch.float64)",
            "torch.arange(2, E + 2, 2, dtype=torch.float64)",
            "pairs are counted from one, so that the first is not turned at speed one",
        ),
        Wrong(
            "10_000.0",
            "1_000.0",
            "the base is 1000; it should be 10000",
        ),
        Wrong(
            "    E = rows.shape[-1]",
            "    E = rows.shape[0]",
            "the number of rows is taken for their width",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    speeds = 10_000.0 ** (-torch.arange(E, dtype=torch.float64) / E)\n"
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()\n"
            "    other = torch.stack([-rows[:, 1::2], rows[:, 0::2]], "
            "dim=-1).flatten(1)\n"
            "    return rows * cos + other * sin",
            "each number has a speed of its own; the two of a pair should share one",
        ),
        Wrong(
            "    cos, sin = (back",
            "    sin, cos = (back",
            "sine and cosine of the step are exchanged",
        ),
        Wrong(
            "dim=-1)",
            "dim=0)",
            "sines and cosines are stacked along axis 0, so that rows are torn apart",
        ),
        Wrong(
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "    cos, sin = (back * speeds).deg2rad().cos(), (back * "
            "speeds).deg2rad().sin()",
            "angles are taken for degrees",
        ),
        Wrong(
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "    speeds = 2 * torch.pi * speeds\n"
            "    cos, sin = (back * speeds).cos(), (back * speeds).sin()",
            "angles are multiplied by 2 pi; a speed is an angle already",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return torch.stack([sin, cos], dim=-1).flatten().expand_as(rows)",
            "the row of the place `back` is given for all",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows * torch.stack([sin, cos], dim=-1).flatten()",
            "rows are multiplied by the wave of `back`, number by number",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows[:-back]",
            "the last rows are cut off, and the rows are not turned",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return rows[back:]",
            "the first rows are cut off, and the rows are not turned",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    return torch.cat([torch.zeros_like(rows[:back]), rows[:-back]])[: "
            "len(rows)]",
            "the rows are moved down behind zeros, as if they stood in the order of a "
            "text",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos + b * sin, b * cos + a * sin",
            "the sine is turned on, and the cosine back",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos - b * sin, a * cos + b * sin",
            "the new cosine is the same sum as a sine: its a and b are exchanged",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * sin - b * cos, b * cos + a * sin",
            "in the new sine cosine and sine of the step are exchanged",
        ),
        Wrong(
            "a * cos - b * sin, b * cos + a * sin",
            "a * cos - b * sin, b",
            "only the sine is turned, and the cosine stays",
        ),
        Wrong(
            "    return earlier.flatten(1)",
            "    place = torch.atan2(rows[:, -2], rows[:, -1])[:, None] / speeds[-1] "
            "- back\n"
            "    found = place * speeds\n"
            "    return torch.stack([found.sin(), found.cos()], dim=-1).flatten(1)",
            "the place is read from the slowest pair, which has gone round, too, at "
            "late places",
        ),
    ],
    survivors={"-1 -> 1": "rows have two axes, and the last of them is number 1"},
    stars=2,
    minutes=15,
)
