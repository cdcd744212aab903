"""Copies of models, with weights that show what the model does."""

import math
import warnings

import torch
from torch import Tensor, nn

from headway.checks.core.copies import duplicate
from headway.checks.core.signature import Target

_LARGE = 1_000_000  # numbers in a matrix
_GAIN = 0.5  # what a layer multiplies by at least, or nobody sees what it does


def copy_as(target: Target, dtype: torch.dtype) -> Target:
    """Copy a model into a type; angles that are complex numbers stay so."""
    if not isinstance(target, nn.Module):
        return target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch would drop the imaginary part
        copied = duplicate(target, dtype)
    assert isinstance(copied, nn.Module)  # noqa: S101  # for mypy
    wide = torch.complex128 if dtype == torch.float64 else torch.complex64
    for name, buffer in target.named_buffers():
        if buffer.is_complex():
            place, _, last = name.rpartition(".")
            copied.get_submodule(place)._buffers[last] = buffer.detach().to(wide)
    return copied


def make_visible(module: nn.Module) -> None:
    """Draw anew what is zero, and enlarge what is too small to be seen.

    New models often have zeros in their last layers, and numbers so small that scores
    are all alike. What the constructor drew is kept otherwise.
    """
    generator = torch.Generator().manual_seed(3)
    tables = [table for table in module.modules() if isinstance(table, nn.Embedding)]
    embeddings = {id(table.weight) for table in tables}
    with torch.no_grad():
        for weight in module.parameters():
            if weight.is_floating_point() and weight.numel():
                _enlarge(weight, id(weight) in embeddings, generator)


def untie(module: nn.Module) -> None:
    """Draw the last layer anew where it has the weights of the embedding.

    With these a new model repeats its last token, whatever stands before that.
    """
    generator = torch.Generator().manual_seed(4)
    tables = [table for table in module.modules() if isinstance(table, nn.Embedding)]
    tied = {id(table.weight) for table in tables}
    for layer in module.modules():
        weight = layer._parameters.get("weight")
        if weight is not None and id(weight) in tied and layer not in tables:
            drawn = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
            drawn = (drawn / math.sqrt(weight[0].numel())).to(weight)
            layer.register_parameter("weight", nn.Parameter(drawn))


def _size(weight: Tensor) -> float:
    return float(weight.double().square().mean().sqrt())


def _enlarge(weight: Tensor, embeds: bool, generator: torch.Generator) -> None:
    plain = weight.ndim < 2
    needed = 1.0 if embeds or plain else 1 / math.sqrt(weight[0].numel())
    if weight.numel() > _LARGE and _size(weight) >= _GAIN * needed:
        return  # as of models that were trained; to draw numbers takes long
    drawn = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
    drawn = drawn.to(weight.device, weight.dtype)
    if plain:
        if bool((weight == weight.flatten()[0]).all()):  # a norm, a bias, a gate
            weight.add_(0.3 * drawn)
        return
    size = _size(weight)
    if size == 0.0:
        weight.copy_(needed * drawn)
    elif size < _GAIN * needed:
        weight.mul_(needed / size)
