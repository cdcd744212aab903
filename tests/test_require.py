"""Bad input gets one sentence, the same to the last letter, at every public door."""

import functools
import math
import re
from collections.abc import Callable

import jaxtyping
import numpy
import pytest
import torch
from torch import Tensor, nn

from headway import (
    CausalAttention,
    CrossAttention,
    GroupedQueryAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    Rotary,
    SelfAttentionV1,
    SelfAttentionV2,
    Vocabulary,
    _heads,
    _require,
    attention,
    attention_scores,
    attention_weights,
    attention_with_lse,
    causal_mask,
    context_vectors,
    document_mask,
    embed,
    from_gpt2,
    from_heads,
    from_torch,
    fused_attention,
    halves_to_pairs,
    halves_to_pairs_weight,
    hide_by_minus_infinity,
    hide_by_renormalising,
    linear_frequencies,
    llama3_frequencies,
    masked_softmax,
    merge_attention,
    merge_heads,
    naive_softmax,
    ntk_frequencies,
    pack,
    padding_mask,
    pairs_to_halves,
    pairs_to_halves_weight,
    recall_task,
    repeat_heads,
    rotary_frequencies,
    similarity_scores,
    split_heads,
    stable_softmax,
    to_torch,
    unpack,
    weight_of,
    yarn_frequencies,
    yarn_magnitude,
)
from headway.decoding import paged_cache
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, S, T, V

Case = tuple[str, Callable[[], object], str]


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(shape, dtype=dtype)


def integers(*shape: int) -> Tensor:
    return zeros(*shape, dtype=torch.int64)


def booleans(*shape: int) -> Tensor:
    return zeros(*shape, dtype=torch.bool)


def of_words() -> list[Case]:
    vocabulary, table = Vocabulary("to be or not"), nn.Embedding(5, D)
    return [
        (
            "Vocabulary, empty",
            lambda: Vocabulary(" \n"),
            "sentence must hold at least one word; got sentence=' \\n'.",
        ),
        (
            "Vocabulary.encode",
            lambda: vocabulary.encode("to be, or"),
            "word must be in the vocabulary; got word='be,'.",
        ),
        (
            "Vocabulary.decode, too large",
            lambda: vocabulary.decode([0, 4]),
            "index must be in [0, 4); got index=4.",
        ),
        (
            "Vocabulary.decode, negative",
            lambda: vocabulary.decode(torch.tensor([-1])),
            "index must be in [0, 4); got index=-1.",
        ),
        (
            "embed, float",
            lambda: embed(zeros(T), table),
            "indices must hold integers; got indices.dtype=torch.float32.",
        ),
        (
            "embed, boolean",
            lambda: embed(booleans(T), table),
            "indices must hold integers; got indices.dtype=torch.bool.",
        ),
        (
            "embed, too large",
            lambda: embed(torch.tensor([[0, 4], [5, 9]]), table),
            "indices must be in [0, 5); got indices with 5.",
        ),
        (
            "embed, negative",
            lambda: embed(torch.tensor([4, -2]), table),
            "indices must be in [0, 5); got indices with -2.",
        ),
    ]


def of_similarity(name: str, function: Callable[..., Tensor]) -> list[Case]:
    return [
        (
            f"{name}, integer query",
            lambda: function(integers(T, D), zeros(S, D)),
            "query must hold floating-point numbers; got query.dtype=torch.int64.",
        ),
        (
            f"{name}, integer inputs",
            lambda: function(zeros(T, D), integers(S, D)),
            "inputs must hold floating-point numbers; got inputs.dtype=torch.int64.",
        ),
        (
            f"{name}, axes of inputs",
            lambda: function(zeros(T, D), zeros(B, S, D)),
            f"inputs must have shape (words, width); got inputs.shape=({B}, {S}, {D}).",
        ),
        (
            f"{name}, widths",
            lambda: function(zeros(T, D), zeros(S, V)),
            f"query must have the width of inputs; "
            f"got query.shape=({T}, {D}), inputs.shape=({S}, {V}).",
        ),
    ]


def of_queries_and_keys(name: str, function: Callable[..., Tensor]) -> list[Case]:
    """The checks of any function that compares queries with keys."""
    fits = "key must have the width of query, and leading axes that broadcast; "
    return [
        (
            f"{name}, integer query",
            lambda: function(integers(T, D), zeros(S, D)),
            "query must hold floating-point numbers; got query.dtype=torch.int64.",
        ),
        (
            f"{name}, integer key",
            lambda: function(zeros(T, D), integers(S, D)),
            "key must hold floating-point numbers; got key.dtype=torch.int64.",
        ),
        (
            f"{name}, flat query",
            lambda: function(zeros(D), zeros(D)),
            f"query must have shape (..., tokens, width); got query.shape=({D},).",
        ),
        (
            f"{name}, width of key",
            lambda: function(zeros(B, T, D), zeros(B, S, V)),
            f"{fits}got key.shape=({B}, {S}, {V}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, batch of key",
            lambda: function(zeros(B, T, D), zeros(H, S, D)),
            f"{fits}got key.shape=({H}, {S}, {D}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, flat key",
            lambda: function(zeros(T, D), zeros(D)),
            f"{fits}got key.shape=({D},), query.shape=({T}, {D}).",
        ),
    ]


def of_masks(name: str, function: Callable[[Tensor], Tensor]) -> list[Case]:
    """The checks of any function whose scores are (B, T, S)."""
    boolean = "mask must be boolean, True where a query may look; got mask.dtype="
    return [
        (
            f"{name}, float mask",
            lambda: function(zeros(T, S)),
            f"{boolean}torch.float32.",
        ),
        (
            f"{name}, integer mask",
            lambda: function(integers(T, S)),
            f"{boolean}torch.int64.",
        ),
        *of_what_broadcasts(name, "mask", lambda shape: function(booleans(*shape))),
    ]


