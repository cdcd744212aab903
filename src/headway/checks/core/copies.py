"""Copies of code, whatever was done to it before."""

import copy
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.nn.utils import prune

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import at_the_border
from headway.checks.core.limit import limited
from headway.checks.core.signature import Target


def uncompiled(target: Target) -> Target:
    """Take off what `torch.compile` has put around: it would compile for each size."""
    if isinstance(target, nn.Module):
        return getattr(target, "_orig_mod", target)
    return getattr(target, "_torchdynamo_orig_callable", target)


def refuse_empty(target: Target, name: str) -> None:
    """Refuse a module whose weights have no numbers yet.

    Raises:
        ValueError: If it is on the meta device, or lazy and was never called.
    """
    for tensor in target.parameters() if isinstance(target, nn.Module) else ():
        if is_lazy(tensor):
            raise CannotCheckError(f"{name} must be called once, for its lazy layers.")
        if tensor.is_meta:
            raise CannotCheckError(f"{name} must be on a device; got the meta device.")


@at_the_border
def duplicate(target: Target, dtype: torch.dtype) -> Target:
    """Copy a module with its type and its mode; some save and load themselves anew.

    What a call has left in it, such as its last weights, is copied without history:
    PyTorch copies no tensor that has one.
    """
    if not isinstance(target, nn.Module):
        return target
    memo: dict[int, Any] = {id(one): one.detach().clone() for one in _results(target)}
    memo |= {id(one): type(one)() for one in _empty_dictionaries(target)}
    with limited():
        copied = copy.deepcopy(target, memo)
        if any(one.dtype != dtype for one in _of_floats(copied)):
            copied = copied.to(dtype)
        # Some compute what they keep for eval when they are set to it.
        copied.train(target.training)
    _keep_pruned(copied)
    return copied


@at_the_border
def _keep_pruned(module: nn.Module) -> None:
    """Store pruned weights under their own names, which tell what they are."""
    for part in module.modules():
        for hook in [*part._forward_pre_hooks.values()]:
            if isinstance(hook, prune.BasePruningMethod):
                prune.remove(part, hook._tensor_name)


def _results(module: nn.Module) -> Iterator[Tensor]:
    """Give the tensors in attributes that are results and no weights."""
    for part in module.modules():
        for value in vars(part).values():
            held = value.values() if isinstance(value, dict) else value
            for one in held if isinstance(value, (dict, list, tuple)) else [value]:
                if isinstance(one, Tensor) and not one.is_leaf:
                    yield one


def _empty_dictionaries(module: nn.Module) -> Iterator[dict[Any, Any]]:
    """Give those that each module has for hooks: they take most of the time to copy."""
    for part in module.modules():
        for value in vars(part).values():
            if type(value) in (dict, OrderedDict) and not value:
                yield value


def _of_floats(module: nn.Module) -> Iterator[Tensor]:
    """Give the parameters and buffers that have a type to be changed."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point() or tensor.is_complex():
            yield tensor
