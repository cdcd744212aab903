"""Sixteen bits lose little more than rounding does."""

import pytest
import torch
from torch import Tensor, nn

from headway.checks.model.properties import precision
from tests.checks.model.asking import Change, ask, embeds


def in_half(change: Change) -> nn.Module:
    wide = (torch.float32, torch.float64)
    return embeds(lambda m, x: x if x.dtype in wide else change(m, x))


def raise_half(sentence: str) -> Change:
    def change(m: nn.Module, x: Tensor) -> Tensor:
        raise RuntimeError(sentence)

    return change


@pytest.mark.parametrize(
    ("change", "verdict", "says"),
    [
        (lambda m, x: x, "passed", ""),
        (lambda m, x: x * 1e4 * 1e4 / 1e8, "failed", "In float16 some logits are not"),
        (lambda m, x: x.round(decimals=0), "failed", "needs more bits inside"),
        (
            lambda m, x: x + 1e-3 * x.mean(1, keepdim=True),
            "failed",
            "In bfloat16 logits move when later tokens change.",
        ),
        (raise_half("expected Float"), "note", "it raised RuntimeError: expected"),
        (raise_half("not implemented for 'Half'"), "not applicable", "not implemented"),
    ],
)
def test_half_precision(change: Change, verdict: str, says: str) -> None:
    outcome = ask("half-precision", in_half(change))
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


@pytest.mark.parametrize("large", [1, 10**6])
def test_weights_move_to_both_sides_by_half_a_unit_at_the_most(
    large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_LARGE", large)
    layer = nn.Linear(31, 37, bias=False).double()
    before = layer.weight.detach().clone()
    precision._jitter(layer, torch.bfloat16)
    moved = (layer.weight.detach() / before - 1) / (torch.finfo(torch.bfloat16).eps / 2)
    assert 0.95 < float(moved.max()) < 1.001
    assert -1.001 < float(moved.min()) < -0.95


def test_what_is_checked_in_16_bits_is_not_rounded_again() -> None:
    model = embeds(lambda m, x: x.round(decimals=0)).bfloat16()
    numbers = sum(one.numel() for one in model.parameters())
    outcome = ask("half-precision", model, memory=5 * 3 * numbers / 1e9)
    assert outcome.verdict == "not applicable"
    assert outcome.sentence == "It is checked in 16 bits, as it came."
