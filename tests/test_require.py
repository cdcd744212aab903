"""Bad input gets one sentence, the same to the last letter, at every public door."""

import re
from collections.abc import Callable

import jaxtyping
import numpy
import pytest
import torch
from sizes import CONTEXT, D_IN, B, D, E, H, S, T, V
from torch import Tensor, nn

from headway import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
    Vocabulary,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    context_vectors,
    embed,
    from_gpt2,
    from_torch,
    fused_attention,
    hide_by_boolean,
    hide_by_minus_infinity,
    hide_by_renormalising,
    masked_softmax,
    merge_heads,
    padding_mask,
    similarity_scores,
    split_heads,
    to_torch,
)

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
            "key must have the leading axes and the width of query; "
            f"got key.shape=({B}, {S}, {V}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, batch of key",
            lambda: function(zeros(B, T, D), zeros(H, S, D)),
            "key must have the leading axes and the width of query; "
            f"got key.shape=({H}, {S}, {D}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, a batch of one",
            lambda: function(zeros(B, T, D), zeros(1, S, D)),
            "key must have the leading axes and the width of query; "
            f"got key.shape=(1, {S}, {D}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, axes of key",
            lambda: function(zeros(B, T, D), zeros(S, D)),
            "key must have the leading axes and the width of query; "
            f"got key.shape=({S}, {D}), query.shape=({B}, {T}, {D}).",
        ),
        (
            f"{name}, flat key",
            lambda: function(zeros(T, D), zeros(D)),
            "key must have the leading axes and the width of query; "
            f"got key.shape=({D},), query.shape=({T}, {D}).",
        ),
    ]


def of_masks(name: str, function: Callable[[Tensor], Tensor]) -> list[Case]:
    """The checks of any function whose scores are (B, T, S)."""
    boolean = "mask must be boolean, True where a query may look; got mask.dtype="
    broadcast = f"mask must broadcast to the scores, of shape ({B}, {T}, {S}); "
    wrong = [(S + 1,), (S, T), (T, B, S), (H, T, S), (B, T, S, 1), (1, B, T, S)]
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
        *(
            (
                f"{name}, mask of {shape}",
                lambda shape=shape: function(booleans(*shape)),
                f"{broadcast}got mask.shape={shape}.",
            )
            for shape in wrong
        ),
    ]


