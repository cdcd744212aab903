"""Grouped queries: several query heads share one head of keys and values."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _dropout, _heads, _require, _triangle
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import (
    AttentionFunction,
    Cache,
    merge_heads,
    split_heads,
)


def repeat_heads(x: Float[Tensor, "*B G S D"], times: int) -> Float[Tensor, "*B H S D"]:
    """Give each head of keys or values to `times` neighbouring query heads."""
    return x.repeat_interleave(times, dim=-3)


class GroupedQueryAttention(nn.Module):
    r"""Let groups of query heads share the keys and values of one head."""

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
        *,
        num_kv_heads: int,
        window: int | None = None,
        causal: bool = True,
        rotate: Callable[[Tensor, Tensor], Tensor] | None = None,
        bias: Callable[[Tensor, Tensor], Tensor] | None = None,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.positive(num_heads=num_heads, num_kv_heads=num_kv_heads)
        _require.divides(num_heads=num_heads, d_out=d_out)
        _require.probability(dropout=dropout)
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.context_length = context_length
        self.window = window
        self.causal = causal
        self.rotate = rotate
        self.bias = bias
        self.attend = attend
        d_kv = d_out // num_heads * num_kv_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_in, d_kv, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_in, d_kv, qkv_bias, device, dtype)
        self.out_proj = nn.Linear(d_out, d_out, device=device, dtype=dtype)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "*B T d_in"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector."""
        _require.tokens(x, self.W_query.in_features)
        kept = 0 if cache is None else cache.length
        positions = _heads.positions(x, positions, kept, self.context_length)
        _heads.check_mask(mask, x, kept)
        query = split_heads(self.W_query(x), self.num_heads)
        key = split_heads(self.W_key(x), self.num_kv_heads)
        value = split_heads(self.W_value(x), self.num_kv_heads)
        if self.rotate is not None:
            query = self.rotate(query, positions.unsqueeze(-2))
            key = self.rotate(key, positions.unsqueeze(-2))
        key_positions = positions
        if cache is not None:
            _require.cache_keeps(cache, self.window)
            key, value, key_positions = cache.append(key, value, positions)
        T, S = x.shape[-2], key.shape[-2]
        mask = _heads.mask_of_newest(mask, S)
        if self.window is not None:
            band = _triangle.band(T, S, self.window, x.device)
            mask = band if mask is None else mask & band
        times = self.num_heads // self.num_kv_heads
        context = self.attend(
            query,
            repeat_heads(key, times),
            repeat_heads(value, times),
            mask=mask,
            bias=None if self.bias is None else self.bias(positions, key_positions),
            causal=self.causal,
            dropout_p=_dropout.probability(self.dropout),
        )
        return self.out_proj(merge_heads(context))
