"""The oracle of the checks equals plain loops."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import oracles
from checks.support.layers import GROUPED, GROUPS, weights
from compare import close
from headway.checks.evidence.weights import Projections
from headway.checks.oracle.computing import compute
from headway.checks.oracle.recipe import Recipe
from sizes import D_IN, B, D, H, T, draw

LAYERS = {"query": "W_query", "key": "W_key", "value": "W_value", "out": "out_proj"}


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
