"""A ring of processes: whoever has which tokens, the result is that of one process.

Most tests pretend: their processes are threads, and their network is in memory. What
goes through real processes stands at the end.
"""

import re

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

import headway.distributed.ring as module
from headway import (
    attention,
    contiguous_rows,
    count_pairs,
    ring_attention,
    striped_rows,
    zigzag_rows,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.in_processes import print_in_processes
from tests.support.in_threads import Network
from tests.support.sizes import B, D, H, V, draw

N = 23  # tokens of the text: no number of processes divides it
PROCESSES = pytest.mark.parametrize("processes", [1, 2, 3, 5])
CAUSAL = pytest.mark.parametrize("causal", [True, False])


def by_chance(tokens: int, processes: int) -> list[Tensor]:
    """Give each token to any process; some may get none."""
    owner = torch.randint(processes, (tokens,))
    shuffled = torch.randperm(tokens)
    return [shuffled[owner[shuffled] == rank] for rank in range(processes)]


def all_to_one(tokens: int, processes: int) -> list[Tensor]:
    """Give everything to the last but one, backwards."""
    rows = [torch.arange(0) for _ in range(processes)]
    rows[-2 if processes > 1 else 0] = torch.arange(tokens).flip(0)
    return rows


WAYS = {
    "contiguous": contiguous_rows,
    "striped": striped_rows,
    "zigzag": zigzag_rows,
    "by chance": by_chance,
    "all to one": all_to_one,
}
ROWS = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def network(monkeypatch):
    def build(processes: int) -> Network:
        pretended = Network(processes)
        monkeypatch.setattr(module, "dist", pretended)
        monkeypatch.setattr(module, "gather_objects", pretended.gather_objects)
        return pretended

    return build


def drawn(*leading: int, tokens: int = N, shared: tuple[int, ...] | None = None):
    """Draw queries, keys, values, and what comes back to the contexts."""
    fewer = leading if shared is None else shared
    shapes = (*leading, tokens, D), (*fewer, tokens, D), (*fewer, tokens, V)
    inputs = [draw(*shape).requires_grad_() for shape in shapes]
    return inputs, draw(*leading, tokens, V)


def in_a_ring(network, rows, inputs, gradient, positions=None, **options):
    """Cut rows out, go round, put rows back: contexts and three gradients."""
    contexts = torch.full_like(gradient, torch.nan)
    grads = [torch.full_like(x, torch.nan) for x in inputs]
    pretended = network(len(rows))

    def work(rank: int) -> None:
        own = rows[rank]
        parts = [x.detach()[..., own, :].requires_grad_() for x in inputs]
        where = own if positions is None else positions[own]
        result = ring_attention(*parts, where, **options)
        result.backward(gradient[..., own, :])
        contexts[..., own, :] = result.detach()
        for grad, part in zip(grads, parts, strict=True):
            grad[..., own, :] = part.grad

    pretended.run(work)
    return [contexts, *grads], pretended


def at_once(inputs, gradient, **options):
    """What one process gives."""
    context = attention(*inputs, **options)
    return [context, *torch.autograd.grad(context, inputs, gradient)]


def all_close(ours, theirs, tolerance: float = 1e-13) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other, tolerance)


# Who has which tokens.


def test_rows_by_eye() -> None:
    def lists(rows):
        return [row.tolist() for row in rows]

    assert lists(contiguous_rows(7, 3)) == [[0, 1, 2], [3, 4], [5, 6]]
    assert lists(striped_rows(7, 3)) == [[0, 3, 6], [1, 4], [2, 5]]
    assert lists(zigzag_rows(7, 2)) == [[0, 1, 6], [2, 3, 4, 5]]
    assert lists(zigzag_rows(12, 3)) == [
        [0, 1, 10, 11],
        [2, 3, 8, 9],
        [4, 5, 6, 7],
    ]
    assert lists(striped_rows(1, 3)) == [[0], [], []]
    assert lists(zigzag_rows(2, 3)) == [[0], [1], []]


