"""The sentences that bad input gets: `<name> must <condition>; got <name>=<value>.`"""

import math
from collections.abc import Sequence
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


def window(window: int | None, *, causal: bool) -> None:
    if window is not None:
        positive(window=window)
        if not causal:
            raise ValueError(
                "window must be None without causal; "
                f"got window={window}, causal={causal}."
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


def room(x: Tensor, kept: int, context_length: int) -> None:
    """Check that there are positions for the tokens of x behind those in a cache."""
    if kept + x.shape[-2] > context_length:
        count, found = "", ""
        if kept:
            count, found = ", with those in cache", f", cache.length={kept}"
        raise ValueError(
            f"x must have at most context_length={context_length} tokens{count}; "
            f"got x.shape={_shape(x)}{found}."
        )


def positions(
    positions: Tensor, tokens_shape: tuple[int, ...], context_length: int
) -> None:
    """Check integers in [0, context_length), one for each token or for each column."""
    fit_tokens(positions, tokens_shape)
    within_context(positions, context_length)


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


def two_rows_of_positions(query_positions: Tensor, key_positions: Tensor) -> None:
    """Check integers, one for each query and key, with leading axes that broadcast."""
    rows = {"query_positions": query_positions, "key_positions": key_positions}
    integers(**rows)
    for name, row in rows.items():
        if row.ndim == 0:
            raise ValueError(
                f"{name} must have shape (..., tokens); got {name}.shape=()."
            )
    try:
        torch.broadcast_shapes(query_positions.shape[:-1], key_positions.shape[:-1])
    except RuntimeError:
        raise ValueError(
            "key_positions must have leading axes that broadcast with those of "
            f"query_positions; got key_positions.shape={_shape(key_positions)}, "
            f"query_positions.shape={_shape(query_positions)}."
        ) from None


def buckets(num_buckets: int, max_distance: int, bidirectional: bool) -> None:
    """Check that there are near and far buckets, in each direction as many."""
    positive(num_buckets=num_buckets, max_distance=max_distance)
    directions = 2 if bidirectional else 1
    if num_buckets < 2 * directions or num_buckets % directions:
        must = "be an even number of at least 4" if bidirectional else "be at least 2"
        raise ValueError(
            f"num_buckets must {must} with bidirectional={bidirectional}; "
            f"got num_buckets={num_buckets}."
        )
    exact = num_buckets // directions // 2
    if max_distance <= exact:
        raise ValueError(
            f"max_distance must be more than {exact}, the number of near buckets; "
            f"got max_distance={max_distance}."
        )


def fit_tokens(positions: Tensor, tokens_shape: tuple[int, ...]) -> None:
    """Check integers, one for each token or for each column."""
    integers(positions=positions)
    pairs = zip(reversed(positions.shape), reversed(tokens_shape), strict=False)
    axes_fit = 1 <= positions.ndim <= len(tokens_shape)
    if not axes_fit or any(p not in (1, n) for p, n in pairs):
        raise ValueError(
            f"positions must broadcast to the tokens, of shape {tuple(tokens_shape)}; "
            f"got positions.shape={_shape(positions)}."
        )


def vectors(x: Tensor, width: int) -> None:
    """Check what is turned: float, (*B, T, width)."""
    floating(x=x)
    if x.ndim < 2 or x.shape[-1] != width:
        raise ValueError(
            f"x must have shape (..., tokens, width={width}); got x.shape={_shape(x)}."
        )


def as_wide(x: Tensor, *, width: int) -> None:
    """Check what works on each vector alone: float, (*B, width)."""
    floating(x=x)
    if x.ndim == 0 or x.shape[-1] != width:
        raise ValueError(
            f"x must have shape (..., width={width}); got x.shape={_shape(x)}."
        )


def addable(x: Tensor, **results: Tensor) -> None:
    """Check that what a half of a block yields has the shape of what it is added to."""
    for name, result in results.items():
        if result.shape != x.shape:
            raise ValueError(
                f"{name} must yield the shape of x, to be added to it; "
                f"got a result of {_shape(result)}, x.shape={_shape(x)}."
            )


def even_width(x: Tensor) -> None:
    if x.ndim == 0 or x.shape[-1] % 2:
        raise ValueError(f"x must have an even width; got x.shape={_shape(x)}.")


def one_per_pair(frequencies: Tensor, width: int) -> None:
    floating(frequencies=frequencies)
    if frequencies.shape != (width // 2,):
        raise ValueError(
            f"frequencies must have shape ({width // 2},), one for each pair; "
            f"got frequencies.shape={_shape(frequencies)}."
        )


def pairs_of_rows(weight: Tensor, num_heads: int) -> None:
    """Check the rows of a projection: heads of one even width."""
    if weight.ndim == 0 or weight.shape[0] % (2 * num_heads):
        raise ValueError(
            f"weight must have {num_heads} heads of one even width as rows; "
            f"got weight.shape={_shape(weight)}."
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
            f"key must have shape (..., tokens, width); got key.shape={_shape(key)}."
        )
    if value.ndim < 2 or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            "value must have one row for each row of key; "
            f"got value.shape={_shape(value)}, key.shape={_shape(key)}."
        )
    if positions.ndim == 0 or positions.shape[-1] not in (1, key.shape[-2]):
        raise ValueError(
            "positions must have one number for each key; "
            f"got positions.shape={_shape(positions)}, key.shape={_shape(key)}."
        )


def like_kept(kept: Tensor, **new: Tensor) -> None:
    """Check that new rows fit behind those in a cache: a promotion would be silent."""
    for name, tensor in new.items():
        if _all_but_length(tensor) != _all_but_length(kept):
            raise ValueError(
                f"{name} must be like the kept ones in all but length; "
                f"got {name} of {_shape(tensor)}, {tensor.dtype}, {tensor.device}, "
                f"kept {_shape(kept)}, {kept.dtype}, {kept.device}."
            )


def _all_but_length(tensor: Tensor) -> tuple[object, ...]:
    return tensor.shape[:-2], tensor.shape[-1], tensor.dtype, tensor.device


def positions_like_kept(positions: Tensor, kept: Tensor) -> None:
    if not _leading_axes_broadcast(positions.unsqueeze(-1), kept.unsqueeze(-1)):
        raise ValueError(
            "positions must belong to the texts that are kept; "
            f"got positions.shape={_shape(positions)}, kept {_shape(kept)}."
        )


def like_pages(pages: Tensor, **new: Tensor) -> None:
    """Check that rows of one text, (*1, H, S, D), fit on pages, (N, P, H, D)."""
    for name, tensor in new.items():
        *texts, heads = tensor.shape[:-2] or (0,)
        one = (math.prod(texts), heads, tensor.shape[-1], tensor.dtype, tensor.device)
        if one != (1, *pages.shape[-2:], pages.dtype, pages.device):
            raise ValueError(
                f"{name} must be of one text, and like what is on the pages; "
                f"got {name} of {_shape(tensor)}, {tensor.dtype}, {tensor.device}, "
                f"pages of {_shape(pages)}, {pages.dtype}, {pages.device}."
            )


def of_one_text(positions: Tensor) -> None:
    if math.prod(positions.shape[:-1]) != 1:
        raise ValueError(
            f"positions must be of one text; got positions.shape={_shape(positions)}."
        )


def no_gradient(**tensors: Tensor) -> None:
    """Check that no gradient gets lost in memory that is written in place."""
    for name, tensor in tensors.items():
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} must not require a gradient, which pages do not keep; "
                f"got {name}.requires_grad=True."
            )


