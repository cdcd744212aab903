"""Training, eval, and one call after another."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from checks.support.asking import calling, said
from mistakes.mistake import AGAIN, DROPOUT
from stepwise import function


def test_what_cannot_be_called_again_is_found() -> None:
    def once(m: Any, run: Any, x: Tensor) -> Tensor:
        if hasattr(m, "called"):
            raise RuntimeError("once is enough")
        m.called = True
        return run(x)

    assert said(calling(once), AGAIN) == (
        "failed",
        "After other calls it raised RuntimeError: once is enough.",
    )


def of_functions(drops: Any) -> Any:
    """Make a function that takes a rate of dropout."""

    def attention(
        query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0
    ) -> Tensor:
        return function(
            causal=False, drop=lambda m, weights: drops(weights, dropout_p)
        )(query, key, value)

    return attention


def test_functions_are_asked_about_dropout_too() -> None:
    assert said(of_functions(dropout), DROPOUT)[0] == "passed"
    kept = of_functions(lambda w, p: w * (torch.rand_like(w) >= p))
    assert said(kept, DROPOUT)[0] == "failed"
    assert said(of_functions(lambda w, p: w), DROPOUT)[0] == "failed"
    assert said(function(causal=False), DROPOUT)[0] == "not applicable"


def test_a_norm_after_dropout_is_no_mistake_of_dropout() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(17, 3 * 5)
            self.dropout = nn.Dropout(0.1)
            self.norm = nn.LayerNorm(5)

        def forward(self, x: Tensor) -> Tensor:
            query, key, value = self.qkv(x).chunk(3, dim=-1)
            weights = (query @ key.mT / 5**0.5).softmax(dim=-1)
            return self.norm(self.dropout(weights) @ value)

    assert said(Normed(), "dropout keeps the mean") == (
        "not applicable",
        "Besides attention it has norm.weight, which may move the mean.",
    )
