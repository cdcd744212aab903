"""A property becomes a row, also where the code that is checked raises."""

import pytest
import torch

from headway.checks.core.outcome import Outcome, passed
from headway.checks.core.property import row_of
from headway.checks.core.report import Row
from headway.checks.model.properties import PROPERTIES

ASKED = PROPERTIES[0]


def raising(error: Exception) -> Row:
    def ask() -> Outcome:
        raise error

    return row_of(ASKED, ask)


@pytest.mark.parametrize(
    "words",
    [
        "mat1 and mat2 must have the same dtype, but got Double and Float",
        "expected scalar type Float but found Double",
        "expected tensor for argument #1 to have type Double; but found CPUFloatType",
    ],
)
def test_numbers_of_two_types_are_no_mistake(words: str) -> None:
    row = raising(RuntimeError(words))
    assert row.verdict == "not applicable"
    assert row.sentence == f"In this type it raised RuntimeError: {words}."


def test_so_it_is_with_what_pytorch_says() -> None:
    def ask() -> Outcome:
        torch.ones(2, 3, dtype=torch.float64) @ torch.ones(3, 2)
        raise AssertionError

    assert row_of(ASKED, ask).verdict == "not applicable"


def test_a_kernel_that_is_missing_is_none_either() -> None:
    row = raising(RuntimeError("No available kernel. Aborting execution."))
    assert row.verdict == "not applicable"
    assert row.sentence == "PyTorch has no kernel for it on this device."


@pytest.mark.parametrize(
    "words", ["expected 3 tokens but found 5", "shapes cannot be multiplied"]
)
def test_what_else_is_raised_is_a_failure(words: str) -> None:
    row = raising(RuntimeError(words))
    assert (row.verdict, row.sentence) == (
        "failed",
        f"It raised RuntimeError: {words}.",
    )


@pytest.mark.parametrize(("figure", "kept"), [(3.0, 3.0), (torch.inf, None)])
def test_a_figure_is_a_number(figure: float, kept: float | None) -> None:
    row = row_of(ASKED, lambda: passed("It holds.", figure))
    assert (row.id, row.verdict, row.figure) == (ASKED.id, "passed", kept)
