"""The same attention in PyTorch's fused kernel, which never holds all weights."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require, _triangle


def fused_attention(
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
    r"""Compute `attention` with PyTorch's fused kernel.

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}} + B\right) V$$

    The same function with the same meaning of every argument, fully masked rows
    included, for finite numbers: on a CPU the kernel answers a query of nan with zeros,
    where `attention` answers nan. It works in tiles and never holds the $T \times S$
    weights, as long as `dropout_p` is zero (on a CPU), `value` is as wide as `query`,
    and the numbers of each vector lie side by side in memory.

    The kernel hides the future by itself if there are as many queries as keys and
    neither `mask` nor `bias`. Otherwise a tensor of what to hide is made, with the axes
    that `mask` and `bias` have: one of $T \times S$ serves all texts and heads.

    Where one query asks, and the axis before the tokens is of length one in `key` and
    `value`, the heads that share them are given to the kernel as if they were tokens:
    it reads what is shared once.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers $B$ that are added to the scaled scores, in the type of
            `query`. On a CPU, one that is trained brings back the table of weights.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, `dropout_p` is outside [0, 1), or `scale` is not positive.

    Examples:
        >>> x = torch.eye(2)
        >>> fused_attention(x, x, x, causal=True)[0]
        tensor([1., 0.])

    References:
        Dao et al. (2022), algorithm 1,
        [arXiv:2205.14135](https://arxiv.org/abs/2205.14135).
    """
    _require.matching(query, key)
    _require.one_value_per_key(query, key, value)
    _require.probability(dropout_p=dropout_p)
    _require.scale(scale)
    if _one_asks_what_heads_share(query, key, value):
        mask, bias = _swapped(mask, bias, _require.scores_shape(query, key))
        as_tokens = query.transpose(-3, -2)
        return fused_attention(
            as_tokens,
            key,
            value,
            mask=mask,
            bias=bias,
            dropout_p=dropout_p,
            scale=scale,
        ).transpose(-3, -2)
    leading = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
    # The kernel's own triangle starts at the first key and takes no mask besides.
    # Where lengths are symbols, to compile or export, bool() leaves a symbol.
    square = True if query.shape[-2] == key.shape[-2] else False  # noqa: SIM210
    is_causal = causal and square and mask is None and bias is None
    mask, visible = _mask_and_rows(query, key, mask, causal and not is_causal)
    if bias is not None:
        mask = _bias_where_visible(query, key, bias, mask)
    context = nn.functional.scaled_dot_product_attention(
        _four_axes(query, leading),
        _four_axes(key, leading),
        _four_axes(value, leading),
        attn_mask=None if mask is None else _four_axes_of_mask(mask, leading),
        dropout_p=dropout_p,
        is_causal=is_causal,
        scale=scale,
    ).reshape(*leading, query.shape[-2], value.shape[-1])
    return context if visible is None else context.masked_fill(~visible, 0.0)


def _one_asks_what_heads_share(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Say whether heads may stand as tokens: their keys are then read once for all."""
    if query.shape[-2] != 1 or min(x.ndim for x in (query, key, value)) < 3:
        return False
    return bool(query.shape[-3] > 1 and key.shape[-3] == value.shape[-3] == 1)


def _swapped(
    mask: Tensor | None, bias: Tensor | None, shape: tuple[int, ...]
) -> tuple[Tensor | None, Tensor | None]:
    """Let heads and queries change places in a mask and a bias."""
    if mask is not None:
        _require.mask_fits(mask, shape)
        mask = mask.transpose(-3, -2) if mask.ndim > 2 else mask
    if bias is not None:
        _require.bias_fits(bias, shape)
        bias = bias.transpose(-3, -2) if bias.ndim > 2 else bias
    return mask, bias


def _mask_and_rows(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Make a mask without fully masked rows, and say which rows had a key to see."""
    shape = _require.scores_shape(query, key)
    if causal:
        mask = _triangle.and_past(mask, shape, query.device)
    elif mask is not None:
        _require.mask_fits(mask, shape)
    if mask is None:
        return None, None
    # What a fully masked row gives, PyTorch leaves to each kernel. So we let such a
    # row look, then zero it.
    visible = mask.any(dim=-1, keepdim=True)
    return mask | ~visible, visible


def _bias_where_visible(
    query: Tensor, key: Tensor, bias: Tensor, mask: Tensor | None
) -> Tensor:
    """Say in one tensor of floats what is added and what is hidden."""
    _require.bias_fits(bias, _require.scores_shape(query, key))
    bias = bias.to(query.dtype)
    return bias if mask is None else bias.masked_fill(~mask, -torch.inf)


def _four_axes(tensor: Tensor, leading: tuple[int, ...]) -> Tensor:
    """Bring leading axes to batch and heads: the fast kernels take no others."""
    return tensor.expand(1, 1, *leading, *tensor.shape[-2:]).flatten(0, -4)


def _four_axes_of_mask(mask: Tensor, leading: tuple[int, ...]) -> Tensor:
    """Leave size one where texts or heads share a mask: PyTorch copies it as it is."""
    mask = mask[(None,) * (len(leading) + 4 - mask.ndim)]
    if mask.shape[:-3].numel() > 1:
        mask = mask.expand(1, 1, *leading[:-1], *mask.shape[-3:])
    return mask.flatten(0, -4)
