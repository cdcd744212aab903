"""The names that a piece of code uses.

Variables and attributes are read from what Python has compiled, which is always there.
Which arguments of calls are False stands in the source; without one, as of code from
`exec`, it is guessed for all calls of a function together.
"""

import ast
import functools
import inspect
import itertools
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from headway.checks.core.signature import Target, parts, unwrapped
from headway.checks.core.source import body_of, locals_of


def used_names(target: Target, *, called: bool = False) -> set[str]:
    """Collect the names that code uses: variables, attributes, arguments of calls.

    Args:
        target: The code.
        called: Whether those of functions of the same module that it calls count too.
    """
    found: set[str] = set()
    for part in parts(target):
        for function in _functions(part):
            found |= _names(function)
            for other in _called(function) if called else ():
                found |= _names(other)
    if isinstance(target, functools.partial):
        found |= {name for name, value in target.keywords.items() if value}
    return found


def read_names(target: Target) -> set[str]:
    """Collect the names that code uses in calls, and not only where it is made.

    Those of functions of the same module that it calls count too.
    """
    return {
        name
        for part in parts(target)
        for function in _functions(part)
        if function.__name__ != "__init__"
        for used in (function, *_called(function))
        for name in _names(used)
    }


def keys_of_dictionaries(target: Target) -> set[str]:
    """Collect the texts of code that may be keys, as in `cache["keys"]`."""
    return {
        text
        for part in parts(target)
        for function in _functions(part)
        for text in function.__code__.co_consts
        if isinstance(text, str) and text.isidentifier()
    }


def optional_flags(target: Target) -> set[str]:
    """Collect the arguments of functions and methods that are `False` by default."""
    return {
        name
        for part in parts(target)
        for function in _functions(part)
        if function.__name__ != "__init__"
        for name, argument in inspect.signature(function).parameters.items()
        if argument.default is False
    }


def numbers_by_default(target: Target) -> dict[str, int]:
    """Collect the arguments of methods that are a whole number by default."""
    return {
        name: argument.default
        for part in parts(target)
        for function in _functions(part)
        if function.__name__ != "__init__"
        for name, argument in inspect.signature(function).parameters.items()
        if type(argument.default) is int
    }


def _functions(part: Any) -> Iterator[FunctionType]:
    """Give a function, or all methods of an object, without their decorators."""
    if isinstance(part, FunctionType):
        yield part
        return
    for held in vars(part).values() if hasattr(part, "__dict__") else ():
        function = held.func if isinstance(held, functools.partial) else held
        if isinstance(function, FunctionType) and _is_of_the_file(function, type(part)):
            yield function
    for kind in itertools.takewhile(_is_written_by_the_reader, type(part).__mro__):
        for method in vars(kind).values():
            function = unwrapped(method)
            if isinstance(function, FunctionType):
                yield function


def _called(function: FunctionType) -> Iterator[FunctionType]:
    """Give the functions beside this one in a file whose names it uses."""
    space = function.__globals__
    for name in _names(function):
        other = unwrapped(space.get(name))
        if isinstance(other, FunctionType) and other.__globals__ is space:
            yield other


def _is_of_the_file(function: FunctionType, kind: type) -> bool:
    return function.__module__ == kind.__module__


def _is_written_by_the_reader(kind: type) -> bool:
    return kind is not object and not kind.__module__.startswith("torch.")


def _names(function: FunctionType) -> set[str]:
    body = body_of(function)
    names = {*_looked_up_or_stored(function.__code__)}
    if body is None:
        return names | {*_in_tuples(function.__code__)}
    return names | _keywords(body, _captured_as_off(function))


def _captured_as_off(function: FunctionType) -> frozenset[str]:
    """Name the variables from around a function that are False or None."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = set()
    for name, cell in cells:
        with suppress(ValueError):  # it has no value yet
            value = cell.cell_contents
            found |= {name} if value is False or value is None else set()
    return frozenset(found)


def _looked_up_or_stored(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    yield from locals_of(code)
    for inner in _inside(code):
        yield from _looked_up_or_stored(inner)


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield from (one for one in code.co_consts if isinstance(one, CodeType))


@functools.lru_cache(maxsize=1024)
def _keywords(body: ast.Module, off: frozenset[str]) -> frozenset[str]:
    """Collect the arguments in calls, without those that are False, None or zero.

    The keys of a dictionary count as well: it may be handed on as `**options`.
    """
    found: list[tuple[str | None, ast.expr]] = []
    for node in ast.walk(body):
        if isinstance(node, ast.Call):
            found += [(one.arg, one.value) for one in node.keywords]
        elif isinstance(node, ast.Dict):
            keys = [getattr(key, "value", None) for key in node.keys]
            found += zip(keys, node.values, strict=True)
    return frozenset(
        name
        for name, value in found
        if isinstance(name, str) and not _is_off(value, off)
    )


def _is_off(value: ast.expr, off: frozenset[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in off
    return isinstance(value, ast.Constant) and value.value in (False, None)


def _in_tuples(code: CodeType) -> Iterator[str]:
    """Give the words in tuples, as which Python keeps the names of arguments in calls.

    Their values are elsewhere among the constants: where False is one and True is not,
    no argument is taken to be set. Other tuples may hold words, too: to say too much of
    code is better than to miss `is_causal`.
    """
    off = any(one is False for one in code.co_consts)
    if not off or any(one is True for one in code.co_consts):
        tuples = (one for one in code.co_consts if isinstance(one, tuple))
        yield from (one for words in tuples for one in words if isinstance(one, str))
    for inner in _inside(code):
        yield from _in_tuples(inner)
