"""Attention to another text: its tokens give the keys and values, ours the queries."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _dropout, _require
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import (
    AttentionFunction,
    merge_heads,
    split_heads,
)


class CrossAttention(nn.Module):
    r"""Let each token of one text attend to all tokens of a second text, the memory.

    $$Q_h = X W_{q,h}^\top, \qquad K_h = M W_{k,h}^\top, \qquad V_h = M W_{v,h}^\top$$

    $$Z = \operatorname{Concat}_h\left[\operatorname{Attention}(Q_h, K_h, V_h)\right]
    W_o^\top + b_o$$

    Text and memory may differ in length and in width. The memory has no future, so
    nothing of it is hidden unless a `mask` says so; and it has no order: permuting its
    tokens changes nothing.

    Args:
        d_in: Width of the tokens that ask.
        d_memory: Width of the memory's tokens.
        d_out: Width of all heads together, and of the result.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of heads $H$; must divide `d_out`.
        qkv_bias: Whether the three projections add a bias; the last always does.
        attend: The attention function; any with the signature of `attention`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, `num_heads` does not divide
            `d_out`, or `dropout` is outside [0, 1).

    Examples:
        >>> attend = CrossAttention(3, 4, 10, 0.0, num_heads=5)
        >>> attend(torch.randn(7, 3), torch.randn(11, 4)).shape
        torch.Size([7, 10])

    References:
        Vaswani et al. (2017), section 3.2.3, "encoder-decoder attention",
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762); there all widths are
        $d_{model}$.
    """

    def __init__(
        self,
        d_in: int,
        d_memory: int,
        d_out: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
        *,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_memory=d_memory, d_out=d_out)
        _require.positive(num_heads=num_heads)
        _require.divides(num_heads=num_heads, d_out=d_out)
        _require.probability(dropout=dropout)
        self.num_heads = num_heads
        self.attend = attend
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_memory, d_out, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_memory, d_out, qkv_bias, device, dtype)
        self.out_proj = nn.Linear(d_out, d_out, device=device, dtype=dtype)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "*#B T d_in"],
        memory: Float[Tensor, "*#B S d_memory"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
    ) -> Float[Tensor, "*B T d_out"]:
        """Give each token of `x` what it finds in the memory.

        Args:
            x: The tokens that ask, with any number of leading batch axes.
            memory: The tokens that are asked; its leading axes broadcast with those of
                `x`, so one memory may serve many texts.
            mask: Keys to hide, such as the padding of the memory; `True` where a token
                may look. It is the same for all heads.

        Returns:
            One context vector for each token of `x`.

        Raises:
            ValueError: If `x` or `memory` is not floating-point, empty or of another
                width, they do not broadcast, or `mask` is not boolean or does not fit.
        """
        _require.tokens(x, self.W_query.in_features)
        _require_memory(memory, self.W_key.in_features)
        _require_leading_axes(x, memory)
        return self.look_up(x, *self.keys_and_values(memory), mask=mask)

    def keys_and_values(
        self, memory: Float[Tensor, "*B S d_memory"]
    ) -> tuple[Float[Tensor, "*B H S D"], Float[Tensor, "*B H S D"]]:
        """Project a memory once, for all later calls of `look_up`.

        Args:
            memory: The tokens that are asked.

        Returns:
            The keys and the values, one for each head and token of the memory.

        Raises:
            ValueError: If `memory` is not floating-point, empty or of another width.
        """
        _require_memory(memory, self.W_key.in_features)
        key = split_heads(self.W_key(memory), self.num_heads)
        value = split_heads(self.W_value(memory), self.num_heads)
        return key, value

    def look_up(
        self,
        x: Float[Tensor, "*#B T d_in"],
        key: Float[Tensor, "*#B H S D"],
        value: Float[Tensor, "*#B H S D"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
    ) -> Float[Tensor, "*B T d_out"]:
        """Do what `forward` does, with a memory that is already projected.

        Args:
            x: The tokens that ask.
            key: The keys that `keys_and_values` made.
            value: The values that it made.
            mask: Keys to hide; `True` where a token may look.

        Returns:
            One context vector for each token of `x`.

        Raises:
            ValueError: If `x` is not floating-point, empty or not `d_in` wide, the keys
                or values do not fit, or `mask` is not boolean or does not fit.
        """
        _require.tokens(x, self.W_query.in_features)
        query = split_heads(self.W_query(x), self.num_heads)
        _require.matching(query, key)
        if mask is not None:
            *leading, _, T, S = _require.scores_shape(query, key)
            _require.mask_fits(mask, (*leading, T, S))
            mask = mask.unsqueeze(-3)
        dropout_p = _dropout.probability(self.dropout)
        context = self.attend(query, key, value, mask=mask, dropout_p=dropout_p)
        return self.out_proj(merge_heads(context))


# ---- What is refused ----


def _require_memory(memory: Tensor, d_memory: int) -> None:
    """Check what is asked in cross-attention: float, (*B, S, d_memory), 0 < S."""
    _require.floating(memory=memory)
    if memory.ndim < 2 or memory.shape[-1] != d_memory:
        raise ValueError(
            f"memory must have shape (..., tokens, d_memory={d_memory}); "
            f"got memory.shape={_require.shape(memory)}."
        )
    if memory.shape[-2] == 0:
        raise ValueError(
            "memory must have at least one token; got "
            f"memory.shape={_require.shape(memory)}."
        )


def _require_leading_axes(x: Tensor, memory: Tensor) -> None:
    if not _require.leading_axes_broadcast(x, memory):
        raise ValueError(
            "memory must have leading axes that broadcast with those of x; "
            f"got memory.shape={_require.shape(memory)}, x.shape={_require.shape(x)}."
        )
