"""Sinks, the window that keeps the first tokens in sight, and the soft cap."""

import copy
import functools
import itertools
import math
import re

import pytest
import torch
import torch.nn.attention.flex_attention as flex
from torch import Tensor, nn

from headway import (
    CrossAttention,
    GroupedQueryAttention,
    KeyValueCache,
    LearnedSinks,
    MultiHeadAttention,
    Rotary,
    attention,
    attention_weights,
    attention_with_lse,
    causal_mask,
    merge_attention,
    sink_attention,
    sink_window_mask,
    sliding_window_mask,
    softcap_attention,
)
from tests.support.compare import close
from tests.support.random_inputs import (
    BROADCAST,
    EVERY_LEADING,
    EVERY_MASK,
    mask_of,
    qkv,
    random_mask,
)
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, S, T, V, draw

GROUPS, IN_GROUP = 2, 3
HEADS = GROUPS * IN_GROUP


def by_loops(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sinks: Tensor,
    allowed: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
    cap: float | None = None,
) -> Tensor:
    """Attend one number at a time; a sink only adds to what is divided by."""
    leading = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
    T, S, V = query.shape[-2], key.shape[-2], value.shape[-1]
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    allowed = torch.ones(T, S, dtype=torch.bool) if allowed is None else allowed
    bias = torch.zeros(T, S) if bias is None else bias
    of = [x.expand(*leading, *x.shape[-2:]) for x in (query, key, value)]
    both = [x.expand(*leading, T, S) for x in (allowed, bias)]
    result = torch.zeros(*leading, T, V, dtype=torch.float64)
    for place in itertools.product(*map(range, leading)):
        q, k, v = (x[place].tolist() for x in of)
        visible, added = (x[place].tolist() for x in both)
        sink = sinks.expand(leading)[place].item()
        for t in range(T):
            total, mixed = math.exp(sink), [0.0] * V
            for s in range(S):
                if not visible[t][s]:
                    continue
                score = sum(a * b for a, b in zip(q[t], k[s], strict=True)) * scale
                if cap is not None:
                    score = cap * math.tanh(score / cap)
                power = math.exp(score + added[t][s])
                total += power
                mixed = [m + power * n for m, n in zip(mixed, v[s], strict=True)]
            if total > 0:
                result[(*place, t)] = torch.tensor(mixed, dtype=torch.float64) / total
    return result


NO_SINK = torch.tensor(-torch.inf, dtype=torch.float64)


def one_more_key(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor, *, mask=None, **options
) -> Tensor:
    """Put a key of zeros in front, with a value of zeros and the sink as its bias."""
    pad = nn.functional.pad
    bias = sinks[..., None, None] * (torch.arange(key.shape[-2] + 1) == 0)
    return attention(
        query,
        pad(key, (0, 0, 1, 0)),
        pad(value, (0, 0, 1, 0)),
        mask=None if mask is None else pad(mask, (1, 0), value=True),
        bias=bias,
        **options,
    )


def four() -> tuple[Tensor, ...]:
    """The example by eye: scores of ln 1 to ln 4, and values of 10 to 40."""
    query = torch.ones(1, 1, dtype=torch.float64)
    key = torch.arange(1.0, 5.0, dtype=torch.float64)[:, None]
    return query, key.log(), 10 * key


# A sink.


@pytest.mark.parametrize(
    ("mass", "context"), [(0.0, 30.0), (10.0, 15.0), (30.0, 7.5), (1.0, 300 / 11)]
)
def test_a_sink_takes_its_share_of_the_mass(mass, context) -> None:
    sink = torch.tensor(mass, dtype=torch.float64).log()
    found = sink_attention(*four(), sinks=sink)
    close(found, torch.full((1, 1), context, dtype=torch.float64))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_a_sink_equals_the_loops(leading, kind) -> None:
    causal = len(leading) % 2 == 1
    query, key, value = qkv(leading)
    sinks, mask = draw(*leading[-1:]), mask_of(kind, leading)
    allowed = causal_mask(T, S) if causal else torch.ones(T, S, dtype=torch.bool)
    allowed = allowed if mask is None else allowed & mask
    found = sink_attention(query, key, value, sinks=sinks, mask=mask, causal=causal)
    close(found, by_loops(query, key, value, sinks, allowed))


