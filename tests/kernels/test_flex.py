"""FlexAttention's functions: each equal to its table, and blocks as counted by hand."""

import itertools
import re
import shutil
import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.attention.flex_attention as flex
from torch import Tensor
from torch.nn.attention.flex_attention import (
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)

from headway import (
    ALiBi,
    FlexAttend,
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    T5Bias,
    alibi_mod,
    alibi_slopes,
    attention,
    attention_with_lse,
    causal_mask,
    causal_mod,
    count_blocks,
    document_mask,
    document_mod,
    padding_mask,
    padding_mod,
    prefix_mod,
    relative_mod,
    repeat_heads,
    shift_queries,
    sliding_window_mask,
    window_mod,
)
from tests.support.compare import close
from tests.support.random_inputs import BROADCAST, EVERY_MASK, mask_of, qkv
from tests.support.sizes import D_IN, B, D, H, S, T, V, draw

HEADS, GROUPS, N, W = 6, 3, 11, 4
ROW = torch.tensor([0, 0, 1, 1, 1, 1, 2, 5, 5, -1, -1])
ROWS = torch.stack([ROW, torch.tensor([3, 3, 3, 3, 0, 0, 0, 0, 0, 0, -1])])
LENGTHS = torch.tensor([7, 3])

# A function, its table, and both by the definition, pair by pair.
MASKS: dict[str, tuple[Callable, Tensor, Callable]] = {
    "causal": (causal_mod, causal_mask(N), lambda b, q, k: k <= q),
    "window": (
        window_mod(W),
        sliding_window_mask(N, window=W),
        lambda b, q, k: 0 <= q - k < W,
    ),
    "prefix": (
        prefix_mod(LENGTHS),
        padding_mask(LENGTHS, N) | causal_mask(N),
        lambda b, q, k: k < LENGTHS[b] or k <= q,
    ),
    "documents": (
        document_mod(ROW),
        document_mask(ROW),
        lambda b, q, k: ROW[q] == ROW[k] != -1,
    ),
    "documents of each text": (
        document_mod(ROWS),
        document_mask(ROWS),
        lambda b, q, k: ROWS[b, q] == ROWS[b, k] != -1,
    ),
    "padding": (
        padding_mod(LENGTHS),
        padding_mask(LENGTHS, N).expand(B, N, N),
        lambda b, q, k: k < LENGTHS[b],
    ),
    "causal documents": (
        and_masks(document_mod(ROWS), causal_mod),
        document_mask(ROWS) & causal_mask(N),
        lambda b, q, k: ROWS[b, q] == ROWS[b, k] != -1 and k <= q,
    ),
    "window or first": (
        or_masks(window_mod(2), and_masks(padding_mod(LENGTHS), causal_mod)),
        sliding_window_mask(N, window=2) | padding_mask(LENGTHS, N) & causal_mask(N),
        lambda b, q, k: k <= q and (q - k < 2 or k < LENGTHS[b]),
    ),
}
EVERY_MOD = pytest.mark.parametrize(("mod", "table", "rule"), MASKS.values(), ids=MASKS)


@pytest.fixture
def at_once(monkeypatch) -> None:
    """Leave out Dynamo, which takes a third of a second for each new function."""
    name = "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"
    monkeypatch.setattr(flex, name, True, raising=False)


def grouped() -> tuple[Tensor, Tensor, Tensor]:
    return draw(B, HEADS, N, D), draw(B, GROUPS, N, D), draw(B, GROUPS, N, V)


def blocks(mod: Callable, T: int, S: int, size: int | tuple = 4, B=None, H=None):
    return create_block_mask(mod, B, H, T, S, device="cpu", BLOCK_SIZE=size)


def t5(heads: int = HEADS, *, bidirectional: bool = True) -> T5Bias:
    sizes = {"num_buckets": 8, "max_distance": 7, "dtype": torch.float64}
    bias = T5Bias(heads, bidirectional=bidirectional, **sizes)
    torch.nn.init.normal_(bias.weight)
    return bias