def of_attention(name: str, function: Callable[..., Tensor]) -> list[Case]:
    """The checks of any function with the signature of `attention`."""
    query, key, value = zeros(B, T, D), zeros(B, S, D), zeros(B, S, V)
    per_key = "value must have the leading axes and the length of key; "
    return [
        *of_queries_and_keys(name, lambda q, k: function(q, k, k)),
        *of_masks(name, lambda mask: function(query, key, value, mask=mask)),
        (
            f"{name}, integer value",
            lambda: function(query, key, integers(B, S, V)),
            "value must hold floating-point numbers; got value.dtype=torch.int64.",
        ),
        (
            f"{name}, length of value",
            lambda: function(query, key, zeros(B, T, V)),
            f"{per_key}got value.shape=({B}, {T}, {V}), key.shape=({B}, {S}, {D}).",
        ),
        (
            f"{name}, axes of value",
            lambda: function(query, key, zeros(S, V)),
            f"{per_key}got value.shape=({S}, {V}), key.shape=({B}, {S}, {D}).",
        ),
        (
            f"{name}, batch of value",
            lambda: function(query, key, zeros(1, S, V)),
            f"{per_key}got value.shape=(1, {S}, {V}), key.shape=({B}, {S}, {D}).",
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


def of_the_causal_flag() -> list[Case]:
    x = zeros(B, T, D)
    return [
        (
            "fused_attention, causal with a mask",
            lambda: fused_attention(x, x, x, mask=causal_mask(T), causal=True),
            f"mask must be None when causal is true; got mask.shape=({T}, {T}).",
        ),
        (
            "fused_attention, causal with T != S",
            lambda: fused_attention(x, zeros(B, S, D), zeros(B, S, D), causal=True),
            "causal must be false when the numbers of queries and keys differ; "
            f"got causal=True, T={T}, S={S}.",
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
        (
            "SelfAttentionV1.copy_from, class",
            lambda: v1.copy_from(SelfAttentionV1(D_IN, V)),
            "other must be a SelfAttentionV2; got other=SelfAttentionV1.",
        ),
        (
            "SelfAttentionV2.copy_from, class",
            lambda: v2.copy_from(nn.Linear(D_IN, V)),
            "other must be a SelfAttentionV1; got other=Linear.",
        ),
        (
            "SelfAttentionV1.copy_from, biases",
            lambda: v1.copy_from(SelfAttentionV2(D_IN, V, qkv_bias=True)),
            "other must have no biases; got one built with qkv_bias=True.",
        ),
        (
            "SelfAttentionV1.copy_from, widths",
            lambda: v1.copy_from(SelfAttentionV2(D_IN, D)),
            "other must have the widths of this module, "
            f"(d_in, width) of W_query=({D_IN}, {V}); "
            f"got other.W_query with ({D_IN}, {D}).",
        ),
        (
            "SelfAttentionV2.copy_from, widths",
            lambda: v2.copy_from(SelfAttentionV1(D_IN, D, d_qk=V)),
            "other must have the widths of this module, "
            f"(d_in, width) of W_value=({D_IN}, {V}); "
            f"got other.W_value with ({D_IN}, {D}).",
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
        (
            "MultiHeadAttention.from_heads",
            lambda: MultiHeadAttention.from_heads(CausalAttention(D_IN, D, T, 0.0)),
            "wrapper must be a MultiHeadAttentionWrapper; got wrapper=CausalAttention.",
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


def of_pytorch() -> list[Case]:
    theirs = nn.MultiheadAttention(E, H)
    block = {
        "c_attn_weight": zeros(E, 3 * E),
        "c_attn_bias": zeros(3 * E),
        "c_proj_weight": zeros(E, E),
        "c_proj_bias": zeros(E),
    }
    spoiled = {
        "c_attn_weight": (3 * E, E),
        "c_attn_bias": (E,),
        "c_proj_weight": (E, D),
    }
    return [
        (
            "to_torch, class",
            lambda: to_torch(theirs),
            "module must be a MultiHeadAttention; got module=MultiheadAttention.",
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
        *(
            (
                f"from_gpt2, {name}",
                lambda name=name, shape=shape: from_gpt2(
                    **{**block, name: zeros(*shape)},
                    num_heads=H,
                    context_length=CONTEXT,
                ),
                f"{name} must have shape {tuple(block[name].shape)}; "
                f"got {name}.shape={shape}.",
            )
            for name, shape in spoiled.items()
        ),
        (
            "from_gpt2, biases swapped",
            lambda: from_gpt2(
                **{**block, "c_attn_bias": zeros(E), "c_proj_bias": zeros(3 * E)},
                num_heads=H,
                context_length=CONTEXT,
            ),
            f"c_attn_bias must have shape ({3 * E},); got c_attn_bias.shape=({E},).",
        ),
        (
            "from_gpt2, c_proj_bias",
            lambda: from_gpt2(
                **{**block, "c_proj_bias": zeros(1, E)},
                num_heads=H,
                context_length=CONTEXT,
            ),
            f"c_proj_bias must have shape ({E},); got c_proj_bias.shape=(1, {E}).",
        ),
        *of_sizes(
            "from_gpt2",
            lambda **sizes: from_gpt2(**block, **sizes),
            {"num_heads": H, "context_length": CONTEXT},
        ),
        (
            "from_gpt2, num_heads",
            lambda: from_gpt2(**block, num_heads=7, context_length=CONTEXT),
            f"num_heads must divide d_out; got num_heads=7, d_out={E}.",
        ),
    ]


def of_scores() -> list[Case]:
    hide = (hide_by_boolean, hide_by_minus_infinity, hide_by_renormalising)
    return [
        (
            f"{function.__name__}, integer scores",
            lambda function=function: function(integers(T, S), booleans(T, S)),
            "scores must hold floating-point numbers; got scores.dtype=torch.int64.",
        )
        for function in (masked_softmax, *hide)
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
        *of_masks(
            "attention_weights", lambda mask: attention_weights(query, key, mask=mask)
        ),
        *of_attention("attention", attention),
        *of_attention("fused_attention", fused_attention),
        *of_the_causal_flag(),
        *of_masks("masked_softmax", lambda mask: masked_softmax(scores, mask)),
        *of_masks("hide_by_boolean", lambda mask: hide_by_boolean(scores, mask)),
        *of_masks(
            "hide_by_minus_infinity", lambda mask: hide_by_minus_infinity(scores, mask)
        ),
        *of_masks(
            "hide_by_renormalising", lambda mask: hide_by_renormalising(scores, mask)
        ),
        *of_scores(),
        *of_mask_builders(),
        *of_self_attention(),
        *of_causal_modules(),
        *of_pytorch(),
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


def test_no_case_stands_twice() -> None:
    names = [name for name, _, _ in REFUSALS]
    assert len(set(names)) == len(names)


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


@pytest.mark.refusal
def test_a_refusal_reaches_our_own_sentence() -> None:
    with pytest.raises(ValueError, match=r"^key must have"):
        attention(zeros(T, D), zeros(S, V), zeros(S, V))
