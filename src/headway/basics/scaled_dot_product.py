"""Scaled dot-product attention: the function that everything else calls."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require


def attention_scores(
    query: Float[Tensor, "*B T D"], key: Float[Tensor, "*B S D"]
) -> Float[Tensor, "*B T S"]:
    r"""Compare each query with each key.

    $$\omega = Q K^\top$$

    The scores are not yet scaled: their spread grows with $\sqrt{D}$.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.

    Returns:
        One row of scores for each query, one column for each key.

    Raises:
        ValueError: If the tensors do not hold floating-point numbers or do not fit.

    Examples:
        >>> attention_scores(torch.tensor([[1.0, 2.0]]), torch.eye(2))
        tensor([[1., 2.]])

    References:
        Vaswani et al. (2017), eq. 1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762);
        our $D$ is their $d_k$.
    """
    _require.matching(query, key)
    return query @ key.transpose(-2, -1)


def masked_softmax(
    scores: Float[Tensor, "*B T S"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*B T S"]:
    r"""Share one among the keys that a query may look at.

    $$\alpha_{ts} = \frac{m_{ts}\, e^{\omega_{ts}}}{\sum_r m_{tr}\, e^{\omega_{tr}}}$$

    A row whose mask allows no key is zero, and so is its gradient. Scores at the lowest
    number of their type count as hidden.

    Args:
        scores: One row for each query, already scaled.
        mask: `True` where a query may look at a key; `None` hides nothing. It
            broadcasts to the scores.

    Returns:
        Shares that are not negative and sum to one in each row that sees a key.

    Raises:
        ValueError: If `scores` are not floating-point, or `mask` is not boolean or does
            not broadcast to them.

    Examples:
        >>> masked_softmax(torch.zeros(1, 3), torch.tensor([True, True, False]))
        tensor([[0.5000, 0.5000, 0.0000]])
    """
    _require.floating(scores=scores)
    if mask is None:
        return scores.softmax(dim=-1)
    _require.mask_fits(mask, scores.shape)
    # A finite floor, not -inf: a row of -inf makes nan, forward and backward.
    floor = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, floor).softmax(dim=-1) * mask


def attention_weights(
    query: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D"],
    *,
    mask: Bool[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*B T S"]:
    r"""Decide how much each query listens to each key.

    $$A = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}}\right)$$

    Each row is not negative and sums to one. A query whose mask allows no key listens
    to nothing: its row is zero.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        mask: `True` where a query may look at a key; `None` hides nothing.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        The attention weights.

    Raises:
        ValueError: If the tensors do not fit, or `mask` is not boolean.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> attention_weights(query, key)
        tensor([[0.5000, 0.5000]])

    References:
        Vaswani et al. (2017), eq. 1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
    """
    _require.matching(query, key)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    # Scaling before the product keeps half precision from overflowing in it.
    return masked_softmax(attention_scores(query * scale, key), mask)


def attention(
    query: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D"],
    value: Float[Tensor, "*B S V"],
    *,
    mask: Bool[Tensor, "..."] | None = None,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> Float[Tensor, "*B T V"]:
    r"""Let each query collect the values of the keys it listens to.

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}}\right) V$$

    Without dropout, each output row lies between the rows of the values that it may
    see. A query whose mask allows no key gets zeros. Memory grows with $T \times S$;
    `fused_attention` avoids that.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$. It acts whenever it is not zero: pass zero at inference.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, or `dropout_p` is
            outside [0, 1).

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> attention(query, key, torch.tensor([[2.0], [4.0]]))
        tensor([[3.]])

    References:
        Vaswani et al. (2017), eq. 1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
    """
    _require.matching(query, key)
    _require.one_value_per_key(key, value)
    _require.probability(dropout_p=dropout_p)
    weights = attention_weights(query, key, mask=mask, scale=scale)
    return nn.functional.dropout(weights, dropout_p) @ value


def fused_attention(
    query: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D"],
    value: Float[Tensor, "*B S V"],
    *,
    mask: Bool[Tensor, "..."] | None = None,
    dropout_p: float = 0.0,
    scale: float | None = None,
    causal: bool = False,
) -> Float[Tensor, "*B T V"]:
    r"""Do what `attention` does, in PyTorch's fused kernel.

    The same function with the same meaning of every argument, empty rows included, for
    finite numbers: on a CPU the kernel answers a query of nan with zeros, where
    `attention` answers nan. It works in tiles and never holds the $T \times S$ weights,
    as long as `dropout_p` is zero (on a CPU), `value` is as wide as `query`, and the
    numbers of each vector lie side by side in memory.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        dropout_p: Probability with which a weight is set to zero.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        causal: Hide the future without a mask in memory. It needs as many queries as
            keys, and no `mask`; it is `attention` with `causal_mask(T)`.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `dropout_p` is
            outside [0, 1), or `causal` comes with a mask or with T != S.

    Examples:
        >>> x = torch.eye(2)
        >>> fused_attention(x, x, x, causal=True)[0]
        tensor([1., 0.])

    References:
        Dao et al. (2022), algorithm 1,
        [arXiv:2205.14135](https://arxiv.org/abs/2205.14135).
    """
    _require.matching(query, key)
    _require.one_value_per_key(key, value)
    _require.probability(dropout_p=dropout_p)
    shape = (*query.shape[:-1], key.shape[-2])
    visible = None
    if causal:
        _check_causal(mask, shape)
        if scale is not None and scale <= 0.0:
            # The kernel hides, then scales: -inf * 0 is nan, and -inf * -1 wins all.
            query, scale = query * scale, 1.0
    elif mask is not None:
        _require.mask_fits(mask, shape)
        # PyTorch leaves empty rows to each kernel, so we let them look, then zero them.
        visible = mask.any(dim=-1, keepdim=True)
        mask = _four_axes_of_mask(mask | ~visible, shape)
    context = nn.functional.scaled_dot_product_attention(
        _four_axes(query),
        _four_axes(key),
        _four_axes(value),
        attn_mask=mask,
        dropout_p=dropout_p,
        is_causal=causal,
        scale=scale,
    ).reshape(*query.shape[:-1], value.shape[-1])
    return context if visible is None else context.masked_fill(~visible, 0.0)


def _check_causal(mask: Tensor | None, shape: tuple[int, ...]) -> None:
    if mask is not None:
        raise ValueError(
            "mask must be None when causal is true; "
            f"got mask.shape={tuple(mask.shape)}."
        )
    if shape[-2] != shape[-1]:
        raise ValueError(
            "causal must be false when the numbers of queries and keys differ; "
            f"got causal=True, T={shape[-2]}, S={shape[-1]}."
        )


def _four_axes_of_mask(mask: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Leave size one where all heads share a mask: PyTorch makes floats of it all."""
    mask = mask[(None,) * (max(4, len(shape)) - mask.ndim)]
    batch = shape[:-3] if len(shape) > 4 else mask.shape[:1]
    return mask.expand(*batch, mask.shape[-3], *shape[-2:]).flatten(0, -4)


def _four_axes(tensor: Tensor) -> Tensor:
    """Bring leading axes to the two, batch and heads, that the fast kernels want."""
    if tensor.ndim < 4:
        return tensor[(None,) * (4 - tensor.ndim)]
    return tensor.flatten(0, -4)
