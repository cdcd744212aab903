"""A place for unused attention: sinks, learned or kept in sight, and capped scores."""

import math
from numbers import Integral

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require, _triangle
from headway.basics.scaled_dot_product import attention, masked_softmax
from headway.kernels.online_softmax import attention_with_lse


def sink_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    sinks: Float[Tensor, "*#B"],
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> Float[Tensor, "*B T V"]:
    r"""Attend with a sink that takes a share of the weights and has no value.

    $$z_t = \frac{\sum_s e^{\omega_{ts}}\, v_s}{e^{\omega_0} + \sum_s e^{\omega_{ts}}}
    = \sigma(\ell_t - \omega_0) \operatorname{Attention}(q_t, K, V), \qquad
    \ell_t = \log \sum_s e^{\omega_{ts}}$$

    with sums over the keys $s$ that are seen, and $\sigma(x) = 1 / (1 + e^{-x})$. The
    sink is one more key of score $\omega_0$, which every query sees whatever is hidden,
    and whose value is zero. The weights of a row sum to $\sigma(\ell_t - \omega_0)$. A
    score of minus infinity is no sink; a score of zero is one.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        sinks: Scores of the sinks, $\omega_0$, which are not scaled: one for each head
            if the heads are the axis before the tokens.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers that are added to the scaled scores, in their type; `None`
            adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$. The scores are then made twice.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` or `sinks`
            is not floating-point, `dropout_p` is outside [0, 1), or `scale` is not
            positive.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> value = torch.tensor([[2.0], [4.0]])
        >>> sink_attention(query, key, value, sinks=torch.tensor(2.0).log())
        tensor([[1.5000]])

    References:
        OpenAI (2025), [arXiv:2508.10925](https://arxiv.org/abs/2508.10925), for learned
        sinks; Xiao et al. (2023), eq. 2,
        [arXiv:2309.17453](https://arxiv.org/abs/2309.17453), for a sink of zero.
    """
    _require.probability(dropout_p=dropout_p)
    context, lse = attention_with_lse(
        query, key, value, mask=mask, bias=bias, causal=causal, scale=scale
    )
    _require_one_sink_each(sinks, lse.shape[:-1])
    if dropout_p > 0.0:
        context = attention(
            query,
            key,
            value,
            mask=mask,
            bias=bias,
            causal=causal,
            dropout_p=dropout_p,
            scale=scale,
        )
    # Where there is no key and no sink, minus infinity minus itself would be nan.
    finite = lse.masked_fill(lse == -torch.inf, torch.finfo(lse.dtype).min)
    gate = torch.sigmoid(finite - sinks.to(lse.dtype).unsqueeze(-1))
    return context * gate.unsqueeze(-1).to(context.dtype)


