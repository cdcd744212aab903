"""The names that a piece of code uses, read without its source.

Code from a notebook, from `exec` or from a zip file has no source at hand; what Python
has compiled is always there.
"""

import dis
import functools
import inspect
import itertools
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from headway.checks.subject.signature import Target, parts, unwrapped

# The instructions that push one value each.
_PUSHES = ("LOAD_CONST", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF")


def used_names(target: Target, *, called: bool = False) -> set[str]:
    """Collect the names that code uses: variables, attributes, arguments of calls.

    Args:
        target: The code.
        called: Whether those of functions of the same module that it calls count too.
    """
    found: set[str] = set()
    for part in parts(target):
        for function in _functions(part):
            found |= set(_names(function.__code__))
            for other in _called(function) if called else ():
                found |= set(_names(other.__code__))
    if isinstance(target, functools.partial):
        found |= {name for name, value in target.keywords.items() if value}
    return found


def read_names(target: Target) -> set[str]:
    """Collect the names that code uses in calls, and not only where it is made."""
    return {
        name
        for part in parts(target)
        for function in _functions(part)
        if function.__name__ != "__init__"
        for name in _names(function.__code__)
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


def _functions(part: Any) -> Iterator[FunctionType]:
    """Give a function, or all methods of an object, without their decorators."""
    if isinstance(part, FunctionType):
        yield part
        return
    for kind in itertools.takewhile(_is_written_by_the_reader, type(part).__mro__):
        for method in vars(kind).values():
            function = unwrapped(method)
            if isinstance(function, FunctionType):
                yield function


def _called(function: FunctionType) -> Iterator[FunctionType]:
    """Give the functions beside this one in a file whose names it uses."""
    space = function.__globals__
    for name in _names(function.__code__):
        other = unwrapped(space.get(name))
        if isinstance(other, FunctionType) and other.__globals__ is space:
            yield other


def _is_written_by_the_reader(kind: type) -> bool:
    return kind is not object and not kind.__module__.startswith("torch.")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    yield from _keywords(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _keywords(code: CodeType) -> Iterator[str]:
    """Give the names of arguments in calls, without those that are False or None.

    The names of a call are a constant, and the instructions before it push the values.
    Where a value takes more than one instruction, those before it cannot be told apart,
    and their names count: to say too much of code is better than to miss `is_causal`.
    """
    steps = [*dis.get_instructions(code)]
    for end, step in enumerate(steps):
        if step.opname not in ("KW_NAMES", "LOAD_CONST") or step.arg is None:
            continue
        names = code.co_consts[step.arg]
        if not isinstance(names, tuple):
            continue
        for place, name in enumerate(names):
            values = steps[max(end - len(names) + place, 0) : end]
            plain = all(one.opname in _PUSHES for one in values)
            if not (plain and values and values[0].argval in (False, None)):
                yield str(name)
