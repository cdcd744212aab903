"""Which keys a query may look at, and three ways to hide the others."""

import pytest
import torch
from torch import Tensor

from headway import (
    SelfAttentionV2,
    causal_mask,
    hide_by_minus_infinity,
    hide_by_renormalising,
    masked_softmax,
    padding_mask,
    six_tokens,
)
from tests.support import oracles
from tests.support.compare import close, printed
from tests.support.sizes import B, S, T, draw

THREE_WAYS = [hide_by_renormalising, hide_by_minus_infinity, masked_softmax]


@pytest.mark.parametrize(
    ("queries", "keys"), [(T, T), (T, S), (S, T), (1, S), (S, 1), (1, 1)]
)
def test_the_last_query_sees_the_last_key(queries: int, keys: int) -> None:
    mask = causal_mask(queries, keys)
    assert mask.dtype == torch.bool
    assert mask.tolist() == oracles.past(queries, keys)
    assert mask[-1].all()


def test_as_many_keys_as_queries_unless_told() -> None:
    assert torch.equal(causal_mask(T), causal_mask(T, T))
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_the_newest_queries_are_the_last_rows() -> None:
    assert torch.equal(causal_mask(T, S), causal_mask(S)[-T:])


def test_a_mask_is_built_where_it_is_needed() -> None:
    assert causal_mask(T, device="meta").device.type == "meta"
    lengths = torch.tensor([1, S])
    with torch.device("meta"):
        assert causal_mask(T).device.type == "meta"
        assert padding_mask(lengths, S).device == lengths.device


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_padding_hides_what_stands_behind_a_text(dtype: torch.dtype) -> None:
    lengths = torch.tensor([0, 4, S], dtype=dtype)
    mask = padding_mask(lengths, S)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [
        [[False] * S],
        [[True] * 4 + [False] * (S - 4)],
        [[True] * S],
    ]


def test_padding_keeps_the_axes_of_a_batch() -> None:
    assert padding_mask(torch.tensor(3), 5).tolist() == [[True] * 3 + [False] * 2]
    lengths = torch.tensor([[1, 2, 3], [4, 5, 6]])
    mask = padding_mask(lengths, S)
    assert mask.shape == (2, 3, 1, S)
    assert torch.equal(mask.sum(dim=-1).squeeze(-1), lengths)


MASKS = {
    "causal": causal_mask(T, S),
    "a key": (torch.arange(S) % 3 != 1).unsqueeze(0),
    "padding": padding_mask(torch.tensor([4, S]), S),
    "all": torch.tensor([[True]]),
}


@pytest.mark.parametrize("hide", THREE_WAYS)
@pytest.mark.parametrize("kind", MASKS)
def test_each_way_equals_the_loops(hide, kind) -> None:
    scores = 4 * draw(B, T, S)
    close(hide(scores, MASKS[kind]), oracles.softmax(scores, MASKS[kind]))


@pytest.mark.parametrize("kind", MASKS)
def test_three_ways_are_one_with_gradients(kind: str) -> None:
    scores, weight = 4 * draw(B, T, S), draw(B, T, S)
    results, gradients = [], []
    for hide in THREE_WAYS:
        x = scores.clone().requires_grad_()
        result = hide(x, MASKS[kind])
        (result * weight).sum().backward()
        results.append(result)
        gradients.append(x.grad)
    for result, gradient in zip(results[1:], gradients[1:], strict=True):
        close(result, results[0])
        close(gradient, gradients[0])


@pytest.mark.parametrize("hide", THREE_WAYS)
def test_gradients_equal_differences(hide) -> None:
    mask = causal_mask(3, 5)
    scores = draw(B, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: hide(x, mask), scores)


def test_only_the_boolean_knows_what_to_do_with_a_fully_masked_row() -> None:
    mask = torch.tensor([[True, True, False], [False, False, False]])
    scores = draw(2, 3)
    assert hide_by_renormalising(scores, mask)[1].isnan().all()
    assert hide_by_minus_infinity(scores, mask)[1].isnan().all()
    assert masked_softmax(scores, mask)[1].tolist() == [0.0, 0.0, 0.0]
    assert not masked_softmax(scores, mask).isnan().any()


def test_renormalising_cannot_undo_a_share_that_rounded_to_zero() -> None:
    scores = torch.tensor([[0.0, -1.0, 1000.0]])
    mask = torch.tensor([[True, True, False]])
    assert hide_by_renormalising(scores, mask).isnan().all()
    exact = oracles.softmax(scores, mask).float()
    close(hide_by_minus_infinity(scores, mask), exact, 1e-6)
    close(masked_softmax(scores, mask), exact, 1e-6)


CAUSAL_FIGURES: dict[int, list] = {
    768: [  # A15 and A17
        [1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.5130, 0.4870, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.3453, 0.3274, 0.3273, 0.0000, 0.0000, 0.0000],
        [0.2586, 0.2478, 0.2479, 0.2457, 0.0000, 0.0000],
        [0.2104, 0.1982, 0.1975, 0.2048, 0.1890, 0.0000],
        [0.1722, 0.1667, 0.1671, 0.1624, 0.1722, 0.1593],
    ],
    789: [  # E28 and E30
        [1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.5517, 0.4483, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.3800, 0.3097, 0.3103, 0.0000, 0.0000, 0.0000],
        [0.2758, 0.2460, 0.2462, 0.2319, 0.0000, 0.0000],
        [0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0.0000],
        [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
    ],
}


def scaled_scores(seed: int) -> Tensor:
    torch.manual_seed(seed)
    attend = SelfAttentionV2(3, 2)
    inputs = six_tokens().vectors
    return (attend.W_query(inputs) @ attend.W_key(inputs).T).detach() / 2**0.5


@pytest.mark.parametrize("hide", THREE_WAYS)
@pytest.mark.parametrize("seed", CAUSAL_FIGURES)
def test_figures_a15_a17_e28_e30_three_ways(hide, seed) -> None:
    printed(hide(scaled_scores(seed), causal_mask(6)), CAUSAL_FIGURES[seed])
