"""A vocabulary makes it a whole model, which is told nothing of a single layer."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks import check_model
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention_or_model import (
    check_attention_or_model,
    is_model,
    properties_of,
)
from headway.checks.model.properties import PROPERTIES as OF_MODELS
from tests.checks.support.asking import refused, row
from tests.support.mistakes.mistake import EQUATION, LEAK


class Means(nn.Module):
    """A model that answers with the mean of all tokens so far, or of all tokens."""

    def __init__(self, vocab_size: int = 17, *, leaks: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 5)
        self.out = nn.Linear(5, vocab_size)
        self.leaks = leaks

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        means = x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]
        return self.out(x + (x.mean(1, keepdim=True) if self.leaks else means))


class Odd(nn.Module):
    """Attention whose rows go through a function that the equation does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(5, 5) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(attend(self.query(x), self.key(x), self.value(x)))


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


@pytest.mark.parametrize(
    ("options", "model"),
    [({}, False), ({"vocab_size": None}, False), ({"vocab_size": 17}, True)],
)
def test_a_vocabulary_makes_it_a_model(options: dict[str, Any], model: bool) -> None:
    assert is_model(attend, options) is model


def test_a_vocabulary_can_be_declared() -> None:
    model = Means()
    assert is_model(attend, {"facts": {"vocab_size": 17}})
    model.attention_facts = {"vocab_size": 17}
    assert is_model(model, {})
    assert check_attention_or_model(model, {}).facts["sizes"].value.endswith("of 17")


def test_a_model_is_not_compared_with_the_equation_so_strict_says_nothing() -> None:
    report = check_attention_or_model(Means(), {"vocab_size": 17, "strict": True})
    assert report.ok
    odd = Odd()
    assert check_attention_or_model(odd, {"only": [EQUATION]}).failed == []
    assert check_attention_or_model(odd, {"only": [EQUATION], "strict": True}).failed


def test_each_has_properties_of_its_own() -> None:
    assert properties_of(model=False) is PROPERTIES
    assert properties_of(model=True) is OF_MODELS


@pytest.mark.parametrize(
    ("code", "options", "first"),
    [
        (attend, {"causal": False}, EQUATION),
        (Means(), {"vocab_size": 17}, "finite"),
        (Means(), {"vocab_size": 17, "num_heads": 2, "d_in": 5}, "finite"),
    ],
    ids=["attention", "a model", "a model whose constructor was told more"],
)
def test_what_is_meant_is_checked(
    code: Callable[..., Any], options: dict[str, Any], first: str
) -> None:
    report = check_attention_or_model(code, options)
    assert report.ok
    assert report.rows[0].id == first


@pytest.mark.refusal
def test_weights_are_those_of_a_layer() -> None:
    with refused("weights must be left out for a whole model; got weights={'a': 'b'}."):
        check_attention_or_model(Means(), {"vocab_size": 17, "weights": {"a": "b"}})


@pytest.mark.refusal
def test_memory_is_that_of_a_model() -> None:
    with refused(
        "vocab_size must be given with memory, which is of a whole model; got memory=3."
    ):
        check_attention_or_model(attend, {"memory": 3})
    small = {"vocab_size": 17, "memory": 1e-6}
    with pytest.raises(ValueError, match=r"^memory must be .* got memory=1e-06\.$"):
        check_attention_or_model(Means(), small)


def test_a_model_may_be_expected_to_fail_too() -> None:
    leaks = Means(leaks=True)
    assert not check_model(leaks, vocab_size=17).ok
    report = check_model(leaks, vocab_size=17, expected={LEAK: "it reads both ways"})
    assert report.ok
    assert row(report, LEAK).verdict == "expected"
    right = check_model(Means(), vocab_size=17, expected={LEAK: "it did once"})
    assert [one.id for one in right.failed] == [LEAK]


def test_what_is_expected_of_a_model_is_a_property_of_models() -> None:
    with pytest.raises(ValueError, match=r"^expected must name a property by its id, "):
        check_model(Means(), vocab_size=17, expected={EQUATION: "why"})
