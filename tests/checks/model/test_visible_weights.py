"""Copies, and weights that show what a model does."""

import pytest
import torch
from torch import nn

from headway.checks.model import visible_weights
from headway.checks.model.visible_weights import copy_as, make_visible, untie


def test_angles_stay_complex() -> None:
    model = nn.Module()
    model.part = nn.Module()
    model.part.register_buffer("freqs", torch.polar(torch.ones(3), torch.arange(3.0)))
    model.part.register_buffer("cos", torch.ones(3))
    wide = copy_as(model, torch.float64)
    assert wide.part.cos.dtype == torch.float64
    assert wide.part.freqs.dtype == torch.complex128
    assert torch.equal(wide.part.freqs.imag.float(), model.part.freqs.imag)
    assert copy_as(model, torch.bfloat16).part.freqs.dtype == torch.complex64


def test_what_cannot_be_seen_is_drawn() -> None:
    model = nn.Module()
    model.table = nn.Embedding(31, 12)
    model.small, model.right = nn.Linear(12, 12), nn.Linear(12, 12)
    model.none = nn.Linear(12, 12, bias=False)
    model.gate = nn.Parameter(torch.zeros(()))
    model.whole = nn.Parameter(torch.ones(3, dtype=torch.long), requires_grad=False)
    with torch.no_grad():
        model.table.weight.mul_(0.02)
        model.small.weight.mul_(1e-3)
        model.none.weight.zero_()
    before = {name: one.clone() for name, one in model.named_parameters()}
    make_visible(model)
    assert model.gate != 0
    assert model.table.weight.std() > 0.9
    ratio = model.small.weight / before["small.weight"]
    assert ratio.std() < 1e-3 * ratio.mean()
    assert 0.2 < model.small.weight.std() < 0.4
    assert 0.2 < model.none.weight.std() < 0.4
    assert torch.equal(model.right.weight, before["right.weight"])
    assert torch.equal(model.right.bias, before["right.bias"])
    assert torch.equal(model.whole, before["whole"])


def test_for_large_weights_that_can_be_seen_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def drawn(*, before: bool) -> torch.Tensor:
        first = nn.Linear(17, 13, bias=False) if before else nn.Identity()
        model = nn.Sequential(first, nn.Linear(5, 7, bias=False))
        with torch.no_grad():
            model[1].weight.zero_()
        make_visible(model)
        return model[1].weight

    assert not torch.equal(drawn(before=True), drawn(before=False))
    monkeypatch.setattr(visible_weights, "_LARGE", 200)
    assert torch.equal(drawn(before=True), drawn(before=False))


def test_a_last_layer_that_is_tied_is_drawn_and_nothing_else() -> None:
    model = nn.Module()
    model.table, model.other = nn.Embedding(31, 12), nn.Embedding(31, 12)
    model.same = nn.Embedding(31, 12)
    model.head, model.free = nn.Linear(12, 31), nn.Linear(12, 31)
    model.head.weight = model.same.weight = model.table.weight
    before = {name: one.clone() for name, one in model.named_parameters()}
    untie(model)
    assert model.head.weight is not model.table.weight
    assert model.same.weight is model.table.weight
    assert 0.25 < model.head.weight.std() < 0.33  # one over the root of 12
    assert model.head.weight.dtype == model.table.weight.dtype
    after = dict(model.named_parameters())
    assert all(torch.equal(after[name], one) for name, one in before.items())
    drawn = model.head.weight
    untie(model)
    assert model.head.weight is drawn
