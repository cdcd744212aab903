"""Gradients are what differences give."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.checks.support.asking import calling, evidence_of, said
from tests.support.attention_in_steps import SMALL, Attention, function
from tests.support.mistakes.mistake import DIFFERENCES

WRONG = "is not what a small difference of it gives: part of the way is detached"


class TooLarge(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return 1.1 * gradient


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ({"softmax": lambda m, s: ((s + s.detach()) / 2).softmax(-1)}, "the tokens"),
        ({"call": lambda m, run, x: TooLarge.apply(run(x))}, "the tokens"),
        (
            {
                "out": lambda m, c: (
                    c @ (2 * m.out_proj.weight - m.out_proj.weight.detach()).T
                )
            },
            "out_proj.weight",
        ),
    ],
)
def test_a_wrong_gradient_is_found(steps: dict[str, Any], named: str) -> None:
    verdict, sentence = said(Attention(SMALL, **steps), DIFFERENCES)
    assert verdict == "failed"
    assert sentence.startswith(f"The gradient of {named} {WRONG}")


def test_a_gradient_may_be_of_a_function_and_rounded_to_32_bits() -> None:
    single = {"softmax": lambda m, s: s.float().softmax(-1).to(s)}
    assert said(Attention(SMALL, **single), DIFFERENCES)[0] == "passed"
    assert said(function(causal=True), DIFFERENCES)[0] == "passed"
    half = function(
        causal=False, share=lambda m, q, k, v: (q, k.detach() / 2 + k / 2, v)
    )
    assert said(half, DIFFERENCES)[0] == "failed"


def test_what_cannot_be_differentiated_is_not_judged() -> None:
    assert said(calling(lambda m, run, x: run(x).detach()), DIFFERENCES) == (
        "not applicable",
        "It could not be differentiated.",
    )

    def single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.dtype != torch.float32:
            raise TypeError("32 bits, please")
        return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) @ value

    assert said(single, DIFFERENCES)[1] == "Differences need 64 bits."


def test_a_bend_that_is_near_is_no_wrong_gradient() -> None:
    place = float(evidence_of(Attention(SMALL)).x[0, 0, 0])

    def bent(m: Any, run: Any, x: Tensor) -> Tensor:
        near = (x - place).clamp(-4e-5, 4e-5)
        return run(x) + 100 * near.sum(-1, keepdim=True)

    assert said(calling(bent), DIFFERENCES)[0] == "passed"


def test_what_gives_other_rows_again_is_not_judged() -> None:
    def grows_once(m: Any, run: Any, x: Tensor) -> Tensor:
        factor = getattr(m, "factor", 1.0)
        m.factor = 2.0
        return factor * run(x)

    assert said(calling(grows_once), DIFFERENCES) == (
        "not applicable",
        "A second call with the same tokens gives other rows, so differences tell "
        "nothing.",
    )
