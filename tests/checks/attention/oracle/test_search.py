"""The weights are chosen once, and a difference is explained by one mistake or two."""

import math
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence import gather
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.comparing import Comparison, Place
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.search import (
    Explanation,
    choose_weights,
    explain,
    match,
)
from headway.checks.attention.oracle.wrong_constants import wrong_constant
from headway.checks.attention.subject import Options, discover
from tests.checks.support.asking import evidence_of
from tests.support.attention_in_steps import SIZES, SMALL, Attention, Sizes
from tests.support.mistakes import MISTAKES, build


def square() -> torch.nn.Module:
    """Weights that fit both ways, and for any number of heads."""
    module = Attention(SIZES["two heads"]._replace(d_in=14, d_out=14))
    for name in ("W_query", "W_key", "W_value"):
        weight = module.get_submodule(name).weight.detach()
        delattr(module, name)
        setattr(module, name, torch.nn.Parameter(weight.T.clone()))
    module.steps["project"] = lambda m, x: (x @ m.W_query, x @ m.W_key, x @ m.W_value)
    return module


def test_of_several_candidates_those_that_give_the_output_are_kept() -> None:
    found = gather(discover(square(), Options()))
    assert len(found.weights.candidates) > 1
    chosen = choose_weights(found)
    [weights] = chosen.weights.candidates
    assert weights in found.weights.candidates
    assert match(chosen).difference <= chosen.tolerance
    others = [one.name for one in fields(found) if one.name != "weights"]
    assert all(getattr(chosen, name) is getattr(found, name) for name in others)


@pytest.mark.parametrize("name", ["scale: no scale", "mask: no mask"])
def test_all_candidates_are_kept_if_none_gives_the_output(name: str) -> None:
    found = gather(discover(build("five heads", MISTAKES[name]), Options()))
    assert choose_weights(found) is found


def test_nothing_is_chosen_of_nothing() -> None:
    found = gather(discover(torch.nn.Identity(), Options(d_in=13)))
    assert choose_weights(found) is found


def changes(found: Explanation | None) -> list[dict[str, Any]]:
    return [] if found is None else [dict(one.change) for one in found.mistakes]


def test_an_explanation_names_one_mistake_or_two() -> None:
    single = evidence_of(build("five heads", MISTAKES["scale: no scale"]))
    assert changes(explain(single)) == [{"scale": "1"}]
    names = "scale: no scale", "mask: flipped"
    double = evidence_of(build("five heads", *(MISTAKES[name] for name in names)))
    assert changes(explain(double)) == [{"scale": "1"}, {"mask": "flipped"}]


def test_weights_that_do_not_fit_are_far_off() -> None:
    evidence = evidence_of(Attention(SIZES["five heads"]))
    [weights] = evidence.weights.candidates
    assert match(evidence).difference <= evidence.tolerance

    def off(changed: Projections) -> float:
        held = replace(evidence.weights, candidates=(changed,))
        return match(replace(evidence, weights=held)).difference

    assert off(weights) <= evidence.tolerance
    assert off(replace(weights, query=weights.query[:, 1:])) == math.inf
    assert off(replace(weights, out=None)) == math.inf
    lost = replace(evidence, output=evidence.output * math.nan)
    assert match(lost).difference == math.inf
    assert match(lost).weights is None


def test_two_changes_of_the_same_field_are_no_pair() -> None:
    fields = [next(iter(one.change)) for one in KNOWN_MISTAKES]
    assert len({*fields}) < len(fields)
    one = build("five heads", MISTAKES["axis: softmax over the texts, masked"])
    assert explain(evidence_of(one)) is None


def test_a_number_is_not_named_where_another_does_as_well() -> None:
    """With queries of zero, no scale and no small score of the future is felt."""
    evidence = evidence_of(Attention(SMALL), causal=True)
    p = evidence.weights.candidates[0]
    silent = replace(p, query=torch.zeros_like(p.query), biases={})
    output = compute(evidence.x, silent, True, Recipe())
    weights = replace(evidence.weights, candidates=(silent,))
    still = replace(evidence, weights=weights, output=output, designs=(Design(),))
    assert wrong_constant(Comparison(still), Place(0, 0, True)) is None


def said(sizes: Sizes = SIZES["five heads"], **steps: Any) -> str:
    found = explain(evidence_of(Attention(sizes, **steps)))
    return found.sentence if found else ""


def test_a_factor_that_could_be_an_odd_scale_is_told_as_both() -> None:
    def half(m: Any, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / m.width**0.5 / 2

    def root(m: Any, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / m.width**0.5 / 5**0.5

    exactly = "It is exactly what comes out when scores are divided by the root of all"
    assert said(SIZES["five heads"]._replace(heads=4), score=half) == (
        f"{exactly} heads' width, or when they are multiplied by 0.5 once more."
    )
    assert said(score=root) == f"{exactly} heads' width."


def test_a_small_difference_without_jumps_is_not_called_rounding() -> None:
    assert said(softmax=lambda m, s: s.softmax(-1) + 1e-3 * s.sigmoid().tril()) == ""
