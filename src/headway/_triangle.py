"""The triangle that hides the future, below all that use it."""

import torch
from torch import Tensor

from headway import _require


def triangle(T: int, S: int, device: torch.device | str | None = None) -> Tensor:
    """Allow query t the keys s with s <= t + S - T: the last sees all of them."""
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def and_past(
    mask: Tensor | None, scores_shape: tuple[int, ...], device: torch.device
) -> Tensor:
    """Hide the future besides what a mask hides, if there is one."""
    T, S = scores_shape[-2:]
    past = triangle(T, S, device)
    if mask is None:
        return past
    _require.mask_fits(mask, scores_shape)
    return mask & past


def band(
    T: int, S: int, window: int, device: torch.device | str | None = None
) -> Tensor:
    """Allow each query the newest `window` keys of its past, itself among them."""
    return triangle(T, S, device).triu(S - T - window + 1)
