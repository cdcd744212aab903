"""Write the test that tells pairs from halves

Write `pairs_or_halves(rotate)`: the text "pairs", "halves" or "neither".

`rotate(x, positions)` turns x (T, D) by whole positions (T), for any even D; you do
not see what is in it. "pairs": each number 2 i is mixed with 2 i + 1, and with nothing
else. "halves": each number i of the first half is mixed with i + D / 2, and with
nothing else. All others are "neither". Speeds and the direction of the turn do not
matter, and the slowest pair turns very little.
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def pairs_or_halves(rotate: Callable[[Tensor, Tensor], Tensor]) -> str:
    """Name which numbers of a vector are turned together."""
    # --- write ---
    D = 8
    turned = rotate(torch.eye(D, dtype=torch.float64), torch.full((D,), 3))
    mixed = turned.abs() > 1e-9
    one = torch.arange(D)
    for name, other in (("pairs", one ^ 1), ("halves", (one + D // 2) % D)):
        must = (one[:, None] == one) | (one[:, None] == other)
        if torch.equal(mixed, must):
            return name
    return "neither"
    # --- written ---


if __name__ == "__main__":
    from headway import Rotary

    for halves in (False, True):

        def turned(x: Tensor, at: Tensor, halves: bool = halves) -> Tensor:
            return Rotary(x.shape[-1], halves=halves)(x, at)

        print(pairs_or_halves(turned))
    # pairs
    # halves
# --- end of your file ---


def _turn(x, positions, halves=False, back=False, base=10_000.0):  # type: ignore[no-untyped-def]
    from headway import Rotary, rotary_frequencies

    speeds = rotary_frequencies(x.shape[-1], base=base) * (-1 if back else 1)
    return Rotary(x.shape[-1], frequencies=speeds, halves=halves)(x, positions)


def pairs(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of neighbours"""
    return _turn(x, positions)


def halves(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of halves"""
    return _turn(x, positions, halves=True)


def pairs_back(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of neighbours, in the other direction, with a larger base"""
    return _turn(x, positions, back=True, base=500_000.0)


def halves_back(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of halves, in the other direction"""
    return _turn(x, positions, halves=True, back=True)


def still(x, positions):  # type: ignore[no-untyped-def]
    """nothing is turned"""
    return x.clone()


def laid_in_turn(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of halves that lays its numbers out as pairs"""
    a, b = _turn(x, positions, halves=True).chunk(2, dim=-1)
    return torch.stack([a, b], dim=-1).flatten(-2)


def laid_in_halves(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of pairs that lays its numbers out as halves"""
    y = _turn(x, positions)
    return torch.cat([y[..., 0::2], y[..., 1::2]], dim=-1)


def from_the_ends(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of the first number with the last, the second with the last but one"""
    half = x.shape[-1] // 2
    y = torch.cat([x[..., :half], x[..., half:].flip(-1)], dim=-1)
    y = _turn(y, positions, halves=True)
    return torch.cat([y[..., :half], y[..., half:].flip(-1)], dim=-1)


def first_half_only(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of the neighbours in the first half, the second half stays"""
    half = max(x.shape[-1] // 4 * 2, 2)  # of an even width, as all must be
    return torch.cat([_turn(x[..., :half], positions), x[..., half:]], dim=-1)


def one_too_far(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of the numbers 1 and 2, 3 and 4, and so on, the last with the first"""
    return _turn(x.roll(-1, -1), positions).roll(1, -1)


def two_apart(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of the numbers 0 and 2, 1 and 3, 4 and 6, and so on"""
    order = torch.arange(x.shape[-1])
    fours = len(order) // 4 * 4
    order[:fours] = order[:fours].view(-1, 2, 2).mT.flatten()
    y = torch.empty_like(x)
    y[..., order] = _turn(x[..., order], positions)
    return y


def pairs_then_halves(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of neighbours, and then one of halves"""
    return halves(pairs(x, positions), positions)


def halves_in_part(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of halves, of which the later pairs stand still"""
    half = x.shape[-1] // 2
    kept = torch.arange(x.shape[-1]) % half >= max(half // 2, 1)
    return torch.where(kept, x, halves(x, positions))


def one_way(x, positions):  # type: ignore[no-untyped-def]
    """a shear: each first of a pair is added to the second, and stays as it is"""
    y = x.clone()
    y[..., 1::2] += x[..., 0::2]
    return y


def and_a_little(x, positions):  # type: ignore[no-untyped-def]
    """a rotation of neighbours, and a little of the first number for the last"""
    y = pairs(x, positions)
    y[..., -1] += 0.01 * x[..., 0]
    return y


CASES = [
    pairs,
    halves,
    pairs_back,
    halves_back,
    still,
    laid_in_turn,
    laid_in_halves,
    from_the_ends,
    first_half_only,
    one_too_far,
    two_apart,
    pairs_then_halves,
    halves_in_part,
    one_way,
    and_a_little,
]

EXERCISE = Exercise(
    answer="pairs_or_halves",
    read=("positions/rotary/#pairs-or-halves", "Pairs or halves"),
    hints=(
        "Turn a vector that has a one at a single place, and zeros elsewhere: where "
        "can there be something afterwards?",
        "Turn each row of a unit matrix by a place that is not zero. Row j says what "
        "number j is mixed with.",
        "Make the table that pairs must give, and the one that halves must give, each "
        "true at two numbers a row, and compare with what is not zero.",
    ),
    draw=lambda d: (CASES[d.case],),
    trials=[{"case": n} for n in range(len(CASES))],
    law="Shapes do not tell layouts apart; a vector with a single one does.",
    right=[
        """
        # By gradients: which numbers does each one depend on?
        torch.manual_seed(1)
        x = torch.randn(6, 12, dtype=torch.float64, requires_grad=True)
        y = rotate(x, torch.arange(1, 7))
        found = []
        for j in range(12):
            [slope] = torch.autograd.grad(y[:, j].sum(), x, retain_graph=True)
            found.append(slope.abs().sum(dim=0).nonzero().flatten().tolist())
        if found == [sorted({j, j + 1 - 2 * (j % 2)}) for j in range(12)]:
            return "pairs"
        if found == [sorted({j, (j + 6) % 12}) for j in range(12)]:
            return "halves"
        return "neither"
        """,
        """
        # One number is changed after the other, on a vector as models have it.
        x, place = torch.randn(1, 8, dtype=torch.float64), torch.tensor([3])
        partners = []
        for n in range(8):
            changed = x.clone()
            changed[0, n] += 1.0
            moved = (rotate(changed, place) - rotate(x, place)).abs()[0] > 1e-9
            partners.append([m for m in moved.nonzero().flatten().tolist() if m != n])
        if partners == [[n ^ 1] for n in range(8)]:
            return "pairs"
        return "halves" if partners == [[(n + 4) % 8] for n in range(8)] else "neither"
        """,
    ],
    survivors={
        "turned.abs() > 1e-09 -> turned.abs() >= 1e-09": "no number is moved by that",
        "3 -> 4": "a different place does as well, if it is not zero",
        "one + D // 2 -> one - D // 2": "half a vector on is half a vector back",
    },
    stars=3,
    minutes=15,
)
