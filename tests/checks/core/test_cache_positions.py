"""Where new tokens stand behind a cache is measured, whatever code counts by."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from headway.checks.core.cache_positions import cause_of_positions
from headway.checks.core.outcome import Cause

LEARNED = torch.randn(40, 6, generator=torch.Generator().manual_seed(2))
Count = Callable[[int], int]


def learned(positions: Tensor) -> Tensor:
    """Give rows of a table that was learned."""
    return LEARNED[positions]


def turned(positions: Tensor) -> Tensor:
    """Give cosines of angles that are computed in each call."""
    return (positions[:, None] * torch.tensor([1.0, 0.1, 0.01])).cos()


def complex_numbers(positions: Tensor) -> Tensor:
    """Give rotations as complex numbers, with an axis for the batch."""
    angles = positions[None, :, None] * torch.tensor([1.0, 0.1, 0.01])
    return torch.polar(torch.ones_like(angles), angles)


def found(
    count: Count, table: Callable[[Tensor], Tensor], length: int | None = None
) -> Cause | None:
    """Measure code whose new tokens stand where `count` says, behind so many others."""

    def call(first: int, tokens: int) -> Tensor:
        x = torch.randn(2, tokens, 3).repeat_interleave(2, dim=-1)
        x = x.to(torch.complex64) if table is complex_numbers else x
        rows = table(torch.arange(first, first + tokens))
        return x * torch.cat([rows, rows], dim=-1)[..., :6]

    def in_pieces(past: int) -> Tensor:
        call(0, past)
        return call(count(past), 1)

    return cause_of_positions(lambda T: call(0, T), in_pieces, length)


@pytest.mark.parametrize("table", [learned, turned, complex_numbers])
@pytest.mark.parametrize(
    ("count", "words", "mistake"),
    [
        (lambda n: 0, "begin again from position zero, whatever", "from-zero"),
        (lambda n: n + 1, "stand 1 position further on than where the", "shifted"),
        (lambda n: n + 7, "stand 7 positions further on than where the", "shifted"),
        (lambda n: n - 1, "stand 1 position before where the cache ends", "shifted"),
        (lambda n: n - 3, "stand 3 positions before where the cache", "shifted"),
    ],
)
def test_the_number_of_positions_is_measured(
    table: Callable[[Tensor], Tensor], count: Count, words: str, mistake: str
) -> None:
    cause = found(count, table)
    assert cause is not None
    assert cause.sentence.startswith(words)
    assert cause.mistake == f"cache-positions-{mistake}"


@pytest.mark.parametrize(
    "count",
    [
        lambda n: n,  # right
        lambda n: 2 * n,  # off by another number each time
        lambda n: n + 20,  # beyond what is looked at
        lambda n: 4,  # right for one length
    ],
)
def test_nothing_is_said_where_no_one_number_explains_it(count: Count) -> None:
    assert found(count, learned) is None


def test_a_short_table_is_not_left() -> None:
    cause = found(lambda n: n - 2, lambda at: LEARNED[:9][at], length=9)
    assert cause is not None
    assert cause.sentence == "stand 2 positions before where the cache ends"


def test_parts_that_stand_at_two_places_tell_nothing() -> None:
    def both(at: Tensor) -> Tensor:
        first = torch.where(at > 4 - len(at), 0 * at, at) if len(at) == 1 else at
        return learned(at) + turned(first).repeat(1, 2)

    assert found(lambda n: n, both) is None


def test_one_number_for_each_position_tells_nothing() -> None:
    def column(at: Tensor) -> Tensor:
        return (0.5 * at[:, None]).expand(-1, 1)

    def call(at: Tensor) -> Tensor:
        return torch.randn(2, len(at), 6) * column(at)

    def in_pieces(past: int) -> Tensor:
        return call(torch.arange(past + 1, past + 2))

    assert cause_of_positions(lambda T: call(torch.arange(T)), in_pieces, None) is None
