"""Weights brought to one layout, however they are stored: (out, in), head by head."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def matrices(module: nn.Module, names: Sequence[str], d_in: int) -> dict[str, Tensor]:
    """Give the weights of these names, below each other, for each possible layout.

    Args:
        module: What has the weights.
        names: The names; of stacked heads there are many.
        d_in: Width of what the weights act on.
    """
    found = [layouts(module, name, d_in) for name in names]
    shared = [one for one in (found or [{}])[0] if all(one in other for other in found)]
    return {one: torch.cat([other[one] for other in found]).double() for one in shared}


def layouts(module: nn.Module, name: str, d_in: int) -> dict[str, Tensor]:
    """Bring one weight to (out, in) from each layout that fits."""
    weight = dict(module.named_parameters())[name].detach()
    owner = dict(module.named_modules())[name.rpartition(".")[0]]
    found: dict[str, Tensor] = {}
    if isinstance(owner, nn.modules.conv._ConvNd):
        # A kernel of one pixel, or of one token, is a linear layer.
        if weight[0, 0].numel() == 1 and owner.groups == 1:
            found = {"out, in": weight.flatten(1)}
    elif weight.ndim == 3:
        found = {
            "heads, in, out": weight.mT.flatten(0, 1),
            "in, heads, out": weight.flatten(1).T,
            "heads, out, in": weight.flatten(0, 1),
            "out, heads, in": weight.flatten(1),
            "heads with in, out": weight.flatten(0, 1).T,
        }
    elif weight.ndim == 2:
        found = {"in, out": weight.T, "out, in": weight}
        if isinstance(owner, nn.Linear):
            del found["in, out"]
        elif type(owner).__name__ == "Conv1D":
            del found["out, in"]
    return {name: one for name, one in found.items() if one.shape[1] == d_in}


def biases(module: nn.Module, names: Sequence[str]) -> Tensor | None:
    """Give the biases beside the weights of these names, one below the other."""
    stored = dict(module.named_parameters())
    found = [stored[bias_of(name)] for name in names if bias_of(name) in stored]
    if not found:
        return None
    return torch.cat([one.detach().flatten() for one in found]).double()


def bias_of(name: str) -> str:
    """Give the name that the bias beside a weight has."""
    if name.endswith("weight"):
        return re.sub("weight$", "bias", name)
    return f"{name}.bias"
