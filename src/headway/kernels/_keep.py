"""Which weights dropout keeps: drawn again for any tile, in any order."""

import math

import torch
from torch import Tensor

# Of a well-tested 32-bit hash; both below 2^31, so that no product leaves 63 bits.
_FIRST, _SECOND = 0x2C1B3C6D, 0x297A2D39
_STEP = 0x1E3779B9
_WORD = 0xFFFFFFFF


def keep_tile(
    leading: tuple[int, ...],
    rows: slice,
    columns: slice,
    *,
    dropout_p: float,
    seed: int,
    device: torch.device | str | None = None,
) -> Tensor:
    """Say which weights of a tile are kept, as (*B, rows, columns).

    A generator draws one number after the other, so what an entry gets would depend on
    the tiles before it. Here the number of an entry is a hash of the seed and of where
    the entry stands, and of nothing else: whoever asks, and whatever for.
    """
    texts = torch.arange(math.prod(leading), device=device).reshape(*leading, 1, 1)
    row = torch.arange(rows.start, rows.stop, device=device).unsqueeze(-1)
    column = torch.arange(columns.start, columns.stop, device=device)
    drawn = torch.zeros((), dtype=torch.int64, device=device)
    for index in (seed & _WORD, seed >> 32, texts, row, column):
        # Plus one, for zeros would stay zeros: that place would always be kept.
        drawn = _mixed((drawn + (index + 1) * _STEP) & _WORD)
    return drawn < round((1.0 - dropout_p) * 2**32)


def keep_share(
    weights: Tensor, rows: slice, columns: slice, dropout_p: float, seed: int
) -> Tensor | float:
    """Give what dropout multiplies a tile of weights by: zeros, and 1 / (1 - p)."""
    if dropout_p == 0.0:
        return 1.0
    keep = keep_tile(
        weights.shape[:-2],
        rows,
        columns,
        dropout_p=dropout_p,
        seed=seed,
        device=weights.device,
    )
    return keep.to(weights.dtype) / (1.0 - dropout_p)


def _mixed(number: Tensor) -> Tensor:
    """Turn 32 bits into 32 others: each bit depends on all."""
    number = number ^ (number >> 15)
    number = (number * _FIRST) & _WORD
    number = number ^ (number >> 12)
    number = (number * _SECOND) & _WORD
    return number ^ (number >> 15)
