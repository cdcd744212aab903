"""What is declared is read, refused if it cannot be, and goes before a guess."""

import functools
from typing import Any

import pytest
from torch import Tensor

from headway.checks import Fact, check, check_model
from headway.checks.attention.evidence.masks import Meaning
from headway.checks.attention.found_facts import declared_facts
from headway.checks.attention.subject import Options
from headway.checks.core.declared_facts import (
    LAYOUTS,
    MEANINGS,
    OF_ATTENTION,
    OF_MODELS,
    declared,
    facts_of,
    refuse_impossible,
)
from headway.models.small_gpt import small_gpt
from tests.checks.support.asking import refused
from tests.support.attention_in_steps import SMALL, Attention, function


@pytest.mark.parametrize(
    ("name", "value", "condition"),
    [
        ("scale", 0, "be a positive number"),
        ("scale", -1.0, "be a positive number"),
        ("scale", float("nan"), "be a positive number"),
        ("scale", float("inf"), "be a positive number"),
        ("scale", True, "be a positive number"),
        ("scale", "1", "be a positive number"),
        ("normalize", "softmaxx", "have a known value, such as 'softmax'"),
        (
            "normalize",
            1,
            "have a known value, one of 'softmax', 'sigmoid', 'softmax plus one'",
        ),
        ("rotary_base", 1, "be a number above 1"),
        ("rotary_base", float("inf"), "be a number above 1"),
        ("window", 0, 'be a positive whole number or "none"'),
        ("window", 3.0, 'be a positive whole number or "none"'),
        ("window", True, 'be a positive whole number or "none"'),
        ("cached", 3, "be an expression or a function"),
        ("cached", "m(x", "be an expression or a function"),
        ("causal", "yes", "be True or False"),
        ("caches", 1, "be True or False"),
        ("positions", "rotery", "have a known value, such as 'rotary'"),
        ("layout", "heads last", "have a known value, such as 'heads first'"),
        ("masks", {}, 'be a table of arguments and what they mean, or "none"'),
        ("masks", "mask", 'be a table of arguments and what they mean, or "none"'),
        ("softcap", -5, 'be a positive number or "none"'),
        ("sinks", True, 'be the name of a parameter or "none"'),
        ("norms", "after rotations", "have a known value, such as 'after rotation'"),
        ("groups", 0, "be a positive whole number"),
        ("half_precision", "yes", "be True or False"),
        ("half_precision", 1, "be True or False"),
    ],
)
@pytest.mark.refusal
def test_a_fact_that_cannot_be_is_refused(
    name: str, value: Any, condition: str
) -> None:
    with pytest.raises(ValueError, match="must") as caught:
        check(function(causal=False), facts={name: value})
    sentence = str(caught.value)
    assert sentence.startswith(f"{name} must {condition}")
    assert sentence.endswith(f"; got {name}={value!r}.")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {"masks": {"keep": "True may see"}},
            "masks must say what True means in keep, such as 'True may look' "
            "or 'True is hidden'; got 'True may see'.",
        ),
        (
            {"positions": "bias", "rotary_base": 500.0},
            "rotary_base must be left out with positions='bias'; "
            "got rotary_base=500.0.",
        ),
        (
            {"caches": False, "cached": "m(x, past)"},
            "cached must be left out with caches=False; got cached='m(x, past)'.",
        ),
        (
            {"windw": 5},
            "facts must have known keys, such as 'window'; got 'windw'.",
        ),
        (
            {"vocab_size": 31},
            "facts must have known keys, such as 'normalize'; got 'vocab_size'.",
        ),
        ([("window", 5)], "facts must be a dictionary; got facts=[('window', 5)]."),
    ],
)
@pytest.mark.refusal
def test_facts_that_do_not_fit_are_refused(facts: Any, sentence: str) -> None:
    with refused(sentence):
        check(function(causal=False), facts=facts)


@pytest.mark.refusal
def test_what_a_class_declares_must_be_known() -> None:
    module = Attention(SMALL)
    module.attention_facts = {"position": "rotary"}
    with refused(
        "attention_facts must have known keys, such as 'positions'; got 'position'."
    ):
        check(module)
    module.attention_facts = "rotary"
    with refused("attention_facts must be a dictionary; got attention_facts='rotary'."):
        check(module)


