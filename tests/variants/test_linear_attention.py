"""Linear attention: a recurrence, chunks and a table of all pairs are one thing."""

import itertools
import math
import re

import pytest
import torch
from torch import Tensor

from headway import attention, linear_attention, positive_features
from tests.support import oracles
from tests.support.compare import close
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import B, D, H, V, draw

T = 13
CHUNKS = [None, 1, 2, 5, 13, 20]
EVERY_CHUNK = pytest.mark.parametrize("chunk", CHUNKS, ids=str)
BOTH = pytest.mark.parametrize("normalise", [True, False])
F = 2 * D + 1
Three = tuple[Tensor, Tensor, Tensor]


def wider(x: Tensor) -> Tensor:
    """Make more features than numbers, none of them negative."""
    return torch.cat([x.square(), x.abs(), torch.ones_like(x[..., :1])], dim=-1)


def qkv(*leading: int) -> Three:
    return draw(*leading, T, D), draw(*leading, T, D), draw(*leading, T, V)


def phi(row: list[float]) -> list[float]:
    return [x + 1 if x > 0 else math.exp(x) for x in row]


def loops(query: Tensor, key: Tensor, value: Tensor, normalise: bool) -> Tensor:
    """Weigh each pair of one text, one number at a time."""
    q, k, v = ([phi(row) for row in query.tolist()], key.tolist(), value.tolist())
    k = [phi(row) for row in k]
    rows = []
    for t in range(len(q)):
        weights = [oracles.dot(q[t], k[s]) for s in range(t + 1)]
        total = sum(weights) if normalise else 1.0
        rows.append(oracles.mix([w / total for w in weights], v[: t + 1]))
    return torch.tensor(rows, dtype=torch.float64)


def table(query: Tensor, key: Tensor, value: Tensor, normalise: bool) -> Tensor:
    weights = (positive_features(query) @ positive_features(key).mT).tril()
    total = weights.sum(dim=-1, keepdim=True) if normalise else 1.0
    return weights / total @ value


# Equal to loops, however long the chunks are.


@BOTH
@EVERY_CHUNK
@EVERY_LEADING
def test_it_equals_the_loops(leading, chunk, normalise) -> None:
    query, key, value = qkv(*leading)
    context, state = linear_attention(
        query, key, value, chunk=chunk, normalise=normalise
    )
    assert state.shape == (*leading, D, V + normalise)
    for place in itertools.product(*map(range, leading)):
        expected = loops(query[place], key[place], value[place], normalise)
        close(context[place], expected)


@BOTH
@EVERY_CHUNK
def test_gradients_and_state_do_not_depend_on_the_chunks(chunk, normalise) -> None:
    tensors = [x.requires_grad_() for x in qkv(B, H)]
    # Such as sums of features are: positive.
    start = draw(B, H, D, V + normalise).abs().requires_grad_()
    results = []
    for length in (chunk, 1):
        context, state = linear_attention(
            *tensors, chunk=length, normalise=normalise, state=start
        )
        loss = context.square().sum() + state.sin().sum()
        results.append((context, state, *torch.autograd.grad(loss, [*tensors, start])))
    for ours, others in zip(*results, strict=True):
        close(ours, others, 1e-11)


@BOTH
def test_gradients_are_those_of_a_table(normalise) -> None:
    tensors = [x.requires_grad_() for x in qkv(B)]
    loss = draw(B, T, V)
    found = []
    for context in (
        linear_attention(*tensors, chunk=5, normalise=normalise)[0],
        table(*tensors, normalise),
    ):
        found.append(torch.autograd.grad((context * loss).sum(), tensors))
    for ours, theirs in zip(*found, strict=True):
        close(ours, theirs)


