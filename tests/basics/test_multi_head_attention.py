"""Many heads from one projection: loops, PyTorch, stacked heads, padding, memory."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    attention,
    causal_mask,
    fused_attention,
    merge_heads,
    padding_mask,
    six_by_rows,
    six_tokens,
    split_heads,
)
from tests.support import oracles, position_fakes
from tests.support.compare import close, printed
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, T, draw

BIAS = pytest.mark.parametrize("qkv_bias", [False, True])


def pytorch_attention(
    query, key, value, *, mask=None, bias=None, causal=False, dropout_p=0.0, scale=None
):
    """Somebody else's function, with the signature of `attention`."""
    assert bias is None
    if mask is not None and causal:
        mask, causal = mask & causal_mask(query.shape[-2], key.shape[-2]), False
    return scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=causal,
        dropout_p=dropout_p,
        scale=scale,
    )


ATTEND = pytest.mark.parametrize(
    "attend", [fused_attention, attention, pytorch_attention]
)


def build(
    qkv_bias: bool = True, dropout: float = 0.0, d_in: int = D_IN, **options: Any
) -> MultiHeadAttention:
    module = MultiHeadAttention(d_in, E, CONTEXT, dropout, H, qkv_bias, **options)
    return module.double()


@EVERY_LEADING
def test_a_head_is_a_run_of_columns(leading: tuple[int, ...]) -> None:
    x = draw(*leading, T, E)
    heads = split_heads(x, H)
    assert heads.shape == (*leading, H, T, D)
    for h in range(H):
        assert torch.equal(heads[..., h, :, :], x[..., h * D : (h + 1) * D])


def test_splitting_copies_nothing() -> None:
    x = draw(B, T, E)
    assert split_heads(x, H).data_ptr() == x.data_ptr()
    split_heads(x, H)[1, 2, 3, 0] = 100.0
    assert x[1, 3, 2 * D] == 100.0


@EVERY_LEADING
def test_merging_is_the_inverse(leading: tuple[int, ...]) -> None:
    x, heads = draw(*leading, T, E), draw(*leading, H, T, D)
    assert torch.equal(merge_heads(split_heads(x, H)), x)
    assert torch.equal(split_heads(merge_heads(heads), H), heads)


@BIAS
@ATTEND
@EVERY_LEADING
def test_it_equals_the_loops(leading, attend, qkv_bias) -> None:
    module, x = build(qkv_bias, attend=attend), draw(*leading, T, D_IN)
    state = module.state_dict()
    assert len(state) == (8 if qkv_bias else 5)
    close(module(x), oracles.self_attention(x, state, causal=True, num_heads=H))


MASKS = {
    "(T, T)": ((B,), lambda: torch.rand(T, T) < 0.6),
    "(1, T)": ((B,), lambda: torch.rand(1, T) < 0.6),
    "(B, 1, T)": ((B,), lambda: torch.rand(B, 1, T) < 0.6),
    "(1, T, T)": ((B,), lambda: torch.rand(1, T, T) < 0.6),
    "(B, T, T)": ((B,), lambda: torch.rand(B, T, T) < 0.6),
    "(T, T) for one text": ((), lambda: torch.rand(T, T) < 0.6),
    "(B, 1, T, T) for two batch axes": ((B, H), lambda: torch.rand(B, 1, T, T) < 0.6),
    "(H, 1, T) for two batch axes": ((B, H), lambda: torch.rand(H, 1, T) < 0.6),
    "nothing": ((B,), lambda: torch.zeros(T, T, dtype=torch.bool)),
    "everything": ((B,), lambda: torch.ones(T, T, dtype=torch.bool)),
}


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_a_further_mask_equals_the_loops(attend, kind) -> None:
    leading, draw_mask = MASKS[kind]
    module, x, mask = build(attend=attend), draw(*leading, T, D_IN), draw_mask()
    theirs = oracles.self_attention(
        x, module.state_dict(), causal=True, num_heads=H, mask=mask
    )
    close(module(x, mask=mask), theirs)


def test_the_attention_function_is_given_what_its_signature_says() -> None:
    calls = []

    def spy(query, key, value, **options):
        calls.append((query, options))
        return attention(query, key, value, **options)

    module = build(dropout=0.25, attend=spy)
    x, further = draw(B, T, D_IN), padding_mask(torch.tensor([T, 4]), T)
    module(x)
    module(x, mask=further)
    module.eval()(x)
    for query, options in calls:
        assert query.shape == (B, H, T, D)
        assert {*options} == {"mask", "bias", "causal", "dropout_p"}
        assert options["causal"] is True
    assert [options["dropout_p"] for _, options in calls] == [0.25, 0.25, 0.0]
    masks = [options["mask"] for _, options in calls]
    assert masks[0] is masks[2] is None
    assert torch.equal(masks[1], further.unsqueeze(1))


