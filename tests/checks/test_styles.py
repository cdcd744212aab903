"""Code in the styles that people use is asked fairly, or refused in a sentence."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention
from torch.nn.utils import prune

from headway.checks import Fact, check
from headway.checks.attention.found_facts import facts
from tests.checks.support.asking import evidence_of, refused, row, rows_of, said
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes.mistake import (
    AGAIN,
    DROPOUT,
    EQUATION,
    OBEYED,
    ORDER,
    TRAINING,
)


class One(nn.Module):
    """Attention of one head, all in a few lines that TorchScript reads."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(5, 6)
        self.k = nn.Linear(5, 6)
        self.v = nn.Linear(5, 6)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        return torch.softmax(scores / 6**0.5, dim=-1) @ self.v(x)


# Dropout, spelled otherwise


class Dropping(One):
    """It drops its answer in some way."""

    def __init__(self, drop: Callable[[Any, Tensor], Tensor], **rates: float) -> None:
        super().__init__()
        self.drop = drop
        vars(self).update(rates)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self, super().forward(x))


def whole_texts(m: nn.Module, y: Tensor) -> Tensor:
    """Drop whole texts, as deep residual networks do."""
    return y * (torch.rand(len(y), 1, 1) > 0.1) / 0.9 if m.training else y


@pytest.mark.parametrize(
    "drop", [lambda m, y: dropout(y, 0.1, training=m.training), whole_texts]
)
def test_a_rate_that_no_attribute_holds_is_no_mistake(drop: Any) -> None:
    report = check(Dropping(drop))
    assert report.ok
    assert row(report, TRAINING).sentence == (
        "In training it draws random numbers, at a rate that no attribute holds, so it "
        "cannot be compared."
    )


@pytest.mark.parametrize("name", ["attn_pdrop", "pdrop", "resid_pdrop"])
def test_rates_named_as_in_gpt_2_are_found(name: str) -> None:
    report = check(
        Dropping(lambda m, y: dropout(y, getattr(m, name), m.training), **{name: 0.1})
    )
    assert row(report, TRAINING).verdict == "passed"
    assert row(report, DROPOUT).verdict == "passed"


def test_what_training_changes_without_chance_is_a_mistake() -> None:
    doubling = Dropping(lambda m, y: y * 2 if m.training else y)
    assert said(doubling, TRAINING)[0] == "failed"


# Modules that something was done to


class Keeping(One):
    """It keeps what comes out."""

    def forward(self, x: Tensor) -> Tensor:
        self.last = super().forward(x)
        self.all, self.named = [self.last], {"last": self.last}
        return self.last


def pruned() -> nn.Module:
    module = One()
    prune.random_unstructured(module.q, "weight", 0.3)
    return module


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
@pytest.mark.parametrize("make", [pruned, lambda: torch.jit.script(One())])
def test_a_module_may_be_changed_by_tools_of_pytorch(make: Any) -> None:
    report = check(make())
    assert report.ok, str(report)


def test_pruned_weights_keep_their_names_and_the_module_its_own() -> None:
    module = pruned()
    assert said(module, EQUATION)[0] == "passed"
    assert prune.is_pruned(module)


def test_what_a_call_left_in_a_module_is_copied_too() -> None:
    module = Keeping()
    module(torch.ones(2, 3, 5))
    assert said(module, AGAIN) == (
        "note",
        "A call keeps last with its history, so the memory of a whole graph stays in "
        "use. For pictures, last.detach() is enough.",
    )
    assert module.last.grad_fn is not None


def never(*_: Any) -> Any:
    """Stand in for a compiler that nobody is to call."""
    raise NotImplementedError("it was compiled")


@pytest.mark.parametrize("code", [One(), scaled_dot_product_attention])
def test_what_is_compiled_is_checked_as_it_was_written(code: Any) -> None:
    report = check(torch.compile(code, backend=never))
    assert report.ok
    assert "_orig_mod" not in str(report)


def test_a_function_may_take_whatever_comes() -> None:
    report = check(lambda *three: scaled_dot_product_attention(*three))
    assert report.ok
    assert report.facts["called"].value == "f(query, key, value)"


def test_a_function_of_whatever_comes_may_take_tokens() -> None:
    evidence = evidence_of(lambda *xs: scaled_dot_product_attention(*xs * 3), d_in=5)
    assert facts(evidence)["called"].value == "m(x)"


