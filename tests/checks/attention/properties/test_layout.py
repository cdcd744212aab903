"""Where numbers lie in memory."""

from typing import Any

from torch import Tensor

from tests.checks.support.asking import calling, said
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes import OTHER_CALLS, build
from tests.support.mistakes.mistake import LAYOUT


def test_a_view_that_needs_an_order_is_noted() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x.view(-1, x.shape[-1]).view(x.shape))

    verdict, sentence = said(calling(call), LAYOUT)
    assert verdict == "note"
    assert sentence.startswith(
        "With tokens that lie by tokens in memory it raised Runti"
    )
    assert sentence.endswith("In place of view(), reshape() accepts any order.")


def test_other_numbers_are_a_mistake() -> None:
    assert said(build("two heads", OTHER_CALLS["memory as it lies"]), LAYOUT) == (
        "failed",
        "With tokens that lie by tokens in memory it computes different numbers: "
        "something reads the memory, not the axes.",
    )
    assert said(Attention(SMALL), LAYOUT)[0] == "passed"


def test_tokens_are_handed_over_as_they_lie() -> None:
    seen: list[tuple[int, ...]] = []

    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        seen.append(x.stride())
        return run(x)

    assert said(calling(call), LAYOUT)[0] == "passed"
    assert len({*seen[-3:]}) == 3
