"""The triangle below masks and attention functions: aligned to the last key."""

import pytest
import torch

from headway import _triangle
from tests.support import oracles
from tests.support.random_inputs import random_mask
from tests.support.sizes import B, H, S, T

SIZES = pytest.mark.parametrize(
    ("queries", "keys"), [(T, T), (T, S), (S, T), (1, S), (S, 1), (T, 0)]
)
CPU = torch.device("cpu")


@SIZES
def test_it_counts_both_from_the_end(queries: int, keys: int) -> None:
    mask = _triangle.triangle(queries, keys)
    assert mask.dtype == torch.bool
    assert mask.tolist() == oracles.past(queries, keys)


@pytest.mark.parametrize("shape", [(1, 1), (1, S), (T, 1), (T, S), (B, 1, 1, S)])
def test_it_hides_the_future_besides_what_a_mask_hides(shape) -> None:
    mask, scores = random_mask(*shape), (B, H, T, S)
    both = _triangle.and_past(mask, scores, CPU)
    past = torch.tensor(oracles.past(T, S))
    expected = past.logical_and(mask.expand(scores)).expand(scores)
    assert torch.equal(both.expand(scores), expected)
    assert torch.equal(_triangle.and_past(None, scores, CPU), past)


def test_it_is_built_where_one_says() -> None:
    assert _triangle.triangle(T, S, "meta").device.type == "meta"
    meta = torch.device("meta")
    assert _triangle.and_past(None, (T, S), meta).device == meta


@SIZES
@pytest.mark.parametrize("window", [1, 2, 3, S, S + 4])
def test_a_band_is_the_newest_of_the_past(queries, keys, window) -> None:
    mask = _triangle.band(queries, keys, window)
    assert mask.dtype == torch.bool
    assert mask.shape == (queries, keys)
    for t in range(queries):
        itself = keys - queries + t  # both are counted from the end
        expected = [itself - window < s <= itself for s in range(keys)]
        assert mask[t].tolist() == expected


def test_a_token_sees_as_many_as_the_window_says() -> None:
    assert _triangle.band(T, T, 3).sum(dim=-1).tolist() == [1, 2, 3, 3, 3, 3, 3]
    assert _triangle.band(1, S, 3).tolist() == [[False] * (S - 3) + [True] * 3]


def test_a_band_is_built_where_one_says() -> None:
    assert _triangle.band(T, S, 3, "meta").device.type == "meta"
