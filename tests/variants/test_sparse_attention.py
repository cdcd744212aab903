"""Chosen keys: the best blocks by loops, and a choice that leaks nothing."""

import functools
import itertools
import math
import re

import pytest
import torch
from torch import Tensor

from headway import (
    KeyValueCache,
    MultiHeadAttention,
    Rotary,
    attention,
    block_scores,
    block_topk_mask,
    causal_mask,
    indexer_scores,
    sparse_attention,
    topk_mask,
)
from tests.support.compare import close
from tests.support.sizes import D_IN, B, D, H, V, draw

N = 13  # tokens of a text: neither block divides it
BLOCKS = pytest.mark.parametrize("block", [1, 2, 3, 5, N, N + 4])
KEEPS = pytest.mark.parametrize("keep", [1, 2, 3])


def by_loops(
    query: Tensor, key: Tensor, block: int, keep: int, mask: Tensor, causal: bool
) -> list[list[bool]]:
    """Choose for one text and one head, block by block."""
    T, S = len(query), len(key)
    rows = []
    for t in range(T):
        position = t + S - T
        seen = [s for s in range(S) if mask[t, s] and (s <= position or not causal)]
        by_block: dict[int, list[int]] = {}
        for s in seen:
            by_block.setdefault(s // block, []).append(s)
        score = {
            i: float(query[t] @ key[keys].mean(dim=0)) for i, keys in by_block.items()
        }
        if causal and position // block in score:
            score[position // block] = math.inf
        best = sorted(score, key=lambda i: (-score[i], i))[:keep]
        rows.append([s in seen and s // block in best for s in range(S)])
    return rows


def draw_rows(*leading: int, T: int = N, S: int = N) -> tuple[Tensor, Tensor, Tensor]:
    return draw(*leading, T, D), draw(*leading, S, D), draw(*leading, S, V)


# The scores of blocks.


def test_eight_keys_in_blocks_of_two() -> None:
    key = torch.tensor([1.0, 3.0, 6.0, 8.0, 0.0, 2.0, 5.0, 1.0])[:, None]
    assert block_scores(torch.ones(1, 1), key, block=2).tolist() == [[2, 7, 1, 3]]
    mask = block_topk_mask(torch.ones(8, 1), key, block=2, keep=2, causal=True)
    seen = [[s for s in range(8) if row[s]] for row in mask.tolist()]
    assert seen[:4] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert seen[4:] == [[2, 3, 4], [2, 3, 4, 5], [2, 3, 6], [2, 3, 6, 7]]


@BLOCKS
def test_the_score_of_a_mean_is_the_mean_of_the_scores(block) -> None:
    query, key, _ = draw_rows(B, H)
    means = [part.mean(dim=-2) for part in key.split(block, dim=-2)]
    close(block_scores(query, key, block=block), query @ torch.stack(means, dim=-2).mT)


def test_hidden_keys_have_no_part_in_the_score_of_a_block() -> None:
    query, key, _ = draw_rows(B, 1)
    mask = torch.rand(B, 1, 1, N) < 0.5  # one row for all queries
    mask[..., 3:6] = False
    scores = block_scores(query, key, block=3, mask=mask)
    for b, i in itertools.product(range(B), range(5)):
        part = key[b, 0, 3 * i : 3 * i + 3][mask[b, 0, 0, 3 * i : 3 * i + 3]]
        if len(part):
            close(scores[b, 0, :, i], query[b, 0] @ part.mean(dim=0))
        else:
            assert scores[b, 0, :, i].eq(-torch.inf).all()
    assert scores[..., 1].eq(-torch.inf).all()


def test_scores_pass_a_gradient_that_is_finite() -> None:
    query, key, _ = draw_rows()
    key.requires_grad_()
    scores = block_scores(query, key, block=3, mask=causal_mask(N))
    scores.masked_fill(scores == -torch.inf, 0.0).sum().backward()
    assert key.grad.isfinite().all()
    assert key.grad.ne(0).any()


def test_the_indexer_by_loops() -> None:
    query, key, weight = draw(B, H, 7, D), draw(B, 11, D), draw(B, 7, H)
    scores = indexer_scores(query, key, weight)
    assert scores.shape == (B, 7, 11)
    for b, t, s in itertools.product(range(B), range(7), range(11)):
        one = 0.0
        for h in range(H):
            one += weight[b, t, h] * max(0.0, float(query[b, h, t] @ key[b, s]))
        close(scores[b, t, s], one)


# The choice.


def test_the_best_are_chosen_and_of_equals_the_first() -> None:
    scores = torch.tensor([[1.0, 5.0, 3.0, 5.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert topk_mask(scores, keep=2).int().tolist() == [
        [0, 1, 0, 1, 0],
        [1, 1, 0, 0, 0],
    ]
    many = torch.zeros(1, 1000)
    assert topk_mask(many, keep=3).nonzero()[:, 1].tolist() == [0, 1, 2]


@pytest.mark.parametrize("keep", [1, 2, 5, 9])
def test_what_is_hidden_takes_no_place(keep) -> None:
    scores = draw(B, N, N)
    mask = causal_mask(N) & (torch.rand(B, N, N) < 0.7)
    chosen = topk_mask(scores, keep=keep, mask=mask)
    assert not (chosen & ~mask).any()
    assert torch.equal(chosen.sum(dim=-1), mask.sum(dim=-1).clamp(max=keep))
    lowest = scores.masked_fill(~chosen, torch.inf).amin(dim=-1, keepdim=True)
    assert not (mask & ~chosen & (scores > lowest)).any()
    # One that is hidden may be as loud as it likes.
    loud = scores.masked_fill(~mask, 1e9)
    assert torch.equal(topk_mask(loud, keep=keep, mask=mask), chosen)
    alone = scores.masked_fill(~mask, -torch.inf)
    assert torch.equal(topk_mask(alone, keep=keep), chosen)


@KEEPS
@BLOCKS
@pytest.mark.parametrize("causal", [True, False])
def test_a_mask_equals_the_loops(causal, block, keep) -> None:
    query, key, _ = draw_rows(B, H)
    every = torch.ones(N, N, dtype=torch.bool)
    mask = block_topk_mask(query, key, block=block, keep=keep, causal=causal)
    for b, h in itertools.product(range(B), range(H)):
        expected = by_loops(query[b, h], key[b, h], block, keep, every, causal)
        assert mask[b, h].tolist() == expected


@KEEPS
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("T", "S"), [(3, 11), (1, 7), (7, 3)], ids=str)
def test_so_it_does_with_hidden_keys_and_other_lengths(T, S, causal, keep) -> None:
    query, key, _ = draw_rows(B, T=T, S=S)
    mask = torch.rand(B, T, S) < 0.6
    found = block_topk_mask(query, key, block=2, keep=keep, mask=mask, causal=causal)
    for b in range(B):
        expected = by_loops(query[b], key[b], 2, keep, mask[b], causal)
        assert found[b].tolist() == expected


def test_a_block_of_its_own_that_is_hidden_takes_no_place() -> None:
    query, key, _ = draw_rows(T=1)
    mask = torch.arange(N)[None] < 10  # the last three, which are one block, are hidden
    found = block_topk_mask(query, key, block=5, keep=1, mask=mask, causal=True)
    assert found.sum() == 5


def test_a_mask_is_built_where_the_keys_are() -> None:
    one = torch.ones(5, D)
    with torch.device("meta"):
        found = block_topk_mask(one, one, block=2, keep=1, causal=True)
    assert found.device == one.device


# Attention to what was chosen.


@BLOCKS
@pytest.mark.parametrize("causal", [True, False])
def test_with_all_blocks_it_is_attention(causal, block) -> None:
    query, key, value = draw_rows(B, H)
    keep = math.ceil(N / block)
    options = {"causal": causal, "scale": 0.7, "bias": draw(N, N)}
    for more in (0, 1, 100):
        found = sparse_attention(
            query, key, value, block=block, keep=keep + more, **options
        )
        close(found, attention(query, key, value, **options))
    if keep > 1:
        found = sparse_attention(query, key, value, block=block, keep=1, **options)
        assert not torch.allclose(found, attention(query, key, value, **options))


@KEEPS
@pytest.mark.parametrize("block", [1, 2, 3])
def test_the_first_rows_are_dense(block, keep) -> None:
    query, key, value = draw_rows(B, H)
    found = sparse_attention(query, key, value, block=block, keep=keep, causal=True)
    dense = attention(query, key, value, causal=True)
    first = keep * block
    close(found[..., :first, :], dense[..., :first, :])
    off = (found - dense)[..., first:, :].abs().amax(dim=(0, 1, 3))
    assert (off > 1e-6).all()


@KEEPS
@BLOCKS
def test_it_is_attention_with_the_mask_of_the_loops(block, keep) -> None:
    query, key, value = draw_rows()
    bias = draw(N, N)
    every = torch.ones(N, N, dtype=torch.bool)
    mask = torch.tensor(by_loops(query, key, block, keep, every, True))
    found = sparse_attention(
        query, key, value, block=block, keep=keep, bias=bias, causal=True
    )
    close(found, attention(query, key, value, mask=mask, bias=bias))


def test_dropout_and_a_scale_are_passed_on() -> None:
    query, key, value = draw_rows()
    options = {"dropout_p": 0.5, "scale": 0.3}
    torch.manual_seed(3)
    found = sparse_attention(query, key, value, block=N, keep=1, **options)
    torch.manual_seed(3)
    close(found, attention(query, key, value, **options))


@pytest.mark.parametrize("loud", [1e3, 1e30, torch.inf, torch.nan])
def test_neither_weights_nor_choice_know_the_future(loud) -> None:
    """Whatever stands there: not a bit of an earlier row moves."""
    query, key, value = draw_rows(B, H)
    attend = functools.partial(sparse_attention, block=3, keep=2, causal=True)
    choose = functools.partial(block_topk_mask, block=3, keep=2, causal=True)
    before, chosen = attend(query, key, value), choose(query, key)
    for t in range(N - 1):
        changed, rows = key.clone(), slice(0, t + 1)
        changed[..., t + 1 :, :] = loud
        after = attend(query, changed, value)
        assert torch.equal(after[..., rows, :], before[..., rows, :])
        assert torch.equal(choose(query, changed)[..., rows, :], chosen[..., rows, :])


def test_what_a_mask_hides_has_no_part_in_the_choice() -> None:
    query, key, value = draw_rows(B, H)
    padding = (torch.arange(N) < torch.tensor([[9], [11]]))[:, None, None, :]
    attend = functools.partial(sparse_attention, block=2, keep=2, mask=padding)
    before = attend(query, key, value)
    loud = key.masked_fill(~padding.mT, 1e4)
    assert torch.equal(attend(query, loud, value), before)
    short = sparse_attention(query[0], key[0, :, :9], value[0, :, :9], block=2, keep=2)
    close(before[0], short)


def test_gradients_are_those_of_attention_to_what_was_chosen() -> None:
    """The choice has none: who was not chosen hears nothing."""
    ours = [one.requires_grad_() for one in draw_rows(B, H)]
    theirs = [one.detach().clone().requires_grad_() for one in ours]
    gradient = draw(B, H, N, V)
    mask = block_topk_mask(*ours[:2], block=3, keep=2, causal=True)
    assert not mask.requires_grad
    found = sparse_attention(*ours, block=3, keep=2, causal=True)
    found.backward(gradient)
    attention(*theirs, mask=mask).backward(gradient)
    for one, other in zip(ours, theirs, strict=True):
        close(one.grad, other.grad)
    ours[1].grad = None
    sparse_attention(*ours, block=3, keep=2, causal=True)[..., -1, :].sum().backward()
    assert torch.equal(ours[1].grad.ne(0).any(dim=-1), mask[..., -1, :])


@pytest.mark.parametrize("cut", [[1] * N, [7, 6], [3, 10], [2, 5, 1, 4, 1]], ids=str)
def test_with_a_cache_the_same_is_chosen(cut) -> None:
    attend = functools.partial(sparse_attention, block=3, keep=2)
    module = MultiHeadAttention(
        D_IN, H * 4, N, 0.0, H, rotate=Rotary(4), attend=attend
    ).double()
    x = draw(B, N, D_IN)
    cache = KeyValueCache()
    found = [module(part, cache=cache) for part in x.split(cut, dim=1)]
    close(torch.cat(found, dim=1), module(x))


# What is refused.


@pytest.mark.refusal
@pytest.mark.parametrize("name", ["block", "keep"])
@pytest.mark.parametrize("number", [0, -1, 2.0, True], ids=str)
def test_block_and_keep_are_positive_integers(name, number) -> None:
    query, key, value = draw_rows()
    sizes = {"block": 2, "keep": 2, name: number}
    sentence = f"{name} must be a positive integer; got {name}={number!r}."
    calls = [
        lambda: sparse_attention(query, key, value, **sizes),
        lambda: block_topk_mask(query, key, **sizes),
        lambda: (
            topk_mask(query, keep=number)
            if name == "keep"
            else block_scores(query, key, block=number)
        ),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            call()


@pytest.mark.refusal
def test_tensors_must_fit() -> None:
    query, key, _ = draw_rows()
    floats = "must be boolean, True where a query may look"
    for call in (
        lambda mask: block_scores(query, key, block=2, mask=mask),
        lambda mask: block_topk_mask(query, key, block=2, keep=1, mask=mask),
        lambda mask: topk_mask(query @ key.mT, keep=1, mask=mask),
    ):
        with pytest.raises(ValueError, match=floats):
            call(torch.ones(N, N))
        with pytest.raises(ValueError, match="mask must broadcast to the scores"):
            call(torch.ones(N, N + 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="scores must hold floating-point numbers"):
        topk_mask(torch.ones(2, 2, dtype=torch.int64), keep=1)
    for call in (block_scores, functools.partial(block_topk_mask, keep=1)):
        with pytest.raises(ValueError, match="key must have the width of query"):
            call(query, key[:, :2], block=2)


@pytest.mark.refusal
def test_an_indexer_has_one_key_for_all_its_heads() -> None:
    query, key, weight = draw(B, H, 7, D), draw(B, 11, D), draw(B, 7, H)
    with pytest.raises(ValueError, match="weight must hold floating-point numbers"):
        indexer_scores(query, key, weight.long())
    with pytest.raises(ValueError, match=r"query must have shape \(\.\.\., heads, tok"):
        indexer_scores(query[0, 0], key, weight)
    for wrong in (key[..., :2], key[0, 0], draw(3, 11, D), draw(B, H, 11, D)):
        with pytest.raises(ValueError, match="and no axis of heads; got key"):
            indexer_scores(query, wrong, weight)
    for wrong in (weight.mT, draw(3, 7, H), weight[0, 0]):
        with pytest.raises(ValueError, match="one number for each query and head"):
            indexer_scores(query, key, wrong)