def of_what_broadcasts(
    name: str, given: str, function: Callable[[tuple[int, ...]], Tensor]
) -> list[Case]:
    """The checks of a shape that must broadcast to scores of (B, T, S)."""
    broadcast = f"{given} must broadcast to the scores, of shape ({B}, {T}, {S}); "
    wrong = [(S, T), (T, S + 1), (T, B, S), (H, T, S), (B, T, S, 1), (1, B, T, S)]
    return [
        *(
            (
                f"{name}, {given} of {shape}",
                lambda shape=shape: function(shape),
                f"{given} must have shape (..., queries, keys); "
                f"got {given}.shape={shape}.",
            )
            for shape in [(S,), ()]
        ),
        *(
            (
                f"{name}, {given} of {shape}",
                lambda shape=shape: function(shape),
                f"{broadcast}got {given}.shape={shape}.",
            )
            for shape in wrong
        ),
    ]


def of_weights(name: str, function: Callable[..., Tensor]) -> list[Case]:
    """The checks of what changes weights; the scores are (B, T, S)."""
    causal = of_masks(f"{name}, causal", lambda mask: function(mask=mask, causal=True))
    return [
        *of_masks(name, lambda mask: function(mask=mask)),
        *causal,
        *of_what_broadcasts(name, "bias", lambda shape: function(bias=zeros(*shape))),
        (
            f"{name}, integer bias",
            lambda: function(bias=integers(T, S)),
            "bias must hold floating-point numbers; got bias.dtype=torch.int64.",
        ),
        (
            f"{name}, boolean bias",
            lambda: function(bias=booleans(T, S)),
            "bias must hold floating-point numbers; got bias.dtype=torch.bool.",
        ),
        *(
            (
                f"{name}, scale={scale}",
                lambda scale=scale: function(scale=scale),
                f"scale must be positive and finite; got scale={scale}.",
            )
            for scale in (0.0, -0.7, 0, float("nan"), float("inf"))
        ),
    ]


def of_attention(name: str, function: Callable[..., Tensor]) -> list[Case]:
    """The checks of any function with the signature of `attention`."""
    query, key, value = zeros(B, T, D), zeros(B, S, D), zeros(B, S, V)
    per_key = "value must have the length of key, and leading axes that broadcast; "
    others = f"key.shape=({B}, {S}, {D}), query.shape=({B}, {T}, {D})."
    return [
        *of_queries_and_keys(name, lambda q, k: function(q, k, k)),
        *of_weights(name, lambda **options: function(query, key, value, **options)),
        (
            f"{name}, integer value",
            lambda: function(query, key, integers(B, S, V)),
            "value must hold floating-point numbers; got value.dtype=torch.int64.",
        ),
        *(
            (
                f"{name}, value of {shape}",
                lambda shape=shape: function(query, key, zeros(*shape)),
                f"{per_key}got value.shape={shape}, {others}",
            )
            for shape in [(B, T, V), (H, S, V), (S,), (B, 1, V)]
        ),
        (
            f"{name}, value that fits the key alone",
            lambda: function(query, zeros(1, S, D), zeros(H, S, V)),
            f"{per_key}got value.shape=({H}, {S}, {V}), "
            f"key.shape=(1, {S}, {D}), query.shape=({B}, {T}, {D}).",
        ),
        *(
            (
                f"{name}, dropout_p={p}",
                lambda p=p: function(query, key, value, dropout_p=p),
                f"dropout_p must be in [0, 1); got dropout_p={p}.",
            )
            for p in (-0.1, 1.0, 1, 2.5, float("nan"))
        ),
    ]


def of_pieces() -> list[Case]:
    context, lse = zeros(B, T, V), zeros(B, T)
    per_row = "must have one log-sum-exp for each row of its context; "
    alike = "second must have the queries and the width of first, and leading axes "
    alike += "that broadcast; "
    first = f"first of ({B}, {T}, {V}) and ({B}, {T})."
    return [
        *of_queries_and_keys(
            "attention_with_lse", lambda q, k: attention_with_lse(q, k, k)
        ),
        *of_weights(
            "attention_with_lse",
            lambda **options: attention_with_lse(
                zeros(B, T, D), zeros(B, S, D), zeros(B, S, V), **options
            ),
        ),
        (
            "attention_with_lse, value",
            lambda: attention_with_lse(zeros(T, D), zeros(S, D), zeros(T, V)),
            "value must have the length of key, and leading axes that broadcast; got "
            f"value.shape=({T}, {V}), key.shape=({S}, {D}), query.shape=({T}, {D}).",
        ),
        (
            "merge_attention, integer context",
            lambda: merge_attention((integers(B, T, V), lse), (context, lse)),
            "first must hold floating-point numbers; "
            "got first of torch.int64 and torch.float32.",
        ),
        (
            "merge_attention, integer log-sum-exp",
            lambda: merge_attention((context, lse), (context, integers(B, T))),
            "second must hold floating-point numbers; "
            "got second of torch.float32 and torch.int64.",
        ),
        *(
            (
                f"merge_attention, {one} and {other}",
                lambda one=one, other=other: merge_attention(
                    (context, lse), (zeros(*one), zeros(*other))
                ),
                f"second {per_row}got second of {one} and {other}.",
            )
            for one, other in [
                ((B, T, V), (B, T, 1)),
                ((B, T, V), (T, B)),
                ((B, T, V), ()),
                ((V,), (T,)),
            ]
        ),
        *(
            (
                f"merge_attention, second of {one} and {other}",
                lambda one=one, other=other: merge_attention(
                    (context, lse), (zeros(*one), zeros(*other))
                ),
                f"{alike}got second of {one} and {other}, {first}",
            )
            for one, other in [
                ((B, S, V), (B, S)),
                ((B, T, D), (B, T)),
                ((B, 1, V), (B, 1)),
                ((H, T, V), (H, T)),
                ((B, T, V), (H, T)),
            ]
        ),
    ]