def enough_pages(free: int, count: int, num_pages: int) -> None:
    if count > free:
        raise ValueError(
            "num_pages must be enough for all texts; "
            f"got num_pages={num_pages}, of which {free} free, {count} more needed."
        )


def taken_pages(pages: Sequence[int], free: Sequence[int], num_pages: int) -> None:
    """Check that pages can be given back, each once."""
    taken = {*range(num_pages)}.difference(free)
    for page in pages:
        if page not in taken:
            raise ValueError(
                f"pages must be taken, each by one text; got pages with {page}."
            )
        taken.remove(page)


def memory(memory: Tensor, d_memory: int) -> None:
    """Check what is asked in cross-attention: float, (*B, S, d_memory), 0 < S."""
    floating(memory=memory)
    if memory.ndim < 2 or memory.shape[-1] != d_memory:
        raise ValueError(
            f"memory must have shape (..., tokens, d_memory={d_memory}); "
            f"got memory.shape={_shape(memory)}."
        )
    if memory.shape[-2] == 0:
        raise ValueError(
            f"memory must have at least one token; got memory.shape={_shape(memory)}."
        )


def leading_axes(x: Tensor, memory: Tensor) -> None:
    if not _leading_axes_broadcast(x, memory):
        raise ValueError(
            "memory must have leading axes that broadcast with those of x; "
            f"got memory.shape={_shape(memory)}, x.shape={_shape(x)}."
        )


