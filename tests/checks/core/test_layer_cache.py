"""A cache hands back what those of the book do."""

import pytest
import torch

from headway import KeyValueCache, RingCache
from headway.checks.core.layer_cache import LayerCache


@pytest.mark.parametrize("window", [None, 1, 3, 7])
def test_it_hands_back_what_the_caches_of_the_book_do(window: int | None) -> None:
    cache = LayerCache(window)
    expected = KeyValueCache() if window is None else RingCache(window)
    assert getattr(cache, "window", None) == getattr(expected, "window", None)
    drawn = torch.Generator().manual_seed(0)
    for n in (2, 1, 1, 5, 2):
        start = cache.length
        key, value = (torch.randn(3, 2, n, D, generator=drawn) for D in (5, 7))
        positions = torch.arange(start, start + n)
        if start:  # of each text, and not of all
            positions = positions.expand(3, 1, -1)
        new = cache.append(key, value, positions)
        for one, other in zip(new, expected.append(key, value, positions), strict=True):
            assert torch.equal(one, other)
        assert cache.length == expected.length
