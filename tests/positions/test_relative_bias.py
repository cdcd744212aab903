"""A bias for distance: slopes, buckets, both forms, and what a cache must keep."""

import math
import re
from functools import partial

import numpy
import pytest
import torch
from torch import Tensor

from headway import (
    ALiBi,
    MultiHeadAttention,
    T5Bias,
    alibi_slopes,
    attention,
    attention_weights,
    fused_attention,
    merge_heads,
    relative_buckets,
    split_heads,
)
from headway.decoding.kv_cache import KeyValueCache
from tests.support.compare import close
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, S, T, V, draw

WAYS = pytest.mark.parametrize("bidirectional", [False, True], ids=["one", "both"])
SIZES = pytest.mark.parametrize(
    ("num_buckets", "max_distance"), [(32, 128), (8, 20), (6, 11), (12, 1000)]
)


def by_rule(heads: int) -> list[float]:
    """Do what the authors' code does: ask for the next power of two, and thin it."""
    if math.log2(heads).is_integer():
        return [2 ** (-8 * (h + 1) / heads) for h in range(heads)]
    less = 2 ** math.floor(math.log2(heads))
    return by_rule(less) + by_rule(2 * less)[0::2][: heads - less]


def bucket(offset: int, num_buckets: int, max_distance: int, both: bool) -> int:
    """Find a bucket with logarithms, in Python's floats."""
    first = 0
    if both:
        num_buckets //= 2
        first = num_buckets if offset > 0 else 0
        offset = -abs(offset)
    distance, exact = max(-offset, 0), num_buckets // 2
    if distance < exact:
        return first + distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    # Where a power is whole, the logarithms meet it only but for rounding.
    far = exact + math.floor(share * (num_buckets - exact) + 1e-9)
    return first + min(far, num_buckets - 1)


def shuffled(length: int, spread: int = 1) -> Tensor:
    return spread * torch.randperm(length) + 3


def biases() -> list:
    learned = T5Bias(H, num_buckets=8, max_distance=6, dtype=torch.float64)
    torch.nn.init.normal_(learned.weight)
    encoder = T5Bias(
        H, num_buckets=8, max_distance=6, bidirectional=True, dtype=torch.float64
    )
    torch.nn.init.normal_(encoder.weight)
    return [ALiBi(H), learned, encoder]


BIASES = pytest.mark.parametrize("kind", range(3), ids=["alibi", "t5", "encoder"])


# Slopes.


@pytest.mark.parametrize("heads", [*range(1, 41), 71, 112, 128])
def test_slopes_are_those_of_the_published_rule(heads: int) -> None:
    slopes = alibi_slopes(heads)
    assert slopes.dtype == torch.float64
    close(slopes, torch.tensor(by_rule(heads), dtype=torch.float64), 1e-15)
    assert len(set(slopes.tolist())) == heads


def test_the_slopes_of_the_paper() -> None:
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    halves = torch.arange(1, 17) / 2
    close(alibi_slopes(16), 2.0 ** -halves.double(), 1e-15)


def test_twelve_heads_are_not_the_formula_with_twelve() -> None:
    slopes = alibi_slopes(12)
    assert slopes[:8].tolist() == [2.0**-h for h in range(1, 9)]
    close(slopes[8:], 2.0 ** -torch.tensor([0.5, 1.5, 2.5, 3.5]).double(), 1e-15)
    formula = 2.0 ** (-8 * torch.arange(1, 13).double() / 12)
    assert (slopes - formula).abs().max() > 0.6


# ALiBi.


def test_alibi_by_loops() -> None:
    query, key = shuffled(T, 2), shuffled(S)
    bias = ALiBi(H)(query, key)
    assert bias.dtype == torch.float64
    expected = torch.empty(H, T, S, dtype=torch.float64)
    for h, slope in enumerate(by_rule(H)):
        for t in range(T):
            for s in range(S):
                expected[h, t, s] = -slope * abs(query[t].item() - key[s].item())
    close(bias, expected, 1e-15)


def test_equal_scores_fall_by_half_from_step_to_step() -> None:
    positions = torch.arange(3)
    bias = math.log(2) * -(positions[:, None] - positions).abs().double()
    query, key = draw(1, D).expand(3, D), draw(1, D).expand(3, D)
    weights = attention_weights(query, key, bias=bias, causal=True)
    close(weights[2], torch.tensor([1.0, 2.0, 4.0]).double() / 7)
    close(weights[1], torch.tensor([1.0, 2.0, 0.0]).double() / 3)


