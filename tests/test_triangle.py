"""The triangle below masks and attention functions: aligned to the last key."""

import pytest
import torch

import oracles
from headway import _triangle
from random_inputs import random_mask
from sizes import B, H, S, T

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