class LearnedSinks(nn.Module):
    r"""Give each head a sink whose score is learned.

    $$z_{ht} = \sigma(\ell_{ht} - \omega_{h0})
    \operatorname{Attention}(q_{ht}, K_h, V_h)$$

    It has the signature of `attention`, for `MultiHeadAttention(attend=...)`, where the
    heads are the axis before the tokens. In `GroupedQueryAttention` they are two axes,
    the groups and the places in a group: say `num_kv_heads` here too. The scores start
    at zero, which is not off.

    Args:
        num_heads: Number of query heads $H$.
        num_kv_heads: Number of heads of keys and values $G$, for
            `GroupedQueryAttention`; `None` if each head has its own.
        device: Where the scores are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a number is not a positive integer, or `num_kv_heads` does not
            divide `num_heads`.

    Examples:
        >>> attend = LearnedSinks(num_heads=5)
        >>> x = torch.randn(2, 5, 7, 3)
        >>> attend(x, x, x, causal=True).shape
        torch.Size([2, 5, 7, 3])

    References:
        OpenAI (2025), [arXiv:2508.10925](https://arxiv.org/abs/2508.10925); our `sinks`
        are those of its checkpoints.
    """

    def __init__(
        self,
        num_heads: int,
        num_kv_heads: int | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(num_heads=num_heads)
        if num_kv_heads is not None:
            _require.positive(num_kv_heads=num_kv_heads)
            _require.groups(num_kv_heads=num_kv_heads, num_heads=num_heads)
        self.num_kv_heads = num_kv_heads
        self.sinks = nn.Parameter(torch.zeros(num_heads, device=device, dtype=dtype))

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
        r"""Attend, with the sink of each head.

        Args:
            query: What each position looks for, with the heads before the tokens.
            key: What each position offers to be found by.
            value: What each position hands over when it is found.
            mask: `True` where a query may look at a key; `None` hides nothing.
            bias: Numbers that are added to the scaled scores; `None` adds nothing.
            causal: Whether to hide the future too.
            dropout_p: Probability with which a weight is set to zero.
            scale: Factor of the scores; `None` means $1/\sqrt{D}$.

        Returns:
            One context vector for each query.

        Raises:
            ValueError: If `query` has other heads, or `sink_attention` says so.
        """
        sinks = self.sinks
        if self.num_kv_heads is not None:
            sinks = sinks.unflatten(0, (self.num_kv_heads, -1))
        _require_heads(query, tuple(sinks.shape))
        return sink_attention(
            query,
            key,
            value,
            sinks=sinks,
            mask=mask,
            bias=bias,
            causal=causal,
            dropout_p=dropout_p,
            scale=scale,
        )


def sink_window_mask(
    T: int,
    S: int | None = None,
    *,
    window: int,
    sinks: int,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "T S"]:
    r"""Allow each query the newest keys up to its own position, and the first ones.

    $$m_{ts} = [\, p - W < s \le p \,] \lor [\, s < n \,\land\, s \le p \,], \qquad
    p = t + S - T$$

    A window of $W$ forgets the first tokens; here $n$ of them stay in sight. With
    `sinks=0` the mask is `sliding_window_mask(T, S, window=window)`. The window counts
    the token itself, and the last query is aligned to the last key.

    Args:
        T: Number of queries.
        S: Number of keys, those of the first tokens first; `None` means as many as
            queries.
        window: How many of the newest keys a query may see, $W$.
        sinks: How many of the first keys it may see besides, $n$.
        device: Where to build the mask; `None` means torch's default.

    Returns:
        A boolean mask, `True` where a query may look at a key.

    Raises:
        ValueError: If `T`, `S` or `window` is not a positive integer, or `sinks` is a
            negative number or no integer.

    Examples:
        >>> sink_window_mask(5, window=2, sinks=1).int()
        tensor([[1, 0, 0, 0, 0],
                [1, 1, 0, 0, 0],
                [1, 1, 1, 0, 0],
                [1, 0, 1, 1, 0],
                [1, 0, 0, 1, 1]], dtype=torch.int32)

    References:
        Xiao et al. (2023), section 3.2,
        [arXiv:2309.17453](https://arxiv.org/abs/2309.17453).
    """
    S = T if S is None else S
    _require.positive(T=T, S=S, window=window)
    _require_not_negative(sinks=sinks)
    first = torch.arange(S, device=device) < sinks
    past = _triangle.triangle(T, S, device)
    return _triangle.band(T, S, window, device) | (past & first)


def softcap_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    cap: float,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> Float[Tensor, "*B T V"]:
    r"""Attend with scores that cannot grow beyond a cap.

    $$\operatorname{softmax}\left(C \tanh\left(\frac{Q K^\top}{C \sqrt{D}}\right)
    + B\right) V$$

    A small score stays nearly as it is, and none gets beyond $\pm C$. The
    cap comes first: a bias is added to capped scores, and what is hidden is hidden
    after it.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        cap: What no scaled score exceeds, $C$. The larger, the less it changes.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers $B$ that are added to the capped scores, in their type;
            `None` adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `cap` or `scale` is not positive and
            finite, `mask` is not boolean, `bias` is not floating-point, or `dropout_p`
            is outside [0, 1).

    Examples:
        >>> query, key = torch.ones(1, 1), torch.tensor([[0.0], [1e9]])
        >>> value = torch.tensor([[0.0], [4.0]])
        >>> round(softcap_attention(query, key, value, cap=math.log(3)).item(), 4)
        3.0

    References:
        Gemma Team (2024), section 2 ("Logit soft-capping"),
        [arXiv:2408.00118](https://arxiv.org/abs/2408.00118).
    """
    _require.matching(query, key)
    _require.one_value_per_key(query, key, value)
    _require.positive_and_finite(cap=cap)
    _require.probability(dropout_p=dropout_p)
    _require.scale(scale)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    scores = cap * torch.tanh((query * scale) @ key.transpose(-2, -1) / cap)
    if bias is not None:
        _require.bias_fits(bias, scores.shape)
        scores = scores + bias.to(scores.dtype)
    if causal:
        mask = _triangle.and_past(mask, scores.shape, scores.device)
    weights = masked_softmax(scores, mask)
    return nn.functional.dropout(weights, dropout_p) @ value


# ---- What is refused ----


def _require_not_negative(**counts: int) -> None:
    for name, count in counts.items():
        whole = isinstance(count, Integral) and not isinstance(count, bool)
        if not whole or count < 0:
            raise ValueError(
                f"{name} must be an integer of at least 0; got {name}={count!r}."
            )


def _require_one_sink_each(sinks: Tensor, leading: tuple[int, ...]) -> None:
    """Check scores of sinks against the axes before the tokens."""
    _require.floating(sinks=sinks)
    pairs = zip(reversed(sinks.shape), reversed(leading), strict=False)
    if sinks.ndim > len(leading) or any(n not in (1, axis) for n, axis in pairs):
        raise ValueError(
            f"sinks must broadcast to the axes before the tokens, {tuple(leading)}; "
            f"got sinks.shape={_require.shape(sinks)}."
        )


def _require_heads(query: Tensor, heads: tuple[int, ...]) -> None:
    """Check that a query has the heads, or groups of them, right before the tokens."""
    if query.ndim < 2 + len(heads) or query.shape[-2 - len(heads) : -2] != heads:
        raise ValueError(
            f"query must have heads of shape {heads} before the tokens; "
            f"got query.shape={_require.shape(query)}."
        )
