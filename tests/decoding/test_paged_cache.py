"""A cache in pages: wherever pages lie, a text gets what it gets in one piece."""

import itertools
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention.experimental._paged_attention import PagedAttention
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from headway import (
    Cache,
    KeyValueCache,
    MultiHeadAttention,
    PagedCache,
    PagePool,
    attention,
    causal_mask,
)
from headway.decoding.grouped_query import GroupedQueryAttention
from headway.positions.rotary import Rotary
from tests.support.compare import close
from tests.support.sizes import CONTEXT, D_IN, D, E, H, T, V, draw

LONG, PAGES, SIZE = 13, 11, 3
WIDE = 4  # of a head that is turned: there must be pairs


def all_cuts(length: int) -> list[list[int]]:
    return [
        [end - start for start, end in itertools.pairwise((0, *ends, length))]
        for count in range(length)
        for ends in itertools.combinations(range(1, length), count)
    ]


CUTS = all_cuts(T) + all_cuts(LONG)[::119]  # all 64 of 7 tokens, some of 13


def far(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Add numbers that depend on both places, and on the head."""
    distance = query_positions.unsqueeze(-1) - key_positions.unsqueeze(-2)
    heads = torch.arange(1, H + 1, dtype=torch.float64)[:, None, None]
    return torch.sin(heads * distance.unsqueeze(-3))


def pool(
    heads: int = H,
    width: int = D,
    value_width: int | None = None,
    *,
    pages: int = PAGES,
    size: int = SIZE,
) -> PagePool:
    """Make a pool of shuffled pages, on which somebody left nan."""
    made = PagePool(
        pages,
        size,
        num_kv_heads=heads,
        width=width,
        value_width=value_width,
        dtype=torch.float64,
    )
    made.free_pages = torch.randperm(pages).tolist()
    made.keys.fill_(torch.nan)
    made.values.fill_(torch.nan)
    made.positions.fill_(-(2**40))
    return made


def biased() -> tuple[nn.Module, PagePool]:
    return MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, bias=far).double(), pool()


def turned() -> tuple[nn.Module, PagePool]:
    module = MultiHeadAttention(
        D_IN, H * WIDE, CONTEXT, 0.0, H, True, rotate=Rotary(WIDE)
    )
    return module.double(), pool(H, WIDE)


def grouped() -> tuple[nn.Module, PagePool]:
    module = GroupedQueryAttention(
        D_IN, 6 * WIDE, CONTEXT, 0.0, 6, num_kv_heads=2, rotate=Rotary(WIDE)
    )
    return module.double(), pool(2, WIDE)


MODULES = pytest.mark.parametrize("build", [biased, turned, grouped])


def in_pieces(module: nn.Module, x: Tensor, lengths: list[int], cache: Cache) -> Tensor:
    pieces = [module(piece, cache=cache) for piece in x.split(lengths, dim=-2)]
    assert cache.length == x.shape[-2]
    return torch.cat(pieces, dim=-2)


# One text: every way to cut it.


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13, 17])
def test_it_gives_what_a_cache_in_one_piece_gives_for_every_cut(size: int) -> None:
    memory = pool(H, D, V, pages=-(-LONG // size) + 2, size=size)
    for cut in CUTS[:: 1 if size == SIZE else 7]:
        keys, values = draw(H, sum(cut), D), draw(H, sum(cut), V)
        positions = torch.randperm(sum(cut))
        ours, theirs = PagedCache(memory), KeyValueCache()
        for pieces in zip(
            keys.split(cut, -2),
            values.split(cut, -2),
            positions.split(cut),
            strict=True,
        ):
            given, expected = ours.append(*pieces), theirs.append(*pieces)
            assert all(map(torch.equal, given, expected))
            assert ours.length == theirs.length
            assert 0 <= len(ours.table) * size - ours.length < size
        ours.free()


@MODULES
@pytest.mark.parametrize("leading", [(), (1,)], ids=str)
def test_cached_equals_uncached(build, leading: tuple[int, ...]) -> None:
    (module, memory), text = build(), draw(*leading, LONG, D_IN)
    with torch.no_grad():
        for cut in [[LONG], [1] * LONG, *CUTS[::11]]:
            x, cache = text[..., : sum(cut), :], PagedCache(memory)
            close(in_pieces(module, x, cut, cache), module(x))
            cache.free()


@pytest.mark.parametrize("leading", [(), (1,), (1, 1)], ids=str)
def test_leading_axes_of_one_text_are_kept(leading: tuple[int, ...]) -> None:
    cache, new = PagedCache(pool(H, D, V)), torch.arange(T)
    for length in (T, 2 * T):
        key, value, positions = cache.append(
            draw(*leading, H, T, D), draw(*leading, H, T, V), new.expand(*leading, T)
        )
        assert key.shape == (*leading, H, length, D)
        assert value.shape == (*leading, H, length, V)
        assert positions.shape == (*leading, length)
    assert positions.flatten().tolist() == [*range(T), *range(T)]


def test_tokens_may_share_a_position() -> None:
    cache, key = PagedCache(pool()), draw(H, 5, D)
    given = cache.append(key, key, torch.tensor([[7]]))[2]
    assert given.tolist() == [[7] * 5]


def test_gradients_flow_to_what_is_not_kept() -> None:
    (module, memory), x = turned(), draw(LONG, D_IN)
    for frozen in (module.W_key, module.W_value):
        frozen.requires_grad_(False)
    learned = [*module.W_query.parameters(), *module.out_proj.parameters()]
    loss = draw(LONG, H * WIDE)
    expected = torch.autograd.grad((module(x) * loss).sum(), learned)
    result = in_pieces(module, x, [5, 1, 7], PagedCache(memory))
    memory.keys.fill_(torch.nan)  # what was given is a copy
    memory.values.fill_(torch.nan)
    for ours, theirs in zip(
        torch.autograd.grad((result * loss).sum(), learned), expected, strict=True
    ):
        close(ours, theirs)


# Where tokens lie.


def test_the_example_of_the_chapter() -> None:
    memory = pool(1, 1, pages=4, size=2)
    memory.free_pages = [3, 0, 2, 1]
    cache = PagedCache(memory)
    token = torch.arange(5.0, dtype=torch.float64).reshape(1, 5, 1)
    cache.append(token, 10 * token, 100 + torch.arange(5))
    assert cache.table == [3, 0, 2]
    assert memory.free_pages == [1]
    assert memory.keys[0, 1].item() == 3
    assert memory.values[0, 1].item() == 30
    assert memory.positions[0, 1].item() == 103
    assert memory.keys[:, :, 0, 0].nan_to_num(-1).tolist() == [
        [2, 3],
        [-1, -1],
        [4, -1],
        [0, 1],
    ]


def test_where_pages_lie_is_no_matter() -> None:
    memory, keys, values = pool(H, D, V), draw(H, LONG, D), draw(H, LONG, V)
    cache, other = PagedCache(memory), PagedCache(memory)
    cache.append(keys, values, torch.arange(LONG))
    other.append(values[..., :D], keys.repeat(1, 1, 5)[..., :V], torch.arange(LONG))
    moved = torch.randperm(PAGES)  # page p goes to moved[p]
    for stored in (memory.keys, memory.values, memory.positions):
        stored[moved] = stored.clone()
    cache.table = moved[cache.table].tolist()
    nothing = torch.empty(H, 0, D).double(), torch.empty(H, 0, V).double()
    given = cache.append(*nothing, torch.arange(0))
    assert torch.equal(given[0], keys)
    assert torch.equal(given[1], values)
    assert torch.equal(given[2], torch.arange(LONG))


@MODULES
def test_texts_written_in_turn_get_what_each_gets_alone(build) -> None:
    module, memory = build()
    texts = [draw(length, D_IN) for length in (LONG, T, 2)]
    caches, results = [PagedCache(memory) for _ in texts], [[] for _ in texts]
    pieces = [[*text.split(cut)] for text, cut in zip(texts, (2, 3, 1), strict=True)]
    with torch.no_grad():
        for turn in range(LONG):
            for cache, result, parts in zip(caches, results, pieces, strict=True):
                if turn < len(parts):
                    result.append(module(parts[turn], cache=cache))
        for text, result in zip(texts, results, strict=True):
            close(torch.cat(result), module(text))
    held = [page for cache in caches for page in cache.table]
    assert sorted(held + memory.free_pages) == [*range(PAGES)]
    assert [len(cache.table) for cache in caches] == [5, 3, 1]


def test_what_a_text_gives_back_harms_nobody() -> None:
    module, memory = turned()
    texts = [draw(length, D_IN) for length in (LONG, T, 8)]
    one, other, third = (PagedCache(memory) for _ in texts)
    with torch.no_grad():
        module(texts[0][:5], cache=one)
        module(texts[1], cache=other)
        gone = other.table
        other.free()
        assert (other.table, other.length) == ([], 0)
        memory.keys[gone] = torch.nan
        memory.values[gone] = torch.nan
        memory.positions[gone] = -1
        memory.free_pages = [*gone, *set(memory.free_pages).difference(gone)]
        close(module(texts[0][5:8], cache=one), module(texts[0])[5:8])
        close(module(texts[2], cache=third), module(texts[2]))
        close(module(texts[0][8:], cache=one), module(texts[0])[8:])
        third.free()
        close(module(texts[1], cache=other), module(texts[1]))  # it starts anew
    assert {*gone} & {*one.table, *other.table}


def test_what_it_gave_is_not_written_to() -> None:
    cache, key = PagedCache(pool()), draw(H, T, D)
    given = cache.append(key, key, torch.arange(T))
    before = [tensor.clone() for tensor in given]
    cache.append(key, key, torch.arange(T))
    assert all(map(torch.equal, given, before))


# The pool.


def test_it_is_what_modules_ask_for() -> None:
    assert isinstance(PagedCache(pool()), Cache)
    assert not hasattr(PagedCache(pool()), "window")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_memory_is_allocated_once(dtype: torch.dtype) -> None:
    memory = PagePool(PAGES, SIZE, num_kv_heads=H, width=D, value_width=V, dtype=dtype)
    at = [stored.data_ptr() for stored in (memory.keys, memory.values)]
    weight = PAGES * SIZE * H * (D + V) * dtype.itemsize
    assert memory.nbytes == weight
    cache = PagedCache(memory)
    for _ in range(4):
        key, value, _ = cache.append(
            draw(H, T, D, dtype=dtype), draw(H, T, V, dtype=dtype), torch.arange(T)
        )
        assert key.dtype == value.dtype == dtype
    assert memory.nbytes == weight
    assert at == [stored.data_ptr() for stored in (memory.keys, memory.values)]


def test_values_are_as_wide_as_keys_unless_told() -> None:
    memory = PagePool(2, 3, num_kv_heads=5, width=7, device="meta")
    assert memory.keys.shape == memory.values.shape == (2, 3, 5, 7)
    assert memory.keys.dtype == torch.get_default_dtype()
    assert memory.values.device == memory.positions.device == torch.device("meta")


def test_pages_are_taken_from_the_front_and_given_back_to_the_end() -> None:
    memory = PagePool(5, 2, num_kv_heads=1, width=1)
    assert memory.free_pages == [0, 1, 2, 3, 4]
    assert memory.take(0) == []
    assert memory.take(3) == [0, 1, 2]
    memory.give_back((2, 0))
    assert memory.free_pages == [3, 4, 2, 0]
    assert memory.take(3) == [3, 4, 2]


def test_a_text_wastes_less_than_a_page() -> None:
    lengths = (1 + 99 * torch.rand(50) ** 4).int().tolist()
    for size in (1, 2, 7, 16):
        memory = PagePool(60 + sum(lengths) // size, size, num_kv_heads=1, width=1)
        taken = 0
        for length in lengths:
            cache, new = PagedCache(memory), torch.ones(1, length, 1)
            cache.append(new, new, torch.arange(length))
            room = len(cache.table) * size
            assert length <= room < length + size
            taken += room
        assert taken < sum(lengths) + len(lengths) * size
        assert memory.num_pages * size - len(memory.free_pages) * size == taken
        assert taken < max(lengths) * len(lengths) / 2


# An oracle that is not ours reads our memory, by our tables.


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("T", [1, 3])
def test_paged_attention_of_torch_reads_our_pages_alike(T: int) -> None:
    memory, lengths = pool(H, D, V), (LONG, 8)
    theirs = PagedAttention(PAGES, SIZE, 2, device="cpu")
    caches = [PagedCache(memory) for _ in lengths]
    kept, query = [], draw(2, H, T, D)
    for first, last in ((0, 7), (7, LONG)):
        for text, cache in enumerate(caches):
            new = min(last, lengths[text]) - first
            given = cache.append(
                draw(H, new, D), draw(H, new, V), torch.arange(first, first + new)
            )
            kept.append(given)
            one = torch.tensor([text])
            theirs.reserve(one, torch.tensor([cache.length]))
    for text, cache in enumerate(caches):
        table = theirs.page_table[text][: len(cache.table)].tolist()
        assert len(set(table)) == len(cache.table)  # as many, but others than ours
        at = torch.arange(len(cache.table))
        theirs.page_table[text, at] = torch.tensor(cache.table)
        theirs.physical_to_logical[text] = -1
        theirs.physical_to_logical[text, cache.table] = at
    rows = torch.tensor(lengths)
    logical = create_block_mask(
        lambda b, h, q, kv: kv - q <= rows[b] - T,
        2,
        None,
        T,
        LONG + SIZE - LONG % SIZE,
        device="cpu",
        BLOCK_SIZE=(T, SIZE),
    )
    result = flex_attention(
        query,
        memory.keys.flatten(0, 1).transpose(0, 1).expand(2, -1, -1, -1).nan_to_num(),
        memory.values.flatten(0, 1).transpose(0, 1).expand(2, -1, -1, -1).nan_to_num(),
        block_mask=theirs.convert_logical_block_mask(logical, kv_len=rows),
    )
    for text, (key, value, _) in enumerate(kept[2:]):
        mask = causal_mask(T, lengths[text])
        close(attention(query[text], key, value, mask=mask), result[text])


# What does not fit is refused, and nothing of it is kept.


def tensors(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.zeros(shape, dtype=dtype)


KEY, VALUE, PLACE = tensors(1, H, 2, D), tensors(1, H, 2, V), torch.arange(2)
ON_KEYS = f"pages of ({PAGES}, {SIZE}, {H}, {D}), torch.float64, cpu."
ON_VALUES = f"pages of ({PAGES}, {SIZE}, {H}, {V}), torch.float64, cpu."
LIKE = "must be of one text, and like what is on the pages"
REFUSED: list[tuple[str, Callable[[], tuple], str]] = [
    (
        "integer keys",
        lambda: (KEY.long(), VALUE, PLACE),
        "key must hold floating-point numbers; got key.dtype=torch.int64.",
    ),
    (
        "keys without axes",
        lambda: (tensors(D), tensors(V), PLACE),
        f"key must have shape (..., tokens, width); got key.shape=({D},).",
    ),
    (
        "a position too many",
        lambda: (KEY, VALUE, torch.arange(3)),
        "positions must have one number for each key; "
        f"got positions.shape=(3,), key.shape=(1, {H}, 2, {D}).",
    ),
    (
        "two texts",
        lambda: (KEY.expand(2, -1, -1, -1), VALUE.expand(2, -1, -1, -1), PLACE),
        f"key {LIKE}; got key of (2, {H}, 2, {D}), torch.float64, cpu, {ON_KEYS}",
    ),
    (
        "no heads",
        lambda: (KEY[0, 0], VALUE[0, 0], PLACE),
        f"key {LIKE}; got key of (2, {D}), torch.float64, cpu, {ON_KEYS}",
    ),
    (
        "a head too few",
        lambda: (KEY[:, 1:], VALUE[:, 1:], PLACE),
        f"key {LIKE}; got key of (1, {H - 1}, 2, {D}), torch.float64, cpu, {ON_KEYS}",
    ),
    (
        "wider keys",
        lambda: (tensors(H, 2, V), VALUE[0], PLACE),
        f"key {LIKE}; got key of ({H}, 2, {V}), torch.float64, cpu, {ON_KEYS}",
    ),
    (
        "wider values",
        lambda: (KEY[0], tensors(H, 2, D), PLACE),
        f"value {LIKE}; got value of ({H}, 2, {D}), torch.float64, cpu, {ON_VALUES}",
    ),
    (
        "keys of another type",
        lambda: (KEY.float(), VALUE, PLACE),
        f"key {LIKE}; got key of (1, {H}, 2, {D}), torch.float32, cpu, {ON_KEYS}",
    ),
    (
        "values of another type",
        lambda: (KEY, VALUE.bfloat16(), PLACE),
        f"value {LIKE}; got value of (1, {H}, 2, {V}), torch.bfloat16, cpu, "
        f"{ON_VALUES}",
    ),
    (
        "keys that are elsewhere",
        lambda: (KEY.to("meta"), VALUE, PLACE),
        f"key {LIKE}; got key of (1, {H}, 2, {D}), torch.float64, meta, {ON_KEYS}",
    ),
    (
        "keys that are learned",
        lambda: (KEY.clone().requires_grad_(), VALUE, PLACE),
        "key must not require a gradient, which pages do not keep; "
        "got key.requires_grad=True.",
    ),
    (
        "values that are learned",
        lambda: (KEY, VALUE.clone().requires_grad_(), PLACE),
        "value must not require a gradient, which pages do not keep; "
        "got value.requires_grad=True.",
    ),
    (
        "positions of two texts",
        lambda: (KEY, VALUE, PLACE.expand(2, 2)),
        "positions must be of one text; got positions.shape=(2, 2).",
    ),
    (
        "more than there is room for",
        lambda: (tensors(H, 30, D), tensors(H, 30, V), torch.arange(30)),
        "num_pages must be enough for all texts; "
        f"got num_pages={PAGES}, of which 7 free, 10 more needed.",
    ),
]


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "sentence"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED]
)
def test_what_does_not_fit_is_refused_and_not_kept(call, sentence) -> None:
    assert re.fullmatch(r"\w+ must [^;]+; got \w+.+\.", sentence)
    memory = pool(H, D, V)
    cache, other = PagedCache(memory), PagedCache(memory)
    kept = draw(H, 4, D), draw(H, 4, V), torch.arange(4)
    cache.append(*kept)
    other.append(*kept)
    table, free = [*cache.table], [*memory.free_pages]
    before = [m.clone() for m in (memory.keys, memory.values, memory.positions)]
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        cache.append(*call())
    assert (cache.length, cache.table, memory.free_pages) == (4, table, free)
    now = (memory.keys, memory.values, memory.positions)
    for stored, old in zip(now, before, strict=True):
        assert torch.equal(stored.nan_to_num(), old.nan_to_num())
    key, _, _ = cache.append(KEY[0], VALUE[0], PLACE)
    assert torch.equal(key, torch.cat([kept[0], KEY[0]], dim=-2))


def test_without_gradients_keys_may_be_parameters() -> None:
    cache, key = PagedCache(pool()), draw(H, 2, D).requires_grad_()
    with torch.no_grad():
        assert torch.equal(cache.append(key, key, PLACE)[0], key)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("pages", "wrong"),
    [([0, 1], 0), ([1, -1], -1), ([1, 5], 5), ([1, 3], 3), ([1, 2, 1], 1)],
    ids=str,
)
def test_only_what_is_taken_is_given_back_and_once(pages, wrong) -> None:
    memory = PagePool(5, 2, num_kv_heads=1, width=1)
    memory.take(3)
    memory.give_back([0])
    sentence = f"pages must be taken, each by one text; got pages with {wrong}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        memory.give_back(pages)
    assert memory.free_pages == [3, 4, 0]


@pytest.mark.refusal
@pytest.mark.parametrize(
    "name", ["num_pages", "page_size", "num_kv_heads", "width", "value_width"]
)
def test_sizes_must_be_positive(name: str) -> None:
    sizes = {"num_pages": 2, "page_size": 3, "num_kv_heads": 5, "width": 7}
    sentence = f"{name} must be a positive integer; got {name}=0."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        PagePool(**(sizes | {name: 0}))