def of_mask_builders() -> list[Case]:
    return [
        *of_sizes("causal_mask", causal_mask, {"T": T, "S": S}),
        *of_sizes("padding_mask", lambda S: padding_mask(integers(B), S), {"S": S}),
        (
            "padding_mask, float lengths",
            lambda: padding_mask(zeros(B), S),
            "lengths must hold integers; got lengths.dtype=torch.float32.",
        ),
        (
            "padding_mask, boolean lengths",
            lambda: padding_mask(booleans(B), S),
            "lengths must hold integers; got lengths.dtype=torch.bool.",
        ),
        (
            "padding_mask, too long",
            lambda: padding_mask(torch.tensor([S, S + 1]), S),
            f"lengths must be in [0, S={S}]; got lengths with {S + 1}.",
        ),
        (
            "padding_mask, negative",
            lambda: padding_mask(torch.tensor([0, -1]), S),
            f"lengths must be in [0, S={S}]; got lengths with -1.",
        ),
    ]


def of_sizes(
    name: str, function: Callable[..., object], sizes: dict[str, object]
) -> list[Case]:
    """Spoil each of the sizes in turn."""
    return [
        (
            f"{name}, {size}={bad!r}",
            lambda size=size, bad=bad: function(**{**sizes, size: bad}),
            f"{size} must be a positive integer; got {size}={bad!r}.",
        )
        for size in sizes
        for bad in (0, -1, 2.0, True, "3")
    ]


def of_dropout(name: str, function: Callable[[float], object]) -> list[Case]:
    return [
        (
            f"{name}, dropout={p}",
            lambda p=p: function(p),
            f"dropout must be in [0, 1); got dropout={p}.",
        )
        for p in (-0.1, 1.0, float("nan"))
    ]


def of_tokens(
    name: str, module: nn.Module, context_length: int | None = None
) -> list[Case]:
    """The checks of what a module is called with."""
    shape = f"x must have shape (..., tokens, d_in={D_IN}); "
    cases: list[Case] = [
        (
            f"{name}(), integer",
            lambda: module(integers(B, T, D_IN)),
            "x must hold floating-point numbers; got x.dtype=torch.int64.",
        ),
        (
            f"{name}(), width",
            lambda: module(zeros(B, T, D)),
            f"{shape}got x.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}(), flat",
            lambda: module(zeros(D_IN)),
            f"{shape}got x.shape=({D_IN},).",
        ),
        (
            f"{name}(), no token",
            lambda: module(zeros(B, 0, D_IN)),
            f"x must have at least one token; got x.shape=({B}, 0, {D_IN}).",
        ),
    ]
    if context_length is not None:
        long = context_length + 1
        cases.append(
            (
                f"{name}(), too long",
                lambda: module(zeros(B, long, D_IN)),
                f"x must have at most context_length={context_length} tokens; "
                f"got x.shape=({B}, {long}, {D_IN}).",
            )
        )
    return cases


def of_self_attention() -> list[Case]:
    v1, v2 = SelfAttentionV1(D_IN, V), SelfAttentionV2(D_IN, V)
    sizes = {"d_in": D_IN, "d_out": V}
    return [
        *of_sizes("SelfAttentionV1", SelfAttentionV1, sizes | {"d_qk": D}),
        *of_sizes("SelfAttentionV2", SelfAttentionV2, sizes),
        *of_tokens("SelfAttentionV1", v1),
        *of_tokens("SelfAttentionV2", v2),
    ]


def of_recall() -> list[Case]:
    weights = zeros(B, T, S)
    range_of_keys = f"place must be from 0 to {S - 1}; "
    return [
        *of_sizes("recall_task", recall_task, {"texts": T, "guests": H}),
        (
            "recall_task, too many",
            lambda: recall_task(T, 9),
            "guests must be at most 8; got guests=9.",
        ),
        (
            "weight_of, integer",
            lambda: weight_of(integers(B, T, S), integers(B)),
            "weights must hold floating-point numbers; got weights.dtype=torch.int64.",
        ),
        (
            "weight_of, flat",
            lambda: weight_of(zeros(S), integers()),
            f"weights must have shape (..., queries, keys); got weights.shape=({S},).",
        ),
        (
            "weight_of, floating",
            lambda: weight_of(weights, zeros(B)),
            "place must hold integers; got place.dtype=torch.float32.",
        ),
        (
            "weight_of, one for all texts",
            lambda: weight_of(weights, integers()),
            "place must have one number for each text; "
            f"got place.shape=(), weights.shape=({B}, {T}, {S}).",
        ),
        *(
            (
                f"weight_of, {place}",
                lambda place=place: weight_of(weights, torch.tensor([0, place])),
                f"{range_of_keys}got place={place}.",
            )
            for place in (-1, S)
        ),
    ]


