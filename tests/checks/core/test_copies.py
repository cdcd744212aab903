"""Modules are copied as they are, whatever was done to them before."""

import torch
from torch import nn
from torch.nn.utils import prune

from headway.checks.core.copies import duplicate


def test_pruned_weights_have_their_own_names_in_a_copy() -> None:
    layer = nn.Linear(5, 3)
    layer.register_forward_pre_hook(lambda module, inputs: None)  # of another kind
    prune.l1_unstructured(layer, "weight", amount=4)
    copied = duplicate(layer, torch.float64)
    assert isinstance(copied, nn.Linear)
    assert {name for name, _ in copied.named_parameters()} == {"weight", "bias"}
    assert int((copied.weight == 0).sum()) == 4
    assert {name for name, _ in layer.named_parameters()} == {"weight_orig", "bias"}
