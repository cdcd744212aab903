"""Tiles of queries and keys, for the forward and the backward pass."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from headway import _require


def checked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None,
) -> float:
    """Refuse what does not fit, and give the factor of the scores."""
    _require.matching(query, key)
    _require.one_value_per_key(query, key, value)
    _require.scale(scale)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    scores_shape = (*leading, query.shape[-2], key.shape[-2])
    if bias is not None:
        _require.bias_fits(bias, scores_shape)
    if mask is not None:
        _require.mask_fits(mask, scores_shape)
    return 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Compute in the types of the tensors.

    Autocast rounds products in the forward pass, and not in the backward pass, which
    runs outside of it: weights that are computed again would be other weights.
    """
    device = x.device.type
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def query_tiles(T: int, size: int) -> Iterator[slice]:
    """Cut the queries into tiles; without a query, there is one empty tile."""
    for start in range(0, max(T, 1), size):
        yield slice(start, min(start + size, T))


def key_tiles(rows: slice, S: int, size: int, shift: int | None) -> Iterator[slice]:
    """Cut the keys into tiles; leave out those that are in the future of all rows.

    Query t sees the keys up to t + shift; without a shift it sees all of them.
    """
    end = S if shift is None else min(S, rows.stop + shift)
    for start in range(0, end, size):
        yield slice(start, min(start + size, S))


def see(
    scores: Tensor,
    rows: slice,
    columns: slice,
    shift: int | None,
    mask: Tensor | None,
    bias: Tensor | None,
) -> Tensor:
    """Add the bias to the scores of one tile, and set what is hidden to -inf."""
    if bias is not None:
        scores = scores + cut(bias, rows, columns).to(scores.dtype)
    if mask is not None:
        scores = scores.masked_fill(~cut(mask, rows, columns), -torch.inf)
    # Only a tile that the diagonal crosses has keys in the future.
    if shift is not None and columns.stop - 1 > rows.start + shift:
        size = scores.shape[-2:]
        future = torch.ones(size, dtype=torch.bool, device=scores.device)
        future = future.triu(rows.start + shift - columns.start + 1)
        scores = scores.masked_fill(future, -torch.inf)
    return scores


def widen(x: Tensor) -> Tensor:
    """Compute with half precision in 32 bits, and leave the rest as it is."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def cut(table: Tensor, rows: slice, columns: slice) -> Tensor:
    """Cut a tile out of a mask or a bias, whose axes may have length one."""
    if table.shape[-2] > 1:
        table = table[..., rows, :]
    return table[..., columns] if table.shape[-1] > 1 else table