def texts(texts: Sequence[Tensor]) -> None:
    if len(texts) == 0:
        raise ValueError("texts must hold at least one text; got texts=[].")
    first = texts[0]
    for number, text in enumerate(texts):
        if text.ndim == 0 or len(text) == 0:
            raise ValueError(
                "texts must have at least one token each; "
                f"got texts[{number}].shape={_shape(text)}."
            )
        if (text.shape[1:], text.dtype) != (first.shape[1:], first.dtype):
            raise ValueError(
                "texts must be alike in all but their length; "
                f"got texts[0] of {_shape(first)}, {first.dtype}, "
                f"texts[{number}] of {_shape(text)}, {text.dtype}."
            )


def document_ids(document_ids: Tensor) -> None:
    integers(document_ids=document_ids)
    if document_ids.ndim == 0:
        raise ValueError(
            "document_ids must have shape (..., tokens); got document_ids.shape=()."
        )


def one_number_per_token(row: Tensor, document_ids: Tensor) -> None:
    if document_ids.shape != row.shape[:1]:
        raise ValueError(
            "document_ids must have one number for each token of row; "
            f"got document_ids.shape={_shape(document_ids)}, row.shape={_shape(row)}."
        )


def matching(query: Tensor, key: Tensor) -> None:
    floating(query=query, key=key)
    if query.ndim < 2:
        raise ValueError(
            "query must have shape (..., tokens, width); "
            f"got query.shape={_shape(query)}."
        )
    fits = key.ndim >= 2 and key.shape[-1] == query.shape[-1]
    if not fits or not _leading_axes_broadcast(query, key):
        raise ValueError(
            "key must have the width of query, and leading axes that broadcast; "
            f"got key.shape={_shape(key)}, query.shape={_shape(query)}."
        )


def one_value_per_key(query: Tensor, key: Tensor, value: Tensor) -> None:
    floating(value=value)
    fits = value.ndim >= 2 and value.shape[-2] == key.shape[-2]
    if not fits or not _leading_axes_broadcast(query, key, value):
        raise ValueError(
            "value must have the length of key, and leading axes that broadcast; "
            f"got value.shape={_shape(value)}, key.shape={_shape(key)}, "
            f"query.shape={_shape(query)}."
        )


