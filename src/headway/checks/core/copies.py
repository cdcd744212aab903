"""Copies of code, whatever was done to it before."""

import copy
import copyreg
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

_PLAIN = (bool, int, float, str, type(None))
_EMPTY = (dict, OrderedDict, set, list)
_SPECIAL = ("__deepcopy__", "__slots__", "__getnewargs__", "__getnewargs_ex__")


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
    with limited():
        copied = _copied(target, memo)
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


@at_the_border
def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """Copy as `copy.deepcopy` does, and modules of the usual kind in less time."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind in _EMPTY and not value:
        memo[id(value)] = kind()
        return memo[id(value)]
    if kind is dict:
        memo[id(value)] = copied = {}
        for key, one in value.items():
            copied[_copied(key, memo)] = _copied(one, memo)
        return copied
    if not isinstance(value, nn.Module) or not _is_usual(value):
        return copy.deepcopy(value, memo)
    memo[id(value)] = made = kind.__new__(kind)
    state = value.__getstate__()
    made.__setstate__({key: _copied(one, memo) for key, one in state.items()})
    return made


def _is_usual(module: nn.Module) -> bool:
    """Ask whether a module says nothing of its own on how it is copied."""
    kind: Any = type(module)
    return (
        kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and kind.__getstate__ is nn.Module.__getstate__
        and kind.__new__ is object.__new__
        and kind.__getattr__ is nn.Module.__getattr__
        and kind.__getattribute__ is object.__getattribute__
        and not any(hasattr(kind, one) for one in _SPECIAL)
        and kind not in copyreg.dispatch_table
        and not any(name.startswith("__") for name in vars(module))
    )


def _of_floats(module: nn.Module) -> Iterator[Tensor]:
    """Give the parameters and buffers that have a type to be changed."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point() or tensor.is_complex():
            yield tensor