def test_a_call_may_use_the_names_that_a_report_shows() -> None:
    def by_name(*, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return scaled_dot_product_attention(query, key, value)

    report = check(by_name, call="f(query=query, key=key, value=value)")
    assert report.ok


# What is found out


class Causal(One):
    """It takes a mask, and returns its weights first."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        scores = self.q(x) @ self.k(x).mT / 6**0.5
        future = torch.ones(len(x[0]), len(x[0]), dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future if mask is None else mask, -1e30)
        weights = scores.softmax(dim=-1)
        return self.tables(weights), weights @ self.v(x)

    def tables(self, weights: Tensor) -> Tensor:
        return weights


def test_a_table_of_weights_is_not_the_answer() -> None:
    assert said(Causal(), EQUATION, causal=True)[0] == "passed"


def test_an_answer_may_be_square() -> None:
    def attend(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.softmax(1) * x, x[0, 0]

    assert said(attend, "sizes", d_in=7)[0] == "passed"


def test_a_mask_may_not_be_changed() -> None:
    class Changing(One):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            scores = self.q(x) @ self.k(x).mT / 6**0.5
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not_(), -1e30)
            return scores.softmax(dim=-1) @ self.v(x)

    assert said(Changing(), OBEYED)[1] == "It changes its mask in place."


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(12, 36)
        self.proj = nn.ModuleList([nn.Linear(12, 12)])

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        hidden = None if mask is None else ~mask
        causal = hidden is None
        rows = scaled_dot_product_attention(q, k, v, hidden, is_causal=causal)
        return self.proj[0](rows)


class Layers(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Layer() for _ in range(count)])

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for block in self.blocks:
            x = block(x, mask)
        return x


def test_several_layers_are_not_blamed_for_being_several() -> None:
    equation, *others = rows_of(Layers(2), EQUATION, ORDER, OBEYED, causal=True)
    assert equation.sentence == (
        "It has several layers, and the equation is of one: blocks.0."
    )
    assert [row.sentence for row in others] == [
        "It has several layers, and this holds of one: blocks.0."
    ] * 2
    assert said(Layers(1), EQUATION, causal=True)[0] == "passed"


@pytest.mark.parametrize("is_causal", [True, False])
def test_tokens_may_stand_before_heads(is_causal: bool) -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        three = (one.transpose(1, 2) for one in (q, k, v))
        rows = scaled_dot_product_attention(*three, is_causal=is_causal)
        return rows.transpose(1, 2)

    evidence = evidence_of(attend, causal=is_causal)
    assert facts(evidence)["called"].value == (
        "f(query, key, value); tokens before heads"
    )
    assert said(attend, EQUATION, causal=is_causal)[0] == "passed"


@pytest.mark.parametrize("is_causal", [True, False])
def test_heads_that_meet_instead_of_tokens_are_named(is_causal: bool) -> None:
    """The call is told, so what stands where is no question."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        three = (one.transpose(1, 2) for one in (q, k, v))
        rows = scaled_dot_product_attention(*three, is_causal=is_causal)
        return rows.transpose(1, 2)

    told: dict[str, Any] = {"causal": is_causal, "call": "f(q, k, v)"}
    assert "the heads of each token attend" in said(attend, EQUATION, **told)[1]
    swap = "f(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)"
    assert check(attend, causal=is_causal, call=swap).ok


def test_a_number_of_heads_that_is_a_guess_is_not_shown() -> None:
    assert facts(evidence_of(One()))["heads"] == Fact("1", "guessed")
    other = evidence_of(Dropping(lambda m, y: y * 2, rope=1.0))
    assert "heads" not in facts(other)


# What is refused


@pytest.mark.refusal
def test_weights_without_numbers_are_refused() -> None:
    with refused("One must be on a device; got the meta device."):
        check(One().to("meta"))
    with refused("LazyLinear must be called once, for its lazy layers."):
        check(nn.LazyLinear(5))


@pytest.mark.refusal
def test_a_long_value_is_not_shown() -> None:
    with refused(
        "module_or_function must be a function, or a module that is built; "
        "got module_or_function=a Tensor."
    ):
        check(torch.randn(9, 9))  # type: ignore[arg-type]


@pytest.mark.refusal
@pytest.mark.parametrize("name", ["d_in", "context_length", "num_heads"])
@pytest.mark.parametrize("value", ["20", 0, -3, 2.5])
def test_what_is_told_must_be_a_number(name: str, value: Any) -> None:
    sentence = f"{name} must be a positive whole number; got {name}={value!r}."
    with refused(sentence):
        check(One(), **{name: value})


def test_heads_that_do_not_fit_are_named() -> None:
    assert said(Attention(SMALL), EQUATION, num_heads=97)[1] == (
        "No weights of queries, keys and values were found that fit num_heads=97."
    )
