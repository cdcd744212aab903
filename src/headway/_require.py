"""The sentences that bad input gets: `<name> must <condition>; got <name>=<value>.`"""

import math
from numbers import Integral

import torch
from torch import Tensor, nn


def shape(tensor: Tensor) -> str:
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


def even(**sizes: int) -> None:
    positive(**sizes)
    for name, size in sizes.items():
        if size % 2:
            raise ValueError(f"{name} must be even; got {name}={size}.")


def positive_and_finite(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 < number < math.inf:
            raise ValueError(
                f"{name} must be positive and finite; got {name}={number!r}."
            )


def divides(*, num_heads: int, **width: int) -> None:
    for name, size in width.items():
        if size % num_heads:
            raise ValueError(
                f"num_heads must divide {name}; "
                f"got num_heads={num_heads}, {name}={size}."
            )


def groups(*, num_kv_heads: int, num_heads: int) -> None:
    if num_heads % num_kv_heads:
        raise ValueError(
            "num_kv_heads must divide num_heads; "
            f"got num_kv_heads={num_kv_heads}, num_heads={num_heads}."
        )


def axes(*names: str, x: Tensor) -> None:
    if x.ndim < len(names):
        raise ValueError(
            f"x must have shape (..., {', '.join(names)}); got x.shape={shape(x)}."
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
            f"x must have shape (..., tokens, d_in={d_in}); got x.shape={shape(x)}."
        )
    if x.shape[-2] == 0:
        raise ValueError(f"x must have at least one token; got x.shape={shape(x)}.")
    if context_length is not None and x.shape[-2] > context_length:
        raise ValueError(
            f"x must have at most context_length={context_length} tokens; "
            f"got x.shape={shape(x)}."
        )


def within_context(positions: Tensor, context_length: int) -> None:
    """Check integers in [0, context_length), whatever their shape."""
    integers(positions=positions)
    if torch.compiler.is_compiling():  # numbers are not known while it compiles
        return
    outside = positions[(positions < 0) | (positions >= context_length)]
    if outside.numel():
        raise ValueError(
            f"positions must be in [0, context_length={context_length}); "
            f"got positions with {int(outside[0])}."
        )


def fit_tokens(positions: Tensor, tokens_shape: tuple[int, ...]) -> None:
    """Check integers, one for each token or for each column."""
    integers(positions=positions)
    pairs = zip(reversed(positions.shape), reversed(tokens_shape), strict=False)
    axes_fit = 1 <= positions.ndim <= len(tokens_shape)
    if not axes_fit or any(p not in (1, n) for p, n in pairs):
        raise ValueError(
            f"positions must broadcast to the tokens, of shape {tuple(tokens_shape)}; "
            f"got positions.shape={shape(positions)}."
        )


def cache_keeps(cache: object, window: int | None) -> None:
    """Check that a cache which forgets keeps the window of the module at least."""
    kept = getattr(cache, "window", None)
    if kept is not None and (window is None or kept < window):
        raise ValueError(
            "cache must keep all that the module may look at; "
            f"got cache.window={kept}, window={window}."
        )


def one_each(key: Tensor, value: Tensor, positions: Tensor) -> None:
    """Check what a cache is handed: a key, a value and a position for each token."""
    floating(key=key, value=value)
    integers(positions=positions)
    if key.ndim < 2:
        raise ValueError(
            f"key must have shape (..., tokens, width); got key.shape={shape(key)}."
        )
    if value.ndim < 2 or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            "value must have one row for each row of key; "
            f"got value.shape={shape(value)}, key.shape={shape(key)}."
        )
    if positions.ndim == 0 or positions.shape[-1] not in (1, key.shape[-2]):
        raise ValueError(
            "positions must have one number for each key; "
            f"got positions.shape={shape(positions)}, key.shape={shape(key)}."
        )


def like_kept(kept: Tensor, **new: Tensor) -> None:
    """Check that new rows fit behind those in a cache: a promotion would be silent."""
    for name, tensor in new.items():
        if all_but_length(tensor) != all_but_length(kept):
            raise ValueError(
                f"{name} must be like the kept ones in all but length; "
                f"got {name} of {shape(tensor)}, {tensor.dtype}, {tensor.device}, "
                f"kept {shape(kept)}, {kept.dtype}, {kept.device}."
            )


def all_but_length(tensor: Tensor) -> tuple[object, ...]:
    return tensor.shape[:-2], tensor.shape[-1], tensor.dtype, tensor.device


def positions_like_kept(positions: Tensor, kept: Tensor) -> None:
    if not leading_axes_broadcast(positions.unsqueeze(-1), kept.unsqueeze(-1)):
        raise ValueError(
            "positions must belong to the texts that are kept; "
            f"got positions.shape={shape(positions)}, kept {shape(kept)}."
        )


