"""Gradients, precision and size of numbers."""

from typing import Any

import torch
from torch import Tensor

from checks.support.asking import calling, said
from mistakes.mistake import GRADIENTS, HALF, LARGE
from stepwise import SMALL, Attention, function


def test_a_function_without_gradients_is_not_judged() -> None:
    attend = function(causal=False, softmax=lambda m, s: s.detach().softmax(-1))

    def frozen(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attend(query, key, value).detach()

    assert said(frozen, GRADIENTS) == (
        "not applicable",
        "The function does not take part in differentiation.",
    )


class OneWay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        raise NotImplementedError("there is no way back")


class Explodes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * torch.inf


def test_code_that_cannot_be_differentiated_is_not_judged() -> None:
    module = calling(lambda m, run, x: OneWay.apply(run(x)))
    assert said(module, GRADIENTS) == (
        "not applicable",
        "It could not be differentiated: NotImplementedError: there is no way back",
    )


def test_a_kernel_without_a_way_back_is_not_judged() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.requires_grad:
            raise NotImplementedError("no backward on this device")
        return run(x)

    assert said(calling(call), GRADIENTS) == (
        "not applicable",
        "It could not be differentiated: NotImplementedError: no backward on this "
        "device",
    )


def test_gradients_must_be_finite() -> None:
    module = calling(lambda m, run, x: run(Explodes.apply(x)))
    assert said(module, GRADIENTS) == (
        "failed",
        "The gradient of the tokens is not finite.",
    )


def test_gradients_must_reach_every_matrix() -> None:
    module = Attention(
        SMALL,
        project=lambda m, x: (
            m.W_query(x),
            m.W_key(x).detach(),
            m.W_value(x),
        ),
    )
    assert said(module, GRADIENTS) == (
        "failed",
        "No gradient reaches W_key.weight: it is never used, or cut off.",
    )


def test_frozen_weights_need_no_gradients() -> None:
    module = Attention(SMALL)
    module.W_key.requires_grad_(False)
    assert said(module, GRADIENTS)[0] == "passed"


def test_a_row_that_is_large_is_said_to_be() -> None:
    def naive(m: Any, scores: Tensor) -> Tensor:
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    verdict, sentence = said(Attention(SMALL, softmax=naive), LARGE)
    assert verdict == "failed"
    assert sentence.startswith("With tokens 100 times as large, in float64, a row is")


def test_a_type_may_not_be_fixed() -> None:
    module = calling(lambda m, run, x: run(x).to(torch.float64))
    verdict, sentence = said(module, HALF)
    assert (verdict, sentence) == (
        "failed",
        "Of float32 it makes float64: a type is fixed.",
    )


def test_numbers_may_not_be_lost_in_16_bits() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        rows = run(x)
        return rows if rows.itemsize > 2 else rows * 4 - 3 * rows.roll(1, dims=-1)

    verdict, sentence = said(calling(call), HALF)
    assert verdict == "failed"
    assert sentence.startswith("In bfloat16 it is off by")


def test_a_type_that_is_not_there_is_no_mistake() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype == torch.float16:
            raise RuntimeError('"attend" not implemented for Half')
        return run(x)

    assert said(calling(call), HALF)[0] == "passed"


def test_a_type_that_raises_is_one() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype == torch.bfloat16:
            raise RuntimeError("not implemented for a brain")
        return run(x)

    assert said(calling(call), HALF) == (
        "failed",
        "In bfloat16 it raised RuntimeError: not implemented for a brain.",
    )


def test_code_of_one_type_alone_is_not_asked_for_others() -> None:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.dtype != torch.float32:
            raise TypeError("32 bits, please")
        return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) @ value

    assert said(attend, "types and half precision") == (
        "not applicable",
        "It works in float32 alone.",
    )
