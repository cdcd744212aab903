"""Whole models of our blocks are GPT-2 and Llama of transformers, weight for weight.

The models are small and random, and of 64 bits throughout: what transformers computes
in 32 bits, whatever the model is, is replaced, and compared alone in 32 bits.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
)
from transformers.activations import ACT2FN
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm

from headway import (
    FeedForward,
    GroupedQueryAttention,
    LanguageModel,
    LearnedPositions,
    MultiHeadAttention,
    RMSNorm,
    Rotary,
    SwiGLU,
    TransformerBlock,
    count_parameters,
)

HEADS, KV_HEADS, WIDTH, HIDDEN, LAYERS, WORDS, CONTEXT = 6, 3, 10, 23, 3, 31, 19
TEXTS, T = 2, 13
E = HEADS * WIDTH


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(0)


def close(ours: Tensor, theirs: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


def scatter(model: nn.Module) -> None:
    """Draw all weights, biases and norms too, so large that nothing is linear."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)


# Two models: theirs, ours, and which weight of ours is which of theirs.


class Angles(nn.Module):
    """Cosines and sines in 64 bits, in the form that Llama asks for."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        i = torch.arange(0, WIDTH, 2, dtype=torch.float64)
        angles = position_ids[..., None] * 10_000.0 ** (-i / WIDTH)
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()


def their_llama(eps: float = 1e-6) -> PreTrainedModel:
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=E,
        intermediate_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=eps,
        attn_implementation="sdpa",
    )
    model = LlamaForCausalLM(config).double()
    for name, module in list(model.named_modules()):
        if isinstance(module, LlamaRMSNorm):  # it computes in 32 bits
            model.set_submodule(name, nn.RMSNorm(E, eps, dtype=torch.float64))
    model.model.rotary_emb = Angles()
    scatter(model)
    return model


def our_llama(eps: float = 1e-6) -> LanguageModel:
    blocks = []
    for _ in range(LAYERS):
        attention = GroupedQueryAttention(
            E,
            E,
            CONTEXT,
            0.0,
            HEADS,
            num_kv_heads=KV_HEADS,
            rotate=Rotary(WIDTH, halves=True),
        )
        attention.out_proj.bias = None
        blocks.append(
            TransformerBlock(
                attention,
                SwiGLU(E, HIDDEN),
                attention_norm=RMSNorm(E, eps=eps),
                feed_forward_norm=RMSNorm(E, eps=eps),
            )
        )
    return LanguageModel(WORDS, E, blocks, final_norm=RMSNorm(E, eps=eps)).double()


LLAMA_NAMES = {
    "blocks": "model.layers",
    "embedding": "model.embed_tokens",
    "final_norm": "model.norm",
    "head": "lm_head",
    "attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
    "attention": "self_attn",
    "feed_forward": "mlp",
    "W_query": "q_proj",
    "W_key": "k_proj",
    "W_value": "v_proj",
    "out_proj": "o_proj",
}


def as_llama(name: str) -> str:
    return ".".join(LLAMA_NAMES.get(part, part) for part in name.split("."))


def llama_weights(model: LanguageModel, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: state[as_llama(name)] for name in model.state_dict()}


def their_gpt2() -> PreTrainedModel:
    config = GPT2Config(
        vocab_size=WORDS,
        n_positions=CONTEXT,
        n_embd=E,
        n_layer=LAYERS,
        n_head=HEADS,
        n_inner=HIDDEN,
        attn_pdrop=0.0,
        embd_pdrop=0.0,
        resid_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="sdpa",
    )
    model = GPT2LMHeadModel(config).double()
    scatter(model)
    return model


def our_gpt2() -> LanguageModel:
    blocks = [
        TransformerBlock(
            MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS, qkv_bias=True),
            FeedForward(E, HIDDEN),
            attention_norm=nn.LayerNorm(E),
            feed_forward_norm=nn.LayerNorm(E),
        )
        for _ in range(LAYERS)
    ]
    model = LanguageModel(
        WORDS,
        E,
        blocks,
        final_norm=nn.LayerNorm(E),
        positions=LearnedPositions(CONTEXT, E),
        tied=True,
    )
    return model.double()


GPT2_NAMES = {
    "blocks": "h",
    "embedding": "wte",
    "positions": "wpe",
    "final_norm": "ln_f",
    "head": "wte",
    "attention_norm": "ln_1",
    "feed_forward_norm": "ln_2",
    "attention": "attn",
    "feed_forward": "mlp",
    "up_proj": "c_fc",
    "down_proj": "c_proj",
    "out_proj": "c_proj",
    "W_query": "c_attn",
    "W_key": "c_attn",
    "W_value": "c_attn",
}


def gpt2_weights(model: LanguageModel, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Cut queries, keys and values apart; GPT-2 keeps its matrices transposed."""
    found = {}
    for name in model.state_dict():
        parts = name.split(".")
        path = ".".join(GPT2_NAMES.get(part, part) for part in parts)
        weight = state[f"transformer.{path}"]
        if "c_" in path and weight.ndim == 2:
            weight = weight.T
        for place, one in enumerate(("W_query", "W_key", "W_value")):
            if one in parts:
                weight = weight.chunk(3)[place]
        found[name] = weight
    return found


