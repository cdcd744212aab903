"""How a row mixes what it sees."""

from typing import Any

import torch
from torch import Tensor

from checks.support.asking import calling, said
from mistakes.mistake import ORDER, SUM
from stepwise import SMALL, Attention


def test_positions_without_a_name_are_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    for causal in (True, False):
        assert said(calling(call, causal=causal), ORDER)[0] == "failed"


def test_sums_that_are_not_divided_are_found() -> None:
    def summed(m: Any, scores: Tensor) -> Tensor:
        return scores.exp()

    for causal in (True, False):
        assert said(Attention(SMALL, causal=causal, softmax=summed), SUM)[0] == "failed"
