"""Attention in pieces: each piece says how much it weighs."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway import _require, _triangle
from headway.basics.scaled_dot_product import masked_softmax


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
    r"""Attend, and return the log-sum-exp of each query's scores as well.

    $$\ell_t = \ln \sum_s m_{ts}\, e^{\omega_{ts}}$$

    The first result is that of `attention`. The second, the log-sum-exp of the scaled
    scores, is a natural logarithm: with it, what some keys give can be put together
    with what others give, by `merge_attention`. A query that may look at no key, or has
    none, gets a context of zeros and a log-sum-exp of minus infinity; its gradients are
    zero. Half precision is computed in 32 bits: scores are not rounded and do not
    overflow, the context is rounded once, and the log-sum-exp stays in 32 bits.

    With `causal` the last query stands at the last of these keys. For a piece of the
    keys, hand over that piece of the mask instead.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by; there may be none.
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
        Dao (2023), section 3.1, [arXiv:2307.08691](https://arxiv.org/abs/2307.08691),
        for the log-sum-exp.
    """
    _require.matching(query, key)
    _require.one_value_per_key(query, key, value)
    _require.scale(scale)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    q, k, v = (
        x.to(torch.promote_types(x.dtype, torch.float32)) for x in (query, key, value)
    )
    scores = (q * scale) @ k.transpose(-2, -1)
    if bias is not None:
        _require.bias_fits(bias, scores.shape)
        scores = scores + bias.to(scores.dtype)
    if causal:
        mask = _triangle.and_past(mask, scores.shape, scores.device)
    context = (masked_softmax(scores, mask) @ v).to(query.dtype)
    if mask is None:
        return context, scores.logsumexp(dim=-1).expand(context.shape[:-1])
    # A row of minus infinities makes nan on the way back: let it look, then hide it.
    empty = ~mask.any(dim=-1, keepdim=True)
    lse = scores.masked_fill(~(mask | empty), -torch.inf).logsumexp(dim=-1)
    lse = lse.masked_fill(empty.squeeze(-1), -torch.inf)
    return context, lse.expand(context.shape[:-1])


def merge_attention(
    first: tuple[Float[Tensor, "*#B T V"], Float[Tensor, "*#B T"]],
    second: tuple[Float[Tensor, "*#B T V"], Float[Tensor, "*#B T"]],
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*B T"]]:
    r"""Merge the results of the same queries over two sets of keys.

    $$z = \frac{e^{\ell_1} z_1 + e^{\ell_2} z_2}{e^{\ell_1} + e^{\ell_2}}
    = \sigma(\ell_1 - \ell_2)\, z_1 + \sigma(\ell_2 - \ell_1)\, z_2, \qquad
    \ell = \ln\left(e^{\ell_1} + e^{\ell_2}\right)$$

    with $\sigma(x) = 1 / (1 + e^{-x})$. The result is what attention to all the keys at
    once gives, up to rounding, for any way to divide the keys: the order does not
    matter, and neither does which two are put together first. A piece with nothing to
    see changes nothing. Contexts of half precision are mixed in the precision of the
    log-sum-exps, and rounded once.

    No key may be in both. `functools.reduce(merge_attention, pieces)` merges any number
    of pieces.

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
        Milakov and Gimelshein (2018), section 3.1,
        [arXiv:1805.02867](https://arxiv.org/abs/1805.02867), for the masses; Rabe and
        Staats (2021), sections 2 and 3,
        [arXiv:2112.05682](https://arxiv.org/abs/2112.05682), with the values.
    """
    _require_pieces(first, second)
    (first_context, first_lse), (second_context, second_lse) = first, second
    # Where neither saw a key, minus infinity minus itself would be nan, and so would
    # the gradient of the sum: let both weigh one, then say that they weigh nothing.
    empty = (first_lse == -torch.inf) & (second_lse == -torch.inf)
    first_lse = first_lse.masked_fill(empty, 0.0)
    second_lse = second_lse.masked_fill(empty, 0.0)
    lse = torch.logaddexp(first_lse, second_lse).masked_fill(empty, -torch.inf)
    ahead = (first_lse - second_lse).unsqueeze(-1)
    context = ahead.sigmoid() * first_context + (-ahead).sigmoid() * second_context
    context = context.to(torch.promote_types(first_context.dtype, second_context.dtype))
    return context, lse.expand(context.shape[:-1])


# ---- What is refused ----


def _require_pieces(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]
) -> None:
    """Check two pairs of context and log-sum-exp, of the same queries."""
    for name, (context, lse) in {"first": first, "second": second}.items():
        if not (context.is_floating_point() and lse.is_floating_point()):
            raise ValueError(
                f"{name} must hold floating-point numbers; "
                f"got {name} of {context.dtype} and {lse.dtype}."
            )
        if context.ndim < 2 or lse.ndim < 1 or lse.shape[-1] != context.shape[-2]:
            raise ValueError(
                f"{name} must have one log-sum-exp for each row of its context; "
                f"got {name} of {_require.shape(context)} and {_require.shape(lse)}."
            )
    (one, one_lse), (other, other_lse) = first, second
    same = one.shape[-2:] == other.shape[-2:]
    columns = (one_lse.unsqueeze(-1), other_lse.unsqueeze(-1))
    if not same or not _require.leading_axes_broadcast(one, other, *columns):
        raise ValueError(
            "second must have the queries and the width of first, and leading axes "
            f"that broadcast; got second of {_require.shape(other)} and "
            f"{_require.shape(other_lse)}, "
            f"first of {_require.shape(one)} and {_require.shape(one_lse)}."
        )
