"""Scaled dot-product attention: the function that everything else calls."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require, _triangle


def attention_scores(
    query: Float[Tensor, "*#B T D"], key: Float[Tensor, "*#B S D"]
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
    scores: Float[Tensor, "*B T S"],
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
) -> Float[Tensor, "*B T S"]:
    r"""Take the softmax over the keys that a query may look at.

    $$\alpha_{ts} = \frac{m_{ts}\, e^{\omega_{ts}}}{\sum_r m_{tr}\, e^{\omega_{tr}}}$$

    A row whose mask allows no key is zero, and so is its gradient. Scores at the lowest
    number of their type count as hidden. PyTorch sums half precision in 32 bits here.

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
        >>> masked_softmax(torch.zeros(1, 3), torch.tensor([[True, True, False]]))
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
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "*B T S"]:
    r"""Compute how much each query attends to each key.

    $$A = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}} + B\right)$$

    Each row is not negative and sums to one. A query that may look at no key listens to
    nothing: its row is zero.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers $B$ that are added to the scaled scores, in their type;
            `None` adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        The attention weights.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, or `scale` is not positive.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> attention_weights(query, key)
        tensor([[0.5000, 0.5000]])

    References:
        Vaswani et al. (2017), eq. 1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
    """
    _require.matching(query, key)
    _require.scale(scale)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    # Scaling before the product keeps half precision from overflowing in it.
    scores = (query * scale) @ key.transpose(-2, -1)
    if bias is not None:
        _require.bias_fits(bias, scores.shape)
        scores = scores + bias.to(scores.dtype)
    if causal:
        mask = _triangle.and_past(mask, scores.shape, scores.device)
    return masked_softmax(scores, mask)


def attention(
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
    r"""Mix the values for each query, by its attention weights.

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}} + B\right) V$$

    Without dropout, each output row lies between the rows of the values that it may
    see. A query that may look at no key gets zeros. Leading axes broadcast: one set of
    keys and values may serve many heads. Memory grows with $T \times S$;
    `fused_attention` avoids that.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers $B$ that are added to the scaled scores, in their type;
            `None` adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$. It acts whenever it is not zero: pass zero at inference.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, `dropout_p` is outside [0, 1), or `scale` is not positive.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> attention(query, key, torch.tensor([[2.0], [4.0]]))
        tensor([[3.]])

    References:
        Vaswani et al. (2017), eq. 1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
    """
    _require.probability(dropout_p=dropout_p)
    weights = attention_weights(
        query, key, mask=mask, bias=bias, causal=causal, scale=scale
    )
    _require.one_value_per_key(query, key, value)
    return nn.functional.dropout(weights, dropout_p) @ value
