"""How far apart logits may be that are equal but for rounding."""

import torch
from torch import Tensor

from headway.checks.core.tolerance import largest

_IN_16_BITS = 0.05  # of the largest logit; a layer adds a few roundings of 0.004 each


def logits_tolerance(logits: Tensor) -> float:
    """Give how far apart logits of this type may be, if computed in another order.

    Some parts of models compute in 32 bits whatever they are given.
    """
    share = {torch.float64: 1e-5, torch.float32: 1e-4}.get(logits.dtype, _IN_16_BITS)
    return share * largest(logits)
