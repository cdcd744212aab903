"""Masks, and two ways to hide a key: True always means that a query may look."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway import _require, _triangle


def causal_mask(
    T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "T S"]:
    r"""Allow each query the keys up to its own position.

    $$m_{ts} = [\, s \le t + S - T \,]$$

    The last query is aligned to the last key, as when the newest T tokens of a longer
    text ask. If there are more queries than keys, the first ones see nothing.

    Args:
        T: Number of queries.
        S: Number of keys; `None` means as many as queries.
        device: Where to build the mask; `None` means torch's default.

    Returns:
        A boolean mask, `True` where a query may look at a key.

    Raises:
        ValueError: If a number is not a positive integer.

    Examples:
        >>> causal_mask(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """
    S = T if S is None else S
    _require.positive(T=T, S=S)
    return _triangle.triangle(T, S, device=device)


def padding_mask(lengths: Int[Tensor, "*B"], S: int) -> Bool[Tensor, "*B 1 S"]:
    r"""Allow the real tokens of each text in a padded batch.

    $$m_{b1s} = [\, s < \ell_b \,]$$

    The axis of size one is for the queries: every query of a text may look at the same
    keys. `mask & causal_mask(T)` hides both padding and future. For tensors with heads,
    (B, H, T, D), put an axis in for them: `mask.unsqueeze(1)`.

    Args:
        lengths: Number of real tokens of each text; padding stands behind them.
        S: Number of tokens of the padded batch.

    Returns:
        A boolean mask, `True` where a query may look at a key.

    Raises:
        ValueError: If `lengths` are not integers in [0, S].

    Examples:
        >>> padding_mask(torch.tensor([1, 3]), 3)
        tensor([[[ True, False, False]],
        <BLANKLINE>
                [[ True,  True,  True]]])
    """
    _require.integers(lengths=lengths)
    _require.positive(S=S)
    outside = lengths[(lengths < 0) | (lengths > S)]
    if outside.numel():
        raise ValueError(
            f"lengths must be in [0, S={S}]; got lengths with {int(outside[0])}."
        )
    return torch.arange(S, device=lengths.device) < lengths[..., None, None]


def hide_by_renormalising(
    scores: Float[Tensor, "*B T S"], mask: Bool[Tensor, "*#B #T #S"]
) -> Float[Tensor, "*B T S"]:
    r"""Take the softmax over all keys, zero the hidden ones, and divide by the rest.

    $$\alpha_{ts} = \frac{m_{ts}\, a_{ts}}{\sum_r m_{tr}\, a_{tr}},
    \qquad a = \operatorname{softmax}(\omega)$$

    The hidden keys cancel, because they stand in the sum of both softmaxes. A row with
    no key is zero divided by zero: `nan`. So is one whose allowed keys all score so far
    below a hidden key that their shares round to zero.

    Args:
        scores: One row for each query, already scaled.
        mask: `True` where a query may look at a key.

    Returns:
        Shares that sum to one over the allowed keys.

    Raises:
        ValueError: If `scores` are not floating-point, or `mask` is not boolean or does
            not broadcast to them.

    Examples:
        >>> mask = torch.tensor([[True, True, False]])
        >>> hide_by_renormalising(torch.zeros(1, 3), mask)
        tensor([[0.5000, 0.5000, 0.0000]])
    """
    _require.floating(scores=scores)
    _require.mask_fits(mask, scores.shape)
    allowed = scores.softmax(dim=-1) * mask
    return allowed / allowed.sum(dim=-1, keepdim=True)


def hide_by_minus_infinity(
    scores: Float[Tensor, "*B T S"], mask: Bool[Tensor, "*#B #T #S"]
) -> Float[Tensor, "*B T S"]:
    r"""Set the scores of hidden keys to minus infinity before the softmax.

    $$\alpha = \operatorname{softmax}(\omega'), \qquad
    \omega'_{ts} = \begin{cases} \omega_{ts} & m_{ts} \\ -\infty & \text{otherwise}
    \end{cases}$$

    $e^{-\infty} = 0$, so a hidden key gets no share. A row with no key is `nan`.

    Args:
        scores: One row for each query, already scaled.
        mask: `True` where a query may look at a key.

    Returns:
        Shares that sum to one over the allowed keys.

    Raises:
        ValueError: If `scores` are not floating-point, or `mask` is not boolean or does
            not broadcast to them.

    Examples:
        >>> mask = torch.tensor([[True, True, False]])
        >>> hide_by_minus_infinity(torch.zeros(1, 3), mask)
        tensor([[0.5000, 0.5000, 0.0000]])
    """
    _require.floating(scores=scores)
    _require.mask_fits(mask, scores.shape)
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
