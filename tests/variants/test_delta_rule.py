"""The delta rule: a dictionary that overwrites, read token by token or in chunks."""

import itertools
import re

import pytest
import torch
from torch import Tensor

from headway import delta_rule, linear_attention
from tests.support import oracles
from tests.support.compare import close
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import B, H, V, draw

T, D = 13, 5
CHUNKS = [None, 1, 2, 5, 13, 20]
EVERY_CHUNK = pytest.mark.parametrize("chunk", CHUNKS, ids=str)
DECAYS = pytest.mark.parametrize("fades", [False, True])
Table = list[list[float]]


def unit(x: Tensor) -> Tensor:
    return torch.nn.functional.normalize(x, dim=-1)


def inputs(*leading: int, fades: bool = True) -> tuple[list[Tensor], Tensor | None]:
    """Draw queries, keys of length one, values and shares; and what is left."""
    rows = [draw(*leading, T, D), unit(draw(*leading, T, D)), draw(*leading, T, V)]
    beta, decay = torch.rand(2, *leading, T, dtype=torch.float64)
    return [*rows, beta], decay if fades else None


def loops(
    tensors: list[Tensor], decay: Tensor | None, start: Tensor
) -> tuple[Tensor, Tensor]:
    """Read and write one text, one number at a time."""
    query, key, value, beta = (x.tolist() for x in tensors)
    alpha = [1.0] * len(beta) if decay is None else decay.tolist()
    memory: Table = start.tolist()  # a row for each number of a key
    rows = []
    for q, k, v, b, a in zip(query, key, value, beta, alpha, strict=True):
        memory = [[a * number for number in row] for row in memory]
        held = oracles.mix(k, memory)
        for d, row in enumerate(memory):
            for c in range(len(row)):
                row[c] += k[d] * b * (v[c] - held[c])
        rows.append(oracles.mix(q, memory))
    return (
        torch.tensor(rows, dtype=torch.float64),
        torch.tensor(memory, dtype=torch.float64),
    )


def recurrent(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, alpha: Tensor, S: Tensor
) -> tuple[Tensor, Tensor]:
    """Do the same with tensors, for gradients: `S` as the paper has it, (V, D)."""
    contexts = []
    for t in range(T):
        k, v = key[..., t, :], value[..., t, :]
        b, a = beta[..., t, None, None], alpha[..., t, None, None]
        twice = torch.einsum("...i,...j->...ij", k, k)
        S = a * S @ (torch.eye(D) - b * twice)
        S = S + b * torch.einsum("...i,...j->...ij", v, k)
        contexts.append((S @ query[..., t, :, None])[..., 0])
    return torch.stack(contexts, dim=-2), S


# Equal to loops, however long the chunks are.


@DECAYS
@EVERY_CHUNK
@EVERY_LEADING
def test_it_equals_the_loops(leading, chunk, fades) -> None:
    tensors, decay = inputs(*leading, fades=fades)
    start = draw(*leading, D, V)
    context, state = delta_rule(*tensors, decay=decay, chunk=chunk, state=start)
    for place in itertools.product(*map(range, leading)):
        expected = loops(
            [x[place] for x in tensors],
            None if decay is None else decay[place],
            start[place],
        )
        close(context[place], expected[0])
        close(state[place], expected[1])


@EVERY_CHUNK
def test_gradients_are_those_of_the_recurrence(chunk) -> None:
    tensors, decay = inputs(B, H)
    start = draw(B, H, D, V)
    leaves = [x.requires_grad_() for x in (*tensors, decay, start)]
    loss, last = draw(B, H, T, V), draw(B, H, D, V)
    found = []
    *four, alpha, first = leaves
    ours = delta_rule(*four, decay=alpha, chunk=chunk, state=first)
    context, memory = recurrent(*four, alpha, first.mT)
    for z, S in (ours, (context, memory.mT)):
        total = (z * loss).sum() + (S * last).sum()
        found.append([z, S, *torch.autograd.grad(total, leaves)])
    for mine, theirs in zip(*found, strict=True):
        close(mine, theirs, 1e-11)


