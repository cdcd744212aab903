"""Norms are judged by what they do."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.attention.evidence.norms import fault_of_norms


class RMSNorm(nn.Module):
    def __init__(self, how: str = "right", eps: float = 1e-6, width: int = 6):
        super().__init__()
        self.how, self.eps = how, eps
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, width))

    def forward(self, x: Tensor) -> Tensor:
        if self.how == "mean taken off":
            x = x - x.mean(-1, keepdim=True)
        if self.how == "other":
            return x
        mean = x.square().mean(-1, keepdim=True)
        if self.how == "outside":
            return x / (mean.sqrt() + self.eps) * self.weight
        if self.how == "no eps":
            return x / mean.sqrt() * self.weight
        gain = 1 + self.weight if self.how == "from one" else self.weight
        return x * torch.rsqrt(mean + self.eps) * gain


class Holder(nn.Module):
    def __init__(self, norm: Any):
        super().__init__()
        self.q_norm = norm


@pytest.mark.parametrize("how", ["right", "from one", "other"])
def test_right_norms_and_unknown_ones_have_no_fault(how: str) -> None:
    assert fault_of_norms(Holder(RMSNorm(how))) is None


@pytest.mark.parametrize(
    ("how", "words", "mistake"),
    [
        ("no eps", "q_norm gives nan for a token of zeros", "norm-without-eps"),
        ("outside", "q_norm adds its eps outside the root", "norm-eps-outside-root"),
        ("mean taken off", "q_norm takes the mean off", "rms-norm-takes-mean-off"),
    ],
)
def test_wrong_norms_are_named(how: str, words: str, mistake: str) -> None:
    found = fault_of_norms(Holder(RMSNorm(how)))
    assert found is not None
    assert found[0].startswith(words)
    assert found[1] == mistake


@pytest.mark.parametrize(
    "norm",
    [
        nn.LayerNorm(6),
        nn.LayerNorm(6, elementwise_affine=False),
        nn.BatchNorm2d(6),  # it takes another shape
        nn.Linear(6, 6),
        RMSNorm("outside", eps=0.0, width=6),
    ],
)
def test_nothing_else_is_judged(norm: nn.Module) -> None:
    if isinstance(norm, RMSNorm):
        norm.how = "other"
    assert fault_of_norms(Holder(norm)) is None


def test_a_norm_alone_is_told_by_its_class() -> None:
    found = fault_of_norms(RMSNorm("no eps"))
    assert found is not None
    assert found[0].startswith("RMSNorm gives nan")
