"""Latent attention: keys and values are made of one small vector, which is kept."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _dropout, _heads, _require
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import (
    AttentionFunction,
    Cache,
    merge_heads,
    split_heads,
)

_EPSILON = 1e-6  # as in DeepSeek's models; torch's own default depends on the type


class LatentAttention(nn.Module):
    r"""Let each token keep one small vector, from which all heads make keys and values.

    $$c_t^{KV} = W^{DKV} h_t, \qquad k_{t,i}^C = W_i^{UK} c_t^{KV}, \qquad
    v_{t,i}^C = W_i^{UV} c_t^{KV}, \qquad
    k_t^R = \operatorname{RoPE}(W^{KR} h_t)$$

    $$o_{t,i} = \sum_{j \le t} \operatorname{softmax}_j\!\left(
    \frac{{q_{t,i}^C}^\top k_{j,i}^C + {q_{t,i}^R}^\top k_j^R}{\sqrt{d_h + d_h^R}}
    \right) v_{j,i}^C$$

    A cache is given the latent $c_t^{KV}$ as the key and $k_t^R$, rotated and the same
    for all heads, as the value, with an axis of one head: `d_latent + d_rope` numbers a
    token, however many heads there are. The expanded form makes keys and values of all
    tokens kept; the absorbed form moves their matrices to the queries and results,
    ${q^C}^\top (W^{UK} c) = ({W^{UK}}^\top q^C)^\top c$, and is attention of all heads
    to one key and one value. Both give the same numbers, and one cache serves both.

    Args:
        d_in: Width of the tokens.
        d_out: Width of the result.
        context_length: The largest number of tokens in a text, and so of positions.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of heads $H$.
        d_latent: Width of the latent, of which keys and values are made.
        d_rope: Width of the part of queries and keys that is rotated.
        rotate: What turns these parts, (*B, H, T, d_rope), by the positions of their
            tokens, (*B, 1, T), such as `Rotary(d_rope)`.
        d_nope: Width of the part that is not rotated, in one head; `None` means
            `d_out` over `num_heads`.
        d_value: Width of a value in one head; `None` means `d_out` over `num_heads`.
        d_query_latent: Width of a latent of which the queries are made; `None` makes
            them of the tokens.
        norm: Whether the latents pass an RMSNorm, as in DeepSeek's models; the
            equations above are without.
        causal: Whether to hide the future.
        scale: What scores are multiplied by; `None` means
            `(d_nope + d_rope) ** -0.5`, in both forms.
        attend: The attention function; any with the signature of `attention`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, `num_heads` does not divide
            `d_out` where a width is left to it, `scale` is not positive and finite, or
            `dropout` is outside [0, 1).

    Examples:
        >>> from headway import Rotary
        >>> attend = LatentAttention(
        ...     3, 10, 7, 0.0, num_heads=5, d_latent=4, d_rope=2, rotate=Rotary(2)
        ... )
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 10])

    References:
        DeepSeek-AI (2024), section 2.1, equations 9 to 19,
        [arXiv:2405.04434](https://arxiv.org/abs/2405.04434); our `W_latent` is their
        $W^{DKV}$, `W_rope` $W^{KR}$, `W_key` $W^{UK}$, `W_value` $W^{UV}$,
        `W_query_latent` $W^{DQ}$, and the rows of `W_query` are, head by head, those of
        $W^{UQ}$ and of $W^{QR}$; `out_proj` is $W^O$ with a bias.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        *,
        d_latent: int,
        d_rope: int,
        rotate: Callable[[Tensor, Tensor], Tensor],
        d_nope: int | None = None,
        d_value: int | None = None,
        d_query_latent: int | None = None,
        norm: bool = True,
        causal: bool = True,
        scale: float | None = None,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.positive(num_heads=num_heads, d_latent=d_latent, d_rope=d_rope)
        _require.probability(dropout=dropout)
        _require.scale(scale)
        d_nope = _width_of_head(num_heads, d_out, d_nope=d_nope)
        d_value = _width_of_head(num_heads, d_out, d_value=d_value)
        self.num_heads = num_heads
        self.context_length = context_length
        self.causal = causal
        self.rotate = rotate
        self.scale = (d_nope + d_rope) ** -0.5 if scale is None else scale
        self.attend = attend
        d_query = d_in
        if d_query_latent is not None:
            _require.positive(d_query_latent=d_query_latent)
            d_query = d_query_latent
            self.W_query_latent = nn.Linear(d_in, d_query, False, device, dtype)
            self.query_norm = _norm(d_query, norm, device, dtype)
        self.W_query = nn.Linear(
            d_query, num_heads * (d_nope + d_rope), False, device, dtype
        )
        self.W_latent = nn.Linear(d_in, d_latent, False, device, dtype)
        self.latent_norm = _norm(d_latent, norm, device, dtype)
        self.W_rope = nn.Linear(d_in, d_rope, False, device, dtype)
        self.W_key = nn.Linear(d_latent, num_heads * d_nope, False, device, dtype)
        self.W_value = nn.Linear(d_latent, num_heads * d_value, False, device, dtype)
        self.out_proj = nn.Linear(
            num_heads * d_value, d_out, device=device, dtype=dtype
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "*B T d_in"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        cache: Cache | None = None,
        absorb: bool = False,
    ) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.
            mask: Further keys to hide besides the future, such as `padding_mask`;
                `True` where a token may look. It is the same for all heads. With a
                cache it is over all keys, those before `x` first.
            positions: Where the tokens stand; `None` counts on from those in `cache`.
            cache: What keeps latents and rotated keys from call to call; those of `x`
                are appended to it.
            absorb: Whether to attend to latents and not to expanded keys and values.
                The result is the same; it is less work where few tokens look at many.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide, a position is
                not in [0, `context_length`), `mask` is not boolean or does not fit, or
                `cache` forgets.
        """
        _require.tokens(x, self.W_latent.in_features)
        kept = 0 if cache is None else cache.length
        positions = _heads.positions(x, positions, kept, self.context_length)
        _heads.check_mask(mask, x, kept)
        places = positions.unsqueeze(-2)
        query = split_heads(self.W_query(self._query_input(x)), self.num_heads)
        d_rope = self.W_rope.out_features
        query_nope, query_rope = query.split([query.shape[-1] - d_rope, d_rope], dim=-1)
        query_rope = self.rotate(query_rope, places)
        latent = self.latent_norm(self.W_latent(x)).unsqueeze(-3)
        key_rope = self.rotate(self.W_rope(x).unsqueeze(-3), places)
        if cache is not None:
            _require.cache_keeps(cache, window=None)
            latent, key_rope, _ = cache.append(latent, key_rope, positions)
        if absorb:
            query_nope = query_nope @ self._by_heads(self.W_key)
            key_nope = latent
        else:
            key_nope, value = (
                split_heads(expand(latent.squeeze(-3)), self.num_heads)
                for expand in (self.W_key, self.W_value)
            )
        key = torch.cat([key_nope, _for_heads_of(key_rope, key_nope)], dim=-1)
        context = self.attend(
            torch.cat([query_nope, query_rope], dim=-1),
            key,
            # As wide as the queries, as fused kernels want it; the rest is cut off.
            key if absorb else value,
            mask=_heads.mask_of_newest(mask, latent.shape[-2]),
            causal=self.causal,
            dropout_p=_dropout.probability(self.dropout),
            scale=self.scale,
        )
        if absorb:
            context = context[..., : latent.shape[-1]] @ self._by_heads(self.W_value).mT
        return self.out_proj(merge_heads(context))

    def _query_input(self, x: Tensor) -> Tensor:
        """Give what queries are made of: the tokens, or a latent of them."""
        if not hasattr(self, "W_query_latent"):
            return x
        return self.query_norm(self.W_query_latent(x))

    def _by_heads(self, layer: nn.Linear) -> Tensor:
        """Cut the matrix of a layer on the latent into (H, width, d_latent)."""
        return layer.weight.unflatten(0, (self.num_heads, -1))


def _width_of_head(num_heads: int, d_out: int, **width: int | None) -> int:
    """Give the width that one says, or an equal share of the result."""
    ((name, given),) = width.items()
    if given is None:
        _require.divides(num_heads=num_heads, d_out=d_out)
        return d_out // num_heads
    _require.positive(**{name: given})
    return given


def _norm(
    width: int, norm: bool, device: torch.device | str | None, dtype: torch.dtype | None
) -> nn.Module:
    if not norm:
        return nn.Identity()
    return nn.RMSNorm(width, eps=_EPSILON, device=device, dtype=dtype)


def _for_heads_of(shared: Tensor, key: Tensor) -> Tensor:
    """Give the one rotated key to each of the heads that a key has."""
    return shared.expand(*key.shape[:-1], -1)