@ROWS
@pytest.mark.parametrize("processes", [1, 2, 3, 5, 29])
def test_each_token_has_one_process(way: str, processes: int) -> None:
    rows = WAYS[way](N, processes)
    assert len(rows) == processes
    assert sorted(torch.cat(rows).tolist()) == [*range(N)]
    assert all(row.dtype == torch.int64 for row in rows)


@pytest.mark.parametrize("way", ["contiguous", "striped"])
@pytest.mark.parametrize("processes", [1, 2, 3, 5, 29])
def test_processes_have_the_same_number_of_tokens_but_for_one(
    way: str, processes: int
) -> None:
    lengths = [len(row) for row in WAYS[way](N, processes)]
    assert max(lengths) - min(lengths) <= 1


def test_work_is_as_the_book_says() -> None:
    assert count_pairs(contiguous_rows(24, 3)) == [36, 100, 164]
    assert count_pairs(striped_rows(24, 3)) == [92, 100, 108]
    assert count_pairs(zigzag_rows(24, 3)) == [100, 100, 100]


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 7])
def test_zigzag_is_balanced_wherever_twice_the_processes_divide(
    processes: int,
) -> None:
    tokens = 6 * processes
    pairs = count_pairs(zigzag_rows(tokens, processes))
    assert pairs == [tokens * (tokens + 1) // 2 // processes] * processes


@ROWS
def test_pairs_are_counted_one_by_one(way: str) -> None:
    rows = WAYS[way](N, 5)
    tokens = [p for row in rows for p in row.tolist()]
    expected = [sum(s <= t for t in row.tolist() for s in tokens) for row in rows]
    assert count_pairs(rows) == expected
    assert sum(expected) == N * (N + 1) // 2


# The ring is one process, whoever has which tokens.


@ROWS
@PROCESSES
@CAUSAL
def test_a_ring_equals_one_process(network, way, processes, causal) -> None:
    inputs, gradient = drawn(B, H)
    rows = WAYS[way](N, processes)
    found, _ = in_a_ring(network, rows, inputs, gradient, causal=causal)
    all_close(found, at_once(inputs, gradient, causal=causal))


@pytest.mark.slow
@CAUSAL
@pytest.mark.parametrize("processes", [2, 3, 4, 6])
def test_a_ring_equals_one_process_for_any_rows(network, processes, causal) -> None:
    for tokens in (1, 2, 7, 23):
        inputs, gradient = drawn(H, tokens=tokens)
        expected = at_once(inputs, gradient, causal=causal)
        for _ in range(7):
            rows = by_chance(tokens, processes)
            found, _ = in_a_ring(network, rows, inputs, gradient, causal=causal)
            all_close(found, expected)


@CAUSAL
def test_a_ring_equals_the_loops(network, causal) -> None:
    inputs, gradient = drawn(B, tokens=7)
    found, _ = in_a_ring(
        network, zigzag_rows(7, 3), inputs, gradient, causal=causal, scale=0.7
    )
    close(found[0], oracles.attention(*inputs, causal=causal, scale=0.7))


@CAUSAL
def test_a_ring_equals_pytorch(network, causal) -> None:
    inputs, gradient = drawn(B, H)
    found, _ = in_a_ring(network, striped_rows(N, 3), inputs, gradient, causal=causal)
    theirs = scaled_dot_product_attention(*inputs, is_causal=causal)
    all_close(found, [theirs, *torch.autograd.grad(theirs, inputs, gradient)])


def test_large_scores_overflow_nowhere(network) -> None:
    inputs, gradient = drawn(H)
    found, _ = in_a_ring(network, striped_rows(N, 3), inputs, gradient, scale=3e3)
    all_close(found, at_once(inputs, gradient, causal=True, scale=3e3), 1e-6)


def test_positions_say_who_sees_whom_and_not_the_order_of_rows(network) -> None:
    """Any numbers serve: only which is greater counts; equal ones see each other."""
    inputs, gradient = drawn(H)
    positions = torch.randint(100, 117, (N,))
    found, _ = in_a_ring(network, by_chance(N, 3), inputs, gradient, positions)
    visible = positions <= positions[:, None]
    all_close(found, at_once(inputs, gradient, mask=visible))


@CAUSAL
def test_padding_sees_nothing_and_is_seen_by_nobody(network, causal) -> None:
    inputs, gradient = drawn(B, H)
    positions = torch.arange(N)
    padding = torch.tensor([0, 3, 4, 15, 16, 17, 18, 19, 20, 21, 22])
    positions[padding] = -1
    rows = contiguous_rows(N, 3)  # the third has nothing but padding
    assert bool((positions[rows[2]] < 0).all())
    with torch.no_grad():
        for x in inputs:
            x[..., padding, :] = 1e150  # whatever it is
    options = {"causal": causal}
    found, _ = in_a_ring(network, rows, inputs, gradient, positions, **options)
    real = positions >= 0
    part = [x.detach()[..., real, :].requires_grad_() for x in inputs]
    expected = at_once(part, gradient[..., real, :], causal=causal)
    for ours, theirs in zip(found, expected, strict=True):
        close(ours[..., real, :], theirs, 1e-13)
        assert not ours[..., padding, :].any()


def test_shared_heads_are_sent_once(network) -> None:
    """Two heads of keys and values for six of queries: a third of the numbers."""
    rows = zigzag_rows(N, 3)
    inputs, gradient = drawn(B, 2, 3, shared=(B, 2, 1))
    found, few = in_a_ring(network, rows, inputs, gradient)
    all_close(found, at_once(inputs, gradient, causal=True))
    inputs, gradient = drawn(B, 2, 3)
    _, many = in_a_ring(network, rows, inputs, gradient)
    assert many.numbers.total() == 3 * few.numbers.total()


def test_leading_axes_broadcast(network) -> None:
    inputs, gradient = drawn(B, H, shared=())
    inputs[0] = draw(H, N, D).requires_grad_()
    gradient = gradient[0]
    found, _ = in_a_ring(network, striped_rows(N, 3), inputs, gradient)
    all_close(found, at_once(inputs, gradient, causal=True))


def test_views_are_sent_as_what_they_show(network) -> None:
    inputs, _ = drawn(tokens=6)
    rows = contiguous_rows(6, 2)

    def work(rank: int) -> Tensor:
        own = rows[rank]
        q, k, v = (x.detach()[own].mT.contiguous().mT for x in inputs)
        return ring_attention(q, k, v, own)

    close(torch.cat(network(2).run(work)), attention(*inputs, causal=True).detach())


def test_only_what_asks_for_a_gradient_gets_one(network) -> None:
    inputs, _ = drawn(tokens=6)

    def work(rank: int) -> None:
        own = contiguous_rows(6, 2)[rank]
        q, k, v = (x.detach()[own] for x in inputs)
        q.requires_grad_()
        result = ring_attention(q, k, v, own)
        result.sum().backward()
        assert q.grad is not None
        assert k.grad is v.grad is None
        result = ring_attention(q, k, v, own)
        above = torch.ones_like(result).requires_grad_()
        (grad,) = torch.autograd.grad(result, q, above, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad.sum().backward()

    network(2).run(work)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, 3e-6), (torch.bfloat16, 6e-2), (torch.float16, 8e-3)],
    ids=str,
)
def test_a_type_stays_as_it_is(network, dtype, tolerance) -> None:
    inputs, gradient = drawn(H)
    inputs = [x.detach().to(dtype).requires_grad_() for x in inputs]
    rows = all_to_one(N, 3)  # two see nothing, and their gradients have to fit
    for owners in (zigzag_rows(N, 3), rows):
        found, _ = in_a_ring(network, owners, inputs, gradient.to(dtype))
        assert {x.dtype for x in found} == {dtype}
        exact = [x.detach().double().requires_grad_() for x in inputs]
        expected = at_once(exact, gradient.to(dtype).double(), causal=True)
        all_close([x.double() for x in found], expected, tolerance)


