"""What wrong numbers have in common is said where it is true of every trial."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.practice.judging.patterns import pattern

LARGE = torch.randn(
    3, 5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
)
SMALL = LARGE[:2, :3, :4]
MASK = torch.ones(5, 7, dtype=torch.bool).tril(1)


def zeroed(x: Tensor, axis: int, start: int, step: int, many: int = 99) -> Tensor:
    x = x.clone()
    x.movedim(axis, 0)[start::step][:many] = 0
    return x


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: 2 * x, "Each number is 2 times what it must be."),
        (lambda x: x / 8, "Each number is 0.125 times what it must be."),
        (lambda x: 1.23456 * x, "Each number is 1.235 times what it must be."),
        (lambda x: -x, "Each number has the other sign."),
        (lambda x: 0 * x, "Each number is zero."),
        (
            lambda x: x * len(x),
            "All numbers are wrong by one factor, which changes with the sizes.",
        ),
        (lambda x: x + 1.5, "Each number is 1.5 too large."),
        (lambda x: x - 0.25, "Each number is 0.25 too small."),
        (
            lambda x: x - len(x),
            "All numbers are wrong by one difference, which changes with the sizes.",
        ),
        (
            lambda x: x * x.sum(-1, keepdim=True),
            "Each row is the right one times a number of its own.",
        ),
        (
            lambda x: x * x.sum(-2, keepdim=True),
            "Each column is the right one times a number of its own.",
        ),
        (
            lambda x: x + x.sum(-1, keepdim=True),
            "Each row is the right one plus a number of its own.",
        ),
        (
            lambda x: x * x.sum(-1 - len(x) % 2, keepdim=True),
            "Each row, or column, is wrong by a number of its own.",
        ),
        (lambda x: x.flip(1), "It is the right result, turned around along axis 1."),
        (
            lambda x: torch.cat([x[:, 1:], x[:, :1] + 1], dim=1),
            "Each place along axis 1 has what belongs to the next.",
        ),
        (
            lambda x: torch.cat([x[:, :1] + 1, x[:, :-1]], dim=1),
            "Each place along axis 1 has what belongs to the one before.",
        ),
        (
            lambda x: x.mT.reshape(x.shape),
            "These are the right numbers, but in other places.",
        ),
        (lambda x: zeroed(x, 1, 0, 99), "Along axis 1 only the first is wrong."),
        (lambda x: zeroed(x, 2, -1, 1), "Along axis 2 only the last is wrong."),
        (lambda x: zeroed(x, 2, 1, 1), "Along axis 2 only the first is right."),
        (
            lambda x: zeroed(x, 2, 0, 1, x.shape[2] - 1),
            "Along axis 2 only the last is right.",
        ),
        (
            lambda x: zeroed(x, 2, 0, 2),
            "Along axis 2 only every second is wrong, beginning with the first.",
        ),
        (
            lambda x: zeroed(x, 2, 1, 2),
            "Along axis 2 only every second is wrong, beginning with the second.",
        ),
        (lambda x: x.cumsum(1), "Along axis 1 only the first is right."),
        (lambda x: x.square(), ""),
        (lambda x: x / 0, ""),
        (lambda x: 0 * x + torch.inf, ""),
        (
            lambda x: x.flip(len(x) % 2),
            "These are the right numbers, but in other places.",
        ),
        (lambda x: x, ""),
    ],
)
def test_what_is_true_of_every_trial_is_said(
    change: Callable[[Tensor], Tensor], said: str
) -> None:
    assert pattern([(change(x), x) for x in (LARGE, SMALL)]) == said


def test_what_is_true_of_one_trial_alone_is_not_said() -> None:
    assert pattern([(2 * LARGE, LARGE), (SMALL.exp(), SMALL)]) == ""
    assert pattern([(2 * LARGE, LARGE), (SMALL, SMALL)]).startswith("Each number is 2")


def test_where_a_nan_stands_is_said_and_no_factor() -> None:
    broken = LARGE.clone()
    broken[:, 0] = torch.nan
    assert pattern([(broken, LARGE)]) == "Along axis 1 only the first is wrong."
    other = broken.clone()
    other[..., -1] += 1
    assert pattern([(other, broken)]) == "Along axis 1 only the first is right."


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (~MASK, "Each entry is the opposite of what it must be."),
        (MASK | ~MASK.roll(2), "Each wrong entry is True, and must be False."),
        (MASK.roll(2) & MASK, "Each wrong entry is False, and must be True."),
        (MASK[[2, 0, 1, 4, 3]], ""),
    ],
)
def test_entries_that_are_true_or_false(mine: Tensor, said: str) -> None:
    assert pattern([(mine, MASK)]) == said


@pytest.mark.parametrize(
    ("mine", "right", "said"),
    [
        ({"a": 2 * SMALL}, {"a": SMALL}, "Each number is 2 times what it must be."),
        ((SMALL, SMALL + 1), (SMALL, SMALL), "Each number is 1 too large."),
        (
            torch.tensor([4, 6, 9]),
            torch.tensor([3, 5, 8]),
            "Each number is 1 too large.",
        ),
        (
            torch.tensor([4, 6, 9]),
            torch.tensor([6, 9, 4]),
            "Each place along axis 0 has",
        ),
        (torch.tensor([1.0]), torch.tensor([2.0]), ""),
        (2 * SMALL[0, 0], SMALL[0, 0], "Each number is 2 times"),
        (SMALL[0, 0].square(), SMALL[0, 0], ""),
        (2 * SMALL[:1].square(), SMALL[:1], ""),
        (SMALL[..., :1].exp(), SMALL[..., :1], ""),
        (2j * SMALL, 1j * SMALL, ""),
        ("text", "other", ""),
    ],
)
def test_numbers_are_found_in_any_result(mine: Any, right: Any, said: str) -> None:
    assert pattern([(mine, right)]).startswith(said)
    assert bool(pattern([(mine, right)])) is bool(said)
