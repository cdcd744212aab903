"""What a piece of code keeps: in modules, in plain objects and in configurations."""

import functools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from torch import nn

from headway.checks.core.signature import Target, parts, unwrapped

_PLAIN = (str, bytes, int, float, bool, complex, type(None))


def held_values(target: Target) -> Iterator[tuple[str, Any]]:
    """Give all that code keeps, each with the name it has there.

    Of modules these are attributes, parameters, buffers and submodules; of functions
    the arguments that a partial sets, and the variables around them.
    """
    if isinstance(target, functools.partial):
        yield from target.keywords.items()
    seen: set[int] = set()
    for part in parts(target):
        yield from _of_object(part, seen, depth=3)


def _of_object(part: Any, seen: set[int], depth: int) -> Iterator[tuple[str, Any]]:
    if id(part) in seen:
        return
    seen.add(id(part))
    for name, value in _attributes(part):
        yield name, value
        if depth and _may_hold_more(value):
            yield from _of_object(value, seen, depth - 1)


def _attributes(part: Any) -> Iterator[tuple[str, Any]]:
    held = part if isinstance(part, Mapping) else getattr(part, "__dict__", {})
    for name, value in held.items():
        if isinstance(part, nn.Module) and name.startswith("_"):
            if name in ("_parameters", "_buffers", "_modules"):
                yield from value.items()
            continue
        yield str(name), value
    function = unwrapped(part)
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    for name, cell in zip(names, cells, strict=True):
        with suppress(ValueError):  # a variable that was never set
            yield name, cell.cell_contents


def _may_hold_more(value: Any) -> bool:
    """Ask whether a value is somebody's own object; modules are parts already."""
    if isinstance(value, (nn.Module, type, *_PLAIN)):
        return False
    if isinstance(value, Mapping):
        return True
    kind = type(value).__module__.partition(".")[0]
    return kind not in ("torch", "builtins", "inspect") and hasattr(value, "__dict__")