def test_positions_may_be_of_other_types_in_other_processes(network) -> None:
    inputs, _ = drawn(tokens=6)
    rows = striped_rows(6, 2)

    def work(rank: int) -> Tensor:
        own = rows[rank].to((torch.int32, torch.int64)[rank])
        return ring_attention(*(x.detach()[rows[rank]] for x in inputs), own)

    whole = attention(*inputs, causal=True).detach()
    close(torch.cat(network(2).run(work)), whole[torch.cat(rows)])


# What is computed, what is sent.


@pytest.mark.parametrize(
    ("way", "causal", "expected"),
    [
        ("contiguous", True, [1, 2, 3]),
        ("contiguous", False, [3, 3, 3]),
        ("striped", True, [3, 3, 3]),
        ("zigzag", True, [3, 3, 3]),
    ],
)
def test_blocks_in_the_future_are_not_computed(
    network, monkeypatch, way, causal, expected
) -> None:
    there, back = [], []
    inputs, gradient = drawn(tokens=24)
    rows = WAYS[way](24, 3)
    first = inputs[0].detach()[[row[0] for row in rows], 0].tolist()
    whose = {number: rank for rank, number in enumerate(first)}

    def spy(name: str, seen: list[int], query_of) -> None:
        inner = getattr(module, name)

        def counted(*args, **kwargs):
            seen.append(whose[query_of(args[0]).detach()[0, 0].item()])
            return inner(*args, **kwargs)

        monkeypatch.setattr(module, name, counted)

    spy("attention_with_lse", there, lambda query: query)
    spy("_gradients", back, lambda kept: kept.query)
    in_a_ring(network, rows, inputs, gradient, causal=causal)
    assert [there.count(rank) for rank in range(3)] == expected
    assert [back.count(rank) for rank in range(3)] == expected