def of_causal_modules() -> list[Case]:
    sizes = {"d_in": D_IN, "d_out": E, "context_length": CONTEXT}
    heads = sizes | {"num_heads": H}
    mask = of_masks(
        "MultiHeadAttention()",
        lambda mask: MultiHeadAttention(D_IN, E, S, 0.0, H)(
            zeros(B, S, D_IN), mask=mask
        ),
    )
    scores = f"mask must broadcast to the scores, of shape ({B}, {S}, {S}); "
    return [
        *of_sizes(
            "CausalAttention",
            lambda **given: CausalAttention(**given, dropout=0),
            sizes,
        ),
        *of_sizes(
            "MultiHeadAttentionWrapper",
            lambda **given: MultiHeadAttentionWrapper(**given, dropout=0),
            heads,
        ),
        *of_sizes(
            "MultiHeadAttention",
            lambda **given: MultiHeadAttention(**given, dropout=0),
            heads,
        ),
        *of_dropout("CausalAttention", lambda p: CausalAttention(D_IN, E, CONTEXT, p)),
        *of_dropout(
            "MultiHeadAttentionWrapper",
            lambda p: MultiHeadAttentionWrapper(D_IN, E, CONTEXT, p, H),
        ),
        *of_dropout(
            "MultiHeadAttention", lambda p: MultiHeadAttention(D_IN, E, CONTEXT, p, H)
        ),
        (
            "MultiHeadAttention, num_heads",
            lambda: MultiHeadAttention(D_IN, E, CONTEXT, 0.0, 7),
            f"num_heads must divide d_out; got num_heads=7, d_out={E}.",
        ),
        *of_tokens("CausalAttention", CausalAttention(D_IN, D, CONTEXT, 0.0), CONTEXT),
        *of_tokens(
            "MultiHeadAttentionWrapper",
            MultiHeadAttentionWrapper(D_IN, D, CONTEXT, 0.0, H),
            CONTEXT,
        ),
        *of_tokens(
            "MultiHeadAttention", MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H), CONTEXT
        ),
        *(
            (name, call, re.sub(r"^mask must broadcast.*?; ", scores, sentence))
            for name, call, sentence in mask
        ),
        *of_sizes(
            "split_heads",
            lambda num_heads: split_heads(zeros(T, E), num_heads),
            {"num_heads": H},
        ),
        (
            "split_heads, does not divide",
            lambda: split_heads(zeros(B, T, E), 7),
            f"num_heads must divide width; got num_heads=7, width={E}.",
        ),
        (
            "split_heads, axes",
            lambda: split_heads(zeros(E), H),
            f"x must have shape (..., tokens, width); got x.shape=({E},).",
        ),
        (
            "merge_heads, axes",
            lambda: merge_heads(zeros(T, D)),
            f"x must have shape (..., heads, tokens, width); got x.shape=({T}, {D}).",
        ),
    ]


class Kept:
    """A cache that has seen some tokens, and keeps the newest if there is a window."""

    def __init__(self, length: int, window: int | None = None):
        self.length, self.window = length, window

    def append(self, key: Tensor, value: Tensor, positions: Tensor) -> object:
        raise AssertionError("it is asked before anything is kept")


def of_positions_and_caches(name: str, module: nn.Module) -> list[Case]:
    """The checks of a module of `CONTEXT` positions, without a window."""
    x, seen = zeros(B, T, D_IN), CONTEXT - T + 1
    integer = "positions must hold integers; got positions.dtype="
    inside = f"positions must be in [0, context_length={CONTEXT}); got positions with "
    fit = f"positions must broadcast to the tokens, of shape ({B}, {T}); "

    def at(positions: Tensor, **options: object) -> Callable[[], object]:
        return lambda: module(x, positions=positions, **options)

    return [
        (f"{name}(), float positions", at(zeros(T)), f"{integer}torch.float32."),
        (f"{name}(), boolean positions", at(booleans(T)), f"{integer}torch.bool."),
        *(
            (
                f"{name}(), positions of {shape}",
                at(integers(*shape)),
                f"{fit}got positions.shape={shape}.",
            )
            for shape in [(), (S,), (T + 1,), (3, T), (B, 1, T), (T, B)]
        ),
        *(
            (
                f"{name}(), position {bad}",
                at(torch.tensor([[0], [bad]]).expand(B, T)),
                f"{inside}{bad}.",
            )
            for bad in (-1, CONTEXT, CONTEXT + 4)
        ),
        (
            f"{name}(), position and a cache",
            at(torch.tensor([CONTEXT]), cache=Kept(3)),
            f"{inside}{CONTEXT}.",
        ),
        (
            f"{name}(), no room",
            lambda: module(x, cache=Kept(seen)),
            f"x must have at most context_length={CONTEXT} tokens, with those in "
            f"cache; got x.shape=({B}, {T}, {D_IN}), cache.length={seen}.",
        ),
        *(
            (
                f"{name}(), a mask of {shape} and a cache",
                lambda shape=shape: module(x, mask=booleans(*shape), cache=Kept(3)),
                "mask must broadcast to the scores, of shape "
                f"({B}, {T}, {T + 3}); got mask.shape={shape}.",
            )
            for shape in [(T, T), (B, 1, T), (B, T + 3, T + 3), (1, 1, T, T + 3)]
        ),
        (
            f"{name}(), a cache that forgets",
            lambda: module(x, cache=Kept(3, window=100)),
            "cache must keep all that the module may look at; "
            "got cache.window=100, window=None.",
        ),
    ]


