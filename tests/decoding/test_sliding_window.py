"""Windows: who may see whom, and a ring that keeps no more than that."""

import copy
import itertools
import re

import pytest
import torch
from torch import Tensor

from headway import (
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    RingCache,
    Rotary,
    attention,
    causal_mask,
    fused_attention,
    sliding_window_mask,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D_IN, B, draw

N = 13  # tokens of a text
W = 5  # the window: smaller than the text, and it does not divide it
HEADS, GROUPS, WIDTH = 6, 2, 4
ATTEND = pytest.mark.parametrize("attend", [fused_attention, attention])
WINDOWS = pytest.mark.parametrize("window", [1, 2, W, N - 1, N + 2])
CUTS = pytest.mark.parametrize(
    "chunks",
    [[1] * N, [7, 6], [3, 10], [N], [2, 5, 1, 4, 1], [4, 1, 8], [6, 5, 2]],
    ids=str,
)


def by_loops(T: int, S: int, window: int) -> list[list[bool]]:
    """Ask of each pair how far the key lies behind the query; zero is the same token.

    Both are counted from the end.
    """
    return [[0 <= (S - s) - (T - t) < window for s in range(S)] for t in range(T)]


def build(window: int | None = W, **options) -> GroupedQueryAttention:
    module = GroupedQueryAttention(
        D_IN,
        HEADS * WIDTH,
        2 * N,
        0.0,
        HEADS,
        True,
        num_kv_heads=GROUPS,
        window=window,
        **options,
    )
    return module.double()


def draw_rows(*leading: int, S: int = N) -> tuple[Tensor, Tensor]:
    return draw(*leading, S, WIDTH), draw(*leading, S, WIDTH + 1)


def in_chunks(module, x: Tensor, chunks: list[int], cache, **options) -> Tensor:
    """Run a module over a text, some tokens at a time."""
    mask, results, start = options.pop("mask", None), [], 0
    for length in chunks:
        end = start + length
        seen = None if mask is None else mask[..., :end]
        if seen is not None and seen.shape[-2] > 1:
            seen = seen[..., start:end, :]
        parts = {name: given[..., start:end] for name, given in options.items()}
        results.append(module(x[..., start:end, :], mask=seen, cache=cache, **parts))
        start = end
    return torch.cat(results, dim=-2)


# The mask.


def test_with_a_window_of_three_rows_see_one_two_three_three_three_keys() -> None:
    mask = sliding_window_mask(5, window=3)
    assert mask.sum(dim=-1).tolist() == [1, 2, 3, 3, 3]
    assert mask.diagonal().all()  # the window counts the token itself


@pytest.mark.parametrize(
    ("T", "S"), [(5, 5), (N, N), (3, 11), (1, 7), (7, 3), (4, 1)], ids=str
)
@WINDOWS
def test_a_mask_equals_the_loops(T, S, window) -> None:
    mask = sliding_window_mask(T, S, window=window)
    assert mask.dtype == torch.bool
    assert mask.tolist() == by_loops(T, S, window)


def test_as_many_keys_as_queries_unless_one_says_otherwise() -> None:
    assert torch.equal(
        sliding_window_mask(7, window=3), sliding_window_mask(7, 7, window=3)
    )


@pytest.mark.parametrize(("T", "S"), [(7, 7), (3, 11), (11, 3)], ids=str)
def test_a_window_as_long_as_the_text_is_causal(T, S) -> None:
    for window in (S, S + 1, 100):
        assert torch.equal(sliding_window_mask(T, S, window=window), causal_mask(T, S))
    # It needs all of S where the last query asks.
    if S > 1:
        narrow = sliding_window_mask(T, S, window=S - 1)
        assert not torch.equal(narrow, causal_mask(T, S))


def test_a_mask_is_built_where_one_says() -> None:
    assert sliding_window_mask(3, window=2, device="meta").device.type == "meta"


@pytest.mark.parametrize(("window", "layers"), [(2, 3), (3, 4), (4, 2), (5, 1), (1, 6)])
def test_layers_reach_further_than_one_window(window, layers) -> None:
    """From layer to layer a token hears of what those in its window have heard of."""
    T = 20
    mask = sliding_window_mask(T, window=window).long()
    paths = torch.linalg.matrix_power(mask.double(), layers) > 0
    reach = (window - 1) * layers + 1
    assert torch.equal(paths, sliding_window_mask(T, window=reach))


@ATTEND
def test_stacked_layers_move_by_what_is_in_reach_alone(attend) -> None:
    """The same with attention itself: three layers, each with its own weights."""
    width, window, layers = HEADS * WIDTH, 3, 3
    stack = [
        GroupedQueryAttention(
            width,
            width,
            N,
            0.0,
            HEADS,
            num_kv_heads=GROUPS,
            window=window,
            attend=attend,
        ).double()
        for _ in range(layers)
    ]
    x = draw(N, width).requires_grad_()
    out = x
    for layer in stack:
        out = layer(out)
    out[-1].sum().backward()
    heard = x.grad.ne(0).any(dim=-1)
    assert heard.tolist() == [s > N - 1 - 7 for s in range(N)]  # (3 - 1) 3 + 1 = 7


# The ring by itself.


def test_token_p_lies_in_slot_p_mod_w() -> None:
    cache = RingCache(3)
    for p in range(8):
        one = torch.full((1, 2), float(p))
        cache.append(one, -one, torch.tensor([p]))
        expected = [0, 0, 0]
        for q in range(p + 1):
            expected[q % 3] = q
        keys, values, places = cache._slots
        assert keys[:, 0].tolist() == expected
        assert values[:, 0].tolist() == [-q for q in expected]
        assert places[:, 0].tolist() == expected


@pytest.mark.parametrize("window", [1, 3, W, N])
def test_what_it_hands_back_is_all_that_new_tokens_may_see(window) -> None:
    """From any state, with a chunk of any length: so for every way to cut a text.

    What a ring holds after n tokens does not depend on how they came. So 91 appends
    stand for all 4,096 ways to cut thirteen tokens.
    """
    key, value = draw_rows(B, GROUPS)
    positions = 3 * torch.arange(N) + 1  # they choose no slot
    rings = [RingCache(window)]
    for p in range(N):
        rings.append(copy.deepcopy(rings[-1]))
        part = slice(p, p + 1)
        rings[-1].append(key[..., part, :], value[..., part, :], positions[part])

    for start, end in itertools.combinations(range(N + 1), 2):
        cache, new = copy.deepcopy(rings[start]), slice(start, end)
        found = cache.append(key[..., new, :], value[..., new, :], positions[new])
        first = max(0, start - window + 1)
        assert torch.equal(found[0], key[..., first:end, :])
        assert torch.equal(found[1], value[..., first:end, :])
        assert torch.equal(found[2], positions[first:end])
        assert cache.length == end
        for held, expected in zip(cache._slots, rings[end]._slots, strict=True):
            assert torch.equal(held, expected)


def test_its_memory_does_not_grow() -> None:
    cache = RingCache(W)
    assert (cache.length, cache.nbytes) == (0, 0)
    key, value = draw_rows(B, GROUPS, S=2)
    for count in range(1, 100):
        cache.append(key, value, torch.arange(2))
        assert cache.nbytes == B * GROUPS * W * (2 * WIDTH + 1) * 8
        assert cache.length == 2 * count
        assert sum(held.untyped_storage().nbytes() for held in cache._slots) == (
            cache.nbytes + W * 8
        )


def test_a_later_append_does_not_move_what_was_handed_back() -> None:
    cache = RingCache(3)
    found = cache.append(*draw_rows(S=3), torch.arange(3))
    before = [one.clone() for one in found]
    for start in range(3, 9):
        later = cache.append(*draw_rows(S=1), torch.tensor([start]))
        for one, same in zip(found, before, strict=True):
            assert torch.equal(one, same)
        found, before = later, [one.clone() for one in later]


def test_what_the_caller_does_with_a_tensor_does_not_move_what_is_kept() -> None:
    cache = RingCache(3)
    key, value = draw_rows(S=3)
    expected = key.clone()
    cache.append(key, value, torch.arange(3))
    key.zero_()
    found, _, _ = cache.append(*draw_rows(S=1), torch.tensor([3]))
    assert torch.equal(found[:2], expected[1:])


def test_nothing_to_append_changes_nothing() -> None:
    cache = RingCache(3)
    key, value = draw_rows(S=4)
    cache.append(key, value, torch.arange(4))
    found = cache.append(key[:0], value[:0], torch.arange(0))
    assert torch.equal(found[0], key[2:])
    assert cache.length == 4


def test_positions_may_be_one_for_all_texts_and_then_one_for_each() -> None:
    cache = RingCache(3)
    cache.append(*draw_rows(B, GROUPS, S=2), torch.tensor([4, 5]))
    own = torch.tensor([[6, 7], [16, 17]])
    _, _, found = cache.append(*draw_rows(B, GROUPS, S=2), own)
    assert found.tolist() == [[4, 5, 6, 7], [4, 5, 16, 17]]
    _, _, found = cache.append(*draw_rows(B, GROUPS, S=1), torch.tensor([30]))
    assert found.tolist() == [[6, 7, 30], [16, 17, 30]]
    _, _, found = cache.append(*draw_rows(B, GROUPS, S=2), torch.tensor([31]))
    assert found.tolist() == [[7, 30, 31, 31], [17, 30, 31, 31]]


def test_it_keeps_the_type_of_what_it_is_given() -> None:
    cache = RingCache(3)
    half = torch.ones(2, 4, dtype=torch.bfloat16)
    for _ in range(3):
        key, value, places = cache.append(
            half, half, torch.arange(2, dtype=torch.int32)
        )
    assert key.dtype == value.dtype == torch.bfloat16
    assert places.dtype == torch.int64
    assert cache.nbytes == 2 * 3 * 4 * 2


def test_it_counts_where_the_keys_are() -> None:
    one = torch.ones(2, WIDTH)
    with torch.device("meta"):
        cache = RingCache(3)
        for _ in range(2):
            found = cache.append(one, one, torch.arange(2, device="cpu"))
    assert {part.device for part in found} == {one.device}


# The ring in a module: as the whole text under a mask.


@CUTS
@WINDOWS
def test_a_ring_equals_the_whole_text_under_a_mask(chunks, window) -> None:
    module, x = build(window), draw(B, N, D_IN)
    whole = build(None)
    whole.load_state_dict(module.state_dict())
    expected = whole(x, mask=sliding_window_mask(N, window=window))
    close(module(x), expected)
    close(in_chunks(module, x, chunks, RingCache(window)), expected)
    close(in_chunks(module, x, chunks, KeyValueCache()), expected)


@CUTS
@ATTEND
def test_so_do_rotation_padding_and_gradients(chunks, attend) -> None:
    """Two texts, one with padding on its left, so each has its own positions."""
    module = build(rotate=Rotary(WIDTH), attend=attend)
    ring_x = draw(B, N, D_IN).requires_grad_()
    full_x = ring_x.detach().clone().requires_grad_()
    padding = torch.tensor([0, 4])[:, None]
    positions = (torch.arange(N) - padding).clamp(min=0)
    mask = (torch.arange(N) >= padding)[:, None]  # (B, 1, S)
    gradient = draw(B, N, HEADS * WIDTH)

    given = {"mask": mask, "positions": positions}
    expected = module(full_x, **given)
    expected.backward(gradient)
    weights = [weight.grad.clone() for weight in module.parameters()]
    module.zero_grad()
    found = in_chunks(module, ring_x, chunks, RingCache(W), **given)
    found.backward(gradient)

    close(found, expected)
    close(ring_x.grad, full_x.grad)
    for weight, same in zip(module.parameters(), weights, strict=True):
        close(weight.grad, same)
    alone = module(full_x[1, 4:])
    close(found[1, 4:], alone)


def test_a_mask_with_a_row_for_each_token_is_over_all_keys_too() -> None:
    module, x = build(), draw(B, N, D_IN)
    mask = torch.rand(B, N, N) < 0.7
    expected = module(x, mask=mask)
    for chunks in ([1] * N, [7, 6], [3, 10], [2, 5, 1, 4, 1]):
        close(in_chunks(module, x, chunks, RingCache(W), mask=mask), expected)


def test_a_module_with_a_window_equals_the_loops() -> None:
    module = GroupedQueryAttention(
        D_IN, HEADS * WIDTH, N, 0.0, HEADS, True, num_kv_heads=HEADS, window=3
    ).double()
    x = draw(B, N, D_IN)
    mask = torch.tensor(by_loops(N, N, 3))
    expected = oracles.self_attention(
        x, module.state_dict(), causal=False, num_heads=HEADS, mask=mask
    )
    close(module(x), expected)
    close(in_chunks(module, x, [3, 10], RingCache(3)), expected)


@ATTEND
def test_outside_of_the_window_nothing_counts_and_inside_all_does(attend) -> None:
    module = build(attend=attend)
    x = draw(N, D_IN).requires_grad_()
    context = module(x)
    for t in range(N):
        (grad,) = torch.autograd.grad(context[t].sum(), x, retain_graph=True)
        heard = grad.ne(0).any(dim=-1)
        assert heard.tolist() == by_loops(N, N, W)[t]


def test_a_ring_may_promise_more_than_a_module_asks_for() -> None:
    module, x = build(), draw(B, N, D_IN)
    for window in (W, W + 1, N + 3):
        close(in_chunks(module, x, [7, 6], RingCache(window)), module(x))


def test_a_ring_that_forgets_too_much_is_refused_before_anything_is_kept() -> None:
    x = draw(B, N, D_IN)
    for module, window in (
        (build(), W - 1),
        (build(None), N + 5),
        (MultiHeadAttention(D_IN, 24, N, 0.0, HEADS).double(), N + 5),
    ):
        cache = RingCache(window)
        with pytest.raises(ValueError, match="cache must keep all that"):
            module(x, cache=cache)
        assert cache.length == 0


def test_a_call_that_is_refused_changes_nothing() -> None:
    cache = RingCache(3)
    key, value = draw_rows(B, S=4)
    cache.append(key, value, torch.arange(4).expand(B, 4))
    before = [held.clone() for held in cache._slots]
    with pytest.raises(ValueError, match="key must be like the kept ones"):
        cache.append(*draw_rows(B + 1, S=1), torch.tensor([4]))
    with pytest.raises(ValueError, match="value must be like the kept ones"):
        cache.append(key, value.float(), torch.arange(4))
    with pytest.raises(ValueError, match="positions must belong to the texts"):
        cache.append(key, value, torch.arange(4).expand(3, 4))
    assert cache.length == 4
    for held, same in zip(cache._slots, before, strict=True):
        assert torch.equal(held, same)


@pytest.mark.refusal
@pytest.mark.parametrize("window", [0, -1, 2.0, True, None], ids=str)
def test_a_window_is_a_positive_integer(window) -> None:
    for call in (
        lambda: RingCache(window),
        lambda: sliding_window_mask(3, window=window),
    ):
        sentence = f"window must be a positive integer; got window={window!r}."
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            call()
    with pytest.raises(ValueError, match="T must be a positive integer"):
        sliding_window_mask(0, window=1)
    with pytest.raises(ValueError, match="S must be a positive integer"):
        sliding_window_mask(1, 0, window=1)
