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


def test_what_is_shared_is_shared_in_a_copy_and_the_original_is_left() -> None:
    module = nn.Module()
    module.first, module.again = (nn.Linear(5, 5),) * 2
    module.first.owner = {"of": [module], 3: module.first}
    copied = duplicate(module, torch.float32)
    assert isinstance(copied, nn.Module)
    assert copied.first is copied.again is copied.first.owner[3] is not module.first
    assert copied.first.owner["of"][0] is copied
    copied.first.register_buffer("more", torch.zeros(2))
    copied.first.register_forward_hook(lambda *_: None)
    assert not module.first._buffers
    assert not module.first._forward_hooks


class Copying(nn.Linear):
    def __deepcopy__(self, memo: dict[int, object]) -> nn.Module:
        return nn.Linear(3, 3)


class Reducing(nn.Linear):
    def __reduce__(self) -> tuple[type, tuple[int, int]]:
        return nn.Linear, (3, 3)


class Remembering(nn.Linear):
    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self.in_features = 3


@pytest.mark.parametrize("kind", [Copying, Reducing, Remembering])
def test_a_module_is_copied_as_it_says(kind: type[nn.Linear]) -> None:
    copied = duplicate(nn.Sequential(kind(5, 5)), torch.float64)
    assert isinstance(copied, nn.Sequential)
    assert copied[0].in_features == 3
    assert copied[0].weight.dtype == torch.float64
