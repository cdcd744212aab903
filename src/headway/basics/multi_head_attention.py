"""Several heads from one projection: heads are one more leading axis."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _dropout, _heads, _require, _saved_mask
from headway.basics.fused import fused_attention


@runtime_checkable
class AttentionFunction(Protocol):
    """A function with the signature of `attention`, for `MultiHeadAttention` to use."""

    def __call__(  # noqa: DOC101, DOC103, DOC201
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
        dropout_p: float = 0.0,
        scale: float | None = None,
    ) -> Tensor:
        """Mix the values for each query, by its attention weights."""


@runtime_checkable
class Cache(Protocol):
    """An object that keeps the keys and values of one layer while a text is written.

    A module that is given one appends to it, and attends to what it hands back. A cache
    that forgets, and hands back the newest keys only, says how many a token may see in
    an attribute `window`.
    """

    @property
    def length(self) -> int:
        """Number of tokens appended so far, those forgotten included."""

    def append(  # noqa: DOC101, DOC103, DOC201
        self, key: Tensor, value: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys, values and positions; return those of all tokens kept."""


def split_heads(
    x: Float[Tensor, "*B T E"], num_heads: int
) -> Float[Tensor, "*B {num_heads} T D"]:
    r"""Cut each token's vector into heads and put the heads before the tokens.

    $$y_{htd} = x_{t,\,hD + d}$$

    Nothing is copied: the result is a view. A plain reshape to the same shape would mix
    tokens and heads.

    Args:
        x: One vector for each token.
        num_heads: Number of heads $H$; must divide the width.

    Returns:
        One shorter vector for each head and token.

    Raises:
        ValueError: If `num_heads` is not positive or does not divide the width, or `x`
            has fewer than two axes.

    Examples:
        >>> split_heads(torch.tensor([[0.0, 1.0, 10.0, 11.0]]), num_heads=2)
        tensor([[[ 0.,  1.]],
        <BLANKLINE>
                [[10., 11.]]])
    """
    _require.positive(num_heads=num_heads)
    _require.axes("tokens", "width", x=x)
    _require.divides(num_heads=num_heads, width=x.shape[-1])
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "*B H T D"]) -> Float[Tensor, "*B T E"]:
    r"""Put the heads of each token side by side again; the inverse of `split_heads`.

    $$y_{t,\,hD + d} = x_{htd}$$

    Args:
        x: One vector for each head and token.

    Returns:
        One vector for each token, the heads in order.

    Raises:
        ValueError: If `x` has fewer than three axes.

    Examples:
        >>> merge_heads(torch.tensor([[[0.0, 1.0]], [[10.0, 11.0]]]))
        tensor([[ 0.,  1., 10., 11.]])
    """
    _require.axes("heads", "tokens", "width", x=x)
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    r"""Let each token attend to the past with several heads at once.

    $$Z = \operatorname{Concat}_h\left[\operatorname{Attention}(Q_h, K_h, V_h)\right]
    W_o^\top + b_o$$

    One projection makes the queries of all heads, which are then split. With the fused
    kernel, the default, no $T \times T$ tensor is held unless there is dropout (on a
    CPU), a `bias`, a further `mask`, or a cache. The module keeps no state: a cache is
    the caller's, and holds keys that are rotated already.

    Args:
        d_in: Width of the tokens.
        d_out: Width of all heads together, and of the result.
        context_length: The largest number of tokens in a text, and so of positions.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of heads $H$; must divide `d_out`.
        qkv_bias: Whether the three projections add a bias; the last always does.
        causal: Whether to hide the future.
        rotate: What turns queries and keys, (*B, H, T, D), by the positions of their
            tokens, (*B, 1, T), such as `Rotary`; `None` turns nothing.
        bias: What makes numbers to add to the scores, (*B, H, T, S), of the positions
            of queries, (*B, T), and keys, (*B, S), such as `ALiBi`; `None` adds none.
            With a cache it is asked for one token first, so that nothing is kept if it
            is for other heads.
        attend: The attention function; any with the signature of `attention`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, `num_heads` does not divide
            `d_out`, or `dropout` is outside [0, 1).

    Examples:
        >>> attend = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 10])

    References:
        Vaswani et al. (2017), section 3.2.2,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762); our `d_out` is their
        $d_{model}$, our `out_proj` their $W^O$ with a bias.
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
        causal: bool = True,
        rotate: Callable[[Tensor, Tensor], Tensor] | None = None,
        bias: Callable[[Tensor, Tensor], Tensor] | None = None,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.positive(num_heads=num_heads)
        _require.divides(num_heads=num_heads, d_out=d_out)
        _require.probability(dropout=dropout)
        self.num_heads = num_heads
        self.context_length = context_length
        self.causal = causal
        self.rotate = rotate
        self.bias = bias
        self.attend = attend
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.out_proj = nn.Linear(d_out, d_out, device=device, dtype=dtype)
        self.dropout = nn.Dropout(dropout)
        self.register_load_state_dict_pre_hook(_saved_mask.accept_saved_mask)

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
            mask: Further keys to hide besides the future, such as `padding_mask`;
                `True` where a token may look. It is the same for all heads. With a
                cache it is over all keys, those before `x` first.
            positions: Where the tokens stand; `None` counts on from those in `cache`.
            cache: What keeps keys and values from call to call; those of `x` are
                appended to it.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide, a position is
                not in [0, `context_length`), `mask` is not boolean or does not fit,
                `bias` makes numbers for other heads, or `cache` forgets. Nothing of
                `x` is in `cache` then.
        """
        _require.tokens(x, self.W_query.in_features)
        kept = 0 if cache is None else cache.length
        positions = _heads.positions(x, positions, kept, self.context_length)
        _heads.check_mask(mask, x, kept)
        query, key, value = (
            split_heads(project(x), self.num_heads)
            for project in (self.W_query, self.W_key, self.W_value)
        )
        if self.rotate is not None:
            query = self.rotate(query, positions.unsqueeze(-2))
            key = self.rotate(key, positions.unsqueeze(-2))
        key_positions = positions
        if cache is not None:
            _require.cache_keeps(cache, window=None)
            _heads.check_bias(self.bias, x, positions, self.num_heads)
            key, value, key_positions = cache.append(key, value, positions)
        context = self.attend(
            query,
            key,
            value,
            mask=_heads.mask_of_newest(mask, key.shape[-2]),
            bias=None if self.bias is None else self.bias(positions, key_positions),
            causal=self.causal,
            dropout_p=_dropout.probability(self.dropout),
        )
        return self.out_proj(merge_heads(context))
