"""Longer than trained: transformers' rules, which we did not write, in float32."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from headway import (
    Rotary,
    linear_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
    yarn_magnitude,
)

# Width, base, factor, length of training: a factor of one would hide every mistake.
SIZES = pytest.mark.parametrize(
    ("width", "base", "factor", "length"),
    [
        (128, 10_000.0, 16.0, 4096),
        (64, 150_000.0, 32.0, 4096),
        (62, 13_000.0, 11.0, 5003),
        (32, 500_000.0, 8.0, 8192),
    ],
)


def theirs(
    kind: str, width: int, base: float, length: int, **options: object
) -> tuple[Tensor, float]:
    """Ask transformers for frequencies and for the magnitude."""
    config = LlamaConfig(
        head_dim=width,
        hidden_size=2 * width,
        num_attention_heads=2,
        max_position_embeddings=length,
        rope_parameters={
            "rope_type": kind,
            "rope_theta": base,
            "original_max_position_embeddings": length,
            **options,
        },
    )
    seq_len = options.get("seq_len")
    return ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=seq_len)


def same(ours: Tensor, their: Tensor) -> None:
    torch.testing.assert_close(ours, their.double(), rtol=2e-6, atol=0)


def scores(query: Tensor, key: Tensor, rotate: Rotary, places: Tensor) -> Tensor:
    return rotate(query, places) @ rotate(key, places).mT


@SIZES
def test_linear(width, base, factor, length) -> None:
    their, magnitude = theirs("linear", width, base, length, factor=factor)
    same(linear_frequencies(width, base=base, factor=factor), their)
    assert magnitude == 1.0


@SIZES
def test_ntk_is_their_dynamic_rule_at_its_greatest_length(
    width, base, factor, length
) -> None:
    """At `s L` tokens their base has grown by `s² - s + 1` instead of `s`."""
    their, magnitude = theirs(
        "dynamic", width, base, length, factor=factor, seq_len=int(factor * length)
    )
    grown = factor * factor - factor + 1
    same(ntk_frequencies(width, base=base, factor=grown), their)
    assert magnitude == 1.0
    # With a factor of one they divide the slowest pair by how much longer a text is.
    longer = 3 * length
    their, _ = theirs("dynamic", width, base, length, factor=1.0, seq_len=longer)
    same(ntk_frequencies(width, base=base, factor=3.0), their)


@SIZES
@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize(("fast", "slow"), [(32.0, 1.0), (19.0, 3.0)])
def test_yarn(width, base, factor, length, fast, slow, truncate) -> None:
    their, magnitude = theirs(
        "yarn",
        width,
        base,
        length,
        factor=factor,
        beta_fast=fast,
        beta_slow=slow,
        truncate=truncate,
    )
    ours = yarn_frequencies(
        width,
        base=base,
        factor=factor,
        original_length=length,
        fast=fast,
        slow=slow,
        truncate=truncate,
    )
    same(ours, their)
    assert magnitude == pytest.approx(yarn_magnitude(factor), rel=1e-12)


@SIZES
@pytest.mark.parametrize(("high", "low"), [(4.0, 1.0), (32.0, 1.0), (19.0, 3.0)])
def test_llama3(width, base, factor, length, high, low) -> None:
    their, magnitude = theirs(
        "llama3",
        width,
        base,
        length,
        factor=factor,
        low_freq_factor=low,
        high_freq_factor=high,
    )
    ours = llama3_frequencies(
        width, base=base, factor=factor, low=low, high=high, original_length=length
    )
    same(ours, their)
    assert magnitude == 1.0


@SIZES
@pytest.mark.parametrize("kind", ["yarn", "llama3"])
def test_scores_and_their_gradients(kind, width, base, factor, length) -> None:
    """Turn by their function, with cosines in float64 of their frequencies."""
    options = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    their, magnitude = theirs(kind, width, base, length, factor=factor, **options)
    if kind == "yarn":
        frequencies = yarn_frequencies(
            width, base=base, factor=factor, original_length=length
        )
        rotate = Rotary(
            width,
            frequencies=frequencies,
            magnitude=yarn_magnitude(factor),
            halves=True,
        )
    else:
        frequencies = llama3_frequencies(
            width, base=base, factor=factor, original_length=length
        )
        rotate = Rotary(width, frequencies=frequencies, halves=True)
    places = torch.tensor([0, 1, 5, 131, length - 1, length, 2 * length])
    query, key = (
        torch.randn(2, 3, 7, width, dtype=torch.float64, requires_grad=True)
        for _ in range(2)
    )
    weight = torch.randn(2, 3, 7, 7, dtype=torch.float64)

    # Theirs, rounded to 32 bits, would be off by a thousandth of a radian far out.
    angles = places[:, None] * frequencies
    assert (frequencies / their.double() - 1).abs().max() < 2e-6
    both = torch.cat([angles, angles], dim=-1)[None]
    turned = apply_rotary_pos_emb(
        query, key, both.cos() * magnitude, both.sin() * magnitude
    )
    expected = turned[0] @ turned[1].mT
    ours = scores(query, key, rotate, places)
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)
    for one, other in zip(
        torch.autograd.grad((ours * weight).sum(), (query, key)),
        torch.autograd.grad((expected * weight).sum(), (query, key)),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@SIZES
def test_scores_by_their_own_cosines(width, base, factor, length) -> None:
    """Their angles are in float32, so the places must be near each other."""
    their, magnitude = theirs("yarn", width, base, length, factor=factor)
    places = torch.arange(7)
    angles = places[:, None].float() * their
    both = torch.cat([angles, angles], dim=-1)[None].double()
    query, key = (
        torch.randn(2, 3, 7, width, dtype=torch.float64, requires_grad=True)
        for _ in range(2)
    )
    turned = apply_rotary_pos_emb(
        query, key, both.cos() * magnitude, both.sin() * magnitude
    )
    expected = turned[0] @ turned[1].mT
    rotate = Rotary(
        width,
        frequencies=yarn_frequencies(
            width, base=base, factor=factor, original_length=length
        ),
        magnitude=yarn_magnitude(factor),
        halves=True,
    )
    ours = scores(query, key, rotate, places)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
    plain = scores(query, key, Rotary(width, base=base, halves=True), places)
    assert (plain - expected).abs().max() > 1
    for one, other in zip(
        torch.autograd.grad(ours.square().sum(), (query, key)),
        torch.autograd.grad(expected.square().sum(), (query, key)),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-3)


def test_nothing_of_this_would_show_at_a_factor_of_one() -> None:
    for kind in ("linear", "yarn", "llama3"):
        options = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
        their, magnitude = theirs(kind, 64, 1e4, 4096, factor=1.0, **options)
        same(rotary_frequencies(64, base=1e4), their)
        assert magnitude == 1.0