def test_weights_fall_with_the_distance_where_scores_are_equal() -> None:
    positions = torch.arange(S)
    zeros = torch.zeros(H, S, D, dtype=torch.float64)
    bias = ALiBi(H)(positions, positions)
    weights = attention_weights(zeros, zeros, bias=bias, causal=True)
    for t in range(1, S):
        ratio = weights[:, t, 1 : t + 1] / weights[:, t, :t]
        close(ratio, alibi_slopes(H).exp()[:, None].expand(H, t))


@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_distance_and_key_index_are_one_form(attend) -> None:
    query, key, value = draw(B, H, T, D), draw(B, H, S, D), draw(B, H, S, V)
    query_positions, key_positions = torch.arange(S - T, S), torch.arange(S)
    by_distance = ALiBi(H)(query_positions, key_positions)
    by_index = (alibi_slopes(H)[:, None, None] * key_positions).expand(H, T, S)
    run = partial(attend, query, key, value, causal=True)
    close(run(bias=by_distance), run(bias=by_index))
    assert (run(bias=by_distance) - run(bias=-by_index)).abs().max() > 0.1
    assert (run(bias=by_distance) - run()).abs().max() > 0.01


# Buckets.


@SIZES
@WAYS
def test_buckets_by_loops(num_buckets, max_distance, bidirectional) -> None:
    options = {"num_buckets": num_buckets, "max_distance": max_distance}
    if bidirectional and num_buckets == 6:
        options["num_buckets"] = num_buckets = 10
    query, key = shuffled(T, 37), shuffled(131, 2)
    buckets = relative_buckets(query, key, bidirectional=bidirectional, **options)
    assert buckets.dtype == torch.int64
    assert buckets.shape == (T, 131)
    for t, row in enumerate(buckets.tolist()):
        offsets = (key - query[t]).tolist()
        expected = [
            bucket(offset, num_buckets, max_distance, bidirectional)
            for offset in offsets
        ]
        assert row == expected


def starts(bidirectional: bool, past: bool = True) -> dict[int, int]:
    """Say at which distance each bucket begins."""
    distances = torch.arange(1000)
    query, key = (distances, distances[:1]) if past else (distances[:1], distances)
    buckets = relative_buckets(query, key, bidirectional=bidirectional).flatten()
    assert torch.equal(buckets[1:], buckets[1:].sort().values)
    return {
        number: int((buckets == number).nonzero()[0]) for number in buckets.tolist()
    }


def test_where_the_last_bucket_starts() -> None:
    one = starts(bidirectional=False)
    assert list(one) == [*range(32)]
    assert [one[n] for n in (15, 16, 17, 30, 31)] == [15, 16, 19, 99, 113]
    both = starts(bidirectional=True)
    assert list(both) == [*range(16)]
    assert [both[n] for n in (7, 8, 9, 14, 15)] == [7, 8, 12, 64, 91]


def test_each_direction_of_the_encoder_has_its_own_buckets() -> None:
    past = starts(bidirectional=True)
    future = starts(bidirectional=True, past=False)
    del past[0], future[0]  # distance zero is of the past
    assert {n - 16: start for n, start in future.items() if n != 16} == past
    assert 16 not in future  # its place is distance zero


def test_the_future_of_a_decoder_is_distance_zero() -> None:
    ahead = relative_buckets(torch.tensor([5]), torch.arange(5, 500))
    assert ahead.eq(0).all()


def test_whole_powers_are_not_rounded_down() -> None:
    # A logarithm that is rounded down would leave them in the bucket before.
    distances = torch.tensor([8, 16, 32, 64])
    found = relative_buckets(distances, torch.tensor([0]), bidirectional=True)
    assert found.flatten().tolist() == [8, 10, 12, 14]
    powers = torch.tensor([3**k for k in range(1, 7)])
    found = relative_buckets(
        powers, torch.tensor([0]), num_buckets=6, max_distance=3 * 3**3
    )
    assert found.flatten().tolist() == [3, 4, 5, 5, 5, 5]


# T5's bias.


@WAYS
def test_the_table_by_loops(bidirectional) -> None:
    bias = T5Bias(
        H, num_buckets=8, max_distance=20, bidirectional=bidirectional
    ).double()
    torch.nn.init.normal_(bias.weight)
    query, key = shuffled(T, 3), shuffled(S, 2)
    result = bias(query, key)
    assert result.shape == (H, T, S)
    for t in range(T):
        for s in range(S):
            offset = int(key[s] - query[t])
            close(result[:, t, s], bias.weight[bucket(offset, 8, 20, bidirectional)])