def test_numbers_that_are_sent(network) -> None:
    """Forward P - 1 blocks; backward as many, and P times their gradients."""
    processes, tokens = 4, 24
    inputs, gradient = drawn(tokens=tokens)
    _, ring = in_a_ring(network, zigzag_rows(tokens, processes), inputs, gradient)
    block = tokens // processes * (D + V)
    assert [ring.numbers[rank] for rank in range(processes)] == [
        (3 * processes - 2) * block
    ] * processes
    inputs, gradient = drawn(tokens=5)
    _, ring = in_a_ring(network, zigzag_rows(5, 1), inputs, gradient)
    assert not ring.numbers


def test_a_process_holds_no_more_than_its_part_of_the_scores(network) -> None:
    from tests.support.largest_tensor import Largest

    tokens, processes = 64, 4
    inputs, gradient = drawn(tokens=tokens)
    seen = []
    rows = zigzag_rows(tokens, processes)

    def work(rank: int) -> None:
        own = rows[rank]
        parts = [x.detach()[own].requires_grad_() for x in inputs]
        with Largest() as largest:
            ring_attention(*parts, own).backward(gradient[own])
        seen.append(largest.numbers)

    network(processes).run(work)
    block = (tokens // processes) ** 2
    assert seen == [max(block, tokens // processes * V)] * processes


# What is refused.


@pytest.mark.refusal
@pytest.mark.parametrize("rows", [contiguous_rows, striped_rows, zigzag_rows])
@pytest.mark.parametrize("wrong", [0, -1, 2.0, True], ids=str)
def test_counts_are_positive_integers(rows, wrong) -> None:
    for name, call in (
        ("T", lambda: rows(wrong, 2)),
        ("processes", lambda: rows(2, wrong)),
    ):
        sentence = f"{name} must be a positive integer; got {name}={wrong!r}."
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            call()


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "rows must be of at least one process; got rows=[]."),
        (
            [torch.arange(2), torch.zeros(1, 2, dtype=torch.int64)],
            "rows must hold one list of integers for each process; "
            "got rows[1] of (1, 2), torch.int64.",
        ),
        (
            [torch.zeros(2)],
            "rows must hold one list of integers for each process; "
            "got rows[0] of (2,), torch.float32.",
        ),
        (
            [torch.zeros(2) > 0],
            "rows must hold one list of integers for each process; "
            "got rows[0] of (2,), torch.bool.",
        ),
    ],
)
def test_rows_are_lists_of_integers(rows, sentence) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        count_pairs(rows)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"positions": torch.zeros(5)}, "positions must hold integers; "),
        (
            {"positions": torch.arange(4)},
            "positions must have one number for each query; "
            "got positions.shape=(4,), query.shape=(2, 5, 3).",
        ),
        (
            {"positions": torch.arange(5).expand(2, 5)},
            "positions must have one number for each query; "
            "got positions.shape=(2, 5), query.shape=(2, 5, 3).",
        ),
        (
            {"key": torch.zeros(2, 6, 3), "value": torch.zeros(2, 6, 3)},
            "key must have the length of query; "
            "got key.shape=(2, 6, 3), query.shape=(2, 5, 3).",
        ),
        ({"key": torch.zeros(2, 5, 4)}, "key must have the width of query, "),
        ({"value": torch.zeros(2, 4, 3)}, "value must have the length of key, "),
        (
            {"value": torch.zeros(2, 5, 3).double()},
            "query, key and value must have one type; got query.dtype=torch.float32, "
            "key.dtype=torch.float32, value.dtype=torch.float64.",
        ),
        ({"scale": 0.0}, "scale must be positive and finite; got scale=0.0."),
    ],
)
def test_what_does_not_fit_is_refused(network, change, sentence) -> None:
    given = {
        "query": torch.zeros(2, 5, 3),
        "key": torch.zeros(2, 5, 3),
        "value": torch.zeros(2, 5, 3),
        "positions": torch.arange(5),
        **change,
    }
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        network(1).run(lambda _: ring_attention(**given))


