"""Norms and gates: queries and keys of one size, and heads that can be turned down."""

import math
from collections.abc import Callable
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _dropout, _heads, _require
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import (
    AttentionFunction,
    Cache,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)
from headway.decoding.grouped_query import GroupedQueryAttention

_WithHeads = TypeVar("_WithHeads", MultiHeadAttention, GroupedQueryAttention)


class QKNorm(nn.Module):
    r"""Normalise queries and keys before they are compared.

    $$\operatorname{Attention}(Q', K', V), \qquad
    q' = \frac{q}{\operatorname{RMS}(q)} \odot g_q, \qquad
    k' = \frac{k}{\operatorname{RMS}(k)} \odot g_k$$

    with $\operatorname{RMS}(a)^2 = \epsilon + \frac{1}{D} \sum_j a_j^2$. Without
    weights no score exceeds $\sqrt{D}$. It has the signature of `attention`, for any
    module's `attend`, and so comes after a rotation; `add_qk_norm` comes before it. The
    two are equal without weights, or with weights that are the same in each pair.

    Args:
        width: Width $D$ of a query and a key in one head.
        eps: What keeps a vector of zeros from being divided by zero, $\epsilon$.
        affine: Whether there are weights $g_q$ and $g_k$, the same for all heads.
        attend: The attention function that is given the results.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If `width` is not a positive integer, or `eps` is not positive and
            finite.

    Examples:
        >>> attend = QKNorm(4, affine=False)
        >>> x = torch.randn(2, 5, 7, 4)
        >>> torch.allclose(attend(x, 9 * x, x), attend(x, x, x), atol=1e-4)
        True

    References:
        Henry et al. (2020), [arXiv:2010.04245](https://arxiv.org/abs/2010.04245), with
        the length in place of the root mean square; Dehghani et al. (2023), section 2,
        [arXiv:2302.05442](https://arxiv.org/abs/2302.05442), with LayerNorm.
    """

    def __init__(
        self,
        width: int,
        *,
        eps: float = 1e-6,
        affine: bool = True,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(width=width)
        _require.positive_and_finite(eps=eps)
        self.query_norm = nn.RMSNorm(width, eps, affine, device=device, dtype=dtype)
        self.key_norm = nn.RMSNorm(width, eps, affine, device=device, dtype=dtype)
        self.attend = attend

    def forward(
        self,
        query: Float[Tensor, "*#B T D"],
        key: Float[Tensor, "*#B S D"],
        value: Float[Tensor, "*#B S V"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        bias: Float[Tensor, "*#B #T #S"] | None = None,
        causal: bool = False,
        dropout_p: float = 0.0,
        scale: float | None = None,
    ) -> Float[Tensor, "*B T V"]:
        r"""Attend with normalised queries and keys.

        Args:
            query: What each position looks for.
            key: What each position offers to be found by.
            value: What each position hands over; it stays as it is.
            mask: `True` where a query may look at a key; `None` hides nothing.
            bias: Numbers that are added to the scaled scores; `None` adds nothing.
            causal: Whether to hide the future too.
            dropout_p: Probability with which a weight is set to zero.
            scale: Factor of the scores; `None` means $1/\sqrt{D}$.

        Returns:
            One context vector for each query.

        Raises:
            ValueError: If `query` or `key` is not `width` wide, or the attention
                function says so.
        """
        (width,) = self.query_norm.normalized_shape
        _require_of_width(width, query=query, key=key)
        return self.attend(
            self.query_norm(query),
            self.key_norm(key),
            value,
            mask=mask,
            bias=bias,
            causal=causal,
            dropout_p=dropout_p,
            scale=scale,
        )


class _NormedLinear(nn.Linear):
    """A projection whose results are brought to one size, a head or all together.

    Args:
        linear: Where its weights are from.
        width: How many numbers are measured together.
        eps: What keeps zeros from being divided by zero.
    """

    def __init__(self, linear: nn.Linear, width: int, eps: float) -> None:
        # The weights are those of `linear`; what is made here holds no memory.
        super().__init__(
            linear.in_features, linear.out_features, linear.bias is not None, "meta"
        )
        self.weight, self.bias = linear.weight, linear.bias
        device, dtype = linear.weight.device, linear.weight.dtype
        self.norm = nn.RMSNorm(width, eps, device=device, dtype=dtype)

    def forward(self, input: Tensor) -> Tensor:
        heads = super().forward(input).unflatten(-1, (-1, *self.norm.normalized_shape))
        return self.norm(heads).flatten(-2)


def add_qk_norm(
    attention: _WithHeads, *, across_heads: bool = False, eps: float = 1e-6
) -> _WithHeads:
    r"""Make a module normalise its queries and keys as soon as they are projected.

    $$q_h' = \frac{q_h}{\operatorname{RMS}(q_h)} \odot g_q \qquad \text{or} \qquad
    q_h' = \frac{q_h}{\operatorname{RMS}([q_1; \dots; q_H])} \odot g_{q,h}$$

    and so for keys, with other weights. Each head by itself, as in Qwen3, all have one
    size, and share the weights. All heads of a token together, as in OLMo 2, a head may
    be louder than another. A rotation comes after it, and a cache keeps keys that are
    normalised already.

    The weights are `W_query.norm.weight` and `W_key.norm.weight`, ones at first. Add it
    last: `to_torch` and `shard_heads` would leave it out.

    Args:
        attention: A `MultiHeadAttention` or `GroupedQueryAttention`, which is changed.
        across_heads: Whether to measure all heads of a token together.
        eps: What keeps a vector of zeros from being divided by zero, $\epsilon$.

    Returns:
        `attention`.

    Raises:
        ValueError: If `attention` is of another kind or has such a norm, or `eps` is
            not positive and finite.

    Examples:
        >>> attend = add_qk_norm(MultiHeadAttention(6, 6, 7, 0.0, num_heads=2))
        >>> attend.W_query.norm.weight.shape
        torch.Size([3])

    References:
        Qwen Team (2025), [arXiv:2505.09388](https://arxiv.org/abs/2505.09388), for each
        head; Team OLMo (2024), [arXiv:2501.00656](https://arxiv.org/abs/2501.00656),
        for all heads together.
    """
    _require.has_heads((MultiHeadAttention, GroupedQueryAttention), attention)
    _require.positive_and_finite(eps=eps)
    width = attention.W_query.out_features // attention.num_heads
    for name in ("W_query", "W_key"):
        linear = getattr(attention, name)
        _require_plain_linear(**{f"attention.{name}": linear})
        measured = linear.out_features if across_heads else width
        setattr(attention, name, _NormedLinear(linear, measured, eps))
    return attention


class GatedAttention(nn.Module):
    r"""Let each token turn down what its heads found, before they are mixed.

    $$Y' = Y \odot \sigma(X W_\theta)$$

    $Y$ is what the heads found, side by side. The gate is computed from the token that
    asked, and lies between zero and one; a gate of one is plain attention. It stands
    before `out_proj`, which it takes from `attention`: hand over a module that is used
    nowhere else.

    Args:
        attention: A `MultiHeadAttention` or `GroupedQueryAttention`, which gives up its
            last projection.
        per_head: Whether a head has one gate, and not one for each of its numbers.

    Raises:
        ValueError: If `attention` is of another kind, or has given up its last
            projection.

    Examples:
        >>> attend = GatedAttention(MultiHeadAttention(6, 6, 7, 0.0, num_heads=2))
        >>> attend(torch.randn(7, 6)).shape
        torch.Size([7, 6])

    References:
        Qiu et al. (2025), equation 5,
        [arXiv:2505.06708](https://arxiv.org/abs/2505.06708).
    """

    def __init__(
        self,
        attention: MultiHeadAttention | GroupedQueryAttention,
        *,
        per_head: bool = False,
    ) -> None:
        super().__init__()
        _require.has_heads((MultiHeadAttention, GroupedQueryAttention), attention)
        _require_plain_linear(**{"attention.out_proj": attention.out_proj})
        weight, d_out = attention.W_query.weight, attention.out_proj.in_features
        gates = attention.num_heads if per_head else d_out
        self.attention = attention
        self.W_gate = nn.Linear(
            attention.W_query.in_features, gates, False, weight.device, weight.dtype
        )
        self.out_proj = attention.out_proj
        attention.add_module("out_proj", nn.Identity())

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
            mask: Further keys to hide; `True` where a token may look.
            positions: Where the tokens stand; `None` counts on from those in `cache`.
            cache: What keeps keys and values from call to call; it keeps no gates.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `attention` says so.
        """
        found = self.attention(x, mask=mask, positions=positions, cache=cache)
        gates = torch.sigmoid(self.W_gate(x))
        heads = found.unflatten(-1, (gates.shape[-1], -1))  # or single numbers
        return self.out_proj((heads * gates.unsqueeze(-1)).flatten(-2))


def differential_attention(
    query: Float[Tensor, "*#B 2 T D"],
    key: Float[Tensor, "*#B 2 S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    lam: float | Float[Tensor, "*#B"],
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    scale: float | None = None,
    attend: AttentionFunction = fused_attention,
) -> Float[Tensor, "*B T V"]:
    r"""Subtract one table of weights from another, and attend with what is left.

    $$\left(\operatorname{softmax}\left(\frac{Q_1 K_1^\top}{\sqrt{D}}\right) - \lambda
    \operatorname{softmax}\left(\frac{Q_2 K_2^\top}{\sqrt{D}}\right)\right) V$$

    What both tables look at cancels. A row sums to $1 - \lambda$, and weights may be
    negative. With $\lambda = 0$ it is plain attention with the first queries and keys.

    Args:
        query: What each position looks for, twice; the axis of the two stands before
            the tokens.
        key: What each position offers to be found by, twice.
        value: What each position hands over, once.
        lam: How much of the second table is taken away, $\lambda$.
        mask: `True` where a query may look at a key; the same for both tables.
        bias: Numbers that are added to the scaled scores of both tables.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero, in each table by
            itself; the paper says nothing of it.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        attend: The attention function; any with the signature of `attention`.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If there are not two queries and keys, `lam` does not fit, or the
            attention function says so.

    Examples:
        >>> query = torch.tensor([[[1.0]], [[0.0]]])  # the second sees no difference
        >>> key = torch.tensor([[[9.0], [1.0]], [[5.0], [5.0]]]).log()
        >>> weights = torch.eye(2)  # as values: the weights come out
        >>> differential_attention(query, key, weights, lam=0.5)
        tensor([[ 0.6500, -0.1500]])

    References:
        Ye et al. (2024), equation 1,
        [arXiv:2410.05258](https://arxiv.org/abs/2410.05258).
    """
    _require_two_tables(query=query, key=key)
    contexts = attend(
        query,
        key,
        value.unsqueeze(-3),
        mask=None if mask is None else mask.unsqueeze(-3),
        bias=None if bias is None else bias.unsqueeze(-3),
        causal=causal,
        dropout_p=dropout_p,
        scale=scale,
    )
    first, second = contexts.unbind(-3)
    factor = torch.as_tensor(lam, dtype=first.dtype, device=first.device)
    _require_one_factor_each(factor, first.shape[:-2])
    return first - factor[..., None, None] * second


def lambda_init(layer: int) -> float:
    r"""Compute where $\lambda$ starts in a layer of differential attention.

    $$\lambda_{init} = 0.8 - 0.6 \exp(-0.3 (l - 1))$$

    Args:
        layer: The layer $l$, counted from one.

    Returns:
        A number from 0.2, in the first layer, to 0.8.

    Raises:
        ValueError: If `layer` is not a positive integer.

    Examples:
        >>> [round(lambda_init(layer), 3) for layer in (1, 2, 12)]
        [0.2, 0.356, 0.778]

    References:
        Ye et al. (2024), section 2.1,
        [arXiv:2410.05258](https://arxiv.org/abs/2410.05258).
    """
    _require.positive(layer=layer)
    return 0.8 - 0.6 * math.exp(-0.3 * (layer - 1))


class DifferentialAttention(nn.Module):
    r"""Let each head subtract the weights of its second half from those of its first.

    $$Z = \operatorname{Concat}_h\left[(1 - \lambda_{init}) \operatorname{RMSNorm}
    (\operatorname{DiffAttn}_h(X))\right] W_o^\top + b_o, \qquad \lambda =
    e^{\lambda_{q_1} \cdot \lambda_{k_1}} - e^{\lambda_{q_2} \cdot \lambda_{k_2}}
    + \lambda_{init}$$

    A head has two queries and two keys of half its width, rows that are neighbours in
    `W_query` and `W_key`, and one value of its whole width. So there are as many
    numbers in the projections as in `MultiHeadAttention`. All heads of a layer have one
    $\lambda$, and share the weights of the norm. A cache keeps the two keys of a head
    side by side, and so as much as for `MultiHeadAttention`.

    Args:
        d_in: Width of the tokens.
        d_out: Width of all heads together, and of the result.
        context_length: The largest number of tokens in a text, and so of positions.
        dropout: Probability with which a weight is dropped in training, in each table
            by itself.
        num_heads: Number of heads $H$; twice as many must divide `d_out`.
        qkv_bias: Whether the three projections add a bias; the last always does.
        layer: Which layer of a model it is, from one, for $\lambda_{init}$.
        num_kv_heads: Number of heads of keys and values, which must divide `num_heads`;
            `None` means as many.
        eps: What keeps a head of zeros from being divided by zero.
        causal: Whether to hide the future.
        rotate: What turns the two queries and keys, (*B, 2H, T, D), by the positions of
            their tokens, (*B, 1, T), such as `Rotary(D)`; `None` turns nothing.
        attend: The attention function; any with the signature of `attention`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, twice `num_heads` does not
            divide `d_out`, `num_kv_heads` does not divide `num_heads`, `dropout` is
            outside [0, 1), or `eps` is not positive and finite.

    Examples:
        >>> attend = DifferentialAttention(3, 20, 7, 0.0, num_heads=5)
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 20])

    References:
        Ye et al. (2024), equations 1 to 3,
        [arXiv:2410.05258](https://arxiv.org/abs/2410.05258); our `out_proj` is their
        $W^O$ with a bias.
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
        layer: int = 1,
        num_kv_heads: int | None = None,
        eps: float = 1e-5,
        causal: bool = True,
        rotate: Callable[[Tensor, Tensor], Tensor] | None = None,
        attend: AttentionFunction = fused_attention,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.positive(num_heads=num_heads, num_kv_heads=num_kv_heads)
        _require_divides_twice(num_heads=num_heads, d_out=d_out)
        _require.groups(num_kv_heads=num_kv_heads, num_heads=num_heads)
        _require.probability(dropout=dropout)
        _require.positive_and_finite(eps=eps)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.context_length = context_length
        self.lambda_init = lambda_init(layer)
        self.causal = causal
        self.rotate = rotate
        self.attend = attend
        width = d_out // num_heads
        d_kv = width * num_kv_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_in, d_kv, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_in, d_kv, qkv_bias, device, dtype)
        self.out_proj = nn.Linear(d_out, d_out, device=device, dtype=dtype)
        vectors = 0.1 * torch.randn(4, width // 2, device=device, dtype=dtype)
        self.lambda_q1, self.lambda_k1 = map(nn.Parameter, vectors[:2].unbind())
        self.lambda_q2, self.lambda_k2 = map(nn.Parameter, vectors[2:].unbind())
        self.norm = nn.RMSNorm(width, eps, device=device, dtype=dtype)
        self.dropout = nn.Dropout(dropout)

    def lam(self) -> Float[Tensor, ""]:
        """Compute how much of the second table is subtracted now.

        Returns:
            One number, in 32 bits or more.
        """
        wide = torch.promote_types(self.lambda_q1.dtype, torch.float32)
        first = (self.lambda_q1.to(wide) * self.lambda_k1.to(wide)).sum().exp()
        second = (self.lambda_q2.to(wide) * self.lambda_k2.to(wide)).sum().exp()
        return first - second + self.lambda_init

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
            mask: Further keys to hide besides the future; `True` where a token may
                look. With a cache it is over all keys, those before `x` first.
            positions: Where the tokens stand; `None` counts on from those in `cache`.
            cache: What keeps keys and values from call to call; those of `x` are
                appended to it, the two keys of a head side by side.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide, a position is
                not in [0, `context_length`), `mask` is not boolean or does not fit, or
                `cache` forgets. Nothing of `x` is in `cache` then.
        """
        _require.tokens(x, self.W_query.in_features)
        kept = 0 if cache is None else cache.length
        positions = _heads.positions(x, positions, kept, self.context_length)
        _heads.check_mask(mask, x, kept)
        query = split_heads(self.W_query(x), 2 * self.num_heads)
        key = split_heads(self.W_key(x), 2 * self.num_kv_heads)
        value = split_heads(self.W_value(x), self.num_kv_heads)
        if self.rotate is not None:
            query = self.rotate(query, positions.unsqueeze(-2))
            key = self.rotate(key, positions.unsqueeze(-2))
        if cache is not None:
            _require.cache_keeps(cache, window=None)
            # A cache has as many heads of keys as of values: the two side by side.
            both = key.unflatten(-3, (-1, 2)).transpose(-3, -2).flatten(-2)
            both, value, _ = cache.append(both, value, positions)
            key = both.unflatten(-1, (2, -1)).transpose(-3, -2).flatten(-4, -3)
        mask = _heads.mask_of_newest(mask, key.shape[-2])
        # Keys are split into pairs before heads are shared.
        G = self.num_kv_heads
        context = differential_attention(
            query.unflatten(-3, (G, -1, 2)),
            key.unflatten(-3, (G, 1, 2)),
            value.unsqueeze(-3),
            lam=self.lam(),
            mask=None if mask is None else mask.unsqueeze(-3),
            causal=self.causal,
            dropout_p=_dropout.probability(self.dropout),
            attend=self.attend,
        )
        heads = (1.0 - self.lambda_init) * self.norm(context.flatten(-4, -3))
        return self.out_proj(merge_heads(heads))


def halves_to_neighbours_weight(
    weight: Float[Tensor, "E *d_in"], num_heads: int
) -> Float[Tensor, "E *d_in"]:
    r"""Reorder the heads of a projection whose pairs are a half of the heads apart.

    $$y_{2h} = x_h, \qquad y_{2h+1} = x_{h + n/2}$$

    of $n$ heads. The paper's own code pairs neighbours, and so does
    `DifferentialAttention`; checkpoints for `transformers` pair head $h$ with
    $h + n/2$. Do it to their queries, keys and values; their last projection stays.

    Args:
        weight: Weight of an `nn.Linear`, or its bias.
        num_heads: Number of heads $n$ of half a width that it makes, an even number.

    Returns:
        A new tensor of the same shape.

    Raises:
        ValueError: If `num_heads` is not a positive even integer, or does not divide
            the rows of `weight`.

    Examples:
        >>> halves_to_neighbours_weight(torch.arange(8.0), num_heads=4)
        tensor([0., 1., 4., 5., 2., 3., 6., 7.])
    """
    _require.even(num_heads=num_heads)
    _require_heads_of_rows(weight, num_heads)
    return weight.unflatten(0, (2, num_heads // 2, -1)).transpose(0, 1).flatten(0, 2)


# ---- What is refused ----


def _require_of_width(width: int, **vectors: Tensor) -> None:
    """Check what is normalised: a broadcast over another width would be silent."""
    for name, tensor in vectors.items():
        if tensor.ndim == 0 or tensor.shape[-1] != width:
            raise ValueError(
                f"{name} must have shape (..., width={width}); "
                f"got {name}.shape={_require.shape(tensor)}."
            )


def _require_plain_linear(**layers: nn.Module) -> None:
    """Check that a layer is as it was made, and not changed already."""
    for name, layer in layers.items():
        if type(layer) is not nn.Linear:
            raise ValueError(
                f"{name} must be a plain Linear; got {name}={type(layer).__name__}."
            )


def _require_two_tables(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.ndim < 3 or tensor.shape[-3] != 2:
            raise ValueError(
                f"{name} must have shape (..., 2, tokens, width); "
                f"got {name}.shape={_require.shape(tensor)}."
            )


def _require_one_factor_each(lam: Tensor, leading: tuple[int, ...]) -> None:
    pairs = zip(reversed(lam.shape), reversed(leading), strict=False)
    if lam.ndim > len(leading) or any(n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"lam must broadcast to the leading axes {tuple(leading)}; "
            f"got lam.shape={_require.shape(lam)}."
        )


def _require_divides_twice(*, num_heads: int, d_out: int) -> None:
    """Check that two queries of one width fit into a head."""
    if d_out % (2 * num_heads):
        raise ValueError(
            "2 * num_heads must divide d_out; "
            f"got num_heads={num_heads}, d_out={d_out}."
        )


def _require_heads_of_rows(weight: Tensor, num_heads: int) -> None:
    if weight.ndim == 0 or weight.shape[0] % num_heads:
        raise ValueError(
            "num_heads must divide the rows of weight; "
            f"got num_heads={num_heads}, weight.shape={_require.shape(weight)}."
        )
