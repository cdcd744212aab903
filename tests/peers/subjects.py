"""Attention that others have published, and ours, each in the form `check` takes.

Every builder makes one small example with random weights; nothing is downloaded. Sizes
differ from each other, and heads have a width of three or five wherever that is free.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "JAX_PLATFORMS": "cpu",
    "KERAS_BACKEND": "torch",
}

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

import headway

WIDTH, HEADS, LENGTH = 20, 4, 11


class Subject(NamedTuple):
    """What is checked, and what `check` must know of it."""

    attend: Callable[..., Any]
    options: dict[str, Any]


Builder = Callable[[], Subject]


# Ours


def self_attention_v1() -> Subject:
    """Weights that are parameters, no mask."""
    return Subject(headway.SelfAttentionV1(5, 3), {"d_in": 5, "causal": False})


def self_attention_v2() -> Subject:
    """Weights that are linear layers with biases, no mask."""
    attend = headway.SelfAttentionV2(5, 3, qkv_bias=True)
    return Subject(attend, {"d_in": 5, "causal": False})


def causal_attention() -> Subject:
    """One causal head with dropout."""
    attend = headway.CausalAttention(5, 3, LENGTH, 0.1)
    return Subject(attend, {"d_in": 5, "context_length": LENGTH, "causal": True})


def stacked_heads() -> Subject:
    """Causal heads side by side."""
    attend = headway.MultiHeadAttentionWrapper(5, 3, LENGTH, 0.1, num_heads=2)
    return Subject(
        attend,
        {"d_in": 5, "context_length": LENGTH, "num_heads": 2, "causal": True},
    )


def _multi_head(attend: headway.AttentionFunction) -> Subject:
    module = headway.MultiHeadAttention(7, 15, LENGTH, 0.1, num_heads=3, attend=attend)
    return Subject(
        module, {"d_in": 7, "context_length": LENGTH, "num_heads": 3, "causal": True}
    )


def multi_head_attention_fused() -> Subject:
    """Several causal heads on PyTorch's kernel."""
    return _multi_head(headway.fused_attention)


def multi_head_attention_by_formula() -> Subject:
    """Several causal heads on the formula."""
    return _multi_head(headway.attention)


def attention() -> Subject:
    """The formula, a function of queries, keys and values."""
    return Subject(headway.attention, {"causal": False})


def fused_attention() -> Subject:
    """The same by PyTorch's kernel."""
    return Subject(headway.fused_attention, {"causal": False})


def fused_causal_attention() -> Subject:
    """The same, which is to hide the future."""
    attend = partial(headway.fused_attention, causal=True)
    return Subject(attend, {"causal": True})


def context_vectors() -> Subject:
    """Attention without weights, a function of one text."""

    def attend(x: Tensor) -> Tensor:
        return torch.stack([headway.context_vectors(text, text) for text in x])

    return Subject(attend, {"d_in": 5, "causal": False})


# PyTorch's


def torch_module() -> Subject:
    """PyTorch's module, the batch first."""
    attend = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.1, batch_first=True)
    return Subject(attend, {"causal": False})


def torch_module_tokens_first() -> Subject:
    """PyTorch's module as it is by default: the tokens stand before the batch."""
    return Subject(nn.MultiheadAttention(WIDTH, HEADS), {"causal": False})


def torch_module_without_bias() -> Subject:
    """PyTorch's module without biases."""
    attend = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)
    return Subject(attend, {"causal": False})


def torch_module_without_weights() -> Subject:
    """PyTorch's module, asked for the result alone, which takes its fast path."""
    attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def call(module: nn.Module, x: Tensor) -> Tensor:
        return module(x, x, x, need_weights=False)[0]

    return Subject(attend, {"d_in": WIDTH, "causal": False, "call": call})


def torch_module_causal() -> Subject:
    """PyTorch's module with a mask and the hint that it is causal."""
    attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def call(module: nn.Module, x: Tensor) -> Tensor:
        future = ~headway.causal_mask(x.shape[1])
        return module(x, x, x, attn_mask=future, is_causal=True, need_weights=False)[0]

    return Subject(attend, {"d_in": WIDTH, "causal": True, "call": call})