@EVERY_CHUNK
@pytest.mark.parametrize("calls", [[13], [1, 12], [6, 7], [5, 1, 4, 3]], ids=str)
def test_a_text_may_come_in_pieces(calls, chunk) -> None:
    tensors, decay = inputs(B, H)
    whole, last = delta_rule(*tensors, decay=decay)
    state, contexts = None, []
    rows = zip(
        *(x.split(calls, dim=-2) for x in tensors[:3]),
        *(x.split(calls, dim=-1) for x in (tensors[3], decay)),
        strict=True,
    )
    for *new, alpha in rows:
        context, state = delta_rule(*new, decay=alpha, chunk=chunk, state=state)
        contexts.append(context)
    close(torch.cat(contexts, dim=-2), whole)
    close(state, last)


# What it remembers.


@EVERY_CHUNK
def test_with_orthonormal_keys_it_is_a_dictionary(chunk) -> None:
    """Write under keys that come again, and read one after each write."""
    basis = torch.linalg.qr(draw(D, D))[0]
    written, read = torch.randint(D, (2, T))
    value, held, expected = draw(T, V), {}, []
    for row, name, wanted in zip(value, written.tolist(), read.tolist(), strict=True):
        held[name] = row
        expected.append(held.get(wanted, torch.zeros(V).double()))
    context, state = delta_rule(
        basis[read], basis[written], value, torch.ones(T).double(), chunk=chunk
    )
    close(context, torch.stack(expected))
    close(basis @ state, torch.stack([held.get(n, 0 * row) for n in range(D)]))


@EVERY_CHUNK
def test_it_overwrites_where_a_sum_adds(chunk) -> None:
    key, value = torch.eye(2)[[0, 1, 0]], torch.tensor([[5.0], [7.0], [9.0]])
    delta = delta_rule(key, key, value, torch.ones(3), chunk=chunk)[1]
    added = linear_attention(key, key, value, features=None, normalise=False)[1]
    assert delta.flatten().tolist() == [9.0, 7.0]
    assert added.flatten().tolist() == [14.0, 7.0]


@EVERY_CHUNK
def test_a_token_reads_back_what_it_wrote(chunk) -> None:
    """Whatever else is in the memory, and however it fades."""
    (_, key, value, _), decay = inputs(B, H)
    one = torch.ones(B, H, T).double()
    context, _ = delta_rule(key, key, value, one, decay=decay, chunk=chunk)
    close(context, value)


@EVERY_CHUNK
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_what_is_in_the_memory_does_not_grow(beta, chunk) -> None:
    tensors, _ = inputs(B)
    start = draw(B, D, V)
    _, state = delta_rule(
        tensors[0],
        tensors[1],
        torch.zeros(B, T, V).double(),
        torch.full((B, T), beta).double(),
        state=start,
        chunk=chunk,
    )
    norms = [torch.linalg.matrix_norm(x, ord=2) for x in (state, start)]
    assert (norms[0] <= norms[1] + 1e-12).all()


@EVERY_CHUNK
def test_a_decay_of_one_is_none(chunk) -> None:
    tensors, decay = inputs(B)
    ones = delta_rule(*tensors, decay=torch.ones_like(decay), chunk=chunk)
    for one, other in zip(ones, delta_rule(*tensors, chunk=chunk), strict=True):
        assert torch.equal(one, other)


@EVERY_CHUNK
def test_a_decay_of_zero_forgets_all_before(chunk) -> None:
    tensors, decay = inputs(B)
    decay[:, 6] = 0.0
    leaves = [x.requires_grad_() for x in (*tensors, decay)]
    *four, alpha = leaves
    context, state = delta_rule(*four, decay=alpha, chunk=chunk, state=draw(B, D, V))
    later = [x[:, 6:] for x in four]
    alone = delta_rule(*later, decay=alpha[:, 6:])
    close(context[:, 6:], alone[0])
    close(state, alone[1])
    context.sum().backward()
    assert all(x.grad.isfinite().all() for x in leaves)


