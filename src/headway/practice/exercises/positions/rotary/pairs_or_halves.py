"""Write the test that tells pairs from halves

Write `pairs_or_halves(rotate)`: the text "pairs", "halves" or "neither".

`rotate(x, positions)` turns x (T, D) by whole positions (T), for any even D; you do
not see what is in it. "pairs": each number 2 i is mixed with 2 i + 1, and with nothing
else. "halves": each number i of the first half is mixed with i + D / 2, and with
nothing else. All others are "neither". Speeds and the direction of the turn do not
matter, and the slowest pair turns very little.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "D = 8",
            "D = 2",
            "the width is two, at which pairs and halves are the same",
            hint="A vector of two numbers has one pair, and its halves are that pair.",
        ),
        Wrong(
            "torch.full((D,), 3)",
            "torch.zeros(D, dtype=torch.int64)",
            "it is tried at place zero, which turns nothing",
            hint="Place zero turns nothing, and elsewhere the slow pairs turn little.",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if torch.equal(mixed[0], must[0]):",
            "only the first number is looked at; all should be",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if bool((must | ~mixed).all()):",
            "it is not asked whether anything is mixed, so that nothing turned counts "
            "as pairs",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if bool((mixed | ~must).any()):",
            "one number in its place is enough for a name; all should be",
        ),
        Wrong(
            "    mixed = turned.abs() > 1e-9\n",
            "    mixed = turned.abs() > 0.1\n",
            "a tolerance is so wide that the slow pairs seem to stand still",
            same_as="it is tried at place zero, which turns nothing",
        ),
        Wrong(
            '    return "neither"',
            '    return "halves"',
            "what is not pairs is taken for halves",
        ),
        Wrong(
            '(("pairs", one ^ 1), ("halves", (one + D // 2) % D))',
            '(("halves", one ^ 1), ("pairs", (one + D // 2) % D))',
            "the two names are exchanged",
        ),
        Wrong(
            "    D = 8\n",
            "    from headway import Rotary\n\n"
            "    D = 8\n"
            "    x, at = torch.randn(5, D, dtype=torch.float64), torch.arange(5)\n"
            "    for halves in (False, True):\n"
            "        meant = Rotary(D, halves=halves)(x, at)\n"
            "        if torch.allclose(rotate(x, at), meant):\n"
            "            return ('pairs', 'halves')[halves]\n"
            "    return 'neither'\n",
            "it is compared with rotations of one base and one direction, so that all "
            "others are taken for neither",
        ),
        Wrong(
            "D = 8",
            "D = 4",
            "the width is four, at which numbers two apart are halves and nothing else",
        ),
        Wrong(
            '            return name\n    return "neither"',
            '            return name.capitalize()\n    return "neither"',
            "the names begin with a capital letter",
        ),
        Wrong(
            "    mixed = turned.abs() > 1e-9\n",
            "    mixed = turned.abs() > 1e-9\n"
            "    if all(mixed[n, n + 1] for n in range(0, D, 2)):\n"
            "        return 'pairs'\n"
            "    if all(mixed[n, n + D // 2] for n in range(D // 2)):\n"
            "        return 'halves'\n"
            "    return 'neither'\n",
            "it is asked whether partners are mixed, and not whether nothing else is",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if bool((mixed | ~must).all()):",
            "what is mixed with its partner has a name, whatever else it is mixed with",
        ),
        Wrong(
            "torch.full((D,), 3)",
            "torch.full((D,), 3.0)",
            "positions are handed over as floating-point numbers; they should be "
            "whole numbers",
        ),
        Wrong(
            "turned.abs() > 1e-9",
            "turned.abs() > 1e-3",
            "the tolerance is so wide that the slow pairs of a large base seem to "
            "stand still",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if torch.equal(mixed[-1], must[-1]):",
            "only the last number is looked at; all should be",
        ),
        Wrong(
            '    return "neither"',
            '    return "pairs"',
            "what is not halves is taken for pairs, and what is neither, too",
        ),
        Wrong(
            "    mixed = turned.abs() > 1e-9\n",
            "    x, at = torch.randn(5, D, dtype=torch.float64), torch.arange(5)\n"
            "    y = rotate(x, at)\n"
            "    for name, axis in (('pairs', -1), ('halves', -2)):\n"
            "        shape = (D // 2, 2) if axis == -1 else (2, D // 2)\n"
            "        old, new = (one.unflatten(-1, shape).norm(dim=axis) "
            "for one in (x, y))\n"
            "        if torch.allclose(old, new):\n"
            "            return name\n"
            "    return 'neither'\n",
            "it is asked whether the lengths of pairs stay, which they also do "
            "where nothing is turned",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if torch.equal(mixed[: D // 2], must[: D // 2]):",
            "only the numbers of the first half are looked at; all should be",
        ),
        Wrong(
            "if torch.equal(mixed, must):",
            "if torch.equal(mixed.sum(dim=-1), must.sum(dim=-1)):",
            "it is counted how many numbers are mixed, and not looked which",
        ),
        Wrong(
            "            return name\n",
            "            return list('ph')[name == 'halves']\n",
            "the names are not written as the task has them",
            same_as="the names begin with a capital letter",
        ),
        Wrong(
            "    turned = rotate(torch.eye(D, dtype=torch.float64), torch.full((D,), "
            "3))",
            "    rows, at = torch.eye(D, dtype=torch.float64), torch.tensor(3)\n"
            "    turned = torch.stack([rotate(x, at) for x in rows])",
            "a vector is handed over without an axis of tokens; x should be (T, D)",
        ),
        Wrong(
            "torch.full((D,), 3)",
            "3",
            "the position is a number of Python; it should be a tensor with one for "
            "each row",
        ),
        Wrong(
            '    return "neither"',
            "    return None",
            'nothing is returned where it should be "neither"',
        ),
        Wrong(
            '            return name\n    return "neither"',
            '            return name == "pairs"\n    return False',
            "True and False are given, and not the names",
        ),
        Wrong(
            "torch.equal(mixed, must)",
            "torch.equal(mixed[:2], must[:2])",
            "only the first two numbers are looked at; all should be",
        ),
        Wrong(
            "torch.equal(mixed, must)",
            "mixed[0, other[0]]",
            "of the first number it is asked whether its partner is among what it is "
            "mixed with, and no more",
        ),
        Wrong(
            "    D = 8",
            "    x = torch.randn(5, 8, dtype=torch.float64)\n"
            "    y = rotate(x, torch.arange(5))\n"
            '    for name, shape, axis in (("pairs", (4, 2), -1), ("halves", (2, 4), '
            "-2)):\n"
            "        old, new = (one.unflatten(-1, shape).norm(dim=axis) for one in "
            "(x, y))\n"
            "        if torch.allclose(old, new) and not torch.allclose(x, y):\n"
            "            return name\n"
            '    return "neither"\n'
            "    D = 8",
            "it is asked whether the lengths of pairs stay and anything is turned; "
            "some pairs may stand still",
            same_as="only the first two numbers are looked at; all should be",
        ),
        Wrong(
            "torch.equal(mixed, must)",
            "torch.equal(mixed[one < other], must[one < other])",
            "only the first number of each pair is looked at, and the second may stay "
            "as it is",
        ),
        Wrong(
            '    return "neither"',
            '    return "halves" if mixed[0, D // 2] else "pairs"',
            'True is given for pairs and "neither" never: only these two are told '
            "apart",
        ),
        Wrong(
            "torch.equal(mixed, must)",
            "torch.equal(turned.abs().fill_diagonal_(0).argmax(dim=1), other)",
            "it is asked which other number is largest, and not whether all others "
            "are zero",
        ),
    ],
    survivors={
        "turned.abs() > 1e-09 -> turned.abs() >= 1e-09": "no number is moved by that",
        "3 -> 4": "a different place does as well, if it is not zero",
        "one + D // 2 -> one - D // 2": "half a vector on is half a vector back",
    },
    stars=3,
    minutes=15,
)
