"""The arguments of code, and the parts that it is made of."""

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import nn

from headway.checks.core.source import body_of, locals_of

Target = Callable[..., Any]
# How to call it, in words that are evaluated, or a function.
CallOption = str | Callable[..., Any]
# Arguments that say which tokens are to be seen, though they are called no mask.
SAYS_WHAT_IS_SEEN = re.compile(
    r"^(?!.*len(gth)?s?$)(.*_)?(keep|valid|visible|pad(ding|s)?)(_|$)", re.IGNORECASE
)
# Their variables are none of the function that they stand in.
_OF_THEIR_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


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


def unpacked(target: Target, *, called: bool = False) -> list[str]:
    """List the names that the first sizes get, as in `B, T, C = x.shape`.

    Without source, these are the first variables, sizes or not, and none where a
    function in it uses some: their order is lost.

    Args:
        target: The code.
        called: Whether to look into the functions beside it that it uses, too.
    """
    function = target.forward if isinstance(target, nn.Module) else target
    function = unwrapped(function)
    found = _unpacked(function)
    space = getattr(function, "__globals__", {})
    code = getattr(function, "__code__", None)
    for name in code.co_names if called and not found and code else ():
        other = unwrapped(space.get(name))
        if getattr(other, "__globals__", None) is space and not found:
            found = _unpacked(other)
    return found


def _unpacked(function: Any) -> list[str]:
    if (body := body_of(function)) is None:
        if (code := getattr(function, "__code__", None)) is None:
            return []
        stored = locals_of(code)
        return [] if {*stored} & {*code.co_cellvars} else stored[:4]
    for left in _left_of_one_value(body):
        if 2 <= len(left) <= 4 and not _any_starred(left):
            plain = itertools.takewhile(lambda one: isinstance(one, ast.Name), left)
            return [one.id for one in plain if isinstance(one, ast.Name)]
    return []


def _left_of_one_value(node: ast.AST) -> Iterator[Sequence[ast.expr]]:
    """Give what stands left where one value is unpacked: not in `a, b = 2, 3`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _OF_THEIR_OWN):
            continue
        if isinstance(child, ast.Assign) and not _is_written_out(child.value):
            for target in child.targets:
                if isinstance(target, ast.Tuple | ast.List):
                    yield target.elts
        yield from _left_of_one_value(child)


def _is_written_out(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple | ast.List) and not _any_starred(value.elts)


def _any_starred(listed: Sequence[ast.expr]) -> bool:
    return any(isinstance(one, ast.Starred) for one in listed)


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