def one_key_and_value_per_query(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Check what a memory reads in order: as many queries as keys, and one at least."""
    matching(query, key)
    one_value_per_key(query, key, value)
    if key.shape[-2] != query.shape[-2] or query.shape[-2] == 0:
        raise ValueError(
            "key must have the length of query, and at least one token; "
            f"got key.shape={_shape(key)}, query.shape={_shape(query)}."
        )


def one_factor_per_key(key: Tensor, **factors: Tensor) -> None:
    floating(**factors)
    for name, factor in factors.items():
        fits = factor.ndim >= 1 and factor.shape[-1] == key.shape[-2]
        if not fits or not _leading_axes_broadcast(factor.unsqueeze(-1), key):
            raise ValueError(
                f"{name} must have one number for each key, and leading axes that "
                f"broadcast; got {name}.shape={_shape(factor)}, "
                f"key.shape={_shape(key)}."
            )


def state_fits(state: Tensor, key: Tensor, value: Tensor) -> None:
    """Check that a memory is as wide as keys and values, and of the type of both."""
    shape = (key.shape[-1], value.shape[-1])
    fits = state.shape[-2:] == shape and state.dtype == value.dtype
    if not fits or not _leading_axes_broadcast(state, key, value):
        raise ValueError(
            f"state must have shape (..., {shape[0]}, {shape[1]}), type {value.dtype}, "
            "and leading axes that broadcast; "
            f"got state.shape={_shape(state)}, state.dtype={state.dtype}."
        )


def indexer(query: Tensor, key: Tensor, weight: Tensor) -> None:
    """Check small heads, (*B, H, T, D), one key for all, (*B, S, D), and (*B, T, H)."""
    floating(query=query, key=key, weight=weight)
    if query.ndim < 3:
        raise ValueError(
            "query must have shape (..., heads, tokens, width); "
            f"got query.shape={_shape(query)}."
        )
    text = query[..., 0, :, :]
    fits = key.ndim >= 2 and key.shape[-1] == query.shape[-1]
    if not fits or not _leading_axes_broadcast(text, key):
        raise ValueError(
            "key must have the width of query, and no axis of heads; "
            f"got key.shape={_shape(key)}, query.shape={_shape(query)}."
        )
    fits = weight.shape[-2:] == (query.shape[-2], query.shape[-3])
    if not fits or not _leading_axes_broadcast(text, key, weight):
        raise ValueError(
            "weight must have one number for each query and head; "
            f"got weight.shape={_shape(weight)}, query.shape={_shape(query)}."
        )


def result_fits(
    query: Tensor, key: Tensor, value: Tensor, *, lse: Tensor, **contexts: Tensor
) -> None:
    """Check what attention gave: one vector and one number for each query."""
    shape = (*_leading_axes(query, key, value), query.shape[-2], value.shape[-1])
    floating(lse=lse, **contexts)
    for name, context in contexts.items():
        if context.shape != shape:
            raise ValueError(
                f"{name} must have shape {shape}, one row for each query; "
                f"got {name}.shape={_shape(context)}."
            )
    if lse.shape != shape[:-1]:
        raise ValueError(
            f"lse must have shape {shape[:-1]}, one number for each query; "
            f"got lse.shape={_shape(lse)}."
        )


def _leading_axes_broadcast(*tensors: Tensor) -> bool:
    try:
        _leading_axes(*tensors)
    except RuntimeError:
        return False
    return True


def _leading_axes(*tensors: Tensor) -> torch.Size:
    first, *others = (tensor.shape[:-2] for tensor in tensors)
    if all(other == first for other in others):
        return first  # most calls end here, in a tenth of the time
    return torch.broadcast_shapes(first, *others)


def scores_shape(query: Tensor, key: Tensor) -> tuple[int, ...]:
    return (*_leading_axes(query, key), query.shape[-2], key.shape[-2])


def scale(scale: float | None) -> None:
    if scale is not None and not 0.0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite; got scale={scale!r}.")


def pieces(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> None:
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
                f"got {name} of {_shape(context)} and {_shape(lse)}."
            )
    (one, one_lse), (other, other_lse) = first, second
    same = one.shape[-2:] == other.shape[-2:]
    columns = (one_lse.unsqueeze(-1), other_lse.unsqueeze(-1))
    if not same or not _leading_axes_broadcast(one, other, *columns):
        raise ValueError(
            "second must have the queries and the width of first, and leading axes "
            f"that broadcast; got second of {_shape(other)} and {_shape(other_lse)}, "
            f"first of {_shape(one)} and {_shape(one_lse)}."
        )


def mask_fits(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(
            "mask must be boolean, True where a query may look; "
            f"got mask.dtype={mask.dtype}."
        )
    _broadcasts_to(scores_shape, mask=mask)


def bias_fits(bias: Tensor, scores_shape: tuple[int, ...]) -> None:
    floating(bias=bias)
    _broadcasts_to(scores_shape, bias=bias)


def _broadcasts_to(scores_shape: tuple[int, ...], **tensors: Tensor) -> None:
    """Check for axes of queries and keys, and that scores keep their shape."""
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            raise ValueError(
                f"{name} must have shape (..., queries, keys); "
                f"got {name}.shape={_shape(tensor)}."
            )
        pairs = zip(reversed(tensor.shape), reversed(scores_shape), strict=False)
        if tensor.ndim > len(scores_shape) or any(m not in (1, s) for m, s in pairs):
            raise ValueError(
                f"{name} must broadcast to the scores, of shape {tuple(scores_shape)}; "
                f"got {name}.shape={_shape(tensor)}."
            )


def module_is(kind: type[nn.Module], **modules: nn.Module) -> None:
    for name, module in modules.items():
        if not isinstance(module, kind):
            raise ValueError(
                f"{name} must be a {kind.__name__}; got {name}={type(module).__name__}."
            )


def at_least_one(**factors: float) -> None:
    for name, factor in factors.items():
        if not 1.0 <= factor < math.inf:
            raise ValueError(
                f"{name} must be finite and at least 1; got {name}={factor!r}."
            )


def more_than_one(**bases: float) -> None:
    for name, base in bases.items():
        if not 1.0 < base < math.inf:
            raise ValueError(
                f"{name} must be finite and greater than 1; got {name}={base!r}."
            )


def two_pairs(width: int) -> None:
    """Check that the fastest pair is not the slowest."""
    positive(width=width)
    if width < 4:
        raise ValueError(f"width must be at least 4; got width={width}.")


def greater(**limits: float) -> None:
    """Check two limits, the greater first: finite, positive, and not the same."""
    (above, more), (below, less) = limits.items()
    if not 0.0 < less < more < math.inf:
        raise ValueError(
            f"{above} must be greater than {below}, and both positive and finite; "
            f"got {above}={more!r}, {below}={less!r}."
        )


def ids(ids: Tensor, vocab_size: int) -> None:
    """Check the numbers of tokens: integers in [0, vocab_size)."""
    integers(ids=ids)
    if torch.compiler.is_compiling():  # numbers are not known while it compiles
        return
    outside = ids[(ids < 0) | (ids >= vocab_size)]
    if outside.numel():
        raise ValueError(
            f"ids must be in [0, {vocab_size}); got ids with {int(outside[0])}."
        )


def one_text(ids: Tensor, least: int) -> None:
    """Check a text without batch axes, of some length."""
    integers(ids=ids)
    if ids.ndim != 1 or len(ids) < least:
        raise ValueError(
            f"ids must have shape (tokens,), with at least {least} tokens; "
            f"got ids.shape={_shape(ids)}."
        )


def one_cache_each(caches: Sequence[object], blocks: int) -> None:
    if len(caches) != blocks:
        raise ValueError(
            f"caches must be one for each of {blocks} blocks; "
            f"got len(caches)={len(caches)}."
        )


def zero_or_more_and_finite(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 <= number < math.inf:
            raise ValueError(
                f"{name} must be zero or more, and finite; got {name}={number!r}."
            )


def from_two(most: int, **numbers: Sequence[int]) -> None:
    for name, given in numbers.items():
        if not len(given) or any(not 2 <= one <= most for one in given):
            raise ValueError(
                f"{name} must be numbers from 2 to {most}, at least one; "
                f"got {name}={given}."
            )


def plain_attention(functions: Sequence[object], plain: Sequence[object]) -> None:
    for attend in functions:
        if attend not in plain:
            raise ValueError(
                "model must attend with attention or fused_attention; "
                f"got attend={attend}."
            )


def weights_of_one_text(weights: Tensor) -> None:
    floating(weights=weights)
    if weights.ndim < 3 or weights.shape[-1] != weights.shape[-2]:
        raise ValueError(
            "weights must have shape (..., heads, tokens, tokens); "
            f"got weights.shape={_shape(weights)}."
        )
    if weights.shape[-1] < 2:
        raise ValueError(
            "weights must be of at least two tokens; "
            f"got weights.shape={_shape(weights)}."
        )


def one_id_per_token(ids: Tensor, weights: Tensor) -> None:
    integers(ids=ids)
    if ids.shape != (*weights.shape[:-3], weights.shape[-1]):
        raise ValueError(
            "ids must have one number for each token; "
            f"got ids.shape={_shape(ids)}, weights.shape={_shape(weights)}."
        )


def a_copy(repeated: Tensor) -> None:
    if not repeated.any():
        raise ValueError(
            "ids must hold a token that has been said before; got ids without one."
        )


def share(**shares: float) -> None:
    for name, part in shares.items():
        if not 0.0 <= part <= 1.0:
            raise ValueError(f"{name} must be in [0, 1]; got {name}={part!r}.")


def numbers_of_heads(heads: Sequence[int], num_heads: int) -> None:
    if any(not 0 <= head < num_heads for head in heads):
        raise ValueError(
            "heads must hold numbers from 0 to num_heads - 1; "
            f"got heads={heads}, num_heads={num_heads}."
        )


def weights_of_heads(weights: Tensor, num_heads: int, keys: int) -> None:
    floating(weights=weights)
    if weights.ndim < 3 or weights.shape[-3::2] != (num_heads, keys):
        raise ValueError(
            f"weights must have shape (..., {num_heads}, queries, {keys}); "
            f"got weights.shape={_shape(weights)}."
        )


def layers_of_weights(weights: Sequence[Tensor]) -> None:
    if not len(weights):
        raise ValueError("weights must be of at least one layer; got weights=[].")
    for layer in weights:
        floating(weights=layer)
        tokens = layer.shape[-1:]
        fits = layer.ndim >= 3 and layer.shape[-2:] == tokens + tokens
        first = weights[0].shape
        if not fits or layer.shape[:-3] != first[:-3] or tokens != first[-1:]:
            raise ValueError(
                "weights must have shape (..., heads, tokens, tokens) in each layer; "
                f"got {', '.join(_shape(layer) for layer in weights)}."
            )


def has_heads(kinds: tuple[type[nn.Module], ...], attention: nn.Module) -> None:
    """Check a module whose heads can be dealt out."""
    if not isinstance(attention, kinds):
        raise ValueError(
            f"attention must be a {' or a '.join(kind.__name__ for kind in kinds)}; "
            f"got attention={type(attention).__name__}."
        )


def rank(rank: int, processes: int) -> None:
    if not 0 <= rank < processes:
        raise ValueError(
            f"rank must be in [0, processes); got rank={rank}, processes={processes}."
        )


def parts(*, processes: int, num_heads: int, num_kv_heads: int) -> None:
    """Check that each process has as many heads, and those of queries their keys."""
    if num_heads % processes:
        raise ValueError(
            "processes must divide num_heads; "
            f"got processes={processes}, num_heads={num_heads}."
        )
    if num_kv_heads % processes and processes % num_kv_heads:
        raise ValueError(
            "processes must divide num_kv_heads, or be a multiple of it; "
            f"got processes={processes}, num_kv_heads={num_kv_heads}."
        )


def alike(differ: Sequence[str]) -> None:
    """Check that the weights of a module are the same in all processes."""
    if differ:
        raise ValueError(
            "attention must have the same weights in all processes; "
            f"got different ones for {', '.join(differ)}."
        )


def rows(rows: Sequence[Tensor]) -> None:
    """Check the positions of each process's tokens."""
    if len(rows) == 0:
        raise ValueError("rows must be of at least one process; got rows=[].")
    for number, row in enumerate(rows):
        if row.ndim != 1 or row.is_floating_point() or row.dtype == torch.bool:
            raise ValueError(
                "rows must hold one list of integers for each process; "
                f"got rows[{number}] of {_shape(row)}, {row.dtype}."
            )


def one_type(**tensors: Tensor) -> None:
    if len({x.dtype for x in tensors.values()}) > 1:
        *names, last = tensors
        types = ", ".join(f"{name}.dtype={x.dtype}" for name, x in tensors.items())
        raise ValueError(
            f"{', '.join(names)} and {last} must have one type; got {types}."
        )


def no_refusal(sentences: Sequence[str | None]) -> None:
    """Raise what another process has found wrong with what it was given."""
    for number, sentence in enumerate(sentences):
        if sentence is not None:
            raise ValueError(
                "query, key, value, positions and scale must fit in all processes; "
                f"got in process {number}: {sentence}"
            )


def one_position_each(positions: Tensor, query: Tensor, key: Tensor) -> None:
    """Check that queries and keys are of the same tokens, each with its position."""
    integers(positions=positions)
    if key.shape[-2] != query.shape[-2]:
        raise ValueError(
            "key must have the length of query; "
            f"got key.shape={_shape(key)}, query.shape={_shape(query)}."
        )
    if positions.shape != query.shape[-2:-1]:
        raise ValueError(
            "positions must have one number for each query; "
            f"got positions.shape={_shape(positions)}, query.shape={_shape(query)}."
        )


def alike_but_for_length(
    of_all: Sequence[tuple[tuple[int, ...], tuple[int, ...], str]],
) -> None:
    """Check what each process says of its keys, its values and its options."""

    def but_for_length(of_one: tuple[tuple[int, ...], tuple[int, ...], str]) -> object:
        key, value, options = of_one
        return key[:-2], key[-1], value[:-2], value[-1], options

    for number, of_one in enumerate(of_all):
        if but_for_length(of_one) != but_for_length(of_all[0]):
            raise ValueError(
                "key and value must be alike in all processes but for their length; "
                f"got key of {of_all[0][0]}, value of {of_all[0][1]}, {of_all[0][2]} "
                f"in process 0, and key of {of_one[0]}, value of {of_one[1]}, "
                f"{of_one[2]} in process {number}."
            )


def one_length_per_text(**lengths: Tensor) -> None:
    integers(**lengths)
    for name, numbers in lengths.items():
        if numbers.ndim != 1:
            raise ValueError(
                f"{name} must have one number for each text; "
                f"got {name}.shape={_shape(numbers)}."
            )


def one_slope_per_head(slopes: Tensor) -> None:
    floating(slopes=slopes)
    if slopes.ndim != 1:
        raise ValueError(
            "slopes must have one number for each head; "
            f"got slopes.shape={_shape(slopes)}."
        )


def at_most_two_axes(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.ndim > 2:
            raise ValueError(
                f"{name} must have at most two axes, rows and tokens; "
                f"got {name}.shape={_shape(tensor)}."
            )


def no_dropout(dropout_p: float) -> None:
    if dropout_p != 0.0:
        raise ValueError(
            "dropout_p must be zero, because FlexAttention has no dropout; "
            f"got dropout_p={dropout_p!r}."
        )


def inference(**tensors: Tensor | None) -> None:
    for name, tensor in tensors.items():
        if tensor is None or not torch.is_grad_enabled():
            continue
        if tensor.requires_grad:
            raise ValueError(
                f"{name} must not require a gradient, which FlexAttention does not "
                f"compute on a CPU; got {name}.requires_grad=True."
            )


def texts_and_heads(query: Tensor, key: Tensor) -> None:
    """Check that a function of text and head can be asked: (B, H, T, D) or less."""
    if query.ndim > 4 or query.shape[:-2][-1:] != key.shape[:-2][-1:]:
        raise ValueError(
            "query must have the heads of key, and be (texts, heads, tokens, width), "
            "where a function is asked for a text and a head; "
            f"got query.shape={_shape(query)}, key.shape={_shape(key)}."
        )


def of_width(width: int, **vectors: Tensor) -> None:
    """Check what is normalised: a broadcast over another width would be silent."""
    for name, tensor in vectors.items():
        if tensor.ndim == 0 or tensor.shape[-1] != width:
            raise ValueError(
                f"{name} must have shape (..., width={width}); "
                f"got {name}.shape={_shape(tensor)}."
            )


def plain_linear(**layers: nn.Module) -> None:
    """Check that a layer is as it was made, and not changed already."""
    for name, layer in layers.items():
        if type(layer) is not nn.Linear:
            raise ValueError(
                f"{name} must be a plain Linear; got {name}={type(layer).__name__}."
            )


def two_tables(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.ndim < 3 or tensor.shape[-3] != 2:
            raise ValueError(
                f"{name} must have shape (..., 2, tokens, width); "
                f"got {name}.shape={_shape(tensor)}."
            )


def one_factor_each(lam: Tensor, leading: tuple[int, ...]) -> None:
    pairs = zip(reversed(lam.shape), reversed(leading), strict=False)
    if lam.ndim > len(leading) or any(n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"lam must broadcast to the leading axes {tuple(leading)}; "
            f"got lam.shape={_shape(lam)}."
        )


def divides_twice(*, num_heads: int, d_out: int) -> None:
    """Check that two queries of one width fit into a head."""
    if d_out % (2 * num_heads):
        raise ValueError(
            "2 * num_heads must divide d_out; "
            f"got num_heads={num_heads}, d_out={d_out}."
        )


def heads_of_rows(weight: Tensor, num_heads: int) -> None:
    if weight.ndim == 0 or weight.shape[0] % num_heads:
        raise ValueError(
            "num_heads must divide the rows of weight; "
            f"got num_heads={num_heads}, weight.shape={_shape(weight)}."
        )


def not_negative(**counts: int) -> None:
    for name, count in counts.items():
        whole = isinstance(count, Integral) and not isinstance(count, bool)
        if not whole or count < 0:
            raise ValueError(
                f"{name} must be an integer of at least 0; got {name}={count!r}."
            )


def one_sink_each(sinks: Tensor, leading: tuple[int, ...]) -> None:
    """Check scores of sinks against the axes before the tokens."""
    floating(sinks=sinks)
    pairs = zip(reversed(sinks.shape), reversed(leading), strict=False)
    if sinks.ndim > len(leading) or any(n not in (1, axis) for n, axis in pairs):
        raise ValueError(
            f"sinks must broadcast to the axes before the tokens, {tuple(leading)}; "
            f"got sinks.shape={_shape(sinks)}."
        )


def heads(query: Tensor, heads: tuple[int, ...]) -> None:
    """Check that a query has the heads, or groups of them, right before the tokens."""
    if query.ndim < 2 + len(heads) or query.shape[-2 - len(heads) : -2] != heads:
        raise ValueError(
            f"query must have heads of shape {heads} before the tokens; "
            f"got query.shape={_shape(query)}."
        )
