"""Rows that are no numbers are told first, and explain what is made of them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks import check
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.properties.finite import _MADE_OF_ROWS
from tests.checks.support.asking import row, said
from tests.support.attention_in_steps import SIZES, Attention
from tests.support.mistakes.mistake import EVAL, NUMBERS, SIZE, SUM


def spoiled(places: list[int] | slice, value: float = float("nan")) -> Attention:
    """Attention in which some rows are spoiled, once it has been computed."""

    def call(m: Attention, run: object, x: Tensor) -> Tensor:
        rows = run(x)  # type: ignore[operator]
        bad = torch.zeros(rows.shape[1], dtype=torch.bool)
        bad[
            places if isinstance(places, slice) else [p for p in places if p < len(bad)]
        ] = True
        return rows.masked_fill(bad[:, None], value)

    return Attention(SIZES["two heads"], call=call)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (spoiled([0]), "Row 1 is nan, and so is all that is made of it."),
        (spoiled([1, 3]), "Rows 2 and 4 are nan, and so is all that is made of them."),
        (
            spoiled([1, 3, 4]),
            "3 of 5 rows, the first of them row 2, are nan, and so is all that is made "
            "of them.",
        ),
        (spoiled(slice(None)), "All rows are nan, and so is all that is made of them."),
        (
            spoiled([2], float("inf")),
            "Row 3 is infinite, and so is all that is made of it.",
        ),
    ],
    ids=["one", "two", "three", "all", "infinite"],
)
def test_rows_that_are_no_numbers_are_named(module: Attention, sentence: str) -> None:
    assert said(module, NUMBERS) == ("failed", sentence)


def test_rows_of_numbers_pass() -> None:
    assert said(Attention(SIZES["two heads"]), NUMBERS) == (
        "passed",
        "Ordinary tokens get rows of finite numbers.",
    )


def test_one_number_of_one_text_is_enough() -> None:
    def call(m: Attention, run: object, x: Tensor) -> Tensor:
        rows = run(x)  # type: ignore[operator]
        rows[-1, 1, 2] = float("nan")
        return rows

    module = Attention(SIZES["two heads"], call=call)
    assert said(module, NUMBERS)[1].startswith("Row 2 is nan")


def test_all_that_is_made_of_a_row_that_is_nan_is_explained_by_it() -> None:
    report = check(spoiled([3]))
    assert [one.id for one in report.failed if not one.explained_by] == [NUMBERS]
    assert len(report.failed) > 6
    assert row(report, SUM).explained_by == NUMBERS
    lines = str(report).splitlines()
    assert lines[8].startswith("FAILED  rows are numbers")
    assert lines[9].strip().startswith("Row 4 is nan")


def test_what_a_row_that_is_nan_explains_are_properties() -> None:
    known = {one.id for one in PROPERTIES}
    assert {*_MADE_OF_ROWS} < known
    assert known - {*_MADE_OF_ROWS} >= {NUMBERS, SIZE, EVAL}


def test_a_token_of_zeros_is_no_division_by_zero() -> None:
    def call(m: Attention, run: Any, x: Tensor) -> Tensor:
        return run(x / x.square().mean(dim=-1, keepdim=True).sqrt())  # type: ignore[no-any-return]

    verdict, sentence = said(Attention(SIZES["two heads"], call=call), NUMBERS)
    assert verdict == "failed"
    assert sentence.startswith("A token of zeros gets nan")