@pytest.mark.refusal
@pytest.mark.parametrize("wrong", [{"positions": torch.arange(4)}, {"scale": -1.0}])
def test_what_is_wrong_in_one_process_is_refused_in_all(network, wrong) -> None:
    def work(rank: int) -> str:
        own = {"positions": torch.arange(5), "scale": None}
        x = torch.zeros(2, 5, 3)
        with pytest.raises(ValueError, match="must") as error:
            ring_attention(x, x, x, **(own | wrong if rank == 1 else own))
        return str(error.value)

    here = "query, key, value, positions and scale must fit in all processes; got in "
    first, second, third = network(3).run(work)
    assert first == third == f"{here}process 1: {second}"
    assert second.startswith(next(iter(wrong)))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"key": (4, 5, 3)}, "and key of (4, 5, 3), value of (2, 5, 7), "),
        ({"value": (2, 5, 8)}, "and key of (2, 5, 3), value of (2, 5, 8), "),
        ({"dtype": torch.float64}, "torch.float64, causal=True, scale=0.5 in "),
        ({"causal": False}, "torch.float32, causal=False, scale=0.5 in "),
        ({"scale": 0.25}, "torch.float32, causal=True, scale=0.25 in "),
    ],
)
def test_what_differs_between_processes_is_refused_by_all(
    network, change, found
) -> None:
    def work(rank: int) -> str:
        options = {"causal": True, "scale": 0.5}
        own = {"key": (2, 5, 3), "value": (2, 5, 7), "dtype": torch.float32}
        if rank == 1:
            own |= {name: given for name, given in change.items() if name in own}
            options |= {n: given for n, given in change.items() if n in options}
        key, value = (
            torch.zeros(own[name], dtype=own["dtype"]) for name in ("key", "value")
        )
        query = torch.zeros(*key.shape[:-2], 5, 3, dtype=own["dtype"])
        if key.shape[0] == 4:
            value = torch.zeros(1, 5, 7)
        with pytest.raises(ValueError, match="key and value must be alike") as error:
            ring_attention(query, key, value, torch.arange(5), **options)
        return str(error.value)

    first, second = network(2).run(work)
    assert first == second
    assert "process 1." in first
    assert found.replace("value of (2, 5, 7)", "value of") in first.replace(
        "value of (2, 5, 7)", "value of"
    ).replace("value of (1, 5, 7)", "value of")


