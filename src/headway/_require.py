"""The sentences that bad input gets: `<name> must <condition>; got <name>=<value>.`"""

from numbers import Integral

import torch
from torch import Tensor, nn


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def positive(**sizes: int) -> None:
    for name, size in sizes.items():
        # SymInt is what a size is while torch.export makes it free.
        whole = isinstance(size, (Integral, torch.SymInt))
        if not whole or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} must be a positive integer; got {name}={size!r}.")


def probability(**probabilities: float) -> None:
    for name, p in probabilities.items():
        if not 0.0 <= p < 1.0:
            raise ValueError(f"{name} must be in [0, 1); got {name}={p!r}.")


def divides(*, num_heads: int, **width: int) -> None:
    for name, size in width.items():
        if size % num_heads:
            raise ValueError(
                f"num_heads must divide {name}; "
                f"got num_heads={num_heads}, {name}={size}."
            )


def axes(*names: str, x: Tensor) -> None:
    if x.ndim < len(names):
        raise ValueError(
            f"x must have shape (..., {', '.join(names)}); got x.shape={_shape(x)}."
        )


def floating(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise ValueError(
                f"{name} must hold floating-point numbers; "
                f"got {name}.dtype={tensor.dtype}."
            )


def integers(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.is_floating_point() or tensor.dtype == torch.bool:
            raise ValueError(
                f"{name} must hold integers; got {name}.dtype={tensor.dtype}."
            )


def tokens(x: Tensor, d_in: int, context_length: int | None = None) -> None:
    """Check the input of a module: float, (*B, T, d_in), 0 < T <= context_length."""
    floating(x=x)
    if x.ndim < 2 or x.shape[-1] != d_in:
        raise ValueError(
            f"x must have shape (..., tokens, d_in={d_in}); got x.shape={_shape(x)}."
        )
    if x.shape[-2] == 0:
        raise ValueError(f"x must have at least one token; got x.shape={_shape(x)}.")
    if context_length is not None and x.shape[-2] > context_length:
        raise ValueError(
            f"x must have at most context_length={context_length} tokens; "
            f"got x.shape={_shape(x)}."
        )


def matching(query: Tensor, key: Tensor) -> None:
    floating(query=query, key=key)
    if query.ndim < 2:
        raise ValueError(
            "query must have shape (..., tokens, width); "
            f"got query.shape={_shape(query)}."
        )
    same_axes = key.shape[:-2] == query.shape[:-2] and key.ndim == query.ndim
    if not same_axes or key.shape[-1] != query.shape[-1]:
        raise ValueError(
            "key must have the leading axes and the width of query; "
            f"got key.shape={_shape(key)}, query.shape={_shape(query)}."
        )


def one_value_per_key(key: Tensor, value: Tensor) -> None:
    floating(value=value)
    if value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            "value must have the leading axes and the length of key; "
            f"got value.shape={_shape(value)}, key.shape={_shape(key)}."
        )


def mask_fits(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    """Check that a mask is boolean and broadcasts to the scores, not beyond them."""
    if mask.dtype != torch.bool:
        raise ValueError(
            "mask must be boolean, True where a query may look; "
            f"got mask.dtype={mask.dtype}."
        )
    pairs = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.ndim > len(scores_shape) or any(m not in (1, s) for m, s in pairs):
        raise ValueError(
            f"mask must broadcast to the scores, of shape {tuple(scores_shape)}; "
            f"got mask.shape={_shape(mask)}."
        )


def module_is(kind: type[nn.Module], **modules: nn.Module) -> None:
    for name, module in modules.items():
        if not isinstance(module, kind):
            raise ValueError(
                f"{name} must be a {kind.__name__}; got {name}={type(module).__name__}."
            )