def document_ids(document_ids: Tensor) -> None:
    integers(document_ids=document_ids)
    if document_ids.ndim == 0:
        raise ValueError(
            "document_ids must have shape (..., tokens); got document_ids.shape=()."
        )


def matching(query: Tensor, key: Tensor) -> None:
    floating(query=query, key=key)
    if query.ndim < 2:
        raise ValueError(
            "query must have shape (..., tokens, width); "
            f"got query.shape={shape(query)}."
        )
    fits = key.ndim >= 2 and key.shape[-1] == query.shape[-1]
    if not fits or not leading_axes_broadcast(query, key):
        raise ValueError(
            "key must have the width of query, and leading axes that broadcast; "
            f"got key.shape={shape(key)}, query.shape={shape(query)}."
        )


def one_value_per_key(query: Tensor, key: Tensor, value: Tensor) -> None:
    floating(value=value)
    fits = value.ndim >= 2 and value.shape[-2] == key.shape[-2]
    if not fits or not leading_axes_broadcast(query, key, value):
        raise ValueError(
            "value must have the length of key, and leading axes that broadcast; "
            f"got value.shape={shape(value)}, key.shape={shape(key)}, "
            f"query.shape={shape(query)}."
        )


def one_key_and_value_per_query(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Check what a memory reads in order: as many queries as keys, and one at least."""
    matching(query, key)
    one_value_per_key(query, key, value)
    if key.shape[-2] != query.shape[-2] or query.shape[-2] == 0:
        raise ValueError(
            "key must have the length of query, and at least one token; "
            f"got key.shape={shape(key)}, query.shape={shape(query)}."
        )


def state_fits(state: Tensor, key: Tensor, value: Tensor) -> None:
    """Check that a memory is as wide as keys and values, and of the type of both."""
    widths = (key.shape[-1], value.shape[-1])
    fits = state.shape[-2:] == widths and state.dtype == value.dtype
    if not fits or not leading_axes_broadcast(state, key, value):
        raise ValueError(
            f"state must have shape (..., {widths[0]}, {widths[1]}), "
            f"type {value.dtype}, and leading axes that broadcast; "
            f"got state.shape={shape(state)}, state.dtype={state.dtype}."
        )


def leading_axes_broadcast(*tensors: Tensor) -> bool:
    try:
        leading_axes(*tensors)
    except RuntimeError:
        return False
    return True


def leading_axes(*tensors: Tensor) -> torch.Size:
    first, *others = (tensor.shape[:-2] for tensor in tensors)
    if all(other == first for other in others):
        return first  # most calls end here, in a tenth of the time
    return torch.broadcast_shapes(first, *others)


def scores_shape(query: Tensor, key: Tensor) -> tuple[int, ...]:
    return (*leading_axes(query, key), query.shape[-2], key.shape[-2])


def scale(scale: float | None) -> None:
    if scale is not None and not 0.0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite; got scale={scale!r}.")


def mask_fits(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(
            "mask must be boolean, True where a query may look; "
            f"got mask.dtype={mask.dtype}."
        )
    broadcasts_to(scores_shape, mask=mask)


def bias_fits(bias: Tensor, scores_shape: tuple[int, ...]) -> None:
    floating(bias=bias)
    broadcasts_to(scores_shape, bias=bias)


def broadcasts_to(scores_shape: tuple[int, ...], **tensors: Tensor) -> None:
    """Check for axes of queries and keys, and that scores keep their shape."""
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            raise ValueError(
                f"{name} must have shape (..., queries, keys); "
                f"got {name}.shape={shape(tensor)}."
            )
        pairs = zip(reversed(tensor.shape), reversed(scores_shape), strict=False)
        if tensor.ndim > len(scores_shape) or any(m not in (1, s) for m, s in pairs):
            raise ValueError(
                f"{name} must broadcast to the scores, of shape {tuple(scores_shape)}; "
                f"got {name}.shape={shape(tensor)}."
            )


def module_is(kind: type[nn.Module], **modules: nn.Module) -> None:
    for name, module in modules.items():
        if not isinstance(module, kind):
            raise ValueError(
                f"{name} must be a {kind.__name__}; got {name}={type(module).__name__}."
            )


def has_heads(kinds: tuple[type[nn.Module], ...], attention: nn.Module) -> None:
    """Check a module whose heads can be dealt out."""
    if not isinstance(attention, kinds):
        raise ValueError(
            f"attention must be a {' or a '.join(kind.__name__ for kind in kinds)}; "
            f"got attention={type(attention).__name__}."
        )
