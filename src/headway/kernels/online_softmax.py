"""Attention in pieces: each piece says how much it weighs."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway import _require, _triangle


def attention_with_lse(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*B T"]]:
    r"""Attend, and say for each query what all its scores weigh together.

    $$\ell_t = \log \sum_s m_{ts}\, e^{\omega_{ts}}$$

    The first result is that of `attention`. The second, the log-sum-exp, is what the
    softmax divides by, as a natural logarithm: with it, what some keys give can be put
    together with what others give, by `merge_attention`. A fully masked row has a
    context of zeros and a log-sum-exp of minus infinity.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers that are added to the scaled scores, in their type; `None`
            adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector and one log-sum-exp for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, or `scale` is not positive.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> attention_with_lse(query, key, torch.tensor([[2.0], [4.0]]))
        (tensor([[3.]]), tensor([0.6931]))

    References:
        Rabe and Staats (2021), section 2,
        [arXiv:2112.05682](https://arxiv.org/abs/2112.05682).
    """
    _require.matching(query, key)
    _require.one_value_per_key(query, key, value)
    _require.scale(scale)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    scores = (query * scale) @ key.transpose(-2, -1)
    if bias is not None:
        _require.bias_fits(bias, scores.shape)
        scores = scores + bias.to(scores.dtype)
    if causal:
        mask = _triangle.and_past(mask, scores.shape, scores.device)
    elif mask is not None:
        _require.mask_fits(mask, scores.shape)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    # A row of minus infinities would make nan, forward and backward; and so would no
    # key at all. Such rows are given scores of zero and weights of zero.
    visible = (scores > -torch.inf).any(dim=-1, keepdim=True)
    lse = scores.masked_fill(~visible, 0.0).logsumexp(dim=-1)
    lse = lse.masked_fill(~visible.squeeze(-1), -torch.inf)
    weights = (scores - lse.unsqueeze(-1).masked_fill(~visible, 0.0)).exp()
    return weights @ value, lse


def merge_attention(
    first: tuple[Float[Tensor, "*#B T V"], Float[Tensor, "*#B T"]],
    second: tuple[Float[Tensor, "*#B T V"], Float[Tensor, "*#B T"]],
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*B T"]]:
    r"""Put together what the same queries got from two sets of keys.

    $$\ell = \log\left(e^{\ell_1} + e^{\ell_2}\right), \qquad
    z = e^{\ell_1 - \ell}\, z_1 + e^{\ell_2 - \ell}\, z_2$$

    The result is what attention to all the keys at once gives: exactly, up to rounding,
    for any way to divide the keys. The order does not matter, and neither does which
    two are put together first. A piece with nothing to see changes nothing.

    Args:
        first: Context and log-sum-exp of each query, over some keys.
        second: The same, over other keys.

    Returns:
        Context and log-sum-exp over the keys of both.

    Raises:
        ValueError: If the tensors are not floating-point or do not fit.

    Examples:
        >>> half = (torch.tensor([[2.0]]), torch.tensor([0.0]))
        >>> merge_attention(half, (torch.tensor([[4.0]]), torch.tensor([0.0])))
        (tensor([[3.]]), tensor([0.6931]))

    References:
        Rabe and Staats (2021), section 2,
        [arXiv:2112.05682](https://arxiv.org/abs/2112.05682); Milakov and Gimelshein
        (2018), eq. 4, [arXiv:1805.02867](https://arxiv.org/abs/1805.02867).
    """
    (first_context, first_lse), (second_context, second_lse) = first, second
    lse = torch.logaddexp(first_lse, second_lse)
    # Where neither saw a key, minus infinity minus itself would be nan.
    finite = lse.masked_fill(lse == -torch.inf, 0.0)
    context = (first_lse - finite).exp().unsqueeze(-1) * first_context
    return context + (second_lse - finite).exp().unsqueeze(-1) * second_context, lse
