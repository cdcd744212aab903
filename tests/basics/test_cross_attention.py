"""Cross-attention: loops, PyTorch, a memory without order, and one that is kept."""

import copy

import pytest
import torch
from torch import Tensor, nn

from headway import (
    CrossAttention,
    SelfAttentionV2,
    attention,
    fused_attention,
    padding_mask,
)
from headway.checks import check
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D_IN, B, D, E, H, S, T, V, draw

D_MEMORY = V  # a prime of its own
BIAS = pytest.mark.parametrize("qkv_bias", [False, True])
ATTEND = pytest.mark.parametrize("attend", [fused_attention, attention])


def build(qkv_bias: bool = True, dropout: float = 0.0, **options) -> CrossAttention:
    module = CrossAttention(D_IN, D_MEMORY, E, dropout, H, qkv_bias, **options)
    return module.double()


def loops(
    x: Tensor, memory: Tensor, module: CrossAttention, mask: Tensor | None = None
) -> Tensor:
    """Project, cut into heads, attend and join with lists of Python's floats."""
    state = {name: weight.tolist() for name, weight in module.state_dict().items()}

    def project(tokens: oracles.Table, layer: str) -> oracles.Table:
        weight, bias = state[f"{layer}.weight"], state.get(f"{layer}.bias")
        return oracles.linear(tokens, weight, bias)

    def one(x: oracles.Table, memory: oracles.Table, allowed: oracles.Allowed):
        query = project(x, "W_query")
        key, value = project(memory, "W_key"), project(memory, "W_value")
        context = oracles.heads_side_by_side(query, key, value, H, allowed)
        return project(context, "out_proj")

    leading = torch.broadcast_shapes(x.shape[:-2], memory.shape[:-2])
    mask = torch.tensor(True) if mask is None else mask
    allowed = mask.expand(*leading, x.shape[-2], memory.shape[-2])
    return oracles._for_each(one, x, memory, allowed)


LEADING = {
    "one text, one memory": ((), ()),
    "a memory each": ((B,), (B,)),
    "one memory for all texts": ((B,), ()),
    "one text, several memories": ((), (B,)),
    "every text, every memory": ((B, 1), (3,)),
}


@BIAS
@ATTEND
@pytest.mark.parametrize("kind", LEADING)
def test_it_equals_the_loops(kind, attend, qkv_bias) -> None:
    module = build(qkv_bias, attend=attend)
    assert len(module.state_dict()) == (8 if qkv_bias else 5)
    texts, memories = LEADING[kind]
    x, memory = draw(*texts, T, D_IN), draw(*memories, S, D_MEMORY)
    close(module(x, memory), loops(x, memory, module))


MASKS = {
    "(T, S)": lambda: torch.rand(T, S) < 0.6,
    "(1, S)": lambda: torch.rand(1, S) < 0.6,
    "(T, 1)": lambda: torch.rand(T, 1) < 0.6,
    "(B, 1, S)": lambda: padding_mask(torch.tensor([4, S]), S),
    "(B, T, S)": lambda: torch.rand(B, T, S) < 0.6,
    "nothing": lambda: torch.zeros(T, S, dtype=torch.bool),
}


@ATTEND
@pytest.mark.parametrize("kind", MASKS)
def test_a_mask_equals_the_loops(kind, attend) -> None:
    module, mask = build(attend=attend), MASKS[kind]()
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    close(module(x, memory, mask=mask), loops(x, memory, module, mask))


@BIAS
@ATTEND
def test_it_equals_pytorch_weight_for_weight_with_gradients(attend, qkv_bias) -> None:
    ours = CrossAttention(E, D_MEMORY, E, 0.0, H, qkv_bias, attend=attend).double()
    theirs = nn.MultiheadAttention(
        E, H, kdim=D_MEMORY, vdim=D_MEMORY, batch_first=True, dtype=torch.float64
    )
    layers = [ours.W_query, ours.W_key, ours.W_value]
    names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    with torch.no_grad():
        for name, layer in zip(names, layers, strict=True):
            theirs.get_parameter(name).copy_(layer.weight)
        if qkv_bias:
            theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        theirs.out_proj.bias.copy_(ours.out_proj.bias)
    inputs = [draw(B, T, E), draw(B, S, D_MEMORY)]
    mine = [tensor.clone().requires_grad_() for tensor in inputs]
    others = [tensor.clone().requires_grad_() for tensor in inputs]
    mask = padding_mask(torch.tensor([4, S]), S)
    our_result = ours(*mine, mask=mask)
    their_result, _ = theirs(
        others[0], others[1], others[1], key_padding_mask=~mask.squeeze(1)
    )
    close(our_result, their_result)
    gradient = draw(B, T, E)
    our_result.backward(gradient)
    their_result.backward(gradient)
    for one, other in zip(mine, others, strict=True):
        close(one.grad, other.grad)
    for name, layer in zip(names, layers, strict=True):
        close(layer.weight.grad, theirs.get_parameter(name).grad)
    if qkv_bias:
        stacked = torch.cat([layer.bias.grad for layer in layers])
        close(stacked, theirs.in_proj_bias.grad)
    close(ours.out_proj.weight.grad, theirs.out_proj.weight.grad)
    close(ours.out_proj.bias.grad, theirs.out_proj.bias.grad)