@BIAS
@ATTEND
def test_it_equals_pytorch_weight_for_weight_with_gradients(attend, qkv_bias) -> None:
    ours = build(qkv_bias, d_in=E, attend=attend)
    theirs = nn.MultiheadAttention(E, H, batch_first=True, dtype=torch.float64)
    layers = [ours.W_query, ours.W_key, ours.W_value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        if qkv_bias:
            theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        theirs.out_proj.bias.copy_(ours.out_proj.bias)
    x = draw(B, T, E).requires_grad_()
    y = x.detach().clone().requires_grad_()
    our_result = ours(x)
    their_result, _ = theirs(
        y, y, y, attn_mask=~causal_mask(T), need_weights=False, is_causal=True
    )
    close(our_result, their_result)
    gradient = draw(B, T, E)
    our_result.backward(gradient)
    their_result.backward(gradient)
    close(x.grad, y.grad)
    stacked = torch.cat([layer.weight.grad for layer in layers])
    close(stacked, theirs.in_proj_weight.grad)
    if qkv_bias:
        stacked = torch.cat([layer.bias.grad for layer in layers])
        close(stacked, theirs.in_proj_bias.grad)
    close(ours.out_proj.weight.grad, theirs.out_proj.weight.grad)
    close(ours.out_proj.bias.grad, theirs.out_proj.bias.grad)


@pytest.mark.parametrize("masked", [False, True])
@ATTEND
def test_gradients_equal_differences(attend, masked) -> None:
    module = MultiHeadAttention(5, 6, 3, 0.0, 2, True, attend=attend).double()
    mask = padding_mask(torch.tensor([3, 1]), 3) if masked else None
    inputs = (draw(B, 3, 5).requires_grad_(), *module.parameters())
    assert all(tensor.requires_grad for tensor in inputs)
    assert torch.autograd.gradcheck(
        lambda x, *_: module(x, mask=mask), inputs, fast_mode=True
    )


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_a_padded_batch_equals_each_text_alone(attend, side) -> None:
    """Garbage stands in the padding; the answer of the real tokens may not see it."""
    module = build(attend=attend)
    lengths = [T, 1, 4]
    texts = [draw(length, D_IN) for length in lengths]
    padded, real = 1e3 * draw(3, T, D_IN), torch.zeros(3, T, dtype=torch.bool)
    for row, text in enumerate(texts):
        place = slice(0, len(text)) if side == "right" else slice(T - len(text), T)
        padded[row, place] = text
        real[row, place] = True
    mask = real.unsqueeze(1)
    if side == "right":
        assert torch.equal(mask, padding_mask(torch.tensor(lengths), T))
    padded.requires_grad_()
    result = module(padded, mask=mask)
    for row, text in enumerate(texts):
        close(result[row, real[row]], module(text), 1e-11)
    assert result.isfinite().all()
    result[real].sum().backward()
    assert padded.grad[~real].eq(0).all()
    for weight in module.parameters():
        assert weight.grad.isfinite().all()


def test_a_token_that_sees_nothing_gets_the_last_bias() -> None:
    module = build()
    mask = torch.zeros(B, 1, T, dtype=torch.bool)
    result = module(draw(B, T, D_IN), mask=mask)
    assert torch.equal(result, module.out_proj.bias.expand(B, T, E))


@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_a_mask_is_built_where_the_tokens_are(attend) -> None:
    module, x = build(attend=attend), draw(B, T, D_IN)
    mask = padding_mask(torch.tensor([T, 4]), T)
    with torch.device("meta"):
        assert module(x).device == x.device
        assert module(x, mask=mask).device == x.device


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("leading", [(), (B,), (B, 1)], ids=str)
def test_the_fused_kernel_holds_no_square_of_tokens(leading, dtype) -> None:
    tokens = 509
    x = draw(*leading, tokens, D_IN, dtype=dtype).requires_grad_()
    counts = {}
    for name, options in {
        "default": {},
        "plain": {"attend": attention},
    }.items():
        module = MultiHeadAttention(D_IN, E, tokens, 0.0, H, **options).to(dtype)
        with Largest() as largest:
            module(x).sum().backward()
        counts[name] = largest.numbers
    assert counts["default"] < tokens**2
    assert counts["plain"] >= tokens**2


@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_the_dropout_layer_says_whether_it_acts(attend) -> None:
    """One may sample with dropout while all else is in use, and the other way round."""
    module = MultiHeadAttention(D_IN, E, CONTEXT, 0.5, H, attend=attend).double()
    x = draw(B, T, D_IN)
    module.eval()
    expected = module(x)
    module.dropout.train()
    assert not torch.equal(module(x), module(x))
    module.train()
    module.dropout.eval()
    assert torch.equal(module(x), expected)


# Positions, what turns, what is added, and what is kept.


def test_it_may_see_the_future() -> None:
    module, x = build(causal=False), draw(B, T, D_IN)
    state = module.state_dict()
    close(module(x), oracles.self_attention(x, state, causal=False, num_heads=H))
    mask = torch.rand(B, T, T) < 0.6
    close(
        module(x, mask=mask),
        oracles.self_attention(x, state, causal=False, num_heads=H, mask=mask),
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("options", ["rotate", "bias", "rotate bias"])
@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_with_positions_it_equals_the_loops(attend, options, causal) -> None:
    ours = {"rotate": position_fakes.rotate, "bias": position_fakes.bias(H)}
    theirs = {"turn": position_fakes.turn, "added": position_fakes.added}
    names = {"rotate": "turn", "bias": "added"}
    options = options.split()
    module = build(
        attend=attend, causal=causal, **{name: ours[name] for name in options}
    )
    x, mask = draw(B, T, D_IN), torch.rand(B, T, T) < 0.7
    positions = torch.stack([torch.randperm(CONTEXT)[:T] for _ in range(B)])
    for places in (None, positions[0], positions):
        given = torch.arange(T) if places is None else places
        result = module(x, mask=mask, positions=places)
        for b in range(B):
            visible = oracles.past(T, T) if causal else oracles.everything(T, T)
            expected = oracles.in_groups(
                x[b],
                module.state_dict(),
                H,
                H,
                allowed=(torch.tensor(visible) & mask[b]).tolist(),
                positions=given.expand(B, T)[b].tolist(),
                **{names[name]: theirs[names[name]] for name in options},
            )
            close(result[b], expected)


def test_positions_of_one_column_are_those_of_all_tokens() -> None:
    module = build(rotate=position_fakes.rotate, bias=position_fakes.bias(H))
    x, column = draw(B, T, D_IN), torch.tensor([[3], [CONTEXT - 1]])
    close(module(x, positions=column), module(x, positions=column.expand(B, T)))


def test_without_what_turns_or_adds_positions_change_nothing() -> None:
    module, x = build(), draw(B, T, D_IN)
    assert torch.equal(module(x, positions=torch.randperm(T)), module(x))


def test_a_bias_has_gradients() -> None:
    module, x = build(), draw(T, D_IN)

    def result(slope):
        module.bias = lambda there, here: slope * (here - there.unsqueeze(-1))
        return module(x)

    slope = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(result, (slope,))
    result(slope).sum().backward()
    assert slope.grad != 0


@pytest.mark.parametrize("lengths", position_fakes.CHUNKS, ids=str)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("attend", [fused_attention, attention])
def test_a_cache_changes_nothing(attend, causal, lengths) -> None:
    """Without `causal` a part sees all that is there so far, and no more."""
    module = build(
        attend=attend,
        causal=causal,
        rotate=position_fakes.rotate,
        bias=position_fakes.bias(H),
    )
    x, further = draw(B, T, D_IN), torch.rand(B, T, T) < 0.7
    cache, results, before = position_fakes.Kept(), [], 0
    so_far = torch.zeros(T, T, dtype=torch.bool)
    for part in x.split(lengths, dim=-2):
        after = before + part.shape[-2]
        so_far[before:after, :after] = True
        mask = further[:, before:after, :after]
        results.append(module(part, mask=mask, cache=cache))
        before = after
        assert cache.length == after
    close(torch.cat(results, dim=-2), module(x, mask=further & so_far))
    keys, _, places = zip(*cache.tokens, strict=True)
    assert torch.stack(places).tolist() == [*range(T)]
    assert keys[0].shape == (B, H, D)


def test_a_cache_keeps_the_positions_that_one_gives() -> None:
    module = build(rotate=position_fakes.rotate, bias=position_fakes.bias(H))
    x = draw(B, T, D_IN)
    positions = torch.stack([torch.randperm(CONTEXT)[:T] for _ in range(B)])
    cache = position_fakes.Kept()
    results = [
        module(part, positions=places, cache=cache)
        for part, places in zip(
            x.split([3, 4], dim=-2), positions.split([3, 4], dim=-1), strict=True
        )
    ]
    close(torch.cat(results, dim=-2), module(x, positions=positions))


@pytest.mark.refusal
@pytest.mark.parametrize("attend", [fused_attention, attention])
@pytest.mark.parametrize("heads", [2, H + 1])
def test_a_bias_for_other_heads_is_refused_and_nothing_is_kept(heads, attend) -> None:
    module, x = build(attend=attend, bias=position_fakes.bias(heads)), draw(B, T, D_IN)
    cache = position_fakes.Kept()
    for positions in (None, torch.arange(T), torch.arange(T).expand(B, T)):
        with pytest.raises(ValueError, match="bias must broadcast"):
            module(x, positions=positions, cache=cache)
    assert cache.length == 0
    module.bias = position_fakes.bias(H)
    close(module(x, cache=cache), module(x))  # the same call again, set right


def test_the_last_position_is_one() -> None:
    module, x = build(), draw(B, T, D_IN)
    cache = position_fakes.Kept()
    module(draw(B, CONTEXT - T, D_IN), cache=cache)
    assert module(x, cache=cache).shape == (B, T, E)
    # The number of tokens is no bound, if one says where they stand.
    long = draw(CONTEXT + 2, D_IN)
    places = torch.arange(CONTEXT + 2) % CONTEXT
    assert module(long, positions=places).shape == (CONTEXT + 2, E)


@pytest.mark.refusal  # torch.compile cannot see through the shape checks
def test_numbers_of_positions_are_not_looked_at_while_it_compiles() -> None:
    module = build(rotate=position_fakes.rotate)
    x, places = draw(T, D_IN), torch.randperm(CONTEXT)[:T]
    torch.compiler.reset()
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    close(compiled(x, positions=places), module(x, positions=places))


@pytest.mark.refusal  # torch.compile cannot see through the shape checks
@pytest.mark.parametrize(
    ("groups", "options"),
    [
        (None, ()),
        pytest.param(1, (), marks=pytest.mark.slow),
        pytest.param(None, ("bias", "rotate"), marks=pytest.mark.slow),
        pytest.param(H, ("bias", "rotate"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_it_is_compiled_with_a_cache_of_any_length(groups, options) -> None:
    """What it cannot know before: the numbers of new and of kept tokens."""
    ours = {"rotate": position_fakes.rotate, "bias": position_fakes.bias(H)}
    ours = {name: ours[name] for name in options}
    module = build(**ours).eval()
    if groups is not None:
        module = GroupedQueryAttention(
            D_IN, E, CONTEXT, 0.0, H, num_kv_heads=groups, **ours
        ).double()
    torch.compiler.reset()
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    x = draw(B, T, D_IN)
    cache = KeyValueCache()
    with torch.no_grad():
        calls = [compiled(part, cache=cache) for part in x.split([3, 1, 1, 2], dim=1)]
        close(torch.cat(calls, dim=1), module(x))


# The figures of the sources.


def test_figure_e36_and_a25() -> None:
    rows = [
        [0.3190, 0.4858],
        [0.2943, 0.3897],
        [0.2856, 0.3593],
        [0.2693, 0.3873],
        [0.2639, 0.3928],
        [0.2575, 0.4028],
    ]
    inputs = six_tokens().vectors
    torch.manual_seed(123)
    module = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
    printed(module(torch.stack([inputs, inputs])).detach(), [rows, rows])


def test_figure_d08() -> None:
    rows = [
        [0.1569, -0.0873, 0.0210, 0.0215, -0.3243, -0.2518],
        [0.1117, -0.0547, 0.0406, -0.0213, -0.3251, -0.2993],
        [0.1196, -0.0491, 0.0318, -0.0635, -0.2788, -0.2578],
    ]
    inputs = six_by_rows().vectors
    torch.manual_seed(123)
    module = MultiHeadAttention(6, 6, 3, 0.0, num_heads=2)
    printed(module(torch.stack([inputs, inputs])).detach(), [rows, rows])


@pytest.mark.refusal  # torch.export cannot see through the shape checks
@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_it_is_exported_for_any_number_of_tokens(attend) -> None:
    module = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, attend=attend).eval()
    example = draw(B, T, D_IN, dtype=torch.float32)
    tokens = torch.export.Dim("tokens", min=2, max=CONTEXT)
    exported = torch.export.export(module, (example,), dynamic_shapes=({1: tokens},))
    for length in (2, T, CONTEXT):
        x = draw(B, length, D_IN, dtype=torch.float32)
        close(exported.module()(x), module(x), 1e-6)


def test_weights_are_made_where_and_how_one_says() -> None:
    module = MultiHeadAttention(
        D_IN, E, CONTEXT, 0.0, H, True, device="meta", dtype=torch.bfloat16
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
