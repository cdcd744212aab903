"""Tokens may attend in groups, such as the windows of an image."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import check
from headway.checks.attention.evidence.apart import groups
from tests.checks.support.asking import evidence_of, said
from tests.checks.support.callers import WIDTH
from tests.checks.support.other_shapes import NamedRows, Rows, Windows
from tests.support.mistakes.mistake import EQUATION, SIZE


class Unscaled(Windows):
    """Its scores have no scale."""

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        three = WIDTH**0.5 * self.q(query), self.k(key), self.v(value)
        return scaled_dot_product_attention(*three)


FULL = torch.ones(6, 6, dtype=torch.bool)
EVERY_THIRD = torch.arange(6)[:, None] % 3 == torch.arange(6) % 3


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        (EVERY_THIRD, [[0, 3], [1, 4], [2, 5]]),
        (EVERY_THIRD & (torch.arange(6) > 0), []),
        (EVERY_THIRD.tril(), []),
        (FULL, []),
        (~FULL, []),
    ],
)
def test_no_token_of_a_group_sees_another_one(
    visible: Tensor, found: list[list[int]]
) -> None:
    assert groups(visible) == found


@pytest.mark.parametrize("module", [Windows(), NamedRows()])
def test_in_a_group_all_holds(module: nn.Module) -> None:
    report = check(module, d_in=WIDTH)
    assert [one.id for one in report.failed] == []
    rows = {one.id: one for one in report.rows}
    assert rows[EQUATION].verdict == "passed"
    assert rows[SIZE].verdict == "note"


def test_a_report_says_which_tokens_are_a_group() -> None:
    evidence = evidence_of(Windows(), d_in=WIDTH)
    assert evidence.subject.T == 4
    assert evidence.subject.call.shown == (
        "m(x); tokens attend in 4 groups, and these are one: 1, 2, 5, 6"
    )


def test_in_a_group_a_mistake_has_its_name() -> None:
    verdict, sentence = said(Unscaled(), EQUATION, d_in=WIDTH)
    assert verdict == "failed"
    assert "scores are not scaled" in sentence


@pytest.mark.parametrize("options", [{}, {"causal": False}])
def test_what_stands_side_by_side_may_be_a_mistake(options: dict[str, Any]) -> None:
    module = NamedRows() if options else Rows()
    assert evidence_of(module, d_in=WIDTH, **options).subject.T == 16


def test_a_group_that_cannot_be_called_is_none() -> None:
    class Unequal(Windows):
        """What the other tokens are is no matter, but no two may be the same."""

        def forward(self, x: Tensor) -> Tensor:
            if torch.equal(x[:, 2], x[:, 4]):
                raise ValueError("tokens that differ, please")
            return super().forward(x)

    assert evidence_of(Unequal(), d_in=WIDTH).subject.T == 16
