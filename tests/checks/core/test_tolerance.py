"""How far apart two results are, and what counts as equal."""

import math

import pytest
import torch

from headway.checks.core.tolerance import (
    largest,
    max_difference,
    same_order_tolerance,
    tolerance,
)


def test_the_largest_number_is_finite() -> None:
    assert largest(torch.tensor([1.0, -3.0, math.inf, -math.inf, math.nan])) == 3.0


@pytest.mark.parametrize(
    ("dtype", "roundings"),
    [(torch.float64, 64), (torch.float32, 64), (torch.bfloat16, 2), (torch.float16, 2)],
)
def test_noise_is_some_roundings_of_the_largest_number(
    dtype: torch.dtype, roundings: int
) -> None:
    x = torch.tensor([1.0, -4.0], dtype=dtype)
    assert same_order_tolerance(x) == 4 * roundings * torch.finfo(dtype).eps
    assert same_order_tolerance(torch.zeros(3, dtype=dtype)) > 0


@pytest.mark.parametrize(
    ("dtype", "part"), [(torch.float32, 1e-5), (torch.bfloat16, 4 / 128)]
)
def test_a_tolerance_is_of_the_size_of_the_result(
    dtype: torch.dtype, part: float
) -> None:
    x = torch.tensor([2.0, -5.0], dtype=dtype)
    assert tolerance(x) == pytest.approx(5 * part)


NUMBERS = torch.tensor([1.0, math.nan, math.inf, -math.inf])


@pytest.mark.parametrize("equal_nan", [True, False])
def test_a_difference_is_the_largest(equal_nan: bool) -> None:
    one, other = torch.tensor([1.0, 2.0, -5.0]), torch.tensor([1.5, 2.0, -3.0])
    assert max_difference(one, other, equal_nan=equal_nan) == 2.0


def test_what_is_not_finite_may_be_equal() -> None:
    assert max_difference(NUMBERS, NUMBERS) == math.inf
    assert max_difference(NUMBERS, NUMBERS, equal_nan=True) == 0.0
    assert max_difference(NUMBERS, NUMBERS.flip(0), equal_nan=True) == math.inf