@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
def test_leading_axes_broadcast(of_query, of_key, of_value) -> None:
    query, key = draw(*of_query, T, D), draw(*of_key, S, D)
    value = draw(*of_value, S, V)
    of_scores = torch.broadcast_shapes(of_query, of_key)
    for shape in {(), of_scores[-1:], of_scores, (1,) * len(of_scores)}:
        sinks = draw(*shape)
        found = sink_attention(query, key, value, sinks=sinks)
        close(found, by_loops(query, key, value, sinks))


@EVERY_LEADING
def test_bias_and_scale_are_those_of_attention(leading) -> None:
    query, key, value = qkv(leading)
    sinks, bias = draw(*leading[-1:]), draw(*leading, T, S)
    given = {"bias": bias, "scale": 0.7}
    found = sink_attention(query, key, value, sinks=sinks, **given)
    close(found, by_loops(query, key, value, sinks, **given))


@pytest.mark.parametrize("causal", [False, True])
def test_a_gate_and_one_more_key_are_the_same(causal) -> None:
    """In values and in all gradients, with rows that may see nothing."""
    inputs = [*qkv((B, H)), draw(H)]
    mask = mask_of("with fully masked rows", (B, H))
    gradient, results = draw(B, H, T, V), []
    for attend in (
        lambda q, k, v, s: sink_attention(q, k, v, sinks=s, mask=mask, causal=causal),
        lambda q, k, v, s: one_more_key(q, k, v, s, mask=mask, causal=causal),
    ):
        leaves = [x.clone().requires_grad_() for x in inputs]
        context = attend(*leaves)
        context.backward(gradient)
        results.append([context.detach(), *(x.grad for x in leaves)])
    for one, other in zip(*results, strict=True):
        close(one, other)
    assert results[0][-1].abs().gt(1e-3).all()


def test_a_sink_is_a_piece_that_is_merged() -> None:
    query, key, value = qkv((B, H))
    sinks = draw(H)
    piece = torch.zeros(B, H, T, V).double(), sinks[:, None].expand(B, H, T)
    merged, _ = merge_attention(attention_with_lse(query, key, value), piece)
    close(sink_attention(query, key, value, sinks=sinks), merged)


def test_rows_sum_to_what_the_sink_leaves() -> None:
    query, key, _ = qkv((B, H))
    sinks, everything = draw(H), torch.eye(S).double()
    weights = sink_attention(query, key, everything, sinks=sinks)
    _, lse = attention_with_lse(query, key, everything)
    close(weights.sum(dim=-1), torch.sigmoid(lse - sinks[:, None]))
    assert weights.sum(dim=-1).max() < 1
    # Among themselves, keys share as before.
    shares = weights / weights.sum(dim=-1, keepdim=True)
    close(shares, attention_weights(query, key))


def test_minus_infinity_is_off_and_zero_is_not() -> None:
    query, key, value = qkv((B, H))
    plain = attention(query, key, value)
    close(sink_attention(query, key, value, sinks=NO_SINK), plain)
    zero = sink_attention(query, key, value, sinks=torch.zeros(H).double())
    assert (zero - plain).abs().max() > 0.1
    close(zero, by_loops(query, key, value, torch.zeros(H)))


def test_what_is_added_to_all_scores_is_taken_from_the_sink() -> None:
    """Without a sink it changes nothing; with one it does."""
    query, key, value = qkv((H,))
    sinks, shift = draw(H), torch.full((1, 1), 1.7, dtype=torch.float64)
    moved = sink_attention(query, key, value, sinks=sinks, bias=shift)
    close(moved, sink_attention(query, key, value, sinks=sinks - 1.7))
    assert (moved - sink_attention(query, key, value, sinks=sinks)).abs().max() > 0.05


@pytest.mark.parametrize("sink", [-torch.inf, 0.3, 800.0, -800.0])
def test_a_row_without_keys_is_zero_and_has_no_gradient(sink) -> None:
    query, key, value = (x.requires_grad_() for x in qkv((H,)))
    sinks = torch.full((H,), sink).double().requires_grad_()
    mask = random_mask(H, T, S)
    mask[:, 2] = False
    context = sink_attention(query, key, value, sinks=sinks, mask=mask)
    assert context[:, 2].eq(0).all()
    context.square().sum().backward()
    assert query.grad[:, 2].eq(0).all()
    for leaf in (query, key, value, sinks):
        assert leaf.grad.isfinite().all()
    if sink == 0.3:
        assert query.grad[:, :2].ne(0).all()


