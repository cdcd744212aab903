"""Weights with a latent between are multiplied to those that attention has."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway import LatentAttention, Rotary
from headway.checks.attention.evidence.weights.latent import (
    latent_roles,
    latent_weights,
)
from tests.checks.support.asking import said
from tests.checks.support.attention_designs import angles, merge, split, turn_pairs
from tests.support.mistakes.mistake import EQUATION

WIDTH, HEADS, NOPE, ROPE, VALUE, LATENT, CONTEXT = 13, 3, 4, 2, 5, 11, 17


class Packed(nn.Module):
    """Latent and rotated key of one layer; keys and values of another."""

    def __init__(self, *, rotated: bool = True) -> None:
        super().__init__()
        self.n_heads, self.causal, self.rotated = HEADS, True, rotated
        self.q_a_proj = nn.Linear(WIDTH, 7, bias=False)
        self.q_a_layernorm = nn.RMSNorm(7)
        self.q_b_proj = nn.Linear(7, HEADS * (NOPE + ROPE), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(WIDTH, LATENT + ROPE, bias=False)
        self.kv_a_layernorm = nn.RMSNorm(LATENT)
        self.kv_b_proj = nn.Linear(LATENT, HEADS * (NOPE + VALUE), bias=False)
        self.o_proj = nn.Linear(HEADS * VALUE, WIDTH, bias=False)
        table = angles(CONTEXT, ROPE // 2)
        self.register_buffer("cos", table.cos())
        self.register_buffer("sin", table.sin())

    def turn(self, x: Tensor) -> Tensor:
        T = x.shape[-2]
        return turn_pairs(x, self.cos[:T].to(x), self.sin[:T].to(x))

    def forward(self, x: Tensor) -> Tensor:
        query = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x)))
        q_nope, q_rope = split(query, NOPE + ROPE).split([NOPE, ROPE], dim=-1)
        latent, k_rope = self.kv_a_proj_with_mqa(x).split([LATENT, ROPE], dim=-1)
        both = split(self.kv_b_proj(self.kv_a_layernorm(latent)), NOPE + VALUE)
        k_nope, value = both.split([NOPE, VALUE], dim=-1)
        k_rope = self.turn(k_rope[:, None]).expand(-1, HEADS, -1, -1)
        q = torch.cat([q_nope, self.turn(q_rope) if self.rotated else q_rope], dim=-1)
        k = torch.cat([k_nope, k_rope], dim=-1)
        scores = q @ k.mT / (NOPE + ROPE) ** 0.5
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return self.o_proj(merge(weights @ value))


def test_a_packed_latent_is_compared() -> None:
    verdict, sentence = said(Packed(), EQUATION)
    assert verdict == "passed"
    assert "rotary positions, pairs" in sentence
    assert said(Packed(rotated=False), EQUATION)[0] != "passed"


@pytest.mark.parametrize("query", [None, 7])
def test_the_packages_own_latent_is_compared(query: int | None) -> None:
    sizes = {"d_latent": LATENT, "d_rope": ROPE, "d_query_latent": query}
    rotate = Rotary(ROPE)
    module = LatentAttention(WIDTH, 12, CONTEXT, 0.0, HEADS, rotate=rotate, **sizes)
    assert said(module, EQUATION)[0] == "passed"


def layers(**sizes: tuple[int, int]) -> nn.ModuleDict:
    return nn.ModuleDict(
        {name: nn.Linear(*one, bias=False) for name, one in sizes.items()}
    )


def test_without_a_latent_there_is_none() -> None:
    plain = {f"{one}_proj": (WIDTH, 12) for one in "qkvo"}
    assert latent_roles(layers(**plain)) == {}
    assert latent_roles(layers(kv_a_proj=(WIDTH, 3), kv_b_proj=(3, 12))) == {}


@pytest.mark.parametrize(
    "sizes",
    [
        {"w_uq": (WIDTH, 16), "w_dkv": (WIDTH, 3), "w_uk": (3, 12), "w_uv": (3, 12)},
        {"w_uq": (WIDTH, 12), "w_dkv": (WIDTH, 3), "w_uk": (3, 13), "w_uv": (3, 12)},
        {"w_uq": (WIDTH, 15), "w_dkv": (WIDTH, 3), "w_uk": (3, 12), "w_uv": (3, 12)},
        {"w_uq": (WIDTH, 12), "w_dkv": (WIDTH, 3), "w_uk": (3, 12), "w_uv": (4, 12)},
        {"w_uq": (WIDTH, 3), "w_dkv": (WIDTH, 5), "w_uk": (3, 3), "w_uv": (3, 12)},
    ],
)
def test_shapes_that_do_not_fit_make_no_weights(sizes: Any) -> None:
    module = layers(**sizes)
    roles = latent_roles(module)
    assert [*roles] == ["query", "down", "key", "value"]
    assert [*latent_weights(module, roles, HEADS)] == []
