"""Texts with masks of their own."""

from typing import Any

from torch import Tensor

from tests.checks.support.asking import said
from tests.support.attention_in_steps import SMALL, PairMasked
from tests.support.mistakes.mistake import OBEYED


class OfTheFirst(PairMasked):
    """All texts get the mask of the first."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        if mask is not None:
            mask = mask.expand(len(x), -1, -1)[:1].expand(len(x), -1, -1)
        return super().forward(x, mask)


def test_each_text_must_get_its_own_mask() -> None:
    assert said(OfTheFirst(SMALL), OBEYED) == (
        "failed",
        "With a different mask for each text, a text gets different rows in a batch "
        "than alone: mask of the first text is used for all texts.",
    )
    assert said(PairMasked(SMALL), OBEYED)[0] == "passed"
