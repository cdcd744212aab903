"""What a reader says is meant is told, and refused if it cannot be."""

from typing import Any

import pytest
from headway.checks.declared_designs import facts_of_design, refuse_impossible

from attention_in_steps import function
from checks.support.asking import evidence_of, refused
from headway.checks import check
from headway.checks.run import facts
from headway.checks.subject import Options


@pytest.mark.parametrize(
    ("name", "value", "condition"),
    [
        ("scale", 0, "be a positive number"),
        ("scale", -1.0, "be a positive number"),
        ("scale", float("nan"), "be a positive number"),
        ("scale", float("inf"), "be a positive number"),
        ("scale", True, "be a positive number"),
        ("scale", "1", "be a positive number"),
        ("normalize", "relu", 'be "softmax", "sigmoid" or "softmax plus one"'),
        ("normalize", 1, 'be "softmax", "sigmoid" or "softmax plus one"'),
        ("rotary_base", 1, "be a number above 1"),
        ("rotary_base", float("inf"), "be a number above 1"),
        ("window", 0, "be a positive whole number"),
        ("window", 3.0, "be a positive whole number"),
        ("window", True, "be a positive whole number"),
        ("cached", 3, "be an expression or a function"),
        ("cached", "m(x", "be an expression or a function"),
    ],
)
@pytest.mark.refusal
def test_a_design_that_cannot_be_is_refused(
    name: str, value: Any, condition: str
) -> None:
    with refused(f"{name} must {condition}; got {name}={value!r}."):
        check(function(causal=False), **{name: value})


def given(x: int) -> int:
    return x


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, {}),
        ({"scale": 0.125}, {"design": "scores times 0.125; as asked"}),
        ({"scale": 1.0}, {"design": "scores times 1; as asked"}),
        ({"normalize": "sigmoid"}, {"design": "sigmoid of the scores; as asked"}),
        (
            {"rotary_base": 10_000.0},
            {"design": "rotary positions with base 10000; as asked"},
        ),
        ({"window": 1}, {"design": "a window on the latest key; as asked"}),
        (
            {"window": 4, "scale": 2.0},
            {"design": "scores times 2, a window on the latest 4 keys; as asked"},
        ),
        ({"cached": " m(x, past) "}, {"cached": "m(x, past)"}),
        ({"cached": given}, {"cached": "given"}),
    ],
)
def test_a_design_that_can_be_is_told(
    options: dict[str, Any], told: dict[str, str]
) -> None:
    refuse_impossible(Options(**options))
    assert facts_of_design(Options(**options)) == told


def test_a_function_without_a_name_may_say_how_to_call_with_a_cache() -> None:
    class Caller:
        def __call__(self, x: int) -> int:
            return x

    assert facts_of_design(Options(cached=Caller())) == {"cached": "a function"}


def test_facts_hold_the_design() -> None:
    shown = facts(evidence_of(function(causal=False), scale=0.5))
    assert shown["design"] == "scores times 0.5; as asked"
