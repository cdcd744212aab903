"""How far apart two results are, and what counts as equal."""

import torch
from torch import Tensor

from headway.checks.core.errors import at_the_border

_COARSE = 1e-4  # what sixteen bits round by


@at_the_border
def largest(x: Tensor) -> float:
    """Give the largest finite magnitude in a tensor."""
    return float(x.abs().nan_to_num(0, 0, 0).max())


@at_the_border
def same_order_tolerance(x: Tensor) -> float:
    """Give how far rounding may move a result: some dozens of units in the last place.

    It is for two calls that compute the same in the same order.
    """
    eps = torch.finfo(x.dtype).eps
    times = 64 if eps < _COARSE else 2
    return times * eps * max(largest(x), 1e-30)


@at_the_border
def tolerance(x: Tensor) -> float:
    """Give how far a result may be from one that is equal but for rounding.

    It is for two calls that compute the same in another order.
    """
    eps = torch.finfo(x.dtype).eps
    return (1e-5 if eps < _COARSE else 4 * eps) * largest(x)


@at_the_border
def max_difference(one: Tensor, other: Tensor, *, equal_nan: bool = False) -> float:
    """Give the largest difference; infinity if a number is not finite.

    Args:
        one: Any shape.
        other: The same shape.
        equal_nan: Whether nan equals nan, and infinity itself.
    """
    if equal_nan:
        same = (one == other) | (one.isnan() & other.isnan())
        one, other = one.masked_fill(same, 0.0), other.masked_fill(same, 0.0)
    difference = (one.double() - other.double()).abs()
    return float(difference.nan_to_num(torch.inf, torch.inf, torch.inf).max())