def test_the_gradient_of_a_number_counts_its_pairs() -> None:
    bias = T5Bias(H, num_buckets=8, max_distance=20).double()
    positions = torch.arange(T)
    bias(positions, positions).sum().backward()
    buckets = relative_buckets(positions, positions, num_buckets=8, max_distance=20)
    counts = buckets.flatten().bincount(minlength=8).double()
    close(bias.weight.grad, counts[:, None].expand(8, H))


def test_zeros_change_nothing_to_begin_with() -> None:
    build = partial(MultiHeadAttention, D_IN, E, CONTEXT, 0.0, H, dtype=torch.float64)
    torch.manual_seed(7)
    plain = build()
    torch.manual_seed(7)
    biased = build(bias=T5Bias(H, dtype=torch.float64))
    x = draw(B, T, D_IN)
    close(plain(x), biased(x))
    biased(x).square().sum().backward()
    assert biased.bias.weight.grad.ne(0).any()


def test_one_table_for_all_layers_is_one_parameter() -> None:
    bias = T5Bias(H)
    layers = torch.nn.ModuleList(
        MultiHeadAttention(E, E, CONTEXT, 0.0, H, bias=bias) for _ in range(3)
    )
    tables = [p for p in layers.parameters() if p.shape == bias.weight.shape]
    assert len(tables) == 1


def test_the_table_has_the_type_and_the_place_that_are_asked_for() -> None:
    bias = T5Bias(H, num_buckets=8, device="meta", dtype=torch.bfloat16)
    assert bias.weight.device.type == "meta"
    assert bias.weight.dtype == torch.bfloat16
    assert bias.weight.shape == (8, H)


# Both, in attention.


@BIASES
def test_a_batch_has_positions_of_its_own(kind) -> None:
    bias = biases()[kind]
    query = torch.stack([shuffled(T), shuffled(T, 2)])
    key = torch.stack([shuffled(S, 2), shuffled(S)])
    both = bias(query, key)
    assert both.shape == (B, H, T, S)
    for b in range(B):
        close(both[b], bias(query[b], key[b]))
    close(bias(query, key[0])[1], bias(query[1], key[0]))
    close(bias(query[:1], key)[1], bias(query[0], key[1]))


@BIASES
def test_only_the_difference_counts(kind) -> None:
    bias = biases()[kind]
    query, key = shuffled(T), shuffled(S)
    assert torch.equal(bias(query, key), bias(query + 10**6, key + 10**6))
    assert not torch.equal(bias(query, key), bias(query + 1, key))


@BIASES
@pytest.mark.parametrize("attend", [attention, fused_attention])
@pytest.mark.parametrize("causal", [False, True])
def test_the_module_is_the_function_with_a_bias(kind, attend, causal) -> None:
    bias = biases()[kind]
    module = MultiHeadAttention(
        D_IN, E, CONTEXT, 0.0, H, causal=causal, bias=bias, attend=attend
    ).double()
    x, positions = draw(B, T, D_IN), 2 * torch.arange(T) + 1
    query, key, value = (
        split_heads(project(x), H)
        for project in (module.W_query, module.W_key, module.W_value)
    )
    context = attention(
        query, key, value, bias=bias(positions, positions), causal=causal
    )
    expected = module.out_proj(merge_heads(context))
    close(module(x, positions=positions), expected)
    assert (module(x) - expected).abs().max() > 1e-4


@BIASES
@pytest.mark.parametrize("cuts", [(1,) * S, (4, 7), (7, 1, 3)], ids=str)
def test_with_a_cache_the_queries_stand_behind_it(kind, cuts) -> None:
    module = MultiHeadAttention(
        D_IN, E, CONTEXT, 0.0, H, bias=biases()[kind], dtype=torch.float64
    )
    x, cache = draw(B, S, D_IN), KeyValueCache()
    pieces = [module(piece, cache=cache) for piece in x.split(cuts, dim=-2)]
    close(torch.cat(pieces, dim=-2), module(x))


def test_without_a_scale_as_in_t5() -> None:
    bias = biases()[1]
    module = MultiHeadAttention(
        D_IN, E, CONTEXT, 0.0, H, bias=bias, attend=partial(fused_attention, scale=1.0)
    ).double()
    x, positions = draw(B, T, D_IN), torch.arange(T)
    query, key, value = (
        split_heads(project(x), H)
        for project in (module.W_query, module.W_key, module.W_value)
    )
    scores = query @ key.mT + bias(positions, positions)
    scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    expected = module.out_proj(merge_heads(scores.softmax(-1) @ value))
    close(module(x), expected)


# Precision.


def test_sixteen_bits_know_641_of_2048_positions() -> None:
    positions = torch.arange(2048)
    assert len(positions.bfloat16().unique()) == 641
    assert len(positions.half().unique()) == 2048
    assert len(torch.arange(4096).bfloat16().unique()) == 769


