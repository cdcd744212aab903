"""The names that a piece of code uses, read without its source."""

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from torch import nn


def arguments(target: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """List the arguments of a function or of a module's `forward`."""
    function = target.forward if isinstance(target, nn.Module) else target
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # built-in functions have none
        return {}


def words(target: Callable[..., Any]) -> set[str]:
    """Collect the names that code uses, without reading its source."""
    found: set[str] = set()
    for part in parts(target):
        for function in _functions(part):
            found |= set(_names(function.__code__))
    if isinstance(target, functools.partial):
        found |= {name for name, value in target.keywords.items() if value}
    return found


def parts(target: Callable[..., Any]) -> Iterator[Any]:
    """Give a module and the modules in it, or a function without its wrappers."""
    if isinstance(target, nn.Module):
        yield from target.modules()
    else:
        yield inspect.unwrap(_inner(target))


def _inner(target: Callable[..., Any]) -> Callable[..., Any]:
    return _inner(target.func) if isinstance(target, functools.partial) else target


def _functions(part: Any) -> Iterator[FunctionType]:
    if isinstance(part, FunctionType):
        yield part
    elif isinstance(part, nn.Module):
        for kind in type(part).__mro__:
            if kind is nn.Module or kind.__module__.startswith("torch."):
                break
            yield from (f for f in vars(kind).values() if isinstance(f, FunctionType))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
        elif isinstance(constant, tuple):  # the names of arguments in calls
            yield from (name for name in constant if isinstance(name, str))
