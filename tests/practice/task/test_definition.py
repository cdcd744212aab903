"""Hidden numbers are drawn in the sizes of a trial."""

from typing import Any

import pytest
import torch

from headway.practice.task.definition import Draw, Exercise, Forbidden


def draw(**sizes: Any) -> Draw:
    return Draw(torch.Generator().manual_seed(5), **sizes)


def test_numbers_have_64_bits_and_may_be_loud() -> None:
    soft, loud = draw().normal(3, 4), draw(loud=30.0).normal(3, 4)
    assert soft.dtype == torch.float64
    assert soft.shape == (3, 4)
    assert torch.equal(30 * soft, loud)


def test_whole_numbers_tables_and_orders() -> None:
    numbers = draw().integers(4, 1000)
    assert numbers.unique().tolist() == [0, 1, 2, 3]
    table = draw().booleans(20, 30)
    assert table.dtype == torch.bool
    assert table.shape == (20, 30)
    assert 0.4 < table.double().mean() < 0.6
    order = draw().order(9)
    assert sorted(order.tolist()) == [*range(9)]
    assert order.tolist() != [*range(9)]


@pytest.mark.parametrize("stars", [-1, 4])
def test_an_exercise_has_at_most_three_stars(stars: int) -> None:
    with pytest.raises(ValueError, match=rf"must be 1, 2 or 3, .* got stars={stars}"):
        Exercise("f", ("", ""), (), lambda d: (), "", (), (), stars=stars)


def test_what_is_forbidden_has_a_name_or_a_condition() -> None:
    with pytest.raises(ValueError, match=r"names or when must say what is forbidden"):
        Forbidden("The task says: by a loop.", "return x")


def test_minutes_are_not_negative() -> None:
    with pytest.raises(ValueError, match=r"must be 0 or more; got minutes=-1\."):
        Exercise("f", ("", ""), (), lambda d: (), "", (), (), minutes=-1)
