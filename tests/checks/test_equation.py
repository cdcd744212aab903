"""The oracle of the checks: it equals plain loops, and every mistake changes it."""

import itertools
from dataclasses import replace

import oracles
import pytest
import torch
from compare import close
from sizes import D_IN, B, D, H, T, draw
from torch import Tensor

from headway.checks.equation import Recipe, compute
from headway.checks.hypotheses import HYPOTHESES, Hypothesis
from headway.checks.projections import Projections
from headway.checks.report import CHAPTERS

D_OUT = 23
GROUPS, GROUPED = 2, 6  # heads of keys, heads of queries
LAYERS = {"query": "W_query", "key": "W_key", "value": "W_value", "out": "out_proj"}


def weights(heads: int = H, groups: int = H, *, out: bool = True, bias: bool = True):
    """Draw the weights of a layer."""
    wide, narrow = heads * D, groups * D
    shapes = {"query": wide, "key": narrow, "value": narrow, "out": D_OUT}
    if not out:
        del shapes["out"]
    three = [draw(n, D_IN) for n in (wide, narrow, narrow)]
    last = draw(D_OUT, wide) if out else None
    biases = {role: draw(n) for role, n in shapes.items()} if bias else {}
    return Projections(*three, last, biases, heads, "")


def state(p: Projections) -> dict[str, Tensor]:
    """Give the weights the names that the loops know."""
    stored = {
        f"{layer}.weight": getattr(p, role)
        for role, layer in LAYERS.items()
        if getattr(p, role) is not None
    }
    return stored | {f"{LAYERS[role]}.bias": bias for role, bias in p.biases.items()}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("out", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_the_loops(causal: bool, out: bool, bias: bool) -> None:
    x, p = draw(B, T, D_IN), weights(out=out, bias=bias)
    loops = oracles.self_attention(x, state(p), causal=causal, num_heads=H)
    close(compute(x, p, causal, Recipe()), loops)


def repeated(part: Tensor) -> Tensor:
    """Copy the weights of each head of keys, for all heads of queries that share it."""
    heads = part.split(D)
    return torch.cat([one for one in heads for _ in range(GROUPED // GROUPS)])


@pytest.mark.parametrize("causal", [True, False])
def test_of_grouped_heads_too(causal: bool) -> None:
    x, p = draw(B, T, D_IN), weights(GROUPED, GROUPS)
    full = {role: repeated(p.biases[role]) for role in ("key", "value")}
    same = replace(
        p, key=repeated(p.key), value=repeated(p.value), biases={**p.biases, **full}
    )
    loops = oracles.self_attention(x, state(same), causal=causal, num_heads=GROUPED)
    close(compute(x, p, causal, Recipe()), loops)


# Wrong ones.


def rows(one: Hypothesis | None, p: Projections, causal: bool = True) -> Tensor:
    x = torch.randn(B, T, D_IN, generator=torch.Generator().manual_seed(1)).double()
    return compute(x, p, causal, replace(Recipe(), **(one.change if one else {})))


def apart(one: Tensor, other: Tensor) -> bool:
    """Ask whether two results could be told apart, where they are numbers."""
    if one.shape != other.shape:
        return True
    finite = one.isfinite() & other.isfinite()
    worst = (one - other)[finite].abs().amax() if finite.any() else torch.inf
    return bool(worst > 1e-4 * one[one.isfinite()].abs().max())


def name(one: Hypothesis) -> str:
    return one.sentence


def needs_groups(one: Hypothesis) -> bool:
    return "groups" in one.change


def layer(one: Hypothesis) -> Projections:
    torch.manual_seed(2)
    return weights(GROUPED, GROUPS) if needs_groups(one) else weights()


@pytest.mark.parametrize("one", HYPOTHESES, ids=name)
def test_every_mistake_changes_the_result(one: Hypothesis) -> None:
    assert apart(rows(None, layer(one)), rows(one, layer(one)))


def test_every_two_mistakes_can_be_told_apart() -> None:
    results = {
        one.sentence: rows(one, layer(one))
        for one in HYPOTHESES
        if not needs_groups(one)
    }
    assert len(results) == len(HYPOTHESES) - 1
    equal = [
        (one, other)
        for one, other in itertools.combinations(results, 2)
        if not apart(results[one], results[other])
    ]
    assert equal == []


def test_only_masks_need_a_future_that_is_hidden() -> None:
    unseen = {
        next(iter(one.change))
        for one in HYPOTHESES
        if not apart(rows(None, layer(one), False), rows(one, layer(one), False))
    }
    assert unseen == {"mask"}


def test_every_sentence_is_said_once_and_has_a_chapter() -> None:
    sentences = [one.sentence for one in HYPOTHESES]
    assert len({*sentences}) == len(sentences)
    assert {one.chapter for one in HYPOTHESES} <= CHAPTERS.keys()


def test_every_change_is_one_of_the_recipe() -> None:
    for one in HYPOTHESES:
        assert replace(Recipe(), **one.change) != Recipe()
