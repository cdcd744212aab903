"""Weights go to PyTorch's module, come back, and come from GPT-2, to the last bit."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    attention,
    causal_mask,
    from_gpt2,
    from_heads,
    from_torch,
    fused_attention,
    to_torch,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, T, draw

BIAS = pytest.mark.parametrize("bias", [False, True])


def build(bias: bool = True, dropout: float = 0.0) -> MultiHeadAttention:
    return MultiHeadAttention(E, E, CONTEXT, dropout, H, bias).double()


def pytorch_module(bias: bool = True, **options) -> nn.MultiheadAttention:
    """Make PyTorch's module, its biases drawn: it would start them at zero."""
    module = nn.MultiheadAttention(
        E, H, bias=bias, batch_first=True, dtype=torch.float64, **options
    )
    if bias:
        nn.init.normal_(module.in_proj_bias)
        nn.init.normal_(module.out_proj.bias)
    return module


def causal(module: nn.MultiheadAttention, x: torch.Tensor, **options) -> torch.Tensor:
    return module(x, x, x, attn_mask=~causal_mask(T), **options)[0]


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("training", [False, True])
@BIAS
def test_ours_in_pytorch(bias, training, need_weights) -> None:
    ours = build(bias).train(training)
    theirs = to_torch(ours)
    assert theirs.batch_first
    x = draw(B, T, E)
    with torch.set_grad_enabled(training):
        close(causal(theirs, x, need_weights=need_weights), ours(x))


@pytest.mark.parametrize("training", [False, True])
@BIAS
def test_pytorch_in_ours(bias, training) -> None:
    theirs = pytorch_module(bias).train(training)
    ours = from_torch(theirs, CONTEXT)
    assert ours.context_length == CONTEXT
    assert ours.num_heads == H
    assert ours.attend is fused_attention
    x = draw(B, T, E)
    result = ours(x)
    close(result, causal(theirs, x))
    close(
        result,
        oracles.self_attention(x, ours.state_dict(), causal=True, num_heads=H),
    )


def test_batch_first_or_not_the_weights_are_the_same() -> None:
    theirs = nn.MultiheadAttention(E, H, dtype=torch.float64)
    ours = from_torch(theirs, CONTEXT)
    x = draw(T, B, E)
    close(ours(x.transpose(0, 1)).transpose(0, 1), causal(theirs, x))


def test_gradients_are_the_same_too() -> None:
    theirs = pytorch_module()
    ours = from_torch(theirs, CONTEXT)
    x = draw(B, T, E).requires_grad_()
    y = x.detach().clone().requires_grad_()
    gradient = draw(B, T, E)
    ours(x).backward(gradient)
    causal(theirs, y).backward(gradient)
    close(x.grad, y.grad)
    layers = [ours.W_query, ours.W_key, ours.W_value]
    close(torch.cat([a.weight.grad for a in layers]), theirs.in_proj_weight.grad)
    close(torch.cat([a.bias.grad for a in layers]), theirs.in_proj_bias.grad)
    close(ours.out_proj.weight.grad, theirs.out_proj.weight.grad)
    close(ours.out_proj.bias.grad, theirs.out_proj.bias.grad)


def test_there_and_back_changes_no_bit() -> None:
    ours = build()
    again = from_torch(to_torch(ours), CONTEXT).state_dict()
    assert [*again] == [*ours.state_dict()]
    for name, weight in ours.state_dict().items():
        assert torch.equal(again[name], weight)
    theirs = pytorch_module()
    back = to_torch(from_torch(theirs, CONTEXT)).state_dict()
    assert {*back} == {*theirs.state_dict()}
    for name, weight in theirs.state_dict().items():
        assert torch.equal(back[name], weight)


def test_a_missing_bias_is_zero() -> None:
    theirs = to_torch(build(bias=False))
    assert theirs.in_proj_bias.eq(0).all()
    ours = from_torch(pytorch_module(bias=False), CONTEXT)
    assert ours.W_query.bias is ours.W_key.bias is ours.W_value.bias is None
    assert ours.out_proj.bias.eq(0).all()


def gpt2_block() -> dict[str, torch.Tensor]:
    return {
        "c_attn.weight": draw(E, 3 * E),
        "c_attn.bias": draw(3 * E),
        "c_proj.weight": draw(E, E),
        "c_proj.bias": draw(E),
    }


