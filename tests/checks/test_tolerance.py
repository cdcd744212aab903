"""How far apart two results are, and what counts as equal."""

import math

import pytest
import torch

from headway.checks.tolerance import largest, max_difference, noise, tolerance


def test_the_largest_number_is_finite() -> None:
    assert largest(torch.tensor([1.0, -3.0, math.inf, -math.inf, math.nan])) == 3.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_noise_is_some_roundings_of_the_largest_number(dtype: torch.dtype) -> None:
    x = torch.tensor([1.0, -4.0], dtype=dtype)
    assert noise(x) == 256 * torch.finfo(dtype).eps
    assert noise(torch.zeros(3, dtype=dtype)) > 0


def test_a_tolerance_is_of_the_size_of_the_result() -> None:
    assert tolerance(torch.tensor([2.0, -5.0])) == pytest.approx(5e-5)


NUMBERS = torch.tensor([1.0, math.nan, math.inf, -math.inf])


@pytest.mark.parametrize("equal_nan", [True, False])
def test_a_difference_is_the_largest(equal_nan: bool) -> None:
    one, other = torch.tensor([1.0, 2.0, -5.0]), torch.tensor([1.5, 2.0, -3.0])
    assert max_difference(one, other, equal_nan=equal_nan) == 2.0


def test_what_is_not_finite_may_be_equal() -> None:
    assert max_difference(NUMBERS, NUMBERS) == math.inf
    assert max_difference(NUMBERS, NUMBERS, equal_nan=True) == 0.0
    assert max_difference(NUMBERS, NUMBERS.flip(0), equal_nan=True) == math.inf