@EVERY_MOD
def test_a_function_is_its_table(mod, table, rule) -> None:
    theirs = create_mask(mod, B, None, N, N, device="cpu")
    assert theirs.dtype == torch.bool
    by_loops = [
        [[bool(rule(b, q, k)) for k in range(N)] for q in range(N)] for b in range(B)
    ]
    assert theirs[:, 0].tolist() == by_loops
    assert torch.equal(theirs[:, 0], table.expand(B, N, N))


@pytest.mark.usefixtures("at_once")
@EVERY_MOD
def test_attention_by_function_is_attention_by_table(mod, table, rule) -> None:
    query, key, value = grouped()
    context, aux = flex_attention(
        query,
        key,
        value,
        block_mask=blocks(mod, N, N, B=B),
        enable_gqa=True,
        return_aux=flex.AuxRequest(lse=True),
    )
    key, value = (repeat_heads(x, HEADS // GROUPS) for x in (key, value))
    dense = table.unsqueeze(-3)
    close(context, attention(query, key, value, mask=dense))
    close(aux.lse, attention_with_lse(query, key, value, mask=dense)[1])
    close(FlexAttend(mod, block_size=4)(query, key, value), context)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", ["alibi", "t5", "t5 of the past"])
def test_a_bias_by_function_is_a_bias_by_table(kind) -> None:
    bias = ALiBi(HEADS) if kind == "alibi" else t5(bidirectional=kind == "t5")
    mod = relative_mod(bias, N)
    places = torch.arange(N)
    query, key, value = grouped()
    context = flex_attention(query, key, value, score_mod=mod, enable_gqa=True)
    key, value = (repeat_heads(x, HEADS // GROUPS) for x in (key, value))
    dense = attention(query, key, value, bias=bias(places, places), scale=None)
    close(context, dense.detach())
    if kind == "alibi":
        mod = alibi_mod(alibi_slopes(HEADS))
        close(FlexAttend(score_mod=mod)(query, key, value), dense)
        # What is taken off is rounded last, as everywhere.
        single = [x.float() for x in (query, key, value)]
        rounded = attention(*single, bias=bias(places, places))
        close(FlexAttend(score_mod=mod)(*single), rounded, 1e-6)
        assert mod(query.float(), *[torch.tensor(0)] * 4).dtype == torch.float32


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("queries", [1, 3])
def test_a_distance_beyond_the_table_is_no_number(queries) -> None:
    """An index below zero would be read from the other end, and look right."""
    bias = t5()
    query = draw(HEADS, queries, D)
    key, value = draw(HEADS, N, D), draw(HEADS, N, V)
    short = FlexAttend(score_mod=relative_mod(bias, 4))
    assert short(query, key, value).isnan().all()
    close(
        short(query, key[:, :2], value[:, :2]),
        attention(
            query,
            key[:, :2],
            value[:, :2],
            bias=bias(torch.arange(2 - queries, 2), torch.arange(2)).detach(),
        ),
    )
    # What is hidden is not asked for.
    near = FlexAttend(window_mod(4), relative_mod(bias, 4))
    places = torch.arange(N - queries, N), torch.arange(N)
    close(
        near(query, key, value),
        attention(
            query,
            key,
            value,
            mask=sliding_window_mask(queries, N, window=4),
            bias=bias(*places).detach(),
        ),
    )


@pytest.mark.parametrize(("queries", "keys"), [(0, S), (T, 0), (0, 0)])
@pytest.mark.parametrize("mod", [None, causal_mod])
def test_no_queries_and_no_keys(mod, queries, keys) -> None:
    query, key, value = draw(B, H, queries, D), draw(H, keys, D), draw(H, keys, V)
    close(FlexAttend(mod)(query, key, value), attention(query, key, value))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.filterwarnings("ignore")
def test_compiled_it_is_attention() -> None:
    query, key, value = (x.float() for x in qkv((B, H)))
    bias = t5(H).float()
    attend = FlexAttend(
        causal_mod, relative_mod(bias, S), flex=torch.compile(flex_attention)
    )
    added = bias(torch.arange(S - T, S), torch.arange(S)).detach()
    dense = attention(query, key, value, bias=added, causal=True)
    close(attend(query, key, value), dense, 1e-5)


def test_a_relative_table_is_a_copy_of_all_distances() -> None:
    bias = t5()
    mod, zero = relative_mod(bias, N), torch.tensor(0)
    places = torch.arange(N)
    added = bias(places, places).detach()
    for h, q, k in itertools.product(range(HEADS), (0, 3, N - 1), (0, 5, N - 1)):
        numbers = (torch.tensor(n) for n in (h, q, k))
        close(mod(torch.tensor(1.0).double(), zero, *numbers), 1.0 + added[h, q, k])
    before = mod(torch.tensor(1.0), zero, zero, zero, zero)
    with torch.no_grad():
        bias.weight += 1.0
    assert not before.requires_grad
    assert torch.equal(mod(torch.tensor(1.0), zero, zero, zero, zero), before)
    assert relative_mod(ALiBi(2), 3, device="cpu")(zero, *[zero] * 4) == 0


@pytest.mark.usefixtures("at_once")
def test_a_fully_masked_row_gives_zeros() -> None:
    query, key, value = draw(B, H, N, D), draw(B, H, N, D), draw(B, H, N, V)
    nothing = padding_mod(torch.tensor([0, 2]))
    context, aux = flex_attention(
        query,
        key,
        value,
        block_mask=blocks(nothing, N, N, B=B),
        return_aux=flex.AuxRequest(lse=True),
    )
    assert context[0].eq(0).all()
    assert context[1].ne(0).all()
    assert aux.lse[0].isneginf().all()
    assert aux.lse[1].isfinite().all()
    more = FlexAttend(causal_mod)(draw(N, D), draw(2, D), draw(2, V))
    assert more.ne(0).any(dim=-1).tolist() == [False] * (N - 2) + [True] * 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_the_adapter_is_attention(leading, kind) -> None:
    query, key, value = qkv(leading)
    options = {"mask": mask_of(kind, leading), "bias": draw(T, S), "scale": 0.7}
    for causal in (False, True):
        ours = FlexAttend(block_size=4)(query, key, value, causal=causal, **options)
        close(ours, attention(query, key, value, causal=causal, **options))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
def test_the_adapter_broadcasts(of_query, of_key, of_value) -> None:
    query, key = draw(*of_query, T, D), draw(*of_key, S, D)
    value = draw(*of_value, S, V)
    close(FlexAttend()(query, key, value), attention(query, key, value))
    leading = torch.broadcast_shapes(of_query, of_key)
    bias = draw(*leading[-1:], 1, S)
    options = {"bias": bias, "mask": bias > 0, "causal": True}
    ours = FlexAttend()(query, key, value, **options)
    close(ours, attention(query, key, value, **options))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("leading", [(), (H,), (B, H)], ids=str)
def test_functions_and_tables_go_together(leading) -> None:
    """The last query belongs to the last key, for functions too."""
    query, key, value = qkv(leading)
    heads = leading[-1] if leading else 1
    attend = FlexAttend(window_mod(W), alibi_mod(alibi_slopes(heads)), block_size=4)
    mask, bias = torch.rand(T, S) < 0.7, draw(*leading, T, S)
    ours = attend(query, key, value, mask=mask, bias=bias)
    added = ALiBi(heads)(torch.arange(S - T, S), torch.arange(S))
    dense = attention(
        query,
        key,
        value,
        mask=mask & sliding_window_mask(T, S, window=W),
        bias=bias + (added if leading else added[0]),
    )
    close(ours, dense)


@pytest.mark.usefixtures("at_once")
@torch.no_grad()
def test_a_module_runs_on_it_with_a_cache_and_in_groups() -> None:
    x = draw(B, N, D_IN)
    sizes = {"num_heads": HEADS, "bias": t5(), "dtype": torch.float64}
    for kind, more in (
        (MultiHeadAttention, {}),
        (GroupedQueryAttention, {"num_kv_heads": GROUPS, "window": W}),
    ):
        plain = kind(D_IN, 24, N, 0.0, **sizes, **more).eval()
        module = kind(D_IN, 24, N, 0.0, **sizes, **more, attend=FlexAttend()).eval()
        module.load_state_dict(plain.state_dict())
        close(module(x), plain(x))
        cache = KeyValueCache()
        parts = [module(part, cache=cache) for part in x.split([5, 1, 3, 2], dim=1)]
        close(torch.cat(parts, dim=1), plain(x))


def test_not_compiled_it_says_nothing_and_hands_its_options_on() -> None:
    """Here with all that PyTorch does of itself; warnings are errors in this run."""
    flex._WARNINGS_SHOWN.discard("flex_attention_performance")
    query, key, value = qkv((B, H))
    attend = FlexAttend(window_mod(W), alibi_mod(alibi_slopes(H)))
    added = ALiBi(H)(torch.arange(S - T, S), torch.arange(S))
    mask = sliding_window_mask(T, S, window=W)
    close(
        attend(query, key, value), attention(query, key, value, mask=mask, bias=added)
    )
    assert "torch._dynamo" in sys.modules

    seen = []

    def record(*tensors: Tensor, **options) -> Tensor:
        seen.append(options)
        return flex_attention(*tensors, **options)

    attend = FlexAttend(causal_mod, block_size=3, flex=record)
    attend(query, key, value, scale=0.3)
    assert seen[0]["block_mask"].BLOCK_SIZE == (3, 3)
    assert seen[0]["scale"] == 0.3
    assert seen[0]["score_mod"] is None
    FlexAttend(flex=record)(query, key, value)
    assert seen[1]["block_mask"] is None


def test_places_of_queries_are_shifted() -> None:
    for start in (0, 1, S - T):
        mod = shift_queries(window_mod(W), start)
        theirs = create_mask(mod, 1, 1, T, S, device="cpu")[0, 0]
        whole = sliding_window_mask(T + start, S, window=W) if start == S - T else None
        rows = create_mask(window_mod(W), 1, 1, T + start, S, device="cpu")[
            0, 0, start:
        ]
        assert torch.equal(theirs, rows)
        if whole is not None:
            assert torch.equal(theirs, whole[-T:])


@pytest.mark.parametrize("size", [1, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_causal_blocks_are_half_and_half_a_row(size, n) -> None:
    visited, every = count_blocks(blocks(causal_mod, n * size, n * size, size))
    assert (visited, every) == (n * (n + 1) // 2, n * n)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 7, 11, 40])
def test_blocks_of_a_window(size, window) -> None:
    """A row of blocks reaches back over ceil((W - 1) / size) of them, if there are."""
    n = 6
    visited, every = count_blocks(blocks(window_mod(window), n * size, n * size, size))
    back = -(-(window - 1) // size)
    assert visited == sum(min(back, row) + 1 for row in range(n))
    assert every == n * n


@EVERY_MOD
@pytest.mark.parametrize("size", [(4, 4), (3, 5), 128], ids=str)
def test_a_block_is_visited_if_a_pair_of_it_is_allowed(mod, table, rule, size) -> None:
    """No length is a multiple here; texts and heads are counted each."""
    rows, columns = (size, size) if isinstance(size, int) else size
    table = table.expand(B, N, N)
    by_hand = [
        bool(part.any())
        for text in table
        for row in text.split(rows)
        for part in row.split(columns, dim=-1)
    ]
    mask = blocks(mod, N, N, size, B=B, H=H)
    assert count_blocks(mask) == (H * sum(by_hand), H * len(by_hand))
    whole = create_block_mask(mod, B, H, N, N, "cpu", size, separate_full_blocks=False)
    assert whole.full_kv_num_blocks is None
    assert count_blocks(whole) == count_blocks(mask)


def test_no_gradient_on_a_cpu() -> None:
    query, key, value = qkv((B, H))
    query.requires_grad_()
    with pytest.raises(NotImplementedError, match="backward on CPU"):
        flex_attention(query, key, value)
    with torch.no_grad(), pytest.raises(NotImplementedError, match="backward on CPU"):
        flex_attention(query, key, value)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", ["query", "key", "value", "bias"])
def test_a_gradient_is_refused_before_it_is_lost(name) -> None:
    query, key, value = qkv((B, H))
    tensors = {"query": query, "key": key, "value": value, "bias": draw(T, S)}
    tensors[name].requires_grad_()
    sentence = (
        f"{name} must not require a gradient, which FlexAttention does not compute on "
        f"a CPU; got {name}.requires_grad=True."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        FlexAttend()(**tensors)
    with torch.no_grad():
        close(FlexAttend()(**tensors), attention(**tensors))


def test_elsewhere_a_gradient_flows() -> None:
    """On a device that can do it; here on one that only knows shapes."""
    query, key, value = (x.to("meta").requires_grad_() for x in qkv((B, H)))

    def handed(query: Tensor, key: Tensor, value: Tensor, **options) -> Tensor:
        assert query.requires_grad
        assert key.requires_grad
        return query[..., :1] + value[..., :1, :]

    assert FlexAttend(flex=handed)(query, key, value).requires_grad


@pytest.mark.refusal
def test_bad_input_is_refused_in_a_sentence() -> None:
    query, key, value = qkv((B, H))
    plain, both = FlexAttend(), FlexAttend(causal_mod)
    deep = [x.unsqueeze(0) for x in (query, key, value)]
    wrong = torch.ones(T, S)
    for sentence, call in {
        "window must be a positive integer; got window=0.": lambda: window_mod(0),
        "length must be a positive integer; got length=0.": lambda: relative_mod(
            ALiBi(2), 0
        ),
        "block_size must be a positive integer; got block_size=0.": lambda: FlexAttend(
            block_size=0
        ),
        "prefix_lengths must hold integers": lambda: prefix_mod(torch.ones(2)),
        "prefix_lengths must have one number for each text; got "
        "prefix_lengths.shape=().": lambda: prefix_mod(torch.tensor(3)),
        "lengths must hold integers": lambda: padding_mod(torch.ones(2)),
        "lengths must have one number for each text; got "
        "lengths.shape=(2, 1).": lambda: padding_mod(LENGTHS[:, None]),
        "document_ids must hold integers": lambda: document_mod(torch.ones(2)),
        "document_ids must have at most two axes, rows and tokens; got "
        "document_ids.shape=(1, 2, 11).": lambda: document_mod(ROWS[None]),
        "slopes must hold floating-point": lambda: alibi_mod(torch.ones(2).int()),
        "slopes must have one number for each head; got slopes.shape=(2, 1).": lambda: (
            alibi_mod(torch.ones(2, 1))
        ),
        "dropout_p must be zero, because FlexAttention has no dropout; got "
        "dropout_p=0.1.": lambda: plain(query, key, value, dropout_p=0.1),
        "query must have the heads of key, and be (texts, heads, tokens, width), where "
        "a function is asked for a text and a head; got query.shape=(1, 2, 5, 7, 3), "
        "key.shape=(1, 2, 5, 11, 3).": lambda: both(*deep),
        "query must have the heads of key": lambda: both(query, key[:, :1], value),
        "key must have the width": lambda: plain(query, key[..., :2], value),
        "value must have the length": lambda: plain(query, key, value[..., :2, :]),
        "scale must be positive": lambda: plain(query, key, value, scale=0.0),
        "mask must be boolean": lambda: plain(query, key, value, mask=wrong),
        "mask must broadcast": lambda: plain(query, key, value, mask=wrong[1:] > 0),
        "bias must hold": lambda: plain(query, key, value, bias=wrong > 0),
        "bias must broadcast": lambda: plain(query, key, value, bias=wrong[:, 1:]),
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
            call()