def test_gpt2_equals_its_own_formula() -> None:
    """Conv1D is `x @ weight + bias`; the heads are views of its three parts."""
    block = gpt2_block()
    ours = from_gpt2(block, num_heads=H, context_length=CONTEXT)
    x = draw(B, T, E)
    fused = torch.addmm(block["c_attn.bias"], x.view(-1, E), block["c_attn.weight"])
    query, key, value = (
        part.view(B, T, H, E // H).permute(0, 2, 1, 3)
        for part in fused.view(B, T, 3 * E).split(E, dim=2)
    )
    context = scaled_dot_product_attention(query, key, value, is_causal=True)
    merged = context.permute(0, 2, 1, 3).reshape(-1, E)
    result = torch.addmm(block["c_proj.bias"], merged, block["c_proj.weight"])
    close(ours(x), result.view(B, T, E))


def test_gpt2_has_no_dropout_and_weights_of_its_own() -> None:
    block = gpt2_block()
    ours = from_gpt2(block, num_heads=H, context_length=CONTEXT)
    assert ours.dropout.p == 0.0
    assert ours.context_length == CONTEXT
    x = draw(T, E)
    before = ours(x)
    for tensor in block.values():
        tensor.zero_()
    assert torch.equal(ours(x), before)


def test_gpt2_buffers_are_not_needed() -> None:
    block = gpt2_block()
    ours = from_gpt2(block, H, CONTEXT).state_dict()
    buffers = {
        "bias": torch.ones(1, 1, CONTEXT, CONTEXT).tril(),
        "masked_bias": torch.tensor(-1e4),
    }
    again = from_gpt2(block | buffers, H, CONTEXT).state_dict()
    for name, weight in ours.items():
        assert torch.equal(again[name], weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_gpt2_keeps_type_and_device(dtype: torch.dtype) -> None:
    block = {name: weight.to(dtype) for name, weight in gpt2_block().items()}
    ours = from_gpt2(block, H, CONTEXT)
    assert {weight.dtype for weight in ours.parameters()} == {dtype}
    block = {name: weight.to("meta") for name, weight in block.items()}
    ours = from_gpt2(block, H, CONTEXT)
    assert {weight.device.type for weight in ours.parameters()} == {"meta"}


def test_no_conversion_draws_random_numbers() -> None:
    ours, theirs = build(), pytorch_module()
    block, wrapper = gpt2_block(), stack()
    before = torch.get_rng_state()
    to_torch(ours)
    from_torch(theirs, CONTEXT)
    from_gpt2(block, H, CONTEXT)
    from_heads(wrapper)
    assert torch.equal(torch.get_rng_state(), before)


# Stacked heads become one module.


def stack(num_heads: int = H, qkv_bias: bool = True) -> MultiHeadAttentionWrapper:
    return MultiHeadAttentionWrapper(
        D_IN, D, CONTEXT, 0.25, num_heads, qkv_bias
    ).double()


@pytest.mark.parametrize("num_heads", range(1, 6))
@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_from_heads_computes_what_the_heads_compute(
    attend, qkv_bias, num_heads
) -> None:
    wrapper = stack(num_heads, qkv_bias).eval()
    before = {name: weight.clone() for name, weight in wrapper.state_dict().items()}
    module = from_heads(wrapper, attend=attend)
    assert module.attend is attend
    assert module.num_heads == num_heads
    assert module.context_length == CONTEXT
    assert module.dropout.p == 0.25
    assert (module.W_query.bias is not None) == qkv_bias
    x = draw(B, T, D_IN)
    close(module(x), wrapper(x))
    for name, weight in wrapper.state_dict().items():
        assert torch.equal(weight, before[name])


def test_from_heads_uses_the_fused_kernel_unless_told() -> None:
    assert from_heads(stack()).attend is fused_attention
    assert MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H).attend is fused_attention


def test_from_heads_gets_the_gradients_of_the_heads() -> None:
    wrapper = stack().eval()
    module = from_heads(wrapper)
    x = draw(B, T, D_IN).requires_grad_()
    y = x.detach().clone().requires_grad_()
    gradient = draw(B, T, E)
    wrapper(x).backward(gradient)
    module(y).backward(gradient)
    close(y.grad, x.grad)
    for name in ("W_query.weight", "W_key.weight", "W_value.weight", "W_value.bias"):
        heads = [head.get_parameter(name).grad for head in wrapper.heads]
        close(module.get_parameter(name).grad, torch.cat(heads))


# What all conversions of modules keep.

CONVERSIONS: dict[str, tuple[Callable[[bool], nn.Module], Callable]] = {
    "to_torch": (lambda bias: build(bias, 0.25), to_torch),
    "from_torch": (
        lambda bias: pytorch_module(bias, dropout=0.25),
        lambda module: from_torch(module, CONTEXT),
    ),
    "from_heads": (lambda bias: stack(qkv_bias=bias), from_heads),
    "from_one_head": (lambda bias: stack(1, bias), from_heads),
}


@BIAS
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("dtype", "device"),
    [(torch.float32, "cpu"), (torch.bfloat16, "cpu"), (torch.float64, "meta")],
    ids=str,
)
@pytest.mark.parametrize("kind", CONVERSIONS)
def test_mode_dropout_type_and_device_are_kept(
    kind, dtype, device, training, bias
) -> None:
    make, convert = CONVERSIONS[kind]
    given = make(bias).to(device, dtype).train(training)
    module = convert(given)
    assert getattr(module.dropout, "p", module.dropout) == 0.25
    assert {part.training for part in module.modules()} == {training}
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == (device, dtype)
        assert weight.requires_grad
        assert weight.is_leaf
    if device == "cpu":  # weights of its own
        assert not {w.data_ptr() for w in module.parameters()} & {
            w.data_ptr() for w in given.parameters()
        }