def of_grouped_query() -> list[Case]:
    heads, groups = 6, 3
    sizes = {"d_in": D_IN, "d_out": 12, "context_length": CONTEXT}
    sizes |= {"num_heads": heads, "num_kv_heads": groups, "window": T}

    def build(**given: object) -> GroupedQueryAttention:
        return GroupedQueryAttention(
            **{**sizes, "dropout": 0.0, "window": None, **given}
        )

    module = build()
    mask = of_masks(
        "GroupedQueryAttention()",
        lambda mask: build(context_length=S)(zeros(B, S, D_IN), mask=mask),
    )
    scores = f"mask must broadcast to the scores, of shape ({B}, {S}, {S}); "
    return [
        *of_sizes("GroupedQueryAttention", build, sizes),
        *of_dropout("GroupedQueryAttention", lambda p: build(dropout=p)),
        (
            "GroupedQueryAttention, num_heads",
            lambda: build(num_heads=5, num_kv_heads=5),
            "num_heads must divide d_out; got num_heads=5, d_out=12.",
        ),
        *(
            (
                f"GroupedQueryAttention, {bad} num_kv_heads",
                lambda bad=bad: build(num_kv_heads=bad),
                "num_kv_heads must divide num_heads; "
                f"got num_kv_heads={bad}, num_heads=6.",
            )
            for bad in (4, 5, 12)
        ),
        (
            "GroupedQueryAttention, a window without causal",
            lambda: build(window=T, causal=False),
            f"window must be None without causal; got window={T}, causal=False.",
        ),
        *of_tokens("GroupedQueryAttention", module, CONTEXT),
        *(
            (name, call, re.sub(r"^mask must broadcast.*?; ", scores, sentence))
            for name, call, sentence in mask
        ),
        *of_positions_and_caches("GroupedQueryAttention", module),
        (
            "GroupedQueryAttention(), a cache that forgets too much",
            lambda: build(window=T)(zeros(1, D_IN), cache=Kept(9, window=T - 1)),
            "cache must keep all that the module may look at; "
            f"got cache.window={T - 1}, window={T}.",
        ),
        *of_sizes(
            "repeat_heads",
            lambda times: repeat_heads(zeros(H, T, D), times),
            {"times": 3},
        ),
        (
            "repeat_heads, axes",
            lambda: repeat_heads(zeros(T, D), 3),
            f"x must have shape (..., heads, tokens, width); got x.shape=({T}, {D}).",
        ),
    ]


def of_pytorch() -> list[Case]:
    theirs = nn.MultiheadAttention(E, H)
    return [
        (
            "from_heads",
            lambda: from_heads(CausalAttention(D_IN, D, T, 0.0)),
            "wrapper must be a MultiHeadAttentionWrapper; got wrapper=CausalAttention.",
        ),
        (
            "to_torch, class",
            lambda: to_torch(theirs),
            "module must be a MultiHeadAttention; got module=MultiheadAttention.",
        ),
        *(
            (
                f"to_torch, {name}",
                lambda given=given: to_torch(
                    MultiHeadAttention(E, E, CONTEXT, 0.0, H, **given)
                ),
                "module must have no rotate and no bias, which PyTorch's does not "
                f"take; got rotate={given.get('rotate')!r}, "
                f"bias={given.get('bias')!r}.",
            )
            for name, given in (
                ("rotate", {"rotate": torch.add}),
                ("bias", {"bias": torch.sub}),
                ("both", {"rotate": torch.add, "bias": torch.sub}),
            )
        ),
        (
            "to_torch, widths",
            lambda: to_torch(MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H)),
            f"module must have d_in equal to d_out; got d_in={D_IN}, d_out={E}.",
        ),
        (
            "from_torch, class",
            lambda: from_torch(MultiHeadAttention(E, E, CONTEXT, 0.0, H), CONTEXT),
            "module must be a MultiheadAttention; got module=MultiHeadAttention.",
        ),
        (
            "from_torch, widths",
            lambda: from_torch(nn.MultiheadAttention(E, H, kdim=S, vdim=V), CONTEXT),
            "module must have one width for queries, keys and values; "
            f"got embed_dim={E}, kdim={S}, vdim={V}.",
        ),
        (
            "from_torch, a key of biases",
            lambda: from_torch(nn.MultiheadAttention(E, H, add_bias_kv=True), CONTEXT),
            "module must append no keys; got add_bias_kv=True, add_zero_attn=False.",
        ),
        (
            "from_torch, a key of zeros",
            lambda: from_torch(
                nn.MultiheadAttention(E, H, add_zero_attn=True), CONTEXT
            ),
            "module must append no keys; got add_bias_kv=False, add_zero_attn=True.",
        ),
        *of_sizes(
            "from_torch",
            lambda context_length: from_torch(theirs, context_length),
            {"context_length": CONTEXT},
        ),
    ]


def of_gpt2() -> list[Case]:
    state = {
        "c_attn.weight": zeros(E, 3 * E),
        "c_attn.bias": zeros(3 * E),
        "c_proj.weight": zeros(E, E),
        "c_proj.bias": zeros(E),
    }
    names = ", ".join(state)

    wrong = [
        ("c_attn.weight", (3 * E, E), f"of shape {(E, 3 * E)}"),
        ("c_attn.bias", (E,), f"of shape {(3 * E,)}"),
        ("c_proj.weight", (E, D), "as a square matrix"),
        ("c_proj.weight", (E,), "as a square matrix"),
        ("c_proj.weight", (), "as a square matrix"),
        ("c_proj.bias", (1, E), f"of shape {(E,)}"),
        ("c_proj.bias", (), f"of shape {(E,)}"),
    ]
    return [
        *(
            (
                f"from_gpt2, {name} of {shape}",
                lambda name=name, shape=shape: from_gpt2(
                    state | {name: zeros(*shape)}, H, CONTEXT
                ),
                f"state must hold {name} {form}; got state[{name!r}].shape={shape}.",
            )
            for name, shape, form in wrong
        ),
        *(
            (
                f"from_gpt2, integer {name}",
                lambda name=name: from_gpt2(
                    state | {name: state[name].long()}, H, CONTEXT
                ),
                f"state must hold {name} in floating-point numbers; "
                f"got state[{name!r}].dtype=torch.int64.",
            )
            for name in state
        ),
        *(
            (
                f"from_gpt2, no {name}",
                lambda name=name: from_gpt2(
                    {one: state[one] for one in state if one != name}, H, CONTEXT
                ),
                f"state must hold {names}; "
                f"got state with {[one for one in state if one != name]}.",
            )
            for name in state
        ),
        (
            "from_gpt2, a weight more",
            lambda: from_gpt2(state | {"q_attn.weight": zeros(E, E)}, H, CONTEXT),
            f"state must hold {names}; got state with {[*state, 'q_attn.weight']}.",
        ),
        *of_sizes(
            "from_gpt2",
            lambda **sizes: from_gpt2(state, **sizes),
            {"num_heads": H, "context_length": CONTEXT},
        ),
        (
            "from_gpt2, num_heads",
            lambda: from_gpt2(state, num_heads=7, context_length=CONTEXT),
            f"num_heads must divide d_out; got num_heads=7, d_out={E}.",
        ),
    ]