MODELS = pytest.mark.parametrize(
    ("theirs", "ours", "weights"),
    [
        pytest.param(their_gpt2, our_gpt2, gpt2_weights, id="GPT-2"),
        pytest.param(their_llama, our_llama, llama_weights, id="Llama"),
        pytest.param(
            lambda: their_llama(0.3),
            lambda: our_llama(0.3),
            llama_weights,
            id="Llama, large eps",
        ),
    ],
)


@MODELS
def test_whole_models_agree_with_all_gradients(theirs, ours, weights) -> None:
    theirs, ours = theirs(), ours()
    ours.load_state_dict(weights(ours, theirs.state_dict()))
    assert count_parameters(ours) == theirs.num_parameters()
    ids = torch.randint(WORDS, (TEXTS, T))
    mine, expected = ours(ids), theirs(ids, use_cache=False).logits
    close(mine, expected)
    pull = torch.randn_like(mine)
    mine.backward(pull)
    expected.backward(pull)
    gradients = {
        name: weight.grad
        for name, weight in theirs.named_parameters(remove_duplicate=0)
    }
    expected_gradients = weights(ours, gradients)
    for name, weight in ours.named_parameters():
        assert weight.grad.abs().max() > 0
        close(weight.grad, expected_gradients[name], 1e-10)


@MODELS
def test_each_block_agrees_with_all_gradients(theirs, ours, weights) -> None:
    theirs, ours = theirs(), ours()
    ours.load_state_dict(weights(ours, theirs.state_dict()))
    places = torch.arange(T)
    for layer, block in enumerate(ours.blocks):
        x = torch.randn(TEXTS, T, E, dtype=torch.float64).requires_grad_()
        mine = block(x)
        if hasattr(theirs, "transformer"):
            expected = theirs.transformer.h[layer](x)
        else:
            turn = Angles()(x, places[None])
            expected = theirs.model.layers[layer](x, position_embeddings=turn)
        expected = expected[0] if isinstance(expected, tuple) else expected
        close(mine, expected)
        pull = torch.randn_like(mine)
        (a,), (b,) = (torch.autograd.grad(y, [x], pull) for y in (mine, expected))
        close(a, b)


# The parts that transformers has in 32 bits.


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1000.0])
def test_a_norm_is_llamas_in_every_type(dtype, scale) -> None:
    theirs, ours = LlamaRMSNorm(E, 1e-5).to(dtype), RMSNorm(E, eps=1e-5, dtype=dtype)
    scatter(theirs)
    ours.load_state_dict(theirs.state_dict())
    x = (scale * torch.randn(TEXTS, T, E)).to(dtype)
    assert torch.equal(ours(x), theirs(x))


def test_feed_forward_parts_are_theirs() -> None:
    x = torch.randn(TEXTS, T, E, dtype=torch.float64)
    config = LlamaConfig(
        hidden_size=E, intermediate_size=HIDDEN, num_attention_heads=HEADS
    )
    theirs = LlamaMLP(config).double()
    scatter(theirs)
    ours = SwiGLU(E, HIDDEN).double()
    ours.load_state_dict(theirs.state_dict())
    close(ours(x), theirs(x))

    config = GPT2Config(n_embd=E, n_head=HEADS, resid_pdrop=0.0)
    theirs = GPT2MLP(HIDDEN, config).double()
    scatter(theirs)
    ours = FeedForward(E, HIDDEN).double()
    names = {"up_proj": theirs.c_fc, "down_proj": theirs.c_proj}
    for name, layer in names.items():
        ours.get_submodule(name).load_state_dict(
            {"weight": layer.weight.T, "bias": layer.bias}
        )
    close(ours(x), theirs(x))


def test_gelu_is_gpt2s_and_not_pytorchs_default() -> None:
    x = torch.linspace(-6, 6, 999, dtype=torch.float64)
    ours = nn.functional.gelu(x, approximate="tanh")
    close(ours, ACT2FN[GPT2Config().activation_function](x))
    off = (ours - nn.functional.gelu(x)).abs().max()
    assert 4e-4 < off < 5e-4


# Published sizes.


@pytest.mark.parametrize(
    ("model", "config", "count"),
    [
        (GPT2LMHeadModel, GPT2Config(), 124_439_808),
        (
            LlamaForCausalLM,
            LlamaConfig(
                vocab_size=128_256, intermediate_size=14_336, num_key_value_heads=8
            ),
            8_030_261_248,
        ),
        (MistralForCausalLM, MistralConfig(), 7_241_732_096),
    ],
)
def test_published_models_have_as_many_parameters_there(model, config, count) -> None:
    with torch.device("meta"):
        assert model(config).num_parameters() == count
