"""The rotation that the oracle computes is a turn of complex numbers, pair by pair."""

import cmath

import pytest
import torch

from headway.checks.attention.evidence.design import Rotation
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.rotation import base_of, rotate, steps_of
from tests.support.compare import close
from tests.support.sizes import B, H, T, draw

PAIRS, REST = 3, 5  # of each head, the last numbers are not turned
SPEEDS = torch.tensor([1.1, 0.4, 0.07]).double()
ANGLES = 0.3 + torch.arange(T)[:, None] * SPEEDS


def turned(x, pairing, layout=None, sign=1):
    """Turn each pair by its angle, where `layout` is the pairing of the angles.

    Of a pair, each of the two numbers looks up its own angle. If these differ, it is
    no turn any more, and each is computed with its own.
    """
    result = x.clone()
    for b, h, t in torch.cartesian_prod(*map(torch.arange, x.shape[:3])).tolist():
        for i in range(PAIRS):
            pair = (2 * i, 2 * i + 1) if pairing == "pairs" else (i, i + PAIRS)
            number = complex(*(x[b, h, t, j] for j in pair))
            for part, j in zip(("real", "imag"), pair, strict=True):
                place = j // 2 if (layout or pairing) == "pairs" else j % PAIRS
                turn = cmath.exp(1j * sign * float(ANGLES[t, place]))
                result[b, h, t, j] = getattr(number * turn, part)
    return result


@pytest.mark.parametrize("pairing", ["pairs", "halves"])
@pytest.mark.parametrize("letter", ["q", "k"])
def test_it_turns_complex_numbers(pairing, letter):
    x = draw(B, H, T, 2 * PAIRS + REST)
    rotation = Rotation(ANGLES, pairing, "here")
    close(rotate(x, rotation, Recipe(), letter), turned(x, pairing))


@pytest.mark.parametrize("pairing", ["pairs", "halves"])
def test_each_mistake_is_what_its_name_says(pairing):
    x = draw(B, H, T, 2 * PAIRS + REST)
    rotation = Rotation(ANGLES, pairing, "here")
    other = "halves" if pairing == "pairs" else "pairs"
    close(rotate(x, rotation, Recipe(pairing="other"), "q"), turned(x, other))
    laid_out = rotate(x, rotation, Recipe(layout="other"), "q")
    close(laid_out, turned(x, pairing, layout=other))
    against = Recipe(against="k")
    close(rotate(x, rotation, against, "k"), turned(x, pairing, sign=-1))
    close(rotate(x, rotation, against, "q"), turned(x, pairing))


def test_the_base_is_found_if_there_is_one():
    powers = 50.0 ** (-torch.arange(4).double() / 4)
    angles = torch.arange(T)[:, None] * powers
    rotation = Rotation(angles, "pairs", "here")
    close(steps_of(rotation), powers)
    assert base_of(rotation) == pytest.approx(50.0)
    assert base_of(Rotation(ANGLES, "pairs", "here")) is None