def of_cross_attention() -> list[Case]:
    sizes = {"d_in": D_IN, "d_memory": V, "d_out": E, "num_heads": H}
    module = CrossAttention(D_IN, V, E, 0.0, H)
    x, memory = zeros(B, T, D_IN), zeros(B, S, V)
    key, value = module.keys_and_values(memory)
    mask = [
        *of_masks("CrossAttention()", lambda mask: module(x, memory, mask=mask)),
        *of_masks(
            "CrossAttention.look_up",
            lambda mask: module.look_up(x, key, value, mask=mask),
        ),
    ]
    memories: list[Case] = []
    for name, call in (
        ("CrossAttention()", lambda memory: module(x, memory)),
        ("CrossAttention.keys_and_values", module.keys_and_values),
    ):
        call = functools.partial(_called, call)
        memories += [
            (
                f"{name}, integer memory",
                call(integers(B, S, V)),
                "memory must hold floating-point numbers; "
                "got memory.dtype=torch.int64.",
            ),
            (
                f"{name}, axes of memory",
                call(zeros(V)),
                f"memory must have shape (..., tokens, d_memory={V}); "
                f"got memory.shape=({V},).",
            ),
            (
                f"{name}, width of memory",
                call(zeros(B, S, D_IN)),
                f"memory must have shape (..., tokens, d_memory={V}); "
                f"got memory.shape=({B}, {S}, {D_IN}).",
            ),
            (
                f"{name}, empty memory",
                call(zeros(B, 0, V)),
                f"memory must have at least one token; got memory.shape=({B}, 0, {V}).",
            ),
        ]
    return [
        *of_sizes(
            "CrossAttention", lambda **given: CrossAttention(**given, dropout=0), sizes
        ),
        *of_dropout("CrossAttention", lambda p: CrossAttention(D_IN, V, E, p, H)),
        (
            "CrossAttention, num_heads",
            lambda: CrossAttention(D_IN, V, E, 0.0, 7),
            f"num_heads must divide d_out; got num_heads=7, d_out={E}.",
        ),
        *of_tokens("CrossAttention", lambda x: module(x, zeros(S, V))),
        *of_tokens(
            "CrossAttention.look_up", lambda x: module.look_up(x, key[0], value[0])
        ),
        *memories,
        (
            "CrossAttention(), leading axes",
            lambda: module(zeros(3, T, D_IN), memory),
            "memory must have leading axes that broadcast with those of x; "
            f"got memory.shape=({B}, {S}, {V}), x.shape=(3, {T}, {D_IN}).",
        ),
        (
            "CrossAttention.look_up, leading axes",
            lambda: module.look_up(zeros(3, T, D_IN), key, value),
            "key must have the width of query, and leading axes that broadcast; "
            f"got key.shape=({B}, {H}, {S}, {D}), query.shape=(3, {H}, {T}, {D}).",
        ),
        *mask,
    ]


def _called(call: Callable[..., object], *given: object) -> Callable[[], object]:
    return lambda: call(*given)


def of_packing() -> list[Case]:
    texts, ids = [zeros(T, D), zeros(S, D)], integers(T)
    return [
        (
            "pack, nothing",
            lambda: pack([]),
            "texts must hold at least one text; got texts=[].",
        ),
        (
            "pack, an empty text",
            lambda: pack([*texts, zeros(0, D)]),
            f"texts must have at least one token each; got texts[2].shape=(0, {D}).",
        ),
        (
            "pack, no axis",
            lambda: pack([zeros()]),
            "texts must have at least one token each; got texts[0].shape=().",
        ),
        (
            "pack, widths",
            lambda: pack([*texts, zeros(T, V)]),
            "texts must be alike in all but their length; "
            f"got texts[0] of ({T}, {D}), torch.float32, "
            f"texts[2] of ({T}, {V}), torch.float32.",
        ),
        (
            "pack, types",
            lambda: pack([*texts, integers(T, D)]),
            "texts must be alike in all but their length; "
            f"got texts[0] of ({T}, {D}), torch.float32, "
            f"texts[2] of ({T}, {D}), torch.int64.",
        ),
        (
            "pack, length",
            lambda: pack(texts, T + S - 1),
            f"length must be at least {T + S}, the tokens of all texts; "
            f"got length={T + S - 1}.",
        ),
        *(
            case
            for name, function in (
                ("document_mask", document_mask),
                ("unpack", lambda ids: unpack(zeros(T, D), ids)),
            )
            for case in (
                (
                    f"{name}, float",
                    _called(function, zeros(T)),
                    "document_ids must hold integers; "
                    "got document_ids.dtype=torch.float32.",
                ),
                (
                    f"{name}, boolean",
                    _called(function, booleans(T)),
                    "document_ids must hold integers; "
                    "got document_ids.dtype=torch.bool.",
                ),
                (
                    f"{name}, no axis",
                    _called(function, integers()),
                    "document_ids must have shape (..., tokens); "
                    "got document_ids.shape=().",
                ),
            )
        ),
        (
            "unpack, lengths",
            lambda: unpack(zeros(S, D), ids),
            "document_ids must have one number for each token of row; "
            f"got document_ids.shape=({T},), row.shape=({S}, {D}).",
        ),
        (
            "unpack, a batch",
            lambda: unpack(zeros(B, T, D), integers(B, T)),
            "document_ids must have one number for each token of row; "
            f"got document_ids.shape=({B}, {T}), row.shape=({B}, {T}, {D}).",
        ),
    ]