# PyTorch's own processes.


def test_one_process_needs_no_other() -> None:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        inputs, gradient = drawn(B, H)
        context = ring_attention(*inputs, torch.arange(N))
        found = [context, *torch.autograd.grad(context, inputs, gradient)]
    finally:
        dist.destroy_process_group()
    all_close(found, at_once(inputs, gradient, causal=True))


PROGRAM = """
import torch
import torch.distributed as dist
from torch.nn import functional as F

from headway import attention, ring_attention
from headway import contiguous_rows, striped_rows, zigzag_rows

dist.init_process_group("gloo")
rank, processes = dist.get_rank(), dist.get_world_size()


def by_chance(tokens, processes):
    return torch.randperm(tokens).tensor_split([1] * (processes - 2) + [4])


def ring(inputs, gradient, rows, **options):
    own = rows[rank]
    parts = [x.detach()[..., own, :].requires_grad_() for x in inputs]
    context = ring_attention(*parts, own, **options)
    context.backward(gradient[..., own, :])
    return [context.detach(), *(part.grad for part in parts)]


torch.manual_seed(0)
worst = 0.0
for tokens in (23, 24, 2):
    for causal in (True, False):
        inputs = [torch.randn(2, 5, tokens, width).double() for width in (3, 3, 13)]
        inputs = [x.requires_grad_() for x in inputs]
        gradient = torch.randn(2, 5, tokens, 13).double()
        theirs = F.scaled_dot_product_attention
        for whole in (
            attention(*inputs, causal=causal), theirs(*inputs, is_causal=causal)
        ):
            expected = [whole, *torch.autograd.grad(whole, inputs, gradient)]
            for way in (contiguous_rows, striped_rows, zigzag_rows, by_chance):
                rows = way(tokens, processes)
                found = ring(inputs, gradient, rows, causal=causal)
                for ours, one in zip(found, expected):
                    part = (ours - one[..., rows[rank], :]).abs()
                    worst = max(worst, part.max().item() if part.numel() else 0.0)
assert worst < 1e-14, worst

# Two rings in one: an even and an odd one, as processes of their own.
groups = [dist.new_group([*range(start, processes, 2)]) for start in (0, 1)]
mine = groups[rank % 2]
rows = zigzag_rows(11, dist.get_world_size(mine))[dist.get_rank(mine)]
x = torch.randn(2, 11, 3).double()[rank % 2]
found = ring_attention(x[rows], x[rows], x[rows], rows, group=mine)
torch.testing.assert_close(found, attention(x, x, x, causal=True)[rows])

# What is wrong in one is refused in all: nobody waits.
width = 3 + (rank == processes - 1)
x = torch.zeros(2, 3)
try:
    ring_attention(x, x, torch.zeros(2, width), torch.arange(2))
except ValueError as error:
    print(error)

table = [None] * processes
dist.all_gather_object(table, worst)
print(processes, "processes:", max(table))
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    "processes",
    [
        pytest.param(2, marks=pytest.mark.slow),
        3,
        pytest.param(4, marks=pytest.mark.slow),
    ],
)
def test_real_processes(processes: int) -> None:
    printed = print_in_processes(PROGRAM, processes)
    refusal, last = printed.splitlines()
    assert refusal.startswith("key and value must be alike in all processes")
    assert f"value of (2, 4), torch.float32, causal=True, scale={3**-0.5}" in refusal
    assert last.startswith(f"{processes} processes: ")
