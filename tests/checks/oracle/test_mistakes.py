"""Every known mistake changes the result, each in another way."""

import itertools

import pytest
import torch
from torch import Tensor

from checks.support.layers import GROUPED, GROUPS, weights
from headway.checks.evidence.weights import Projections
from headway.checks.oracle.computing import compute
from headway.checks.oracle.mistakes import KNOWN_MISTAKES, KnownMistake
from headway.checks.oracle.recipe import Recipe
from sizes import D_IN, B, T


def rows(one: KnownMistake | None, p: Projections, causal: bool = True) -> Tensor:
    x = torch.randn(B, T, D_IN, generator=torch.Generator().manual_seed(1)).double()
    return compute(x, p, causal, one(Recipe()) if one else Recipe())


def differ(one: Tensor, other: Tensor) -> bool:
    """Ask whether two results could be told apart, where they are numbers."""
    if one.shape != other.shape:
        return True
    finite = one.isfinite() & other.isfinite()
    worst = (one - other)[finite].abs().amax() if finite.any() else torch.inf
    return bool(worst > 1e-4 * one[one.isfinite()].abs().max())


def name(one: KnownMistake) -> str:
    return one.sentence


def needs_groups(one: KnownMistake) -> bool:
    return "groups" in one.change


def layer(one: KnownMistake) -> Projections:
    torch.default_generator.manual_seed(2)
    return weights(GROUPED, GROUPS) if needs_groups(one) else weights()


@pytest.mark.parametrize("one", KNOWN_MISTAKES, ids=name)
def test_every_mistake_changes_the_result(one: KnownMistake) -> None:
    assert differ(rows(None, layer(one)), rows(one, layer(one)))


def test_every_two_mistakes_can_be_told_apart() -> None:
    results = {
        one.sentence: rows(one, layer(one))
        for one in KNOWN_MISTAKES
        if not needs_groups(one)
    }
    assert len(results) == len(KNOWN_MISTAKES) - 1
    equal = [
        (one, other)
        for one, other in itertools.combinations(results, 2)
        if not differ(results[one], results[other])
    ]
    assert equal == []


def test_only_masks_need_a_future_that_is_hidden() -> None:
    unseen = {
        next(iter(one.change))
        for one in KNOWN_MISTAKES
        if not differ(rows(None, layer(one), False), rows(one, layer(one), False))
    }
    assert unseen == {"mask"}


def test_every_sentence_is_said_once() -> None:
    sentences = [one.sentence for one in KNOWN_MISTAKES]
    assert len({*sentences}) == len(sentences)


def test_every_mistake_changes_the_recipe() -> None:
    for one in KNOWN_MISTAKES:
        assert one(Recipe()) != Recipe()
