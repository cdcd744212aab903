"""Two ways to say that numbers are equal."""

import torch
from torch import Tensor


def close(ours: Tensor, theirs: Tensor, tolerance: float = 1e-12) -> None:
    """Ask for the same numbers, shape and type. No nan passes."""
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


def printed(ours: Tensor, figure: list) -> None:
    """Ask for the digits that a source prints: four places, half a unit in the last."""
    torch.testing.assert_close(ours, torch.tensor(figure), rtol=0, atol=5.1e-5)
