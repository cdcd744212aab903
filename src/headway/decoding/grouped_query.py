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
    r"""Repeat each head of keys or values for a group of neighbouring query heads.

    $$y_{hsd} = x_{\lfloor h / n \rfloor,\, sd}, \qquad H = nG$$

    With two heads and $n = 2$ the order is 0, 0, 1, 1: neighbours share. The order of
    `Tensor.repeat` would be 0, 1, 0, 1, which gives a query head the keys of another
    group.

    Args:
        x: Keys or values, one vector for each head and token.
        times: Number of query heads $n$ that share a head.

    Returns:
        The same vectors, those of each head `times` times in a row.

    Raises:
        ValueError: If `times` is not positive, or `x` has fewer than three axes.

    Examples:
        >>> repeat_heads(torch.tensor([[[1.0]], [[5.0]]]), times=2).flatten()
        tensor([1., 1., 5., 5.])
    """
    _require.positive(times=times)
    _require.axes("heads", "tokens", "width", x=x)
    return x.repeat_interleave(times, dim=-3)


class GroupedQueryAttention(nn.Module):
    r"""Let groups of query heads share the keys and values of one head.

    $$Z = \operatorname{Concat}_h\left[\operatorname{Attention}
    (Q_h, K_{\lfloor h / n \rfloor}, V_{\lfloor h / n \rfloor})\right]
    W_o^\top + b_o, \qquad n = H / G$$

    Of keys and values there are $G$ heads, so a cache keeps $G / H$ of what it would
    keep for `MultiHeadAttention`. With $G = H$ the two are equal, and take each
    other's weights; $G = 1$ is called multi-query attention. The attention function is
    given queries (*B, G, H / G, T, D), keys and values (*B, G, 1, S, D), which
    broadcast: heads that share need no copies.

    Args:
        d_in: Width of the tokens.
        d_out: Width of all query heads together, and of the result.
        context_length: The largest number of tokens in a text, and so of positions.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of query heads $H$; must divide `d_out`.
        qkv_bias: Whether the three projections add a bias; the last always does.
        num_kv_heads: Number of heads of keys and values $G$; must divide `num_heads`.
        window: How many tokens a token may see, itself and those right before it;
            `None` means all of its past.
        causal: Whether to hide the future; a window needs it.
        rotate: What turns queries, (*B, H, T, D), and keys, (*B, G, T, D), by the
            positions of their tokens, (*B, 1, T), such as `Rotary`; `None` turns
            nothing.
        bias: What makes numbers to add to the scores, (*B, H, T, S), of the positions
            of queries, (*B, T), and keys, (*B, S), such as `ALiBi`; `None` adds none.
            With a cache it is asked for one token first, so that nothing is kept if it
            is for other heads.
        attend: The attention function; any with the signature of `attention`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, `num_heads` does not divide
            `d_out`, `num_kv_heads` does not divide `num_heads`, `dropout` is outside
            [0, 1), or there is a `window` without `causal`.

    Examples:
        >>> attend = GroupedQueryAttention(3, 12, 7, 0.0, num_heads=6, num_kv_heads=3)
        >>> attend.W_query.weight.shape, attend.W_key.weight.shape
        (torch.Size([12, 3]), torch.Size([6, 3]))
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 12])

    References:
        Shazeer (2019), section 3, [arXiv:1911.02150](https://arxiv.org/abs/1911.02150),
        for one head of keys and values; Ainslie et al. (2023), section 2.2,
        [arXiv:2305.13245](https://arxiv.org/abs/2305.13245), for groups.
    """

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
        _require.groups(num_kv_heads=num_kv_heads, num_heads=num_heads)
        _require_window(window, causal=causal)
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
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.
            mask: Further keys to hide besides the future and what is outside the
                window; `True` where a token may look. It is the same for all heads.
                With a cache it is over all keys, those before `x` first, forgotten
                ones included.
            positions: Where the tokens stand; `None` counts on from those in `cache`.
            cache: What keeps keys and values from call to call; those of `x` are
                appended to it, once for each of the `num_kv_heads` heads.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide, a position is
                not in [0, `context_length`), `mask` is not boolean or does not fit,
                `bias` makes numbers for other heads, or `cache` keeps less than the
                window. Nothing of `x` is in `cache` then.
        """
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
            _heads.check_bias(self.bias, x, positions, self.num_heads)
            key, value, key_positions = cache.append(key, value, positions)
        T, S = x.shape[-2], key.shape[-2]
        mask = _heads.mask_of_newest(mask, S)
        if self.window is not None:
            band = _triangle.band(T, S, self.window, x.device)
            mask = band if mask is None else mask & band
        bias = None
        if self.bias is not None:
            bias = self.bias(positions, key_positions)
            _require.bias_fits(bias, (*x.shape[:-2], self.num_heads, T, S))
            own = bias.ndim > 2 and bias.shape[-3] == self.num_heads
            bias = self._in_groups(bias) if own else bias.unsqueeze(-3)
        # An axis of length one for those that share: the same as `repeat_heads`, but
        # nothing is copied.
        context = self.attend(
            self._in_groups(query),
            key.unsqueeze(-3),
            value.unsqueeze(-3),
            mask=None if mask is None else mask.unsqueeze(-3),
            bias=bias,
            causal=self.causal,
            dropout_p=_dropout.probability(self.dropout),
        )
        return self.out_proj(merge_heads(context.flatten(-4, -3)))

    def _in_groups(
        self, x: Float[Tensor, "*B H T N"]
    ) -> Float[Tensor, "*B {self.num_kv_heads} n T N"]:
        """Split the axis of query heads: the group, and the place in it."""
        return x.unflatten(-3, (self.num_kv_heads, -1))


# ---- What is refused ----


def _require_window(window: int | None, *, causal: bool) -> None:
    if window is not None:
        _require.positive(window=window)
        if not causal:
            raise ValueError(
                "window must be None without causal; "
                f"got window={window}, causal={causal}."
            )