@EVERY_CHUNK
@pytest.mark.parametrize("calls", [[13], [1, 12], [6, 7], [5, 1, 4, 3]], ids=str)
def test_a_text_may_come_in_pieces(calls, chunk) -> None:
    tensors = qkv(B, H)
    whole, last = linear_attention(*tensors)
    state, contexts = None, []
    for new in zip(*(x.split(calls, dim=-2) for x in tensors), strict=True):
        context, state = linear_attention(*new, chunk=chunk, state=state)
        contexts.append(context)
    close(torch.cat(contexts, dim=-2), whole)
    close(state, last)


def test_the_state_holds_sums_of_values_and_of_features() -> None:
    _, key, value = qkv()
    state = linear_attention(draw(T, D), key, value, chunk=5)[1]
    features = torch.tensor([phi(row) for row in key.tolist()], dtype=torch.float64)
    close(state[:, :V], torch.einsum("td,tv->dv", features, value))
    close(state[:, V], features.sum(dim=0))


# What holds of the weights.


def weights_of(query: Tensor, key: Tensor, **options) -> Tensor:
    """Read the weights from values that are the rows of a unit matrix."""
    return linear_attention(query, key, torch.eye(T).double(), **options)[0]


@EVERY_CHUNK
def test_weights_are_positive_and_sum_to_one(chunk) -> None:
    query, key, _ = qkv(B, H)
    weights = weights_of(10 * query, 10 * key, chunk=chunk)
    close(weights.sum(dim=-1), torch.ones(B, H, T).double())
    assert (weights.tril() == weights).all()
    assert (weights[..., torch.ones(T, T).bool().tril()] > 0).all()


@BOTH
@EVERY_CHUNK
def test_no_token_sees_the_future(chunk, normalise) -> None:
    tensors = [x.requires_grad_() for x in qkv(B)]
    context, _ = linear_attention(*tensors, chunk=chunk, normalise=normalise)
    for t in range(T):
        for gradient in torch.autograd.grad(
            context[:, t].sum(), tensors, retain_graph=True
        ):
            assert (gradient[:, t + 1 :] == 0).all()
        assert (gradient[:, t] != 0).all()  # its own value, the last of the three


def test_the_order_of_the_past_does_not_matter() -> None:
    query, key, value = qkv(B, H)
    order = torch.randperm(T)
    context, state = linear_attention(query, key, value, chunk=5)
    mixed, same = linear_attention(
        query, key[..., order, :], value[..., order, :], chunk=2
    )
    close(mixed[..., -1, :], context[..., -1, :])
    close(same, state)


@EVERY_CHUNK
def test_equal_features_are_a_softmax_of_equal_scores(chunk) -> None:
    query, key, value = qkv(B, H)
    context, _ = linear_attention(
        query, key, value, features=torch.ones_like, chunk=chunk
    )
    close(context, attention(torch.zeros_like(query), key, value, causal=True))


def test_a_token_with_features_of_zero_is_not_in_the_state() -> None:
    query, key, value = qkv(B)
    real = [0, 1, 2, 5, 8, 9, 12]
    padded = torch.zeros_like(key)
    padded[:, real] = positive_features(key)[:, real]
    options = {"features": None, "chunk": 5}
    context, state = linear_attention(query.exp(), padded, value, **options)
    rows = [x[:, real] for x in (query.exp(), padded, value)]
    alone, last = linear_attention(*rows, **options)
    close(context[:, real], alone)
    close(state, last)


def test_a_sum_that_is_zero_gives_zeros() -> None:
    query, key, value = qkv()
    key[:4] = 0.0
    leaves = [x.requires_grad_() for x in (query, key, value)]
    context, _ = linear_attention(*leaves, features=torch.square, chunk=2)
    assert (context[:4] == 0).all()
    assert (context[4:] != 0).all()
    context.sum().backward()
    assert all(x.grad.isfinite().all() for x in leaves)


# Features.


def test_features_are_those_of_the_paper() -> None:
    x = draw(B, T, D)
    close(positive_features(x), torch.nn.functional.elu(x) + 1)
    close(positive_features(torch.zeros(1)), torch.ones(1))


