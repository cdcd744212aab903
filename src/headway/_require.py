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
            "positions must be of the texts that are kept; "
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


def _leading_axes_broadcast(*tensors: Tensor) -> bool:
    try:
        torch.broadcast_shapes(*(tensor.shape[:-2] for tensor in tensors))
    except RuntimeError:
        return False
    return True


def scores_shape(query: Tensor, key: Tensor) -> tuple[int, ...]:
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    return (*leading, query.shape[-2], key.shape[-2])


def scale(scale: float | None) -> None:
    if scale is not None and not 0.0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite; got scale={scale!r}.")


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


def distances(distances: Sequence[int], most: int) -> None:
    if not len(distances) or any(not 2 <= d <= most for d in distances):
        raise ValueError(
            f"distances must be numbers from 2 to {most}, at least one; "
            f"got distances={distances}."
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
