"""Heads that share keys and values, as PyTorch's kernel and transformers have them."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaConfig,
    repeat_kv,
)

from headway import GroupedQueryAttention, attention, fused_attention, repeat_heads

B, T, WIDTH = 2, 7, 4
SHAPES = pytest.mark.parametrize(
    ("heads", "groups"), [(12, 3), (6, 3), (10, 5), (5, 1), (5, 5)]
)


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@SHAPES
@pytest.mark.parametrize("attend", [attention, fused_attention])
@pytest.mark.parametrize("causal", [False, True])
def test_the_kernel_of_pytorch(heads, groups, attend, causal) -> None:
    inputs = [draw(B, n, T, WIDTH) for n in (heads, groups, groups)]
    query, key, value = inputs
    times = heads // groups
    ours = attend(
        query, repeat_heads(key, times), repeat_heads(value, times), causal=causal
    )
    theirs = scaled_dot_product_attention(*inputs, is_causal=causal, enable_gqa=True)
    close(ours, theirs)
    pull = torch.randn_like(ours)
    for a, b in zip(
        torch.autograd.grad(ours, inputs, pull),
        torch.autograd.grad(theirs, inputs, pull),
        strict=True,
    ):
        close(a, b)


@SHAPES
def test_the_function_of_transformers(heads, groups) -> None:
    x, times = draw(B, groups, T, WIDTH), heads // groups
    ours, theirs = repeat_heads(x, times), repeat_kv(x, times)
    assert torch.equal(ours, theirs)
    pull = torch.randn_like(ours)
    (a,), (b,) = (torch.autograd.grad(y, [x], pull) for y in (ours, theirs))
    close(a, b)


def turned(cos: Tensor, sin: Tensor):
    """Turn as Llama does, by its own numbers: the first half against the second."""

    def rotate(x: Tensor, positions: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    return rotate


@SHAPES
@pytest.mark.parametrize("bias", [False, True])
def test_the_attention_of_llama(heads, groups, bias) -> None:
    d_in, E = heads * 7, heads * WIDTH
    config = LlamaConfig(
        hidden_size=d_in,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        head_dim=WIDTH,
        attention_bias=bias,
        attn_implementation="sdpa",
    )
    theirs = LlamaAttention(config, layer_idx=0).double()
    theirs.o_proj = nn.Linear(E, E, dtype=torch.float64)  # theirs leads back to d_in
    ours = GroupedQueryAttention(
        d_in, E, T, 0.0, heads, bias, num_kv_heads=groups
    ).double()
    names = {
        "W_query": "q_proj",
        "W_key": "k_proj",
        "W_value": "v_proj",
        "out_proj": "o_proj",
    }
    for our_name, their_name in names.items():
        ours.get_submodule(our_name).load_state_dict(
            theirs.get_submodule(their_name).state_dict()
        )
    angles = torch.rand(T, WIDTH // 2, dtype=torch.float64) * 6
    angles = torch.cat([angles, angles], dim=-1)
    cos, sin = angles.cos(), angles.sin()
    ours.rotate = turned(cos, sin)

    x = draw(B, T, d_in)
    result = ours(x)
    expected, _ = theirs(
        x, position_embeddings=(cos[None], sin[None]), attention_mask=None
    )
    close(result, expected)
    pull = torch.randn_like(result)
    (a,) = torch.autograd.grad(result, [x], pull, retain_graph=True)
    (b,) = torch.autograd.grad(expected, [x], pull, retain_graph=True)
    close(a, b)
    result.backward(pull)
    expected.backward(pull)
    for our_name, their_name in names.items():
        their_layer = theirs.get_submodule(their_name)
        for name, weight in ours.get_submodule(our_name).named_parameters():
            close(weight.grad, their_layer.get_parameter(name).grad)