def test_features_stay_positive_in_32_bits() -> None:
    x = torch.tensor([-80.0, -20.0, 0.0, 1000.0], requires_grad=True)
    features = positive_features(x)
    assert (features > 0).all()
    features.sum().backward()
    assert x.grad.isfinite().all()
    close(x.grad[-2:], torch.ones(2))
    # As a sum, it is zero.
    assert (torch.nn.functional.elu(x) + 1)[1] == 0


@EVERY_CHUNK
def test_features_may_be_more_than_numbers(chunk) -> None:
    query, key, value = qkv(B)
    context, state = linear_attention(query, key, value, features=wider, chunk=chunk)
    weights = torch.einsum("btf,bsf->bts", wider(query), wider(key)).tril()
    close(context, weights / weights.sum(dim=-1, keepdim=True) @ value)
    assert state.shape == (B, F, V + 1)


def test_without_features_and_norm_it_adds_what_keys_find() -> None:
    key, value = torch.eye(2)[[0, 1, 0]], torch.tensor([[5.0], [7.0], [9.0]])
    context, state = linear_attention(
        key, key, value, features=None, normalise=False, chunk=1
    )
    assert context.flatten().tolist() == [5.0, 7.0, 14.0]
    assert state.flatten().tolist() == [14.0, 7.0]


# Sizes and types.


def test_heads_of_queries_share_the_state_of_their_keys() -> None:
    query, key, value = draw(B, H, T, D), draw(B, 1, T, D), draw(B, 1, T, V)
    context, state = linear_attention(query, key, value, chunk=5)
    assert state.shape == (B, 1, D, V + 1)
    for h in range(H):
        close(context[:, h], linear_attention(query[:, h], key[:, 0], value[:, 0])[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_are_summed_in_32(dtype) -> None:
    """A sum of ones would stop at 256 in bfloat16, and at 2048 in float16."""
    count = 3000
    ones = torch.ones(count, 1, dtype=dtype)
    context, state = linear_attention(ones, ones, ones, chunk=1)
    assert (context.dtype, state.dtype) == (dtype, torch.float32)
    assert state[0, 1] == 2 * count
    assert (context == 1).all()
    assert linear_attention(*qkv())[1].dtype == torch.float64


def test_with_chunks_no_table_of_all_pairs_is_made() -> None:
    length = 512
    tensors = [draw(length, D), draw(length, D), draw(length, D)]
    with Largest() as seen:
        linear_attention(*tensors, chunk=16)
    assert seen.numbers <= length * (D + 1)
    with Largest() as seen:
        linear_attention(*tensors)
    assert seen.numbers == length**2


# Bad input.

X = torch.zeros(2, 3)
KEY = "key must have the length of query, and at least one token; "
STATE = "state must have shape (..., 3, 4), type torch.float32, "
STATE += "and leading axes that broadcast; "


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("tensors", "options", "message"),
    [
        (
            (X, X[:1], X[:1]),
            {},
            KEY + "got key.shape=(1, 3), query.shape=(2, 3).",
        ),
        (
            (X[:0], X[:0], X[:0]),
            {},
            KEY + "got key.shape=(0, 3), query.shape=(0, 3).",
        ),
        ((X, X, X), {"chunk": 0}, "chunk must be a positive integer; got chunk=0."),
        (
            (X, X, X),
            {"state": X},
            STATE + "got state.shape=(2, 3), state.dtype=torch.float32.",
        ),
        (
            (X, X, X),
            {"state": torch.zeros(3, 4).double()},
            STATE + "got state.shape=(3, 4), state.dtype=torch.float64.",
        ),
        (
            (X.expand(2, 2, 3), X.expand(2, 2, 3), X.expand(2, 2, 3)),
            {"state": torch.zeros(3, 3, 4)},
            STATE + "got state.shape=(3, 3, 4), state.dtype=torch.float32.",
        ),
    ],
)
def test_bad_input_gets_a_sentence(tensors, options, message) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        linear_attention(*tensors, **options)
