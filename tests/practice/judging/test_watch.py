"""A forbidden way is seen by what PyTorch is called for."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from headway.practice.judging.watch import forbidden_way
from headway.practice.task.definition import Forbidden

X = torch.eye(3)
SOFTMAX = Forbidden("By sums.", "", names=("softmax",))
LARGE = Forbidden("No table.", "", when=lambda args, result, given: result is given[0])
COUNTED = Forbidden(
    "Not twice.", "", ("mul",), lambda args, result, given: 2 in args[1:]
)


@pytest.mark.parametrize(
    "run",
    [
        lambda: torch.softmax(X, dim=-1),
        lambda: X.softmax(dim=-1),
        lambda: torch.nn.functional.softmax(X, dim=-1),
        lambda: torch.nn.Softmax(dim=-1)(X),
    ],
)
def test_a_name_is_seen_however_it_is_called(run: Callable[[], object]) -> None:
    assert forbidden_way([COUNTED, SOFTMAX], run, ()) is SOFTMAX
    assert forbidden_way([COUNTED], run, ()) is None


@pytest.mark.parametrize(
    ("run", "found"),
    [
        (lambda: X * 2, COUNTED),
        (lambda: torch.mul(X, other=2), COUNTED),
        (lambda: X * 3, None),
        (lambda: X.add_(0), LARGE),
        (lambda: X + 2, None),
    ],
)
def test_a_condition_looks_at_arguments_and_result(run: Any, found: Any) -> None:
    assert forbidden_way([COUNTED, LARGE], run, (X,)) is found


def test_the_first_that_is_gone_is_told() -> None:
    def both() -> None:
        X.softmax(dim=-1)
        X * 2

    assert forbidden_way([COUNTED, SOFTMAX], both, ()) is SOFTMAX
