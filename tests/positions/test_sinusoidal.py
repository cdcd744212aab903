"""Waves and learned rows: loops, the rotation, both orders, and the end of a table."""

import math
import re

import pytest
import torch
from torch import Tensor

from headway import LearnedPositions, sinusoidal_positions
from tests.support.compare import close
from tests.support.sizes import CONTEXT, B, E, T, draw

WIDTH = 14
BASE = pytest.mark.parametrize("base", [10_000.0, 7.0])
HALVES = pytest.mark.parametrize("halves", [False, True])


def by_loops(positions: Tensor, base: float, halves: bool) -> Tensor:
    rows = []
    for p in positions.flatten().tolist():
        angles = [p / base ** (2 * i / WIDTH) for i in range(WIDTH // 2)]
        sines, cosines = [math.sin(a) for a in angles], [math.cos(a) for a in angles]
        if halves:
            rows.append(sines + cosines)
        else:
            pairs = zip(sines, cosines, strict=True)
            rows.append([number for pair in pairs for number in pair])
    table = torch.tensor(rows, dtype=torch.float64)
    return table.view(*positions.shape, WIDTH)


def waves(positions: Tensor, **options) -> Tensor:
    return sinusoidal_positions(positions, WIDTH, dtype=torch.float64, **options)


@BASE
@HALVES
@pytest.mark.parametrize("shape", [(T,), (B, T), ()])
def test_they_equal_the_loops(shape, halves, base) -> None:
    positions = torch.randint(5000, shape)
    close(waves(positions, base=base, halves=halves), by_loops(positions, base, halves))


def test_both_orders_are_one_up_to_a_permutation() -> None:
    paper, code = (waves(torch.arange(T), halves=halves) for halves in (False, True))
    assert torch.equal(torch.cat([paper[:, 0::2], paper[:, 1::2]], -1), code)
    assert not torch.equal(paper, code)


@BASE
@pytest.mark.parametrize("step", [1, 5, 1000])
def test_a_step_is_one_rotation_for_all_positions(step: int, base: float) -> None:
    speeds = [base ** (-2 * i / WIDTH) for i in range(WIDTH // 2)]
    blocks = [
        # Of (sine, cosine): sin(a + b) = sin a cos b + cos a sin b.
        torch.tensor(
            [
                [math.cos(step * w), math.sin(step * w)],
                [-math.sin(step * w), math.cos(step * w)],
            ],
            dtype=torch.float64,
        )
        for w in speeds
    ]
    rotation = torch.block_diag(*blocks)
    positions = torch.tensor([0, 1, 2, 17, 1000, 100_003])
    before, after = (waves(p, base=base) for p in (positions, positions + step))
    torch.testing.assert_close(before @ rotation.mT, after, rtol=0, atol=1e-10)


def test_products_depend_on_the_distance_only() -> None:
    rows = waves(torch.arange(40))
    products = rows @ rows.mT
    close(products.diagonal(), torch.full((40,), WIDTH / 2, dtype=torch.float64))
    for apart in (1, 3, 20):
        line = products.diagonal(apart)
        close(line, line[:1].expand_as(line))
    moved = waves(torch.arange(40) + 100_000)
    torch.testing.assert_close(moved @ moved.mT, products, rtol=0, atol=1e-9)


def test_the_longest_wave_is_shorter_than_the_limit() -> None:
    quarter = sinusoidal_positions(torch.arange(20_000), 512, dtype=torch.float64)[
        :, -1
    ]
    # The slowest cosine passes zero after a quarter of its wave.
    place = int((quarter < 0).nonzero()[0])
    assert place == math.ceil(10_000 ** (510 / 512) * math.pi / 2)


def test_the_type_is_the_default_or_what_is_asked_for() -> None:
    positions = torch.arange(3)
    assert sinusoidal_positions(positions, 4).dtype == torch.float32
    half = sinusoidal_positions(positions + 4095, 4, dtype=torch.bfloat16)
    assert half.dtype == torch.bfloat16
    # The angle is exact, only the result is rounded: neighbours differ.
    assert len(half.unique(dim=0)) == 3


def test_a_learned_row_is_a_row_of_the_table() -> None:
    where = LearnedPositions(CONTEXT, E, dtype=torch.float64)
    assert [*where.state_dict()] == ["weight"]
    assert where.weight.shape == (CONTEXT, E)
    positions = torch.tensor([[0, 3, 3], [18, 1, 2]])
    rows = where(positions)
    assert torch.equal(rows, where.weight[positions])
    assert torch.equal(where(torch.tensor(18)), where.weight[18])
    rows.backward(gradient := draw(2, 3, E))
    expected = torch.zeros(CONTEXT, E, dtype=torch.float64)
    for row, column in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)):
        expected[positions[row, column]] += gradient[row, column]
    close(where.weight.grad, expected)
    assert 0.015 < float(where.weight.detach().std()) < 0.025


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: sinusoidal_positions(torch.zeros(3), 4),
            "positions must hold integers; got positions.dtype=torch.float32.",
        ),
        (lambda: waves_of(5), "width must be even; got width=5."),
        (lambda: waves_of(0), "width must be a positive integer; got width=0."),
        (
            lambda: waves_of(4, base=-1.0),
            "base must be positive and finite; got base=-1.0.",
        ),
        (
            lambda: LearnedPositions(0, 3),
            "context_length must be a positive integer; got context_length=0.",
        ),
        (
            lambda: LearnedPositions(5, 3)(torch.tensor([2, 5])),
            "positions must be in [0, context_length=5); got positions with 5.",
        ),
        (
            lambda: LearnedPositions(5, 3)(torch.tensor([-1])),
            "positions must be in [0, context_length=5); got positions with -1.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(sentence)}$"):
        call()


def waves_of(width: int, **options) -> Tensor:
    return sinusoidal_positions(torch.arange(3), width, **options)