def test_scores_may_be_large() -> None:
    query, key, value = four()
    for shift in (-2000.0, 2000.0):
        sink = torch.tensor(10.0).double().log() + shift
        bias = torch.full((1, 1), shift).double()
        found = sink_attention(query, key, value, sinks=sink, bias=bias)
        close(found, torch.tensor([[15.0]]).double(), 1e-11)


def test_dropout_drops_the_weights_of_keys() -> None:
    query, key, value = qkv((B, H))
    sinks, p = draw(H), 0.4
    everything = torch.eye(S).double()
    given = {"sinks": sinks, "causal": True}
    weights = sink_attention(query, key, everything, **given)
    torch.manual_seed(3)
    expected = nn.functional.dropout(weights, p) @ value
    torch.manual_seed(3)
    close(sink_attention(query, key, value, dropout_p=p, **given), expected)
    assert (expected - weights @ value).abs().max() > 0.1


def test_dropout_knows_mask_bias_and_scale() -> None:
    query, key, value = qkv((B, H))
    everything = torch.eye(S).double()
    given = {
        "sinks": draw(H),
        "mask": random_mask(B, 1, T, S),
        "bias": draw(H, T, S),
        "scale": 0.3,
    }
    weights = sink_attention(query, key, everything, **given)
    torch.manual_seed(5)
    expected = nn.functional.dropout(weights, 0.5) @ value
    torch.manual_seed(5)
    close(sink_attention(query, key, value, dropout_p=0.5, **given), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_result_has_the_type_of_the_values(dtype) -> None:
    query, key, value = (x.to(dtype) for x in qkv((H,)))
    for sinks in (draw(H), draw(H, dtype=torch.float32), draw(H).to(dtype)):
        found = sink_attention(query, key, value, sinks=sinks)
        assert found.dtype == dtype
        exact = by_loops(*(x.double() for x in (query, key, value)), sinks)
        torch.testing.assert_close(found.double(), exact, rtol=0.05, atol=0.05)


# Heads, each with a sink that is learned.


def build(kind: type[nn.Module] = MultiHeadAttention, **options) -> nn.Module:
    module = kind(D_IN, HEADS * D, CONTEXT, 0.0, HEADS, True, **options).double()
    if isinstance(module.attend, LearnedSinks):
        nn.init.normal_(module.attend.sinks)
    return module


def test_a_module_with_sinks_equals_the_loops() -> None:
    module = build(attend=LearnedSinks(HEADS))
    x = draw(B, T, D_IN)
    heads = [
        layer(x).unflatten(-1, (HEADS, D)).transpose(1, 2)
        for layer in (module.W_query, module.W_key, module.W_value)
    ]
    found = by_loops(*heads, module.attend.sinks.detach(), causal_mask(T))
    close(module(x), module.out_proj(found.transpose(1, 2).flatten(-2)))


def test_sinks_start_at_zero_and_are_saved() -> None:
    module = MultiHeadAttention(D_IN, E, T, 0.0, H, attend=LearnedSinks(H))
    assert module.state_dict()["attend.sinks"].eq(0).all()
    assert module.attend.sinks.shape == (H,)
    assert dict(module.named_parameters())["attend.sinks"].requires_grad
    other = LearnedSinks(H, device="meta", dtype=torch.bfloat16).sinks
    assert (other.device.type, other.dtype) == ("meta", torch.bfloat16)


def test_sinks_of_minus_infinity_are_off() -> None:
    module = build(attend=LearnedSinks(HEADS))
    plain = build()
    weights = module.state_dict()
    del weights["attend.sinks"]
    plain.load_state_dict(weights)
    x = draw(B, T, D_IN)
    assert (module(x) - plain(x)).abs().max() > 0.01
    nn.init.constant_(module.attend.sinks, -torch.inf)
    close(module(x), plain(x))


@pytest.mark.parametrize("kv_heads", [None, 1, GROUPS, IN_GROUP, HEADS])
def test_the_gradient_of_the_sinks_is_right(kv_heads) -> None:
    """Numerically, for all heads at once, through the whole module."""
    kind, options = MultiHeadAttention, {}
    if kv_heads is not None:
        kind, options = GroupedQueryAttention, {"num_kv_heads": kv_heads}
    attend = LearnedSinks(HEADS, kv_heads).double()
    module, x = build(kind, attend=attend, **options), draw(B, 3, D_IN)

    def result(sinks: Tensor) -> Tensor:
        return torch.func.functional_call(module, {"attend.sinks": sinks}, (x,))

    assert torch.autograd.gradcheck(result, draw(HEADS).requires_grad_())


def test_sinks_are_learned() -> None:
    """A head that should say nothing learns to, by its sink alone."""
    torch.manual_seed(1)
    module = MultiHeadAttention(D_IN, E, T, 0.0, H, attend=LearnedSinks(H)).double()
    x = draw(B, T, D_IN)
    rate = 5.0
    before = module(x).square().mean()
    for _ in range(30):
        (gradient,) = torch.autograd.grad(
            (module(x) - module.out_proj.bias).square().sum(), module.attend.sinks
        )
        with torch.no_grad():
            module.attend.sinks -= rate * gradient
    assert module.attend.sinks.gt(0.5).all()
    assert module(x).square().mean() != before


@pytest.mark.parametrize("kv_heads", [1, GROUPS, IN_GROUP, HEADS])
def test_query_heads_of_a_group_have_sinks_of_their_own(kv_heads) -> None:
    """Grouped heads equal heads with copies of what is shared, sinks in order."""
    grouped = build(
        GroupedQueryAttention,
        attend=LearnedSinks(HEADS, kv_heads),
        num_kv_heads=kv_heads,
    )
    plain = build(attend=LearnedSinks(HEADS))
    weights = grouped.state_dict()
    for name in ("W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias"):
        heads = weights[name].unflatten(0, (kv_heads, D))
        copies = heads.repeat_interleave(HEADS // kv_heads, dim=0)
        weights[name] = copies.flatten(0, 1)
    plain.load_state_dict(weights)
    x, mask = draw(B, T, D_IN), random_mask(B, T, T)
    mask |= torch.eye(T, dtype=torch.bool)
    close(grouped(x, mask=mask), plain(x, mask=mask))


@pytest.mark.parametrize("chunks", [[1] * T, [3, 4], [5, 1, 1], [T]], ids=str)
def test_a_cache_changes_nothing(chunks) -> None:
    module = build(
        GroupedQueryAttention,
        attend=LearnedSinks(HEADS, GROUPS),
        num_kv_heads=GROUPS,
        window=4,
    )
    x, cache = draw(B, T, D_IN), KeyValueCache()
    parts = [module(part, cache=cache) for part in x.split(chunks, dim=1)]
    close(torch.cat(parts, dim=1), module(x))


def test_the_future_leaks_nothing() -> None:
    module = build(attend=LearnedSinks(HEADS))
    x = draw(B, T, D_IN).requires_grad_()
    for t in range(T - 1):
        (gradient,) = torch.autograd.grad(module(x)[:, t].sum(), x)
        assert gradient[:, t + 1 :].eq(0).all()
        assert gradient[:, : t + 1].ne(0).all()


def test_cross_attention_may_have_sinks() -> None:
    zero = functools.partial(sink_attention, sinks=torch.zeros(H).double())
    module, plain = (
        CrossAttention(D_IN, V, E, 0.0, H, attend=attend).double()
        for attend in (LearnedSinks(H), zero)
    )
    plain.load_state_dict(module.state_dict(), strict=False)
    x, memory = draw(B, T, D_IN), draw(B, S, V)
    close(module(x, memory), plain(x, memory))


def test_all_options_go_through() -> None:
    query, key, value = qkv((B, H))
    attend = LearnedSinks(H).double()
    nn.init.normal_(attend.sinks)
    given = {
        "mask": random_mask(B, H, T, S),
        "bias": draw(H, T, S),
        "causal": True,
        "scale": 0.7,
    }
    found = attend(query, key, value, **given)
    close(found, sink_attention(query, key, value, sinks=attend.sinks, **given))
    torch.manual_seed(2)
    one = attend(query, key, value, dropout_p=0.5)
    torch.manual_seed(2)
    two = sink_attention(query, key, value, sinks=attend.sinks, dropout_p=0.5)
    close(one, two)


# The first tokens stay in sight.


@pytest.mark.parametrize(
    ("T", "S"), [(5, 5), (13, 13), (3, 11), (1, 7), (7, 3), (4, 1)], ids=str
)
@pytest.mark.parametrize("window", [1, 3, 12, 20])
@pytest.mark.parametrize("sinks", [0, 1, 4, 20])
def test_a_mask_equals_its_loops(T, S, window, sinks) -> None:
    expected = [
        [0 <= t + S - T - s < window or s < min(sinks, t + S - T + 1) for s in range(S)]
        for t in range(T)
    ]
    mask = sink_window_mask(T, S, window=window, sinks=sinks)
    assert mask.dtype == torch.bool
    assert mask.tolist() == expected


def test_a_mask_without_sinks_is_a_window_and_with_all_it_is_causal() -> None:
    for sizes in ((7, 7), (3, 11), (11, 3)):
        plain = sink_window_mask(*sizes, window=3, sinks=0)
        assert torch.equal(plain, sliding_window_mask(*sizes, window=3))
        for sinks in (sizes[1], sizes[1] + 1):
            everything = sink_window_mask(*sizes, window=3, sinks=sinks)
            assert torch.equal(everything, causal_mask(*sizes))
    square = sink_window_mask(7, 7, window=3, sinks=2)
    assert torch.equal(sink_window_mask(7, window=3, sinks=2), square)


def test_a_row_sees_at_most_the_window_and_the_sinks() -> None:
    mask = sink_window_mask(9, window=3, sinks=2)
    assert mask.sum(dim=-1).tolist() == [1, 2, 3, 4, 5, 5, 5, 5, 5]
    assert mask[:, 0].all()
    assert sink_window_mask(3, window=2, sinks=1, device="meta").device.type == "meta"


def test_the_positions_in_the_cache_are_those_of_the_paper() -> None:
    """Xiao et al. (2023), section 3.2: [0, 1, 2, 3, 6, 7, 8], to decode token 9."""
    seen = sink_window_mask(1, 10, window=4, sinks=4)[0].nonzero()[:, 0]
    assert seen.tolist() == [0, 1, 2, 3, 6, 7, 8, 9]
    rotate, keys, query = Rotary(D + 1), draw(10, D + 1), draw(1, D + 1)
    in_cache = torch.arange(len(seen))
    placed = rotate(keys[seen], in_cache)
    rolled = rotate(rotate(keys[seen], seen), in_cache - seen)
    close(rolled, placed)
    last = rotate(query, in_cache[-1:])
    assert ((last @ placed.mT) - (rotate(query, seen[-1:]) @ placed.mT)).abs().max() > 0


# Capped scores.


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_capped_scores_equal_the_loops(leading, kind) -> None:
    causal = len(leading) % 2 == 1
    query, key, value = qkv(leading)
    mask, bias = mask_of(kind, leading), draw(T, S)
    allowed = causal_mask(T, S) if causal else torch.ones(T, S, dtype=torch.bool)
    allowed = allowed if mask is None else allowed & mask
    given = {"bias": bias, "cap": 0.8, "scale": 1.3}
    found = softcap_attention(query, key, value, mask=mask, causal=causal, **given)
    close(found, by_loops(query, key, value, NO_SINK, allowed, **given))


@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
def test_leading_axes_broadcast_under_a_cap(of_query, of_key, of_value) -> None:
    query, key = draw(*of_query, T, D), draw(*of_key, S, D)
    value = draw(*of_value, S, V)
    found = softcap_attention(query, key, value, cap=1.1)
    close(found, by_loops(query, key, value, NO_SINK, cap=1.1))


def test_no_score_is_beyond_the_cap() -> None:
    """However long queries are, weights differ by a factor of e to the 2C at most."""
    query, key = 1e6 * draw(T, D), draw(S, D)
    weights = softcap_attention(query, key, torch.eye(S).double(), cap=1.5)
    ratio = weights.amax(dim=-1) / weights.amin(dim=-1)
    close(ratio, torch.full((T,), math.exp(3.0), dtype=torch.float64))


def test_a_cap_that_grows_is_no_cap() -> None:
    query, key, value = qkv((B, H))
    plain = attention(query, key, value, causal=True)
    errors = [
        (softcap_attention(query, key, value, cap=cap, causal=True) - plain).abs().max()
        for cap in (1.0, 10.0, 100.0, 1e8)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.05
    # It falls with the square of the cap.
    assert 80 < errors[1] / errors[2] < 120
    assert errors[3] < 1e-13


@pytest.mark.parametrize("cap", [0.5, 5.0, 50.0])
def test_what_is_hidden_is_hidden_after_the_cap(cap) -> None:
    query, key, value = qkv((B, H))
    value.requires_grad_()
    softcap_attention(query, key, value, cap=cap, causal=True)[
        ..., 0, :
    ].sum().backward()
    seen = S - T + 1
    assert value.grad[..., :seen, :].ne(0).all()
    assert value.grad[..., seen:, :].eq(0).all()


@pytest.mark.parametrize(("cap", "leak"), [(5.0, 0.177), (50.0, 6.17e-21)])
def test_a_cap_after_the_mask_leaks(cap, leak) -> None:
    """The first of 33 tokens, all scores zero: 5 shows it, and 50 hides it."""
    scores = torch.zeros(33).double().masked_fill(~causal_mask(33)[0], -torch.inf)
    wrong = (cap * torch.tanh(scores / cap)).softmax(dim=-1)
    assert wrong[1:].sum().item() == pytest.approx(leak, rel=5e-3)
    x = torch.zeros(33, 1).double()
    right = softcap_attention(x, x, torch.eye(33).double(), cap=cap, causal=True)
    assert right[0, 1:].eq(0).all()


def test_a_row_without_keys_is_zero_under_a_cap() -> None:
    query, key, value = (x.requires_grad_() for x in qkv((H,)))
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[3] = False
    context = softcap_attention(query, key, value, cap=2.0, mask=mask)
    assert context[:, 3].eq(0).all()
    context.sum().backward()
    assert query.grad[:, 3].eq(0).all()
    assert key.grad.isfinite().all()


def test_dropout_under_a_cap_drops_weights() -> None:
    query, key, value = qkv((B, H))
    weights = softcap_attention(query, key, torch.eye(S).double(), cap=1.0)
    torch.manual_seed(3)
    expected = nn.functional.dropout(weights, 0.4) @ value
    torch.manual_seed(3)
    close(softcap_attention(query, key, value, cap=1.0, dropout_p=0.4), expected)


def test_a_cap_equals_flex_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `score_mod` comes before its `mask_mod`, whatever one does."""
    monkeypatch.setattr(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    query, key, value = draw(B, H, S, D), draw(B, H, S, D), draw(B, H, S, V)
    hide = flex.create_block_mask(
        lambda b, h, q, k: q >= k, None, None, S, S, device="cpu", BLOCK_SIZE=4
    )
    for cap in (0.7, 50.0):
        theirs = flex.flex_attention(
            query,
            key,
            value,
            score_mod=lambda score, b, h, q, k, cap=cap: cap * torch.tanh(score / cap),
            block_mask=hide,
        )
        ours = softcap_attention(query, key, value, cap=cap, causal=True)
        close(ours, theirs)


def test_a_module_may_cap_its_scores() -> None:
    attend = functools.partial(softcap_attention, cap=1.0)
    module = build(attend=attend)
    x = draw(B, T, D_IN)
    x.requires_grad_()
    module(x)[:, 2].sum().backward()
    assert x.grad[:, 3:].eq(0).all()
    plain = copy.deepcopy(module)
    plain.attend = attention
    assert (module(x) - plain(x)).abs().max() > 1e-3


# Bad input.

ZEROS = torch.zeros(B, H, T, D)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sink_attention(ZEROS, ZEROS, ZEROS, sinks=torch.zeros(T)),
            f"sinks must broadcast to the axes before the tokens, ({B}, {H}); "
            f"got sinks.shape=({T},).",
        ),
        (
            lambda: sink_attention(ZEROS, ZEROS, ZEROS, sinks=torch.zeros(B, 1, H)),
            f"sinks must broadcast to the axes before the tokens, ({B}, {H}); "
            f"got sinks.shape=({B}, 1, {H}).",
        ),
        (
            lambda: sink_attention(
                ZEROS, ZEROS, ZEROS, sinks=torch.zeros(H, dtype=torch.int64)
            ),
            "sinks must hold floating-point numbers; got sinks.dtype=torch.int64.",
        ),
        (
            lambda: sink_attention(
                ZEROS, ZEROS, ZEROS, sinks=torch.zeros(H), dropout_p=1.0
            ),
            "dropout_p must be in [0, 1); got dropout_p=1.0.",
        ),
        (
            lambda: LearnedSinks(0),
            "num_heads must be a positive integer; got num_heads=0.",
        ),
        (
            lambda: LearnedSinks(6, 0),
            "num_kv_heads must be a positive integer; got num_kv_heads=0.",
        ),
        (
            lambda: LearnedSinks(6, 4),
            "num_kv_heads must divide num_heads; got num_kv_heads=4, num_heads=6.",
        ),
        (
            lambda: LearnedSinks(T)(ZEROS, ZEROS, ZEROS),
            f"query must have heads of shape ({T},) before the tokens; "
            f"got query.shape=({B}, {H}, {T}, {D}).",
        ),
        # One head, and as many texts as there should be heads.
        (
            lambda: MultiHeadAttention(D, D, T, 0.0, 1, attend=LearnedSinks(H))(
                torch.zeros(H, T, D)
            ),
            f"query must have heads of shape ({H},) before the tokens; "
            f"got query.shape=({H}, 1, {T}, {D}).",
        ),
        (
            lambda: GroupedQueryAttention(
                D, 6, T, 0.0, 6, num_kv_heads=2, attend=LearnedSinks(6)
            )(torch.zeros(B, T, D)),
            f"query must have heads of shape (6,) before the tokens; "
            f"got query.shape=({B}, 2, 3, {T}, 1).",
        ),
        (
            lambda: LearnedSinks(6, 2)(ZEROS[0], ZEROS[0], ZEROS[0]),
            "query must have heads of shape (2, 3) before the tokens; "
            f"got query.shape=({H}, {T}, {D}).",
        ),
        *(
            (
                lambda sizes=sizes: sink_window_mask(
                    **{"T": T, "window": 3, "sinks": 1} | sizes
                ),
                f"{name} must be a positive integer; got {name}={size!r}.",
            )
            for name, size in (("T", 0), ("S", -1), ("window", 0), ("window", 2.0))
            for sizes in [{name: size}]
        ),
        *(
            (
                lambda n=n: sink_window_mask(T, window=3, sinks=n),
                f"sinks must be an integer of at least 0; got sinks={n!r}.",
            )
            for n in (-1, 1.0, True)
        ),
        *(
            (
                lambda cap=cap: softcap_attention(ZEROS, ZEROS, ZEROS, cap=cap),
                f"cap must be positive and finite; got cap={cap}.",
            )
            for cap in (0.0, -5.0, math.inf, math.nan)
        ),
        (
            lambda: softcap_attention(ZEROS, ZEROS, ZEROS, cap=1.0, scale=0.0),
            "scale must be positive and finite; got scale=0.0.",
        ),
        (
            lambda: softcap_attention(ZEROS, ZEROS, ZEROS, cap=1.0, dropout_p=-0.1),
            "dropout_p must be in [0, 1); got dropout_p=-0.1.",
        ),
        (
            lambda: softcap_attention(
                ZEROS, ZEROS, ZEROS, cap=1.0, mask=torch.zeros(T, T)
            ),
            "mask must be boolean, True where a query may look; "
            "got mask.dtype=torch.float32.",
        ),
        (
            lambda: softcap_attention(
                ZEROS, ZEROS, ZEROS, cap=1.0, bias=torch.zeros(T + 1, T)
            ),
            f"bias must broadcast to the scores, of shape ({B}, {H}, {T}, {T}); "
            f"got bias.shape=({T + 1}, {T}).",
        ),
        (
            lambda: softcap_attention(ZEROS, ZEROS, ZEROS[..., 1:, :], cap=1.0),
            "value must have the length of key, and leading axes that broadcast; "
            f"got value.shape=({B}, {H}, {T - 1}, {D}), "
            f"key.shape=({B}, {H}, {T}, {D}), query.shape=({B}, {H}, {T}, {D}).",
        ),
        (
            lambda: softcap_attention(ZEROS, ZEROS[..., 1:], ZEROS, cap=1.0),
            "key must have the width of query, and leading axes that broadcast; "
            f"got key.shape=({B}, {H}, {T}, {D - 1}), "
            f"query.shape=({B}, {H}, {T}, {D}).",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, message) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