def torch_function() -> Subject:
    """PyTorch's kernel."""
    return Subject(scaled_dot_product_attention, {"causal": False})


def torch_function_causal() -> Subject:
    """PyTorch's kernel, which is to hide the future."""
    attend = partial(scaled_dot_product_attention, is_causal=True)
    return Subject(attend, {"causal": True})


def flex_attention() -> Subject:
    """FlexAttention, compiled; on a CPU it takes neither 64 bits nor gradients."""
    from torch.nn.attention.flex_attention import flex_attention

    compiled = torch.compile(flex_attention, fullgraph=True)

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return compiled(query.detach(), key.detach(), value.detach())

    return Subject(attend, {"causal": False})


def flex_attention_causal() -> Subject:
    """FlexAttention, compiled, with a block mask that hides the future."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention, fullgraph=True)

    def past(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return query >= key

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        T = query.shape[-2]
        mask = create_block_mask(past, None, None, T, T, device="cpu")
        return compiled(query.detach(), key.detach(), value.detach(), block_mask=mask)

    return Subject(attend, {"causal": True})


# transformers


def _masks(config: Any, kind: str) -> Callable[[Tensor, Tensor | None], Any]:
    """Give the function with which a model makes the mask for its attention.

    It makes one of a mask of padding, and of none none, where a kernel can do without.
    """
    from transformers import masking_utils

    make = getattr(masking_utils, f"create_{kind}_mask")
    return lambda x, padding: make(config, x, padding, past_key_values=None)


def _by_transformers(attend: nn.Module, kind: str, **options: Any) -> Subject:
    """Call a module as its model does."""
    masks = _masks(attend.config, kind)

    def call(module: nn.Module, x: Tensor, *, padding_mask: Any = None) -> Tensor:
        return module(x, attention_mask=masks(x, padding_mask))[0]

    causal = kind == "causal"
    return Subject(
        attend,
        {"d_in": WIDTH, "num_heads": HEADS, "causal": causal, "call": call, **options},
    )


def _gpt2(kernel: str) -> Subject:
    from transformers.models.gpt2.modeling_gpt2 import GPT2Attention, GPT2Config

    config = GPT2Config(
        n_embd=WIDTH, n_head=HEADS, n_positions=LENGTH, attn_implementation=kernel
    )
    attend = GPT2Attention(config, layer_idx=0)
    return _by_transformers(attend, "causal", context_length=LENGTH)


def gpt2_eager() -> Subject:
    """GPT-2's attention by the formula."""
    return _gpt2("eager")


def gpt2_sdpa() -> Subject:
    """GPT-2's attention by PyTorch's kernel."""
    return _gpt2("sdpa")


def _bert(kernel: str) -> Subject:
    from transformers.models.bert.modeling_bert import BertConfig, BertSelfAttention

    config = BertConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, attn_implementation=kernel
    )
    return _by_transformers(BertSelfAttention(config), "bidirectional")


def bert_eager() -> Subject:
    """BERT's attention by the formula, before its last projection."""
    return _bert("eager")


def bert_sdpa() -> Subject:
    """BERT's attention by PyTorch's kernel."""
    return _bert("sdpa")


def distilbert() -> Subject:
    """DistilBERT's attention."""
    from transformers.models.distilbert.modeling_distilbert import (
        DistilBertConfig,
        DistilBertSelfAttention,
    )

    config = DistilBertConfig(dim=WIDTH, n_heads=HEADS, attn_implementation="sdpa")
    return _by_transformers(DistilBertSelfAttention(config), "bidirectional")


def t5() -> Subject:
    """T5's attention: scores are not scaled, and depend on the distance."""
    from transformers.models.t5.modeling_t5 import T5Attention, T5Config

    config = T5Config(
        d_model=WIDTH, d_kv=3, num_heads=HEADS, attn_implementation="eager"
    )
    attend = T5Attention(config, has_relative_attention_bias=True)
    masks = _masks(config, "bidirectional")

    def call(module: nn.Module, x: Tensor, *, padding_mask: Any = None) -> Tensor:
        return module(x, mask=masks(x, padding_mask))[0]

    return Subject(
        attend,
        {
            "d_in": WIDTH,
            "num_heads": HEADS,
            "causal": False,
            "scale": 1.0,
            "call": call,
        },
    )