@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_the_distance_form_survives_sixteen_bits(attend) -> None:
    newest, keys = torch.tensor([2047]), torch.arange(2048)
    value = torch.eye(2048)[:, -16:]  # gives back the weights of the nearest keys
    zeros = torch.zeros(8, 2048, D)
    run = partial(attend, zeros[:, :1], zeros, value)
    exact = run(bias=ALiBi(8)(newest, keys).float())
    distance = run(bias=ALiBi(8)(newest, keys).bfloat16().float())
    index = run(bias=(alibi_slopes(8)[:, None, None] * keys).bfloat16().float())
    assert (distance - exact).abs().max() < 0.001
    assert (index - exact).abs().max() > 0.15


def test_alibi_leaves_rounding_to_attention() -> None:
    module = MultiHeadAttention(D_IN, E, 2048, 0.0, H, bias=ALiBi(H))
    x = draw(B, T, D_IN, dtype=torch.bfloat16)
    shifted = torch.arange(T) + 2000
    half = module.bfloat16()
    assert half(x).dtype == torch.bfloat16
    assert torch.equal(half(x), half(x, positions=shifted))


# Bad input.


def refused(sentence: str):
    assert re.fullmatch(r"\w+ must [^;]+; got \w+.+\.", sentence)
    return pytest.raises(ValueError, match=f"^{re.escape(sentence)}$")


@pytest.mark.refusal
@pytest.mark.parametrize("call", [ALiBi(H), T5Bias(H), relative_buckets])
def test_positions_must_be_integers_that_fit(call) -> None:
    good, bad = torch.arange(T), torch.arange(T).float()
    must = "must hold integers; got"
    with refused(f"query_positions {must} query_positions.dtype=torch.float32."):
        call(bad, good)
    with refused(f"key_positions {must} key_positions.dtype=torch.bool."):
        call(good, bad.bool())
    must = "must have shape (..., tokens); got"
    with refused(f"query_positions {must} query_positions.shape=()."):
        call(good[0], good)
    with refused(f"key_positions {must} key_positions.shape=()."):
        call(good, good[0])
    with refused(
        "key_positions must have leading axes that broadcast with those of "
        f"query_positions; got key_positions.shape=(3, {T}), "
        f"query_positions.shape=(2, {T})."
    ):
        call(good.expand(2, T), good.expand(3, T))


@pytest.mark.refusal
@pytest.mark.parametrize("call", [alibi_slopes, ALiBi, T5Bias])
@pytest.mark.parametrize("heads", [0, -3, 2.0, True])
def test_heads_are_counted(call, heads) -> None:
    with refused(f"num_heads must be a positive integer; got num_heads={heads!r}."):
        call(heads)


@pytest.mark.refusal
def test_heads_may_be_a_whole_number_of_any_type() -> None:
    assert torch.equal(alibi_slopes(numpy.int64(12)), alibi_slopes(12))


FEW = "num_buckets must be at least 2 with bidirectional=False; got"
ODD = "num_buckets must be an even number of at least 4 with bidirectional=True; got"
NEAR = "the number of near buckets; got max_distance"


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_buckets": 0}, "num_buckets must be a positive integer; got {}."),
        ({"max_distance": 2.5}, "max_distance must be a positive integer; got {}."),
        ({"num_buckets": 1}, FEW + " {}."),
        ({"num_buckets": 2, "bidirectional": True}, ODD + " {}."),
        ({"num_buckets": 33, "bidirectional": True}, ODD + " {}."),
        ({"max_distance": 16}, f"max_distance must be more than 16, {NEAR}=16."),
        (
            {"max_distance": 8, "bidirectional": True},
            f"max_distance must be more than 8, {NEAR}=8.",
        ),
    ],
)
def test_buckets_must_be_possible(options, sentence) -> None:
    name, number = next(iter(options.items()))
    sentence = sentence.format(f"{name}={number}")
    with refused(sentence):
        T5Bias(H, **options)
    with refused(sentence):
        relative_buckets(torch.arange(T), torch.arange(S), **options)


def test_the_smallest_buckets_there_are() -> None:
    positions = torch.arange(4)
    near = relative_buckets(positions, positions, num_buckets=2, max_distance=2)
    assert near[3].tolist() == [1, 1, 1, 0]
    both = relative_buckets(
        positions, positions, num_buckets=4, max_distance=2, bidirectional=True
    )
    assert both[1].tolist() == [1, 0, 3, 3]
    odd = relative_buckets(positions, positions, num_buckets=3, max_distance=9)
    assert odd[3].tolist() == [2, 1, 1, 0]
