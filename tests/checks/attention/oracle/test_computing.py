"""The oracle of the checks equals plain loops."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.attention.evidence.design import Design, Rotation
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.recipe import Recipe
from headway.positions.rotary import Rotary, rotary_frequencies
from headway.variants.sinks import sink_attention
from tests.checks.support.layers import GROUPED, GROUPS, weights
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D_IN, B, D, H, T, draw

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


def in_heads(x: Tensor, weight: Tensor, heads: int) -> Tensor:
    return (x @ weight.T).unflatten(-1, (heads, -1)).transpose(1, 2)


@pytest.mark.parametrize("causal", [True, False])
def test_with_a_bias_groups_and_rotations_it_equals_pytorch_and_the_package(
    causal: bool,
) -> None:
    x, p = draw(B, T, D_IN), weights(GROUPED, GROUPS, bias=False, width=4)
    q, k, v = (
        in_heads(x, one, heads)
        for one, heads in ((p.query, GROUPED), (p.key, GROUPS), (p.value, GROUPS))
    )
    rotate = Rotary(4, base=70.0, halves=True)
    q, k = (rotate(one, torch.arange(T)) for one in (q, k))
    bias = draw(GROUPED, T, T)
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else False
    mask = bias.masked_fill(torch.as_tensor(hidden), -torch.inf)
    context = scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=0.3, enable_gqa=True
    )
    assert p.out is not None
    table = torch.arange(T)[:, None] * rotary_frequencies(4, base=70.0)
    design = Design(rotation=Rotation(table, "halves", "here"), bias=bias, scale=0.3)
    expected = context.transpose(1, 2).flatten(2) @ p.out.T
    close(compute(x, p, causal, Recipe(), design), expected)


def test_with_sinks_it_equals_the_package() -> None:
    x, p = draw(B, T, D_IN), weights(bias=False, out=False)
    q, k, v = (in_heads(x, one, H) for one in (p.query, p.key, p.value))
    sinks = draw(H)
    context = sink_attention(q, k, v, sinks=sinks, causal=True)
    expected = context.transpose(1, 2).flatten(2)
    close(compute(x, p, True, Recipe(), Design(sinks=sinks)), expected)


@pytest.mark.parametrize("name", ["eps", "variance_epsilon"])
def test_a_norm_of_each_head_may_run_over_all_of_them(name: str) -> None:
    """The weights of the norm are those of one head, so that it cannot be called."""

    class RMSNorm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(draw(D))
            setattr(self, name, 0.3)

        def forward(self, x: Tensor) -> Tensor:
            return x * (x.square().mean(-1, keepdim=True) + 0.3).rsqrt() * self.weight

    def whole(x: Tensor, norm: RMSNorm) -> Tensor:
        root = (x.square().mean((1, 3), keepdim=True) + 0.3).sqrt()
        return x / root * norm.weight

    x, p = draw(B, T, D_IN), weights(bias=False, out=False)
    q, k, v = (in_heads(x, one, H) for one in (p.query, p.key, p.value))
    norms = RMSNorm(), RMSNorm()
    design = Design(query_norm=norms[0], key_norm=norms[1])
    q, k = whole(q, norms[0]), whole(k, norms[1])
    expected = scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    with torch.no_grad():
        result = compute(x, p, False, Recipe(norm_over="other"), design)
    close(result, expected.detach())
