"""The arguments of code, and the parts that it is made of."""

import dis
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

Target = Callable[..., Any]


def arguments(target: Target) -> dict[str, inspect.Parameter]:
    """List the arguments of a function or of a module's `forward`."""
    function = target.forward if isinstance(target, nn.Module) else target
    if isinstance(target, nn.Module) and _takes_anything(function):
        function = getattr(target, "call", function)  # as layers of Keras have it
    if schema := getattr(function, "schema", None):  # of TorchScript
        return {
            one.name: _parameter(one) for one in schema.arguments if one.name != "self"
        }
    return _signature(function)


def _takes_anything(function: Any) -> bool:
    """Ask whether a function hands on whatever it is given."""
    kinds = {one.kind for one in _signature(function).values()}
    return kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _signature(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # built-in functions have none
        return {}


def _parameter(argument: Any) -> inspect.Parameter:
    """Say of an argument of TorchScript what `inspect` says of others."""
    default: Any = inspect.Parameter.empty
    if argument.has_default_value():
        default = argument.default_value
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(argument.name, kind, default=default)


def unpacked(target: Target) -> list[str]:
    """List the names that the first sizes get, as in `B, T, C = x.shape`."""
    function = target.forward if isinstance(target, nn.Module) else target
    code = getattr(unwrapped(function), "__code__", None)
    steps = iter(dis.get_instructions(code) if code else ())
    for step in steps:
        if step.opname == "UNPACK_SEQUENCE" and step.argval in (2, 3, 4):
            stored = itertools.takewhile(_stores, steps)
            names = [one.argval for one in stored]
            flat = [
                n for one in names for n in ([one] if isinstance(one, str) else one)
            ]
            return flat[: step.argval]
    return []


def _stores(step: dis.Instruction) -> bool:
    return step.opname.startswith("STORE_FAST")


def parts(target: Target) -> Iterator[Any]:
    """Give a module and the modules in it, or a function without its wrappers."""
    if isinstance(target, nn.Module):
        yield from target.modules()
    else:
        yield unwrapped(target)


def unwrapped(target: Any) -> Any:
    """Take off all that may surround a function: partials, objects, decorators."""
    return inspect.unwrap(_inner(target))


def _inner(target: Any) -> Any:
    if isinstance(target, (functools.partial, functools.cached_property)):
        return _inner(target.func)
    if isinstance(target, property):
        return target.fget
    return getattr(target, "__func__", target)
