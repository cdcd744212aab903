"""Rates of dropout are found wherever code has them."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.attention.subject import Options, discover
from headway.checks.core.dropout import rate_attributes
from tests.checks.support.asking import rows_of, said
from tests.support.mistakes.mistake import EQUATION


class Dropping(nn.Module):
    """Three rates, each found by another rule, and three that are no rates."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Dropout(0.1)
        self.attn_dropout = 0.2
        self.drop_rate = 0
        self.use_dropout = True
        self.drop = nn.Identity()
        self.droplet = 0.7

    def forward(self, x: Tensor) -> Tensor:
        return x


def rates(target: Any) -> tuple[Any, ...]:
    return target.layer.p, target.attn_dropout, target.drop_rate


def test_a_copy_has_other_rates_and_no_more() -> None:
    subject = discover(Dropping(), Options(d_in=13))
    assert subject.has_dropout
    changed = subject.with_dropout(0.5)
    assert rates(changed.target) == (0.5, 0.5, 0.5)
    assert changed.module.droplet == 0.7
    assert changed.module.use_dropout is True
    assert not changed.module.training
    assert rates(subject.target) == (0.1, 0.2, 0)


def test_a_copy_in_training_is_one_in_all_parts() -> None:
    subject = discover(Dropping(), Options(d_in=13))
    changed = subject.in_training(dropout=0.0)
    assert rates(changed.target) == (0.0, 0.0, 0.0)
    assert all(part.training for part in changed.module.modules())
    assert not any(part.training for part in subject.module.modules())


def test_a_layer_of_another_library_calls_it_rate() -> None:
    class StochasticDropout(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rate = 0.1

    class Speed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rate = 0.1

    layer = StochasticDropout()
    assert rate_attributes(layer) == [(layer, "rate")]
    assert rate_attributes(Speed()) == []
    assert rate_attributes(torch.sigmoid) == []


def test_a_function_takes_its_rate_as_an_argument() -> None:
    seen = []

    def attend(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0) -> Tensor:
        seen.append(dropout_p)
        return v

    subject = discover(attend, Options())
    assert subject.has_dropout
    assert subject.module is None
    changed = subject.in_training(dropout=0.5)
    changed(changed.tokens())
    subject(subject.tokens())
    assert seen[-2:] == [0.5, 0.0]


def test_a_layer_as_an_argument_is_no_rate() -> None:
    def attend(
        query: Tensor, key: Tensor, value: Tensor, mask: Any = None, dropout: Any = None
    ) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights if dropout is None else dropout(weights)) @ value

    assert not discover(attend, Options()).has_dropout
    assert said(attend, "dropout")[0] == "not applicable"
    assert said(attend, "fully-masked")[0] == "failed"


def test_an_expression_passes_no_rate() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0) -> Tensor:
        return scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)

    assert not discover(attend, Options(call="f(q, k, v)")).has_dropout
    sentence = said(attend, "dropout", call="f(q, k, v)")[1]
    assert sentence == "No dropout rate was found."


@pytest.mark.parametrize("by_place", [True, False])
def test_the_rate_of_pytorchs_own_function_is_left_out_too(by_place: bool) -> None:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if by_place:
            return scaled_dot_product_attention(query, key, value, None, 0.3)
        return scaled_dot_product_attention(query, key, value, dropout_p=0.3)

    [row] = rows_of(attend, EQUATION)
    assert row.verdict == "passed"