def of_rotary() -> list[Case]:
    width, rotate = 2 * D, Rotary(2 * D)
    return [
        *(
            case
            for name, build in (
                ("rotary_frequencies", rotary_frequencies),
                ("Rotary", Rotary),
                ("Rotary, frequencies", _with_frequencies),
            )
            for case in (
                (
                    f"{name}, zero",
                    _called(build, 0),
                    "width must be a positive integer; got width=0.",
                ),
                (
                    f"{name}, odd",
                    _called(build, T),
                    f"width must be even; got width={T}.",
                ),
            )
        ),
        *(
            (
                f"{name}={value}",
                functools.partial(build, width, **{name: value}),
                f"{name} must be positive and finite; got {name}={value!r}.",
            )
            for name, value in (
                ("base", 0.0),
                ("base", -1.0),
                ("base", float("inf")),
                ("magnitude", 0.0),
                ("magnitude", float("nan")),
            )
            for build in (Rotary, rotary_frequencies)
            if name == "base" or build is Rotary
        ),
        (
            "Rotary, one frequency for each number",
            lambda: Rotary(width, frequencies=zeros(width)),
            f"frequencies must have shape ({D},), one for each pair; "
            f"got frequencies.shape=({width},).",
        ),
        (
            "Rotary, integer frequencies",
            lambda: Rotary(width, frequencies=integers(D)),
            "frequencies must hold floating-point numbers; "
            "got frequencies.dtype=torch.int64.",
        ),
        (
            "Rotary, integer vectors",
            lambda: rotate(integers(T, width), integers(T)),
            "x must hold floating-point numbers; got x.dtype=torch.int64.",
        ),
        (
            "Rotary, width",
            lambda: rotate(zeros(T, D), integers(T)),
            f"x must have shape (..., tokens, width={width}); got x.shape=({T}, {D}).",
        ),
        (
            "Rotary, one vector",
            lambda: rotate(zeros(width), integers(1)),
            f"x must have shape (..., tokens, width={width}); got x.shape=({width},).",
        ),
        (
            "Rotary, positions of half precision",
            lambda: rotate(zeros(T, width), zeros(T, dtype=torch.bfloat16)),
            "positions must hold integers; got positions.dtype=torch.bfloat16.",
        ),
        (
            "Rotary, positions without an axis for heads",
            lambda: rotate(zeros(B, H, T, width), integers(B, T)),
            f"positions must broadcast to the tokens, of shape ({B}, {H}, {T}); "
            f"got positions.shape=({B}, {T}).",
        ),
        (
            "Rotary, more positions than tokens",
            lambda: rotate(zeros(1, width), integers(T)),
            "positions must broadcast to the tokens, of shape (1,); "
            f"got positions.shape=({T},).",
        ),
        *(
            (
                f"{reorder.__name__}, {x.ndim} axes",
                _called(reorder, x),
                f"x must have an even width; got x.shape={tuple(x.shape)}.",
            )
            for reorder in (pairs_to_halves, halves_to_pairs)
            for x in (zeros(), zeros(B, T))
        ),
        *(
            case
            for reorder in (pairs_to_halves_weight, halves_to_pairs_weight)
            for case in (
                (
                    f"{reorder.__name__}, no heads",
                    functools.partial(reorder, zeros(width), 0),
                    "num_heads must be a positive integer; got num_heads=0.",
                ),
                (
                    f"{reorder.__name__}, an odd width",
                    functools.partial(reorder, zeros(E, D_IN), H),
                    f"weight must have {H} heads of one even width as rows; "
                    f"got weight.shape=({E}, {D_IN}).",
                ),
                (
                    f"{reorder.__name__}, no axis",
                    functools.partial(reorder, zeros(), H),
                    f"weight must have {H} heads of one even width as rows; "
                    "got weight.shape=().",
                ),
            )
        ),
    ]