# In these, positions turn queries and keys, so the width of a head is even. Two heads
# of queries share one of keys and values.
GROUPED = {
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "max_position_embeddings": LENGTH,
}


def _rotary(attend: nn.Module, rotary: nn.Module, kind: str = "causal") -> Subject:
    """Call a module whose model hands it a mask and the positions of the tokens."""
    masks = _masks(attend.config, kind)

    def call(module: nn.Module, x: Tensor, *, padding_mask: Any = None) -> Tensor:
        places = torch.arange(x.shape[1])[None]
        return module(
            x,
            position_embeddings=rotary(x, places),
            attention_mask=masks(x, padding_mask),
        )[0]

    return Subject(
        attend,
        {
            "d_in": WIDTH,
            "context_length": LENGTH,
            "num_heads": HEADS,
            "causal": True,
            "call": call,
        },
    )


def _llama(kernel: str) -> Subject:
    from transformers.models.llama import modeling_llama as llama

    config = llama.LlamaConfig(**GROUPED, attn_implementation=kernel)
    return _rotary(
        llama.LlamaAttention(config, layer_idx=0),
        llama.LlamaRotaryEmbedding(config),
    )


def llama_eager() -> Subject:
    """Llama's attention by the formula."""
    return _llama("eager")


def llama_sdpa() -> Subject:
    """Llama's attention by PyTorch's kernel."""
    return _llama("sdpa")


def qwen3() -> Subject:
    """Qwen3's attention: queries and keys are normalised."""
    from transformers.models.qwen3 import modeling_qwen3 as qwen3

    config = qwen3.Qwen3Config(**GROUPED, attn_implementation="sdpa")
    return _rotary(
        qwen3.Qwen3Attention(config, layer_idx=0),
        qwen3.Qwen3RotaryEmbedding(config),
    )


def mistral() -> Subject:
    """Mistral's attention: a token sees three, itself and the two before it."""
    from transformers.models.mistral import modeling_mistral as mistral

    config = mistral.MistralConfig(
        **GROUPED, sliding_window=3, attn_implementation="sdpa"
    )

    return _rotary(
        mistral.MistralAttention(config, layer_idx=0),
        mistral.MistralRotaryEmbedding(config),
        "sliding_window_causal",
    )


def gemma2() -> Subject:
    """Gemma 2's attention: no score is above a cap."""
    from transformers.models.gemma2 import modeling_gemma2 as gemma2

    config = gemma2.Gemma2Config(**GROUPED, attn_implementation="eager")
    attend, options = _rotary(
        gemma2.Gemma2Attention(config, layer_idx=1),
        gemma2.Gemma2RotaryEmbedding(config),
    )
    scale = config.query_pre_attn_scalar**-0.5  # and not that of a head's width
    return Subject(attend, {**options, "scale": scale})


def gpt_oss() -> Subject:
    """The attention of gpt-oss: a learned sink takes a part of every share."""
    from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss

    plain = {"rope_type": "default", "rope_theta": 10_000.0}
    config = gpt_oss.GptOssConfig(
        **GROUPED, rope_parameters=plain, attn_implementation="eager"
    )
    attend = gpt_oss.GptOssAttention(config, layer_idx=1)
    nn.init.normal_(attend.sinks)
    return _rotary(attend, gpt_oss.GptOssRotaryEmbedding(config))


# Other libraries


def _x_transformers(*, causal: bool) -> Subject:
    from x_transformers import Attention

    attend = Attention(WIDTH, dim_head=3, heads=HEADS, causal=causal, dropout=0.1)
    return Subject(
        attend,
        {"d_in": WIDTH, "num_heads": HEADS, "causal": causal},
    )


def x_transformers() -> Subject:
    """The attention of x-transformers."""
    return _x_transformers(causal=False)


def x_transformers_causal() -> Subject:
    """The attention of x-transformers, which is to hide the future."""
    return _x_transformers(causal=True)