@pytest.mark.refusal
def test_a_whole_model_has_no_facts_of_attention() -> None:
    with refused(
        "facts must have known keys, one of 'causal', 'layout', 'masks', 'caches', "
        "'cached', 'context_length', 'vocab_size', 'call'; got 'softcap'."
    ):
        check_model(small_gpt(), facts={"softcap": 5.0})


def test_values_that_can_be_are_taken() -> None:
    refuse_impossible(
        {
            "causal": False,
            "window": "none",
            "positions": "none",
            "layout": "one text",
            "masks": {"keep": "True may look"},
            "softcap": 30,
            "sinks": "none",
            "norms": "none",
            "groups": 3,
            "half_precision": False,
        }
    )
    refuse_impossible({"masks": "none", "softcap": "none", "cached": len})
    assert set(Meaning.__args__) == {*MEANINGS}
    assert {*LAYOUTS} >= {"batch first", "time first"}


def test_a_keyword_goes_before_facts_and_these_before_the_class() -> None:
    module = Attention(SMALL)
    module.attention_facts = {"scale": 1.0, "window": 5, "causal": True, "sinks": None}
    told = declared(module, {"scale": 2.0, "window": 7}, {"scale": 3.0, "causal": None})
    assert told == {"scale": 3.0, "window": 7, "causal": True}


class OfItsSizes(Attention):
    """It knows its facts when it is built."""

    def attention_facts(self) -> dict[str, Any]:
        heads = self.W_query.out_features // self.width
        return {"num_heads": heads, "vocab_size": 31}


def test_a_class_declares_by_a_method_and_its_heirs_inherit() -> None:
    class Heir(OfItsSizes):
        pass

    module = Heir(SMALL)
    assert facts_of(module) == {"num_heads": 2, "vocab_size": 31}
    # What is of a whole model is none of the concerns of attention, and the reverse.
    assert declared(module, None, {}) == {"num_heads": 2}
    assert declared(module, None, {}, OF_MODELS) == {"vocab_size": 31}


def test_a_function_declares_by_an_attribute_even_behind_a_partial() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.mT).softmax(-1) @ v

    assert facts_of(attend) == {}
    attend.attention_facts = {"scale": 1.0}  # type: ignore[attr-defined]
    assert facts_of(functools.partial(attend)) == {"scale": 1.0}
    report = check(attend)
    assert report.ok
    assert report.facts["scale"] == Fact("1", "declared")


def test_what_is_declared_is_no_guess() -> None:
    module = Attention(SMALL, causal=False)
    assert check(module).facts["future"] == Fact("seen", "guessed")
    module.attention_facts = {"causal": True, "num_heads": 2}
    report = check(module)
    assert report.facts["future"] == Fact("hidden", "declared")
    assert report.facts["heads"].origin == "declared"
    assert check(module, causal=False).facts["future"] == Fact("seen", "declared")


def given(x: int) -> int:
    return x


class Caller:
    def __call__(self, x: int) -> int:
        return x


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, {}),
        ({"scale": 0.125}, {"scale": "0.125"}),
        ({"scale": 1.0}, {"scale": "1"}),
        ({"normalize": "sigmoid"}, {"normalize": "sigmoid"}),
        ({"rotary_base": 10_000.0}, {"rotary_base": "10000"}),
        ({"window": 3}, {"window": "3"}),
        ({"caches": True}, {"caches": "yes"}),
        ({"caches": False}, {"caches": "no"}),
        ({"half_precision": True}, {"half_precision": "yes"}),
        ({"cached": " m(x, past) "}, {"cached": "m(x, past)"}),
        ({"cached": given}, {"cached": "given"}),
        ({"cached": Caller()}, {"cached": "a function"}),
        (
            {"masks": {"keep": "True may look", "n": "tokens of each text"}},
            {"masks": "keep, True may look; n, tokens of each text"},
        ),
        ({"causal": True, "num_heads": 2}, {}),  # which have lines of their own
    ],
)
def test_what_is_declared_is_shown(
    options: dict[str, Any], shown: dict[str, str]
) -> None:
    found = declared_facts(Options(**options), {})
    assert found == {name: Fact(value, "declared") for name, value in shown.items()}


def test_all_facts_are_options() -> None:
    known = {*Options.__dataclass_fields__}
    assert {*OF_ATTENTION} == known
