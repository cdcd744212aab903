"""What modules with heads share: where tokens stand, and which keys they may see."""

from collections.abc import Callable

import torch
from torch import Tensor

from headway import _require


def positions(
    x: Tensor, given: Tensor | None, kept: int, context_length: int
) -> Tensor:
    """Say where tokens stand: where the caller says, or after those that are kept.

    Args:
        x: The tokens, (*B, T, d_in).
        given: What the caller says, (*#B, #T), or `None`.
        kept: Number of tokens that a cache has seen.
        context_length: Number of positions there are.

    Returns:
        Integers, which broadcast to (*B, T).

    Raises:
        ValueError: If a position is not an integer in [0, context_length).
    """
    if given is not None:
        _require_positions(given, x.shape[:-1], context_length)
        return given
    _require_room(x, kept, context_length)
    return torch.arange(kept, kept + x.shape[-2], device=x.device)


def check_mask(mask: Tensor | None, x: Tensor, kept: int) -> None:
    """Check a mask over all keys, old and new, before anything is kept.

    Args:
        mask: What the caller hands over.
        x: The tokens, (*B, T, d_in).
        kept: Number of tokens that a cache has seen.

    Raises:
        ValueError: If it is not boolean or does not broadcast to (*B, T, kept + T).
    """
    if mask is not None:
        _require.mask_fits(mask, (*x.shape[:-1], kept + x.shape[-2]))


def check_bias(
    bias: Callable[[Tensor, Tensor], Tensor] | None,
    x: Tensor,
    positions: Tensor,
    num_heads: int,
) -> None:
    """Ask for the bias of one token to itself, before anything is kept.

    Args:
        bias: What makes the bias, of positions of queries and keys.
        x: The tokens, (*B, T, d_in).
        positions: Where they stand, (*#B, #T).
        num_heads: Number of query heads H.

    Raises:
        ValueError: If it is not floating-point or does not broadcast to (*B, H, 1, 1).
    """
    if bias is not None:
        first = positions[..., :1]
        _require.bias_fits(bias(first, first), (*x.shape[:-2], num_heads, 1, 1))


def mask_of_newest(mask: Tensor | None, S: int) -> Tensor | None:
    """Cut a mask to the newest S keys, which are kept, and make an axis for heads."""
    return None if mask is None else mask[..., -S:].unsqueeze(-3)


# ---- What is refused ----


def _require_room(x: Tensor, kept: int, context_length: int) -> None:
    """Check that there are positions for the tokens of x behind those in a cache."""
    if kept + x.shape[-2] > context_length:
        count, found = "", ""
        if kept:
            count, found = ", with those in cache", f", cache.length={kept}"
        raise ValueError(
            f"x must have at most context_length={context_length} tokens{count}; "
            f"got x.shape={_require.shape(x)}{found}."
        )


def _require_positions(
    positions: Tensor, tokens_shape: tuple[int, ...], context_length: int
) -> None:
    """Check integers in [0, context_length), one for each token or for each column."""
    _require.fit_tokens(positions, tokens_shape)
    _require.within_context(positions, context_length)