def _keras(*, causal: bool, bias: bool = True) -> Subject:
    from keras.layers import MultiHeadAttention

    attend = MultiHeadAttention(
        num_heads=HEADS, key_dim=3, value_dim=5, dropout=0.1, use_bias=bias
    )
    attend.build((None, None, WIDTH), (None, None, WIDTH))

    def call(
        module: nn.Module, x: Tensor, *, attention_mask: Tensor | None = None
    ) -> Tensor:
        return module(
            x,
            x,
            attention_mask=attention_mask,
            use_causal_mask=causal,
            training=module.training,
        )

    return Subject(
        attend,
        {
            "d_in": WIDTH,
            "num_heads": HEADS,
            "causal": causal,
            "call": call,
        },
    )


def keras() -> Subject:
    """The layer of Keras, on PyTorch."""
    return _keras(causal=False)


def keras_causal() -> Subject:
    """The layer of Keras, which is to hide the future."""
    return _keras(causal=True)


def keras_named() -> Subject:
    """The layer of Keras without biases, with the names of its weights given."""
    attend, options = _keras(causal=False, bias=False)
    stored = [name for name, _ in attend.named_parameters()]
    roles = {
        "query": "query",
        "key": "key",
        "value": "value",
        "out": "attention_output",
    }
    weights = {
        role: next(name for name in stored if name.endswith(f"/{theirs}/kernel"))
        for role, theirs in roles.items()
    }
    return Subject(attend, {**options, "weights": weights})


def _to_jax(x: Tensor) -> Any:
    import jax

    return jax.numpy.asarray(x.detach().float().numpy())


def _from_jax(x: Any, dtype: torch.dtype) -> Tensor:
    import jax

    return torch.tensor(jax.device_get(x), dtype=dtype)


def _equinox(*, causal: bool) -> Subject:
    import equinox
    import jax

    attend = equinox.nn.MultiheadAttention(
        HEADS, WIDTH, qk_size=3, vo_size=5, key=jax.random.key(0)
    )

    def one_text(x: Any) -> Any:
        T = x.shape[0]
        mask = jax.numpy.tri(T, dtype=bool) if causal else None
        return attend(x, x, x, mask=mask)

    def function(x: Tensor) -> Tensor:
        return _from_jax(jax.vmap(one_text)(_to_jax(x)), x.dtype)

    return Subject(function, {"d_in": WIDTH, "num_heads": HEADS, "causal": causal})


def equinox() -> Subject:
    """The module of Equinox, on JAX."""
    return _equinox(causal=False)


def equinox_causal() -> Subject:
    """The module of Equinox with a mask that hides the future."""
    return _equinox(causal=True)


def _jax(*, causal: bool) -> Subject:
    import jax

    def function(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        # JAX has the tokens before the heads.
        heads = (_to_jax(x.transpose(1, 2)) for x in (query, key, value))
        result = jax.nn.dot_product_attention(*heads, is_causal=causal)
        return _from_jax(result, query.dtype).transpose(1, 2)

    return Subject(function, {"causal": causal})


def jax_function() -> Subject:
    """The function of JAX."""
    return _jax(causal=False)


def jax_function_causal() -> Subject:
    """The function of JAX, which is to hide the future."""
    return _jax(causal=True)


BUILDERS: list[Builder] = [
    self_attention_v1,
    self_attention_v2,
    causal_attention,
    stacked_heads,
    multi_head_attention_fused,
    multi_head_attention_by_formula,
    attention,
    fused_attention,
    fused_causal_attention,
    context_vectors,
    torch_module,
    torch_module_tokens_first,
    torch_module_without_bias,
    torch_module_without_weights,
    torch_module_causal,
    torch_function,
    torch_function_causal,
    flex_attention,
    flex_attention_causal,
    gpt2_eager,
    gpt2_sdpa,
    bert_eager,
    bert_sdpa,
    distilbert,
    t5,
    llama_eager,
    llama_sdpa,
    qwen3,
    mistral,
    gemma2,
    gpt_oss,
    x_transformers,
    x_transformers_causal,
    keras,
    keras_causal,
    keras_named,
    equinox,
    equinox_causal,
    jax_function,
    jax_function_causal,
]
