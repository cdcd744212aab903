"""The key-value cache: however a text is cut, each token gets what it gets uncut."""

import cmath
import itertools
import math
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway import (
    AttentionFunction,
    Cache,
    KeyValueCache,
    MultiHeadAttention,
    attention,
    bytes_per_token,
    causal_mask,
    fused_attention,
)
from headway.decoding.grouped_query import GroupedQueryAttention
from headway.positions.rotary import Rotary
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, S, T, V, draw

CUTS = [
    [end - start for start, end in itertools.pairwise((0, *ends, T))]
    for count in range(T)
    for ends in itertools.combinations(range(1, T), count)
]
ATTEND = pytest.mark.parametrize("attend", [fused_attention, attention])
WIDE = 4  # of a head that is turned: there must be pairs
KV, GROUPED = 3, 6  # heads of keys, and of queries


def far(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Add numbers that depend on both places, and on the head."""
    distance = query_positions.unsqueeze(-1) - key_positions.unsqueeze(-2)
    heads = torch.arange(1, H + 1, dtype=torch.float64)[:, None, None]
    return torch.sin(heads * distance.unsqueeze(-3))


def plain(attend: AttentionFunction = fused_attention) -> nn.Module:
    return MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, True, attend=attend).double()


def turned(attend: AttentionFunction = fused_attention) -> nn.Module:
    return MultiHeadAttention(
        D_IN, H * WIDE, CONTEXT, 0.0, H, True, rotate=Rotary(WIDE), attend=attend
    ).double()


def biased(attend: AttentionFunction = fused_attention) -> nn.Module:
    return MultiHeadAttention(
        D_IN, E, CONTEXT, 0.0, H, True, bias=far, attend=attend
    ).double()


def grouped(attend: AttentionFunction = fused_attention) -> nn.Module:
    return GroupedQueryAttention(
        D_IN,
        GROUPED * WIDE,
        CONTEXT,
        0.0,
        GROUPED,
        True,
        num_kv_heads=KV,
        rotate=Rotary(WIDE),
        attend=attend,
    ).double()


MODULES = pytest.mark.parametrize("build", [plain, turned, biased, grouped])


def in_pieces(module: nn.Module, x: Tensor, lengths: list[int], **options) -> Tensor:
    cache = KeyValueCache()
    pieces = [
        module(piece, cache=cache, **options) for piece in x.split(lengths, dim=-2)
    ]
    assert cache.length == x.shape[-2]
    return torch.cat(pieces, dim=-2)


# The property: every way to cut a text.


def test_these_are_all_ways_to_cut() -> None:
    assert len(CUTS) == 2 ** (T - 1)
    assert len({tuple(cut) for cut in CUTS}) == len(CUTS)
    assert {sum(cut) for cut in CUTS} == {T}


@ATTEND
@MODULES
def test_cached_equals_uncached_for_every_cut(build, attend) -> None:
    module, x = build(attend), draw(B, T, D_IN)
    with torch.no_grad():
        whole = module(x)
        for cut in CUTS:
            close(in_pieces(module, x, cut), whole)


@MODULES
def test_gradients_flow_through_what_is_kept(build) -> None:
    module, x = build(), draw(B, T, D_IN).requires_grad_()
    inputs = [x, *module.parameters()]
    loss = draw(B, T, module.out_proj.out_features)
    expected = torch.autograd.grad((module(x) * loss).sum(), inputs)
    for cut in CUTS:
        result = (in_pieces(module, x, cut) * loss).sum()
        for ours, theirs in zip(
            torch.autograd.grad(result, inputs), expected, strict=True
        ):
            close(ours, theirs)


def test_a_token_at_a_time_is_what_loops_give() -> None:
    module, x = turned(), draw(T, D_IN)
    result = in_pieces(module, x, [1] * T)
    close(result, by_loops(module, x))


def by_loops(module: MultiHeadAttention, x: Tensor) -> Tensor:
    """Write a text one token at a time, with lists of what is kept."""

    def project(layer: nn.Linear, row: list[float]) -> list[float]:
        pairs = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
        return [oracles.dot(weights, row) + bias for weights, bias in pairs]

    def turn(vector: list[float], position: int) -> list[float]:
        turned = []
        for i in range(0, WIDE, 2):
            angle = position * 10_000.0 ** (-i / WIDE)
            pair = complex(*vector[i : i + 2]) * cmath.exp(1j * angle)
            turned += [pair.real, pair.imag]
        return turned

    kept: list[tuple[list, list]] = [([], []) for _ in range(H)]
    rows = []
    for position, token in enumerate(x.tolist()):
        q, k, v = (
            project(layer, token)
            for layer in (module.W_query, module.W_key, module.W_value)
        )
        context: list[float] = []
        for h, (keys, values) in enumerate(kept):
            own = slice(h * WIDE, (h + 1) * WIDE)
            keys.append(turn(k[own], position))
            values.append(v[own])
            query = turn(q[own], position)
            scores = [oracles.dot(query, key) / math.sqrt(WIDE) for key in keys]
            context += oracles.mix(oracles.share(scores, [True] * len(keys)), values)
        rows.append(project(module.out_proj, context))
    return torch.tensor(rows, dtype=torch.float64)


def test_a_token_alone_asks_with_one_row_and_projects_nothing_anew() -> None:
    shapes, projected = [], []

    def watched(query, key, value, **options):
        shapes.append((query.shape[-2], key.shape[-2], value.shape[-2]))
        return fused_attention(query, key, value, **options)

    module, cache = plain(watched), KeyValueCache()
    module.W_key.register_forward_hook(
        lambda layer, arguments, result: projected.append(result.shape[-2])
    )
    x = draw(B, 3, D_IN)
    whole = module(x)
    module(x[:, :2], cache=cache)
    close(module(x[:, 2:], cache=cache), whole[:, 2:])
    assert shapes == [(3, 3, 3), (2, 2, 2), (1, 3, 3)]
    assert projected == [3, 2, 1]


def test_what_is_kept_is_turned_already() -> None:
    module, cache, x = turned(), KeyValueCache(), draw(B, T, D_IN)
    module(x[:, :5], cache=cache)
    module(x[:, 5:], cache=cache)
    nothing = draw(B, H, 0, WIDE)
    key, value, positions = cache.append(nothing, nothing, torch.arange(0))
    raw = module.W_key(x).unflatten(-1, (H, WIDE)).transpose(-3, -2)
    close(key, module.rotate(raw, torch.arange(T)))
    close(value, module.W_value(x).unflatten(-1, (H, WIDE)).transpose(-3, -2))
    assert positions.tolist() == [*range(T)]


# Texts of different length, which end together.


def left_padded(texts: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    x = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_side="left")
    pads = torch.tensor([x.shape[1] - len(text) for text in texts])
    positions = (torch.arange(x.shape[1]) - pads[:, None]).clamp(min=0)
    return x, torch.arange(x.shape[1]) >= pads[:, None], positions


@pytest.mark.parametrize("build", [turned, biased, grouped])
@pytest.mark.parametrize("cut", [[5, 1, 1], [7], [2, 5], [3, 1, 3]], ids=str)
def test_texts_of_different_length_get_what_each_gets_alone(build, cut) -> None:
    module = build()
    texts = [draw(length, D_IN).requires_grad_() for length in (T, 4, 1)]
    x, real, positions = left_padded(texts)
    cache, results, seen = KeyValueCache(), [], 0
    for length in cut:
        new = slice(seen, seen + length)
        seen += length
        results.append(
            module(
                x[:, new],
                mask=real[:, None, :seen],
                positions=positions[:, new],
                cache=cache,
            )
        )
    together = torch.cat(results, dim=1)
    loss = draw(*together.shape)
    gradients = torch.autograd.grad((together * loss)[real].sum(), texts)
    for row, text, gradient in zip(range(len(texts)), texts, gradients, strict=True):
        alone = module(text)
        close(together[row][real[row]], alone)
        (expected,) = torch.autograd.grad((alone * loss[row][real[row]]).sum(), text)
        close(gradient, expected)


def test_a_mask_is_over_old_and_new_keys() -> None:
    module, x, cache = plain(), draw(B, T, D_IN), KeyValueCache()
    mask = torch.rand(B, T, T) < 0.5
    module(x[:, :5], mask=mask[:, :5, :5], cache=cache)
    result = module(x[:, 5:], mask=mask[:, 5:], cache=cache)
    close(result, module(x, mask=mask)[:, 5:])


# What the cache gives, and what it says of itself.


def test_it_is_what_modules_ask_for() -> None:
    assert isinstance(KeyValueCache(), Cache)
    assert not hasattr(KeyValueCache(), "window")


@pytest.mark.parametrize("leading", [(), (B,), (B, H)], ids=str)
def test_it_gives_all_in_order(leading: tuple[int, ...]) -> None:
    cache = KeyValueCache()
    keys, values = draw(*leading, S, D), draw(*leading, S, V)
    positions = torch.randperm(S)
    seen = 0
    for length in (5, 1, 0, 3, 2):
        new = slice(seen, seen + length)
        seen += length
        given = cache.append(keys[..., new, :], values[..., new, :], positions[new])
        assert torch.equal(given[0], keys[..., :seen, :])
        assert torch.equal(given[1], values[..., :seen, :])
        assert torch.equal(given[2], positions[:seen])
        assert cache.length == seen
    assert seen == S


def test_what_it_gave_is_not_written_to() -> None:
    cache = KeyValueCache()
    one, two = draw(H, 2, D), draw(H, 3, D)
    given = cache.append(one, one, torch.arange(2))
    before = [tensor.clone() for tensor in given]
    cache.append(two, two, torch.arange(2, 5))
    assert all(map(torch.equal, given, before))


COLUMN, ROWS = torch.tensor([[3], [5]]), torch.tensor([[1, 2], [7, 9]])
SAME = torch.tensor([11, 13])


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((SAME, SAME), [11, 13, 11, 13]),
        ((SAME, ROWS), [[11, 13, 1, 2], [11, 13, 7, 9]]),
        ((ROWS, SAME), [[1, 2, 11, 13], [7, 9, 11, 13]]),
        ((ROWS, COLUMN), [[1, 2, 3, 3], [7, 9, 5, 5]]),
        ((COLUMN, ROWS), [[3, 3, 1, 2], [5, 5, 7, 9]]),
        ((SAME[:1], SAME), [11, 11, 11, 13]),
    ],
)
def test_positions_may_be_shared_by_texts(parts, expected) -> None:
    cache = KeyValueCache()
    for positions in parts:
        one = draw(B, H, 2, D)
        given = cache.append(one, one, positions)[2]
    assert given.tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_it_says_what_it_weighs(dtype: torch.dtype) -> None:
    cache = KeyValueCache()
    assert (cache.length, cache.nbytes) == (0, 0)
    for length in (5, 2):
        cache.append(
            draw(B, H, length, D, dtype=dtype),
            draw(B, H, length, V, dtype=dtype),
            torch.arange(length),
        )
    assert cache.length == T
    assert cache.nbytes == B * H * T * (D + V) * dtype.itemsize
    key, value, _ = cache.append(
        draw(B, H, 0, D, dtype=dtype), draw(B, H, 0, V, dtype=dtype), torch.arange(0)
    )
    assert (key.dtype, value.dtype) == (dtype, dtype)


def test_a_module_adds_what_is_counted_for_a_token() -> None:
    module, cache = grouped(), KeyValueCache()
    module(draw(T, D_IN), cache=cache)
    a_token = bytes_per_token(
        num_layers=1, num_kv_heads=KV, width=WIDE, dtype=torch.float64
    )
    assert cache.nbytes == T * a_token


@pytest.mark.parametrize(
    ("layers", "heads", "width", "expected"),
    [  # GPT-2; Llama 2 7B; Llama 3 8B, 70B, and with 64 heads; Llama 3.1 405B
        (12, 12, 64, 36_864),
        (32, 32, 128, 524_288),
        (32, 8, 128, 131_072),
        (80, 8, 128, 327_680),
        (80, 64, 128, 2_621_440),
        (126, 8, 128, 516_096),
    ],
)
def test_bytes_per_token_of_published_models(layers, heads, width, expected) -> None:
    sizes = {"num_layers": layers, "num_kv_heads": heads, "width": width}
    assert bytes_per_token(**sizes) == expected
    assert bytes_per_token(**sizes, dtype=torch.float32) == 2 * expected


# What does not fit is refused, and nothing of it is kept.


def tensors(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.zeros(shape, dtype=dtype)


KEY, VALUE, PLACE = tensors(B, H, 2, D), tensors(B, H, 2, V), torch.arange(2)
KEPT_KEY = f"kept ({B}, {H}, {T}, {D}), torch.float64, cpu."
KEPT_VALUE = f"kept ({B}, {H}, {T}, {V}), torch.float64, cpu."
REFUSED: list[tuple[str, Callable[[], tuple], str]] = [
    (
        "integer keys",
        lambda: (KEY.long(), VALUE, PLACE),
        "key must hold floating-point numbers; got key.dtype=torch.int64.",
    ),
    (
        "integer values",
        lambda: (KEY, VALUE.long(), PLACE),
        "value must hold floating-point numbers; got value.dtype=torch.int64.",
    ),
    (
        "positions that are no integers",
        lambda: (KEY, VALUE, PLACE.double()),
        "positions must hold integers; got positions.dtype=torch.float64.",
    ),
    (
        "a key without tokens",
        lambda: (tensors(D), VALUE, PLACE),
        f"key must have shape (..., tokens, width); got key.shape=({D},).",
    ),
    (
        "a value too few",
        lambda: (KEY, VALUE[..., 1:, :], PLACE),
        "value must have one row for each row of key; "
        f"got value.shape=({B}, {H}, 1, {V}), key.shape=({B}, {H}, 2, {D}).",
    ),
    (
        "values of other heads",
        lambda: (KEY, VALUE[:, 1:], PLACE),
        "value must have one row for each row of key; "
        f"got value.shape=({B}, {H - 1}, 2, {V}), key.shape=({B}, {H}, 2, {D}).",
    ),
    (
        "a value without tokens",
        lambda: (KEY, tensors(V), PLACE),
        "value must have one row for each row of key; "
        f"got value.shape=({V},), key.shape=({B}, {H}, 2, {D}).",
    ),
    (
        "a position too many",
        lambda: (KEY, VALUE, torch.arange(3)),
        "positions must have one number for each key; "
        f"got positions.shape=(3,), key.shape=({B}, {H}, 2, {D}).",
    ),
    (
        "positions without an axis",
        lambda: (KEY, VALUE, torch.tensor(3)),
        "positions must have one number for each key; "
        f"got positions.shape=(), key.shape=({B}, {H}, 2, {D}).",
    ),
    (
        "another text",
        lambda: (KEY[1:], VALUE[1:], PLACE),
        "key must be like the kept ones in all but length; "
        f"got key of (1, {H}, 2, {D}), torch.float64, cpu, {KEPT_KEY}",
    ),
    (
        "wider keys",
        lambda: (tensors(B, H, 2, V), VALUE, PLACE),
        "key must be like the kept ones in all but length; "
        f"got key of ({B}, {H}, 2, {V}), torch.float64, cpu, {KEPT_KEY}",
    ),
    (
        "wider values",
        lambda: (KEY, tensors(B, H, 2, D), PLACE),
        "value must be like the kept ones in all but length; "
        f"got value of ({B}, {H}, 2, {D}), torch.float64, cpu, {KEPT_VALUE}",
    ),
    (
        "keys of another type",
        lambda: (KEY.bfloat16(), VALUE, PLACE),
        "key must be like the kept ones in all but length; "
        f"got key of ({B}, {H}, 2, {D}), torch.bfloat16, cpu, {KEPT_KEY}",
    ),
    (
        "values of another type",
        lambda: (KEY, VALUE.float(), PLACE),
        "value must be like the kept ones in all but length; "
        f"got value of ({B}, {H}, 2, {V}), torch.float32, cpu, {KEPT_VALUE}",
    ),
    (
        "keys that are elsewhere",
        lambda: (KEY.to("meta"), VALUE, PLACE),
        "key must be like the kept ones in all but length; "
        f"got key of ({B}, {H}, 2, {D}), torch.float64, meta, {KEPT_KEY}",
    ),
    (
        "positions of other texts",
        lambda: (KEY, VALUE, torch.zeros(3, 2, dtype=torch.int64)),
        "positions must belong to the texts that are kept; "
        f"got positions.shape=(3, 2), kept ({B}, {T}).",
    ),
]


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "sentence"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED]
)
def test_what_does_not_fit_is_refused_and_not_kept(call, sentence) -> None:
    assert re.fullmatch(r"\w+ must [^;]+; got \w+.+\.", sentence)
    cache = KeyValueCache()
    kept = draw(B, H, T, D), draw(B, H, T, V), torch.arange(B * T).reshape(B, T)
    cache.append(*kept)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        cache.append(*call())
    assert cache.length == T
    given = cache.append(KEY, VALUE, PLACE)
    for ours, before, new in zip(given, kept, (KEY, VALUE, PLACE), strict=True):
        length = -1 if ours.ndim == 2 else -2
        old, last = ours.split([T, 2], dim=length)
        assert torch.equal(old, before)
        assert torch.equal(last, new.expand_as(last))


@pytest.mark.refusal
@pytest.mark.parametrize("name", ["num_layers", "num_kv_heads", "width"])
def test_sizes_must_be_positive(name: str) -> None:
    sizes = {"num_layers": 2, "num_kv_heads": 3, "width": 5}
    sentence = f"{name} must be a positive integer; got {name}=0."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        bytes_per_token(**(sizes | {name: 0}))


def test_a_refused_call_of_a_module_keeps_nothing() -> None:
    module, cache, x = turned(), KeyValueCache(), draw(B, T, D_IN)
    module(x[:, :5], cache=cache)
    too_far = torch.tensor([CONTEXT])
    with pytest.raises(ValueError, match="positions must be in"):
        module(x[:, 5:], positions=too_far, cache=cache)
    with pytest.raises(ValueError, match="mask must broadcast to the scores"):
        module(x[:, 5:], mask=causal_mask(2), cache=cache)
    with pytest.raises(ValueError, match="key must be like the kept ones"):
        module(x[:1, 5:], cache=cache)
    close(module(x[:, 5:], cache=cache), module(x)[:, 5:])
