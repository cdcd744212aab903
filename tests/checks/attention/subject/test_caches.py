"""How code may take a cache."""

from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.subject.caches import LibraryCache, ways_to_cache
from tests.checks.support.callers import WIDTH, Attend, discovered


class Placed(Attend):
    """It is told where new tokens stand, as a number and as a tensor."""

    def forward(
        self, x: Tensor, start_pos: int = 0, positions: Any = None, past: Any = None
    ) -> Any:
        self.told = start_pos, None if positions is None else positions.tolist()
        return self.mix(x, x, x), None, (x,)


def test_new_tokens_stand_after_those_before() -> None:
    subject = discovered(Placed())
    ways = [*ways_to_cache(subject)]
    assert [way.shown for way in ways] == [
        *["past=past"] * 3,
        "past=KeyValueCache()",
        "past=a cache of layers",
        "past={}",
        "past=[]",
        "past=(key, value)",
        "start_pos=...",
    ]
    for way in (one for one in ways if one.shown != "past=(key, value)"):
        x = subject.tokens(1, 2)
        rows, past = way.step(subject.target, x, way.begin(), 4)
        assert rows.shape == (1, 2, WIDTH)
        assert subject.target.told in ((4, [4, 5]), (4, [[4, 5]]), (4, None))
        assert isinstance(past, tuple) is way.handed_on


def test_a_cache_of_layers_keeps_each_apart() -> None:
    cache = LibraryCache()
    one, two = torch.ones(1, 2, 3), torch.zeros(1, 1, 3)
    cache.update(one, one)
    cache.update(two, two, 1)
    key, value = cache.update(two, two, 0, {})
    assert key.tolist() == value.tolist() == torch.cat([one, two], 1).tolist()
    assert [cache.get_seq_length(n) for n in range(3)] == [3, 1, 0]


class SideBySide(Attend):
    def forward(self, x: Tensor, past: Any = None) -> Any:
        return self.mix(x, x, x), None, self.k(x), self.v(x)


def test_keys_and_values_side_by_side_are_a_cache() -> None:
    subject = discovered(SideBySide())
    way = next(one for one in ways_to_cache(subject) if "(key" in one.shown)
    x = subject.tokens(1, 2)
    _, (key, value) = way.step(subject.target, x, way.begin(), 0)
    torch.testing.assert_close(key, subject.target.k(x))
    torch.testing.assert_close(value, subject.target.v(x))
