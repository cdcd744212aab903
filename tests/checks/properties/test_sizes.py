"""Batches, texts and contexts of many sizes."""

from typing import Any

import pytest
import torch
from torch import Tensor

from checks.support.asking import calling, evidence_of, said
from checks.support.right import STEPS
from mistakes.mistake import CONTEXT, LONGER
from stepwise import SIZES, SMALL, Attention


def test_a_text_beyond_the_context_may_be_refused() -> None:
    refuses = STEPS["call"]["refuses"]
    verdict, sentence = said(calling(refuses), CONTEXT)
    assert verdict == "passed"
    assert sentence == "Refuses 18 tokens: ValueError: the text is too long"


def test_a_text_beyond_the_context_may_not_be_nan() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (torch.nan if x.shape[1] > m.context_length else 1)

    assert said(calling(call), CONTEXT) == ("failed", "With 18 tokens it gives nan.")


def test_without_a_hidden_future_a_longer_text_is_only_called() -> None:
    verdict, _ = said(Attention(SMALL, causal=False), CONTEXT)
    assert verdict == "passed"
    assert said(Attention(SMALL, causal=False), LONGER)[0] == "not applicable"


def test_rows_stay_in_long_texts_too() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (1 + (x.shape[1] > 255))

    module = calling(call)
    module.context_length = 1000
    assert said(module, LONGER)[0] == "failed"


def test_a_context_may_be_as_long_as_the_texts() -> None:
    module = Attention(SIZES["five heads"])
    module.context_length = 7
    assert said(module, LONGER) == (
        "passed",
        "No row changes when its text goes on, to 7 tokens.",
    )
    assert said(module, CONTEXT)[0] == "passed"


def test_one_row_for_a_text_is_not_attention() -> None:
    with pytest.raises(ValueError, match="it returned shape \\(3, 11\\) for"):
        evidence_of(calling(lambda m, run, x: run(x).mean(1)))
