"""The names that a piece of code uses, read without its source."""

import dis
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from torch import nn

# The steps of bytecode that push one value each.
_PLAIN = ("LOAD_CONST", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF")


def arguments(target: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """List the arguments of a function or of a module's `forward`."""
    function = target.forward if isinstance(target, nn.Module) else target
    if schema := getattr(function, "schema", None):  # of TorchScript
        return {
            one.name: _parameter(one) for one in schema.arguments if one.name != "self"
        }
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # built-in functions have none
        return {}


def _parameter(one: Any) -> inspect.Parameter:
    """Say of an argument of TorchScript what `inspect` says of others."""
    default = one.default_value if one.has_default_value() else inspect.Parameter.empty
    return inspect.Parameter(
        one.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default
    )


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


def _inner(target: Any) -> Any:
    """Take off what surrounds a function: arguments, an object, a property."""
    if isinstance(target, (functools.partial, functools.cached_property)):
        return _inner(target.func)
    if isinstance(target, property):
        return target.fget
    return getattr(target, "__func__", target)


def _functions(part: Any) -> Iterator[FunctionType]:
    """Give a function, or all methods of an object, without their decorators."""
    if isinstance(part, FunctionType):
        yield part
        return
    for kind in itertools.takewhile(_is_own, type(part).__mro__):
        for method in vars(kind).values():
            function = inspect.unwrap(_inner(method))
            if isinstance(function, FunctionType):
                yield function


def _is_own(kind: type) -> bool:
    return kind is not object and not kind.__module__.startswith("torch.")


def options(target: Callable[..., Any]) -> set[str]:
    """Collect what a caller of a method may switch on."""
    return {
        name
        for part in parts(target)
        for function in _functions(part)
        if function.__name__ != "__init__"
        for name, argument in inspect.signature(function).parameters.items()
        if argument.default is False
    }


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    yield from _keywords(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _keywords(code: CodeType) -> Iterator[str]:
    """Give the names of arguments in calls, without those that are False or None."""
    steps = [*dis.get_instructions(code)]
    for end, step in enumerate(steps):
        if step.opname not in ("KW_NAMES", "LOAD_CONST") or step.arg is None:
            continue
        names = code.co_consts[step.arg]
        if not isinstance(names, tuple):
            continue
        for place, name in enumerate(names):
            values = steps[max(end - len(names) + place, 0) : end]
            plain = all(one.opname in _PLAIN for one in values)
            if not (plain and values and values[0].argval in (False, None)):
                yield str(name)
