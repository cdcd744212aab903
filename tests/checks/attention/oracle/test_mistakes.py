"""Every known mistake changes the result, each in another way."""

import contextlib
import itertools

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence.design import Design, Rotation
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.mistakes import (
    KNOWN_MISTAKES,
    KnownMistake,
    left_out,
    other_speeds,
)
from headway.checks.attention.oracle.recipe import Recipe
from tests.checks.support.layers import weights
from tests.support.mistakes.designs import KINDS
from tests.support.sizes import D_IN, B, T


def inside(one: KnownMistake) -> Design:
    """Give what must be inside, so that a mistake can be made in it."""
    kinds = [k for k in KINDS.values() if one.change in [w.change for w in k.wrong]]
    return kinds[-1].design if kinds else Design()


def rows(one: KnownMistake, p: Projections, *, right: bool, causal: bool) -> Tensor:
    x = torch.randn(B, T, D_IN, generator=torch.Generator().manual_seed(1)).double()
    return compute(x, p, causal, Recipe() if right else one(Recipe()), inside(one))


def differ(one: Tensor, other: Tensor) -> bool:
    """Ask whether two results could be told apart, where they are numbers."""
    if one.shape != other.shape:
        return True
    finite = one.isfinite() & other.isfinite()
    worst = (one - other)[finite].abs().amax() if finite.any() else torch.inf
    return bool(worst > 1e-4 * one[one.isfinite()].abs().max())


def name(one: KnownMistake) -> str:
    return one.sentence


def layer(one: KnownMistake) -> Projections:
    torch.default_generator.manual_seed(2)
    wide = weights(4, 2, width=6) if "groups" in one.needs else weights(width=6)
    return wide if inside(one) != Design() else weights_of(one)


def weights_of(one: KnownMistake) -> Projections:
    return weights(4, 2) if one.needs == "groups" else weights()


def changes_something(one: KnownMistake, *, causal: bool) -> bool:
    p = layer(one)
    right, wrong = (rows(one, p, right=how, causal=causal) for how in (True, False))
    return differ(right, wrong)


@pytest.mark.parametrize("one", KNOWN_MISTAKES, ids=name)
def test_every_mistake_changes_the_result(one: KnownMistake) -> None:
    unseen = one.change == {"bias": "transposed"}  # what it shows is hidden
    assert changes_something(one, causal=not unseen)


@pytest.mark.parametrize("needs", sorted({one.needs for one in KNOWN_MISTAKES}))
def test_every_two_mistakes_can_be_told_apart(needs: str) -> None:
    possible = [one for one in KNOWN_MISTAKES if one.needs in ("", "a mask", needs)]
    [first, *_] = [one for one in possible if one.needs == needs]
    p, design = layer(first), inside(first)
    x = torch.randn(B, T, D_IN, generator=torch.Generator().manual_seed(1)).double()
    futures = [one for one in possible if one.change != {"bias": "transposed"}]
    results = {}
    for one in futures:
        with contextlib.suppress(RuntimeError):  # shapes tell it from all others
            results[one.sentence] = compute(x, p, True, one(Recipe()), design)
    assert len(results) >= len(futures) - 6
    equal = [
        (one, other)
        for one, other in itertools.combinations(results, 2)
        if not differ(results[one], results[other])
    ]
    assert equal == []


def test_only_masks_need_a_future_that_is_hidden() -> None:
    unseen = {
        one.needs for one in KNOWN_MISTAKES if not changes_something(one, causal=False)
    }
    assert unseen == {"a mask", "a cap and a mask", "a hidden future and a window"}


def test_every_sentence_is_said_once() -> None:
    sentences = [one.sentence for one in KNOWN_MISTAKES]
    assert len({*sentences}) == len(sentences)


def test_every_mistake_changes_the_recipe() -> None:
    for one in KNOWN_MISTAKES:
        assert one(Recipe()) != Recipe()


def turning(*speeds: float) -> Design:
    """Rotate pairs at these speeds."""
    steps = torch.tensor(speeds, dtype=torch.float64)
    table = torch.arange(T)[:, None] * steps
    return Design(rotation=Rotation(table, "pairs", "here"))


@pytest.mark.parametrize(
    ("meant", "found", "change"),
    [
        (turning(1.0, 0.1), Design(), {"rotated": ""}),
        (Design(scale=0.3), Design(), {"scale": "1/sqrt(D)"}),
        (Design(softcap=5.0), Design(), {"cap": "left out"}),
        (Design(query_norm=torch.nn.Identity()), Design(), {"norms": ""}),
    ],
)
def test_what_is_meant_and_never_acts_is_left_out(
    meant: Design, found: Design, change: dict[str, str]
) -> None:
    mistake = left_out(meant, found)
    assert mistake is not None
    assert mistake.change == change
    assert left_out(meant, meant) is None


@pytest.mark.parametrize(
    ("speeds", "angles"),
    [
        ((1.0, 0.3), "half the exponent"),
        ((1.0, 0.0081), "twice the exponent"),
        ((1.0, 1.0), "of the first"),
        ((1.0, 1 / 0.09), "inverse"),
    ],
)
def test_speeds_that_a_known_mistake_makes_are_named(
    speeds: tuple[float, float], angles: str
) -> None:
    mistake = other_speeds(turning(1.0, 0.09), turning(*speeds))
    assert mistake is not None
    assert mistake.change == {"angles": angles}


def test_other_speeds_may_be_meant() -> None:
    meant = turning(1.0, 0.09)
    for found in (meant, turning(1.0), turning(1.0, 0.7), Design()):
        assert other_speeds(meant, found) is None
    assert other_speeds(Design(), meant) is None