def _with_frequencies(width: int) -> Rotary:
    return Rotary(width, frequencies=zeros(width // 2))


def of_scores() -> list[Case]:
    masking = (masked_softmax, hide_by_minus_infinity, hide_by_renormalising)
    plain = (naive_softmax, stable_softmax)
    calls = {f.__name__: functools.partial(f, integers(T, S)) for f in plain}
    for f in masking:
        calls[f.__name__] = functools.partial(f, integers(T, S), booleans(T, S))
    return [
        (
            f"{name}, integer scores",
            call,
            "scores must hold floating-point numbers; got scores.dtype=torch.int64.",
        )
        for name, call in calls.items()
    ]


def of_rotary_scaling() -> list[Case]:
    width = 2 * D
    by_parts = {
        "yarn_frequencies": (yarn_frequencies, ("fast", "slow")),
        "llama3_frequencies": (llama3_frequencies, ("high", "low")),
    }
    all_four = [
        linear_frequencies,
        ntk_frequencies,
        functools.partial(yarn_frequencies, original_length=4096),
        llama3_frequencies,
    ]
    return [
        *(
            (
                f"rule {number}, factor={factor}",
                functools.partial(rule, width, factor=factor),
                f"factor must be finite and at least 1; got factor={factor!r}.",
            )
            for number, rule in enumerate(all_four)
            for factor in (0.5, -8.0, math.inf, math.nan)
        ),
        *(
            (
                f"rule {number}, odd",
                functools.partial(rule, T, factor=8.0),
                f"width must be even; got width={T}.",
            )
            for number, rule in enumerate(all_four)
        ),
        (
            "yarn_magnitude",
            _called(yarn_magnitude, 0.5),
            "factor must be finite and at least 1; got factor=0.5.",
        ),
        (
            "ntk_frequencies, one pair",
            functools.partial(ntk_frequencies, 2, factor=8.0),
            "width must be at least 4; got width=2.",
        ),
        (
            "ntk_frequencies, a broken width",
            functools.partial(ntk_frequencies, 2.5, factor=8.0),
            "width must be a positive integer; got width=2.5.",
        ),
        (
            "yarn_frequencies, base",
            functools.partial(
                yarn_frequencies, width, base=1.0, factor=8.0, original_length=4096
            ),
            "base must be finite and greater than 1; got base=1.0.",
        ),
        *(
            (
                f"{name}, original_length={length}",
                functools.partial(rule, width, factor=8.0, original_length=length),
                "original_length must be a positive integer; "
                f"got original_length={length}.",
            )
            for name, (rule, _) in by_parts.items()
            for length in (0, -1, 8.5)
        ),
        *(
            (
                f"{name}, {above}={more}, {below}={less}",
                functools.partial(
                    rule,
                    width,
                    factor=8.0,
                    original_length=4096,
                    **{above: more, below: less},
                ),
                f"{above} must be greater than {below}, and both positive and finite; "
                f"got {above}={more}, {below}={less}.",
            )
            for name, (rule, (above, below)) in by_parts.items()
            for more, less in ((1.0, 32.0), (2.0, 2.0), (32.0, 0.0), (math.inf, 1.0))
        ),
    ]


def refusals() -> list[Case]:
    scores = zeros(B, T, S)
    query, key = zeros(B, T, D), zeros(B, S, D)
    return [
        *of_words(),
        *of_similarity("similarity_scores", similarity_scores),
        *of_similarity("context_vectors", context_vectors),
        *of_queries_and_keys("attention_scores", attention_scores),
        *of_queries_and_keys("attention_weights", attention_weights),
        *of_weights(
            "attention_weights",
            lambda **options: attention_weights(query, key, **options),
        ),
        *of_attention("attention", attention),
        *of_attention("fused_attention", fused_attention),
        *of_pieces(),
        *of_masks("masked_softmax", lambda mask: masked_softmax(scores, mask)),
        *of_masks(
            "hide_by_minus_infinity", lambda mask: hide_by_minus_infinity(scores, mask)
        ),
        *of_masks(
            "hide_by_renormalising", lambda mask: hide_by_renormalising(scores, mask)
        ),
        *of_scores(),
        *of_mask_builders(),
        *of_self_attention(),
        *of_recall(),
        *of_causal_modules(),
        *of_positions_and_caches(
            "MultiHeadAttention", MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H)
        ),
        *of_grouped_query(),
        *of_pytorch(),
        *of_gpt2(),
        *of_cross_attention(),
        *of_packing(),
        *of_rotary(),
        *of_rotary_scaling(),
    ]


REFUSALS = refusals()


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "sentence"),
    [pytest.param(call, sentence, id=name) for name, call, sentence in REFUSALS],
)
def test_bad_input_is_refused(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        call()


@pytest.mark.refusal  # the shape checks would only take an `int`
def test_a_size_may_be_a_whole_number_of_any_type() -> None:
    seven = numpy.int64(7)
    assert torch.equal(causal_mask(seven), causal_mask(7))
    assert CausalAttention(seven, D, seven, 0.0)(zeros(T, 7)).shape == (T, D)


def test_a_module_may_be_of_a_class_derived_from_ours() -> None:
    class Mine(MultiHeadAttention):
        pass

    theirs = to_torch(Mine(E, E, CONTEXT, 0.0, H))
    assert theirs.embed_dim == E


def test_every_sentence_has_the_same_form() -> None:
    for _, _, sentence in REFUSALS:
        assert re.fullmatch(r"\w+ must [^;]+; got \w+.+\.", sentence, re.DOTALL), (
            sentence
        )


# The shape checks of the test run, which the refusals switch off.


def test_shapes_of_functions_are_checked_in_this_run() -> None:
    with pytest.raises(jaxtyping.TypeCheckError):
        attention(zeros(T, D), zeros(S, V), zeros(S, V))


def test_shapes_of_methods_are_checked_in_this_run() -> None:
    module = CausalAttention(D_IN, D, CONTEXT, 0.0)
    assert module(zeros(T, D_IN)).shape == (T, D)
    with pytest.raises(jaxtyping.TypeCheckError):
        module(zeros(D_IN))
    with pytest.raises(jaxtyping.TypeCheckError):
        CausalAttention(float(D_IN), D, CONTEXT, 0.0)


def test_shapes_of_results_are_checked_in_this_run() -> None:
    def loses_a_token(query, key, value, **options):
        return value[..., 1:, :]

    module = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, attend=loses_a_token)
    with pytest.raises(jaxtyping.TypeCheckError):
        module(zeros(T, D_IN))


def test_numbers_of_positions_are_not_looked_at_while_it_compiles(monkeypatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    _heads._require_positions(torch.tensor([-1, CONTEXT]), (2,), CONTEXT)
    with pytest.raises(ValueError, match="positions must broadcast"):
        _heads._require_positions(torch.tensor([0, 1]), (3,), CONTEXT)


def test_a_cache_may_keep_what_the_window_shows_and_no_more() -> None:
    _require.cache_keeps(Kept(3, window=T), window=T)
    _require.cache_keeps(Kept(3, window=None), window=T)


@pytest.mark.parametrize(("pages", "wrong"), [([1, 2, 1], 1), ([1, 0], 0), ([7], 7)])
def test_a_page_is_given_back_by_whom_it_belongs_to_and_once(pages, wrong) -> None:
    paged_cache._require_taken_pages([1, 2], [0], 7)
    sentence = f"pages must be taken, each by one text; got pages with {wrong}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        paged_cache._require_taken_pages(pages, [0], 7)
