"""Frequencies for longer texts: which pairs keep their speed, and which are divided."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from headway import (
    Rotary,
    linear_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
    yarn_magnitude,
)
from tests.support.compare import close
from tests.support.sizes import B, H, S, T, draw

# A factor of one hides every mistake, and so does a width of two.
WIDTH, BASE, FACTOR, LENGTH = 62, 13_000.0, 11.0, 5003

Rule = Callable[..., Tensor]
RULES: dict[str, Rule] = {
    "linear": linear_frequencies,
    "ntk": ntk_frequencies,
    "yarn": partial(yarn_frequencies, original_length=LENGTH),
    "yarn, not truncated": partial(
        yarn_frequencies, original_length=LENGTH, truncate=False
    ),
    "llama3": partial(llama3_frequencies, original_length=LENGTH),
}
EVERY_RULE = pytest.mark.parametrize("name", RULES)
BY_PARTS = pytest.mark.parametrize("name", [name for name in RULES if name != "linear"])


def divided_by(new: Tensor, base: float = BASE) -> Tensor:
    return rotary_frequencies(2 * len(new), base=base) / new


# The equations, pair by pair.


def speeds(width: int, base: float) -> list[float]:
    return [base ** (-2 * i / width) for i in range(width // 2)]


def by_turns(  # equations 17 to 20 as they are printed
    width: int, base: float, s: float, length: int, alpha: float, beta: float
) -> list[float]:
    new = []
    for theta in speeds(width, base):
        wavelength = 2 * math.pi / theta
        turns = length / wavelength
        if turns < alpha:
            gamma = 0.0
        elif turns > beta:
            gamma = 1.0
        else:
            gamma = (turns - alpha) / (beta - alpha)
        new.append((1 - gamma) * theta / s + gamma * theta)
    return new


def by_index(  # what code does
    width: int,
    base: float,
    s: float,
    length: int,
    alpha: float,
    beta: float,
    truncate: bool,
) -> list[float]:
    def number_of(turns: float) -> float:
        wavelength = length / turns
        return width * math.log(wavelength / (2 * math.pi)) / (2 * math.log(base))

    first, last = number_of(beta), number_of(alpha)
    if truncate:
        first, last = float(math.floor(first)), float(math.ceil(last))
    first, last = max(first, 0.0), min(last, width - 1.0)
    new = []
    for i, theta in enumerate(speeds(width, base)):
        if i <= first:
            divided = 0.0
        elif i >= last:
            divided = 1.0
        else:
            divided = (i - first) / (last - first)
        new.append(divided * theta / s + (1 - divided) * theta)
    return new


SIZES = pytest.mark.parametrize(
    ("width", "base", "factor", "length"),
    [
        (WIDTH, BASE, FACTOR, LENGTH),
        (128, 10_000.0, 16.0, 4096),
        (64, 150_000.0, 32.0, 4096),
        (6, 500_000.0, 7.5, 8192),
        (34, 100.0, 9.0, 999_983),  # the ramp ends behind the last pair
        (34, 10_000.0, 9.0, 101),  # and begins before the first
    ],
)


@SIZES
def test_linear_divides_each_pair(width, base, factor, length) -> None:
    new = linear_frequencies(width, base=base, factor=factor)
    assert new.dtype == torch.float64
    expected = [theta / factor for theta in speeds(width, base)]
    close(new, torch.tensor(expected, dtype=torch.float64))


@SIZES
def test_ntk_takes_another_base(width, base, factor, length) -> None:
    new = ntk_frequencies(width, base=base, factor=factor)
    assert new.dtype == torch.float64
    expected = speeds(width, base * factor ** (width / (width - 2)))
    close(new, torch.tensor(expected, dtype=torch.float64))
    powers = torch.arange(0, width, 2, dtype=torch.float64) / (width - 2)
    close(divided_by(new, base), factor**powers)


@SIZES
@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize(("fast", "slow"), [(32.0, 1.0), (19.0, 3.0), (5.0, 0.5)])
def test_yarn_equals_the_loop(
    width, base, factor, length, fast, slow, truncate
) -> None:
    new = yarn_frequencies(
        width,
        base=base,
        factor=factor,
        original_length=length,
        fast=fast,
        slow=slow,
        truncate=truncate,
    )
    assert new.dtype == torch.float64
    expected = by_index(width, base, factor, length, slow, fast, truncate)
    close(new, torch.tensor(expected, dtype=torch.float64))


@SIZES
@pytest.mark.parametrize(("high", "low"), [(32.0, 1.0), (4.0, 1.0), (19.0, 3.0)])
def test_llama3_equals_the_loop(width, base, factor, length, high, low) -> None:
    new = llama3_frequencies(
        width, base=base, factor=factor, low=low, high=high, original_length=length
    )
    assert new.dtype == torch.float64
    expected = by_turns(width, base, factor, length, low, high)
    close(new, torch.tensor(expected, dtype=torch.float64))


def test_defaults_are_those_of_the_models() -> None:
    close(
        yarn_frequencies(128, factor=16.0, original_length=4096),
        yarn_frequencies(
            128, base=1e4, factor=16.0, original_length=4096, fast=32.0, slow=1.0
        ),
    )
    close(
        llama3_frequencies(128),
        llama3_frequencies(
            128, base=5e5, factor=8.0, low=1.0, high=4.0, original_length=8192
        ),
    )
    close(
        linear_frequencies(6, factor=3.0), linear_frequencies(6, base=1e4, factor=3.0)
    )
    close(ntk_frequencies(6, factor=3.0), ntk_frequencies(6, base=1e4, factor=3.0))


# By eye.


def test_of_two_pairs_one_is_kept_and_one_divided() -> None:
    """The first turns 41 times within 256 tokens, the other not even half a time."""
    kept_and_divided = torch.tensor([1.0, 0.01 / 8], dtype=torch.float64)
    for truncate in (True, False):
        new = yarn_frequencies(4, factor=8.0, original_length=256, truncate=truncate)
        close(new, kept_and_divided)
    close(ntk_frequencies(4, factor=8.0), kept_and_divided)
    new = llama3_frequencies(4, base=1e4, original_length=256)
    close(new, kept_and_divided)
    both_divided = torch.tensor([0.125, 0.01 / 8], dtype=torch.float64)
    close(linear_frequencies(4, factor=8.0), both_divided)


# What must hold.


@EVERY_RULE
def test_a_factor_of_one_changes_nothing(name) -> None:
    new = RULES[name](WIDTH, base=BASE, factor=1.0)
    close(new, rotary_frequencies(WIDTH, base=BASE))
    assert yarn_magnitude(1.0) == 1.0


@BY_PARTS
def test_the_fastest_pair_keeps_its_speed_and_the_slowest_is_divided(name) -> None:
    quotients = divided_by(RULES[name](WIDTH, base=BASE, factor=FACTOR))
    close(quotients[0], torch.tensor(1.0).double())
    close(quotients[-1], torch.tensor(FACTOR).double())


@EVERY_RULE
def test_a_slower_pair_is_never_divided_by_less(name) -> None:
    quotients = divided_by(RULES[name](WIDTH, base=BASE, factor=FACTOR))
    assert (quotients.diff() >= -1e-12).all()
    assert quotients.min() >= 1 - 1e-12
    assert quotients.max() <= FACTOR + 1e-12


def test_linear_turns_to_s_times_the_place_as_plain_to_the_place() -> None:
    x = draw(B, H, T, WIDTH)
    places = torch.randint(0, LENGTH, (B, 1, T))
    slower = linear_frequencies(WIDTH, base=BASE, factor=FACTOR)
    ours = Rotary(WIDTH, frequencies=slower)(x, int(FACTOR) * places)
    close(ours, Rotary(WIDTH, base=BASE)(x, places), 1e-10)


@pytest.mark.parametrize("name", ["linear", "yarn", "yarn, not truncated", "llama3"])
def test_no_slow_pair_reaches_an_angle_that_is_new(name) -> None:
    plain = rotary_frequencies(WIDTH, base=BASE)
    seen = plain * LENGTH
    slow = seen < 2 * math.pi
    assert 3 < slow.sum() < WIDTH // 2
    reached = RULES[name](WIDTH, base=BASE, factor=FACTOR) * LENGTH * FACTOR
    assert (reached <= seen * (1 + 1e-12))[slow].all()


def test_ntk_takes_all_slow_pairs_but_the_last_to_new_angles() -> None:
    seen = rotary_frequencies(128) * 4096
    reached = ntk_frequencies(128, factor=16.0) * 4096 * 16
    new = (seen < 2 * math.pi) & (reached > seen * (1 + 1e-9))
    assert int((seen < 2 * math.pi).sum()) == 18
    assert int(new.sum()) == 17


@EVERY_RULE
def test_a_score_depends_on_the_distance_only(name) -> None:
    rotate = Rotary(
        WIDTH,
        frequencies=RULES[name](WIDTH, base=BASE, factor=FACTOR),
        magnitude=yarn_magnitude(FACTOR),
    )
    query, key = draw(B, H, T, WIDTH), draw(B, H, S, WIDTH)
    asking, asked = torch.arange(T), torch.arange(S)
    here = rotate(query, asking) @ rotate(key, asked).mT
    there = rotate(query, asking + 40_009) @ rotate(key, asked + 40_009).mT
    close(here, there, 1e-9)


def test_the_magnitude_raises_scores_by_its_square() -> None:
    query, key = draw(B, T, WIDTH), draw(B, S, WIDTH)
    plain = Rotary(WIDTH)
    longer = Rotary(WIDTH, magnitude=yarn_magnitude(16.0))
    asking, asked = torch.arange(T), torch.arange(S)
    scores = plain(query, asking) @ plain(key, asked).mT
    raised = longer(query, asking) @ longer(key, asked).mT
    close(raised, scores * (0.1 * math.log(16) + 1) ** 2)
    assert round(yarn_magnitude(16.0) ** 2, 2) == 1.63


# Figures.


@pytest.mark.parametrize(
    ("factor", "printed"), [(16.0, 1.2773), (32.0, 1.3466), (40.0, 1.3689)]
)
def test_temperatures_of_models(factor, printed) -> None:
    assert round(yarn_magnitude(factor), 4) == printed


def test_llama_keeps_29_pairs_blends_6_and_divides_29() -> None:
    quotients = divided_by(llama3_frequencies(128), 500_000.0)
    kept, divided = quotients == 1, quotients == 8
    between = (quotients > 1) & (quotients < 8)
    assert [int(n.sum()) for n in (kept, between, divided)] == [29, 6, 29]


@pytest.mark.parametrize(
    ("truncate", "pairs", "most"), [(False, 24, 2.92), (True, 25, 3.04)]
)
def test_the_equation_of_the_paper_is_not_what_code_does(truncate, pairs, most) -> None:
    code = yarn_frequencies(128, factor=16.0, original_length=4096, truncate=truncate)
    paper = llama3_frequencies(
        128, base=1e4, factor=16.0, low=1.0, high=32.0, original_length=4096
    )
    apart = torch.maximum(code / paper, paper / code)
    assert int((apart > 1.01).sum()) == pairs
    assert round(apart.max().item(), 2) == most


# Short and strange.


@pytest.mark.parametrize("length", [1, 4, 6, 7])
@pytest.mark.parametrize("truncate", [True, False])
def test_a_ramp_without_length_is_a_step(length, truncate) -> None:
    new = yarn_frequencies(
        WIDTH, factor=FACTOR, original_length=length, truncate=truncate
    )
    quotients = rotary_frequencies(WIDTH) / new
    close(quotients[1:], torch.full((WIDTH // 2 - 1,), FACTOR).double())
