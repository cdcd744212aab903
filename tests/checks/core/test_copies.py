"""Modules are copied as they are, whatever was done to them before."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune

from headway.checks.core.copies import duplicate


class Prepared(nn.Module):
    """A module whose `train` returns nothing, and computes what eval needs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def train(self, mode: bool = True) -> None:  # type: ignore[override]
        super().train(mode)
        self.doubled = None if mode else 2 * self.weight.detach()

    def forward(self, x: Tensor) -> Tensor:
        return x * (2 * self.weight if self.doubled is None else self.doubled)


@pytest.mark.parametrize("training", [True, False])
def test_a_copy_computes_what_it_needs_in_its_own_type(training: bool) -> None:
    module = Prepared()
    module.train(training)
    copied = duplicate(module, torch.float64)
    assert copied.training is training
    assert copied(torch.ones(3, dtype=torch.float64)).tolist() == [2.0] * 3
    assert training or copied.doubled.dtype == torch.float64


def test_pruned_weights_have_their_own_names_in_a_copy() -> None:
    layer = nn.Linear(5, 3)
    layer.register_forward_pre_hook(lambda module, inputs: None)  # of another kind
    prune.l1_unstructured(layer, "weight", amount=4)
    copied = duplicate(layer, torch.float64)
    assert isinstance(copied, nn.Linear)
    assert {name for name, _ in copied.named_parameters()} == {"weight", "bias"}
    assert int((copied.weight == 0).sum()) == 4
    assert {name for name, _ in layer.named_parameters()} == {"weight_orig", "bias"}