@EVERY_CHUNK
def test_padding_changes_nothing(chunk) -> None:
    tensors, decay = inputs(B)
    tensors[3][:, 4:7], decay[:, 4:7] = 0.0, 1.0
    real = [*range(4), *range(7, T)]
    context, state = delta_rule(*tensors, decay=decay, chunk=chunk)
    alone = delta_rule(*(x[:, real] for x in tensors), decay=decay[:, real])
    close(context[:, real], alone[0])
    close(state, alone[1])


@EVERY_CHUNK
def test_no_token_sees_the_future(chunk) -> None:
    tensors, decay = inputs(B)
    leaves = [x.requires_grad_() for x in (*tensors, decay)]
    *four, alpha = leaves
    context, _ = delta_rule(*four, decay=alpha, chunk=chunk)
    for t in range(T):
        gradients = torch.autograd.grad(context[:, t].sum(), leaves, retain_graph=True)
        assert all((one[:, t + 1 :] == 0).all() for one in gradients)
        assert (gradients[0][:, t] != 0).all()


# Sizes and types.


def test_factors_and_queries_may_have_heads_that_keys_do_not_have() -> None:
    query, beta, decay = draw(B, H, T, D), torch.rand(H, T), torch.rand(B, 1, T)
    beta, decay = beta.double(), decay.double()
    key, value = unit(draw(B, 1, T, D)), draw(B, 1, T, V)
    context, state = delta_rule(query, key, value, beta, decay=decay, chunk=5)
    assert state.shape == (B, H, D, V)
    for h in range(H):
        rows = query[:, h], key[:, 0], value[:, 0], beta[h]
        one = delta_rule(*rows, decay=decay[:, 0])
        close(context[:, h], one[0])
        close(state[:, h], one[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_are_computed_with_in_32(dtype) -> None:
    tensors, decay = inputs(B)
    half = [x.to(dtype) for x in (*tensors, decay)]
    context, state = delta_rule(*half[:4], decay=half[4], chunk=5)
    single = [x.float() for x in half]
    expected = delta_rule(*single[:4], decay=single[4], chunk=5)
    assert (context.dtype, state.dtype) == (dtype, torch.float32)
    assert torch.equal(context, expected[0].to(dtype))
    assert torch.equal(state, expected[1])


def test_with_chunks_no_table_of_all_pairs_is_made() -> None:
    length = 512
    key, value = unit(draw(length, D)), draw(length, D)
    beta = torch.rand(length, dtype=torch.float64)
    with Largest() as seen:
        delta_rule(key, key, value, beta, chunk=16)
    assert seen.numbers <= length * D


# Bad input.

X = torch.zeros(2, 3)
KEY = "key must have the length of query, and at least one token; "
STATE = "state must have shape (..., 3, 3), type torch.float32, "
STATE += "and leading axes that broadcast; "
EACH = "must have one number for each key, and leading axes that broadcast; "


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("tensors", "options", "message"),
    [
        (
            (X, X[:1], X[:1], X[:1, 0]),
            {},
            KEY + "got key.shape=(1, 3), query.shape=(2, 3).",
        ),
        (
            (X, X, X, torch.zeros(2).long()),
            {},
            "beta must hold floating-point numbers; got beta.dtype=torch.int64.",
        ),
        (
            (X, X, X, X),
            {},
            f"beta {EACH}got beta.shape=(2, 3), key.shape=(2, 3).",
        ),
        (
            (X, X, X, torch.zeros(())),
            {},
            f"beta {EACH}got beta.shape=(), key.shape=(2, 3).",
        ),
        (
            (*(X.expand(2, 2, 3),) * 3, torch.zeros(3, 2)),
            {},
            f"beta {EACH}got beta.shape=(3, 2), key.shape=(2, 2, 3).",
        ),
        (
            (X, X, X, X[:, 0]),
            {"decay": X[0]},
            f"decay {EACH}got decay.shape=(3,), key.shape=(2, 3).",
        ),
        (
            (X, X, X, X[:, 0]),
            {"chunk": 0},
            "chunk must be a positive integer; got chunk=0.",
        ),
        (
            (X, X, X, X[:, 0]),
            {"state": X},
            STATE + "got state.shape=(2, 3), state.dtype=torch.float32.",
        ),
    ],
)
def test_bad_input_gets_a_sentence(tensors, options, message) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        delta_rule(*tensors, **options)
