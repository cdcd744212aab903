"""Import the code that a command line names, and build it."""

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from headway.checks.names import arguments
from headway.checks.subject import explain

Known = Mapping[str, inspect.Parameter]


def build(target: str, told: dict[str, Any], given: dict[str, Any]) -> Any:
    """Import the target, and build it if it is a class or a function that makes one.

    A function makes one if its first argument is given, or if it needs none. Else it is
    what is to be checked, and takes the others.
    """
    found = _import(target)
    name = target.rpartition(":")[2]
    if isinstance(found, nn.Module) or not callable(found):
        if given:
            raise ValueError(
                f"{name} is built already; got {_option(next(iter(given)))}."
            )
        return found
    known = arguments(found)
    _refuse_unknown(name, known, given)
    values = {key: value for key, value in told.items() if key in known} | given
    built_in = inspect.isbuiltin(found)
    if isinstance(found, type) or (not built_in and _makes(known, values)):
        return _call(name, found, known, values)
    return functools.partial(found, **values) if values else found


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _makes(known: Known, values: Mapping[str, Any]) -> bool:
    """Ask whether a function is to be called for what is to be checked."""
    return next(iter(known), "") in values or not _needed(known)


def _needed(known: Known) -> list[str]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind not in kinds
    ]


def _refuse_unknown(name: str, known: Known, given: Mapping[str, Any]) -> None:
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for key in given:
        if key not in known:
            options = ", ".join(map(_option, known)) or "no option"
            raise ValueError(f"{name} must be given {options}; got {_option(key)}.")


def _call(
    name: str, make: Callable[..., Any], known: Known, values: Mapping[str, Any]
) -> Any:
    for key in _needed(known):
        if key not in values:
            raise ValueError(f"{name} must be given {_option(key)}.")
    try:
        return make(**values)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        raise ValueError(f"{name} could not be built: {explain(raised)}.") from raised


def _import(target: str) -> Any:
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(
            f"target must be file.py:Name or package.module:Name; got {target!r}."
        )
    try:
        found: Any = _file(Path(place)) if place.endswith(".py") else _module(place)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        raise ValueError(
            f"{place} could not be imported: {explain(raised)}."
        ) from raised
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{place} must have {name}; got no {part!r} in it.")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    return importlib.import_module(name)


def _file(path: Path) -> Any:
    sys.path.insert(0, str(path.resolve().parent))
    name = path.stem if path.stem not in sys.modules else f"checked_{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    SourceFileLoader(name, str(path)).exec_module(module)
    return module