def test_it_is_the_second_attention_of_pytorchs_decoder_layer() -> None:
    layer = nn.TransformerDecoderLayer(
        E, H, 2 * E, 0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    theirs = layer.multihead_attn
    ours = CrossAttention(E, E, E, 0.0, H, qkv_bias=True).double()
    state = {"out_proj.weight": theirs.out_proj.weight}
    state["out_proj.bias"] = draw(E)
    names = ("W_query", "W_key", "W_value")
    for name, weight, bias in zip(
        names, theirs.in_proj_weight.chunk(3), draw(3, E), strict=True
    ):
        state |= {f"{name}.weight": weight, f"{name}.bias": bias}
    ours.load_state_dict(state)
    with torch.no_grad():
        theirs.out_proj.bias.copy_(state["out_proj.bias"])
        theirs.in_proj_bias.copy_(torch.cat([state[f"{name}.bias"] for name in names]))
        # What surrounds it is switched off: only the residual is left to add.
        layer.self_attn.out_proj.weight.zero_()
        layer.linear2.weight.zero_()
        layer.linear2.bias.zero_()
    x, memory = draw(B, T, E), draw(B, S, E)
    close(layer(x, memory) - x, ours(layer.norm2(x), memory))


@ATTEND
def test_the_memory_is_a_set(attend) -> None:
    module = build(attend=attend)
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    mask = torch.rand(B, T, S) < 0.6
    for order in (torch.randperm(S), torch.arange(S).flip(0)):
        close(module(x, memory[:, order]), module(x, memory))
        close(
            module(x, memory[:, order], mask=mask[..., order]),
            module(x, memory, mask=mask),
        )


@ATTEND
def test_the_text_is_a_list_of_queries(attend) -> None:
    """No token of the text sees another one of it."""
    module = build(attend=attend)
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    whole = module(x, memory)
    for t in range(T):
        close(module(x[:, t : t + 1], memory), whole[:, t : t + 1])
        changed = x.clone()
        changed[:, t] = 1e3 * draw(B, D_IN)
        others = torch.arange(T) != t
        assert torch.equal(module(changed, memory)[:, others], whole[:, others])


@ATTEND
def test_every_token_of_the_memory_counts_for_every_query(attend) -> None:
    module = build(attend=attend)
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    before = module(x, memory)
    for s in range(S):
        changed = memory.clone()
        changed[:, s] += 0.5 * draw(B, D_MEMORY)
        moved = (module(x, changed) - before).abs().amax(dim=-1)
        assert moved.gt(1e-6).all()


@ATTEND
def test_one_token_of_memory_answers_everything(attend) -> None:
    module = build(attend=attend)
    x, memory = 100 * draw(B, T, D_IN), draw(B, 1, D_MEMORY)
    value = module.out_proj(module.W_value(memory))
    close(module(x, memory), value.expand(B, T, E))


@ATTEND
def test_a_text_that_looks_into_itself_does_self_attention(attend) -> None:
    alone = SelfAttentionV2(D_IN, V, qkv_bias=True).double()
    module = CrossAttention(D_IN, D_IN, V, 0.0, 1, True, attend=attend).double()
    identity = {"out_proj.weight": torch.eye(V), "out_proj.bias": torch.zeros(V)}
    module.load_state_dict(alone.state_dict() | identity)
    x = draw(B, T, D_IN)
    close(module(x, x), alone(x))
    close(module(x, x), oracles.self_attention(x, alone.state_dict(), causal=False))


@ATTEND
def test_a_padded_memory_equals_each_alone(attend) -> None:
    """Garbage stands in the padding; the answers may not see it."""
    module = build(attend=attend)
    lengths = [S, 1, 4, 0]
    x, memory = draw(4, T, D_IN), 1e3 * draw(4, S, D_MEMORY)
    real = padding_mask(torch.tensor(lengths), S)
    memory[real.squeeze(1)] = draw(sum(lengths), D_MEMORY)
    memory.requires_grad_()
    result = module(x, memory, mask=real)
    for text, length in enumerate(lengths[:3]):
        close(result[text], module(x[text], memory[text, :length]), 1e-11)
    assert torch.equal(result[3], module.out_proj.bias.expand(T, E))
    result.square().sum().backward()
    assert memory.grad[~real.squeeze(1)].eq(0).all()
    for weight in module.parameters():
        assert weight.grad.isfinite().all()


def test_a_memory_is_projected_once_and_asked_often() -> None:
    module = build()
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    mask = padding_mask(torch.tensor([4, S]), S)
    calls = []
    for layer in (module.W_key, module.W_value):
        layer.register_forward_hook(lambda *_: calls.append(1))
    key, value = module.keys_and_values(memory)
    assert key.shape == value.shape == (B, H, S, D)
    close(key, module.W_key(memory).reshape(B, S, H, D).transpose(1, 2))
    close(value, module.W_value(memory).reshape(B, S, H, D).transpose(1, 2))
    whole, hidden = module(x, memory), module(x, memory, mask=mask)
    calls.clear()
    for t in range(T):
        one = x[:, t : t + 1]
        close(module.look_up(one, key, value), whole[:, t : t + 1])
        close(module.look_up(one, key, value, mask=mask), hidden[:, t : t + 1])
    assert not calls


def test_the_attention_function_is_given_what_its_signature_says() -> None:
    calls = []

    def spy(query, key, value, **options):
        calls.append((query, key, value, options))
        return attention(query, key, value, **options)

    module = build(dropout=0.25, attend=spy)
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    mask = padding_mask(torch.tensor([4, S]), S)
    module(x, memory)
    module(x, memory, mask=mask)
    module.eval()(x, memory)
    for query, key, value, options in calls:
        assert query.shape == (B, H, T, D)
        assert key.shape == value.shape == (B, H, S, D)
        assert not options.get("causal", False)
    assert [options["dropout_p"] for *_, options in calls] == [0.25, 0.25, 0.0]
    masks = [options["mask"] for *_, options in calls]
    assert masks[0] is masks[2] is None
    assert torch.equal(masks[1], mask.unsqueeze(1))


def test_dropout_is_off_in_use_and_leaves_no_trace() -> None:
    module = build(dropout=0.5)
    x, memory = draw(B, T, D_IN), draw(B, S, D_MEMORY)
    without = build()
    without.load_state_dict(module.state_dict())
    assert not torch.equal(module(x, memory), module(x, memory))
    state = torch.get_rng_state()
    close(module.eval()(x, memory), without(x, memory))
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_every_precision_works(dtype: torch.dtype) -> None:
    module = build().to(dtype)
    x, memory = draw(B, T, D_IN, dtype=dtype), draw(B, S, D_MEMORY, dtype=dtype)
    result = module(x, memory)
    assert result.dtype == dtype
    exact = copy.deepcopy(module).double()(x.double(), memory.double())
    error = (result.double() - exact).abs().max()
    assert error <= 16 * torch.finfo(dtype).eps


@ATTEND
def test_gradients_equal_differences(attend) -> None:
    module = CrossAttention(5, 3, 6, 0.0, 2, True, attend=attend).double()
    inputs = (draw(B, 3, 5), draw(B, 4, 3))
    for tensor in inputs:
        tensor.requires_grad_()
    mask = padding_mask(torch.tensor([4, 1]), 4)
    assert torch.autograd.gradcheck(
        lambda x, memory, *_: module(x, memory, mask=mask),
        (*inputs, *module.parameters()),
        fast_mode=True,
    )


def test_layers_are_made_in_the_order_of_the_package() -> None:
    torch.manual_seed(1)
    module = CrossAttention(D_IN, D_MEMORY, E, 0.0, H, True)
    torch.manual_seed(1)
    sizes = [(D_IN, E), (D_MEMORY, E), (D_MEMORY, E), (E, E)]
    layers = [nn.Linear(*size) for size in sizes]
    names = ["W_query", "W_key", "W_value", "out_proj"]
    assert [name for name, _ in module.named_children()] == [*names, "dropout"]
    for name, layer in zip(names, layers, strict=True):
        assert torch.equal(module.get_submodule(name).weight, layer.weight)
        assert torch.equal(module.get_submodule(name).bias, layer.bias)


def test_weights_are_made_where_and_how_one_says() -> None:
    module = CrossAttention(
        D_IN, D_MEMORY, E, 0.0, H, True, device="meta", dtype=torch.bfloat16
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)


def test_a_check_finds_nothing_when_a_text_is_its_own_memory() -> None:
    module = CrossAttention(12, 12, 20, 0.1, num_heads=4)
    report = check(module)
    report.assert_ok()
    assert "m(x, x)" in str(report)
