"""How far apart logits may be that are equal but for rounding."""

import torch
from torch import Tensor

from headway.checks.core.tolerance import largest


def logits_tolerance(logits: Tensor) -> float:
    """Give how far apart logits of this type may be, if computed in another order.

    Some parts of models compute in 32 bits whatever they are given.
    """
    share = 1e-5 if logits.dtype == torch.float64 else 1e-4
    return share * largest(logits)
