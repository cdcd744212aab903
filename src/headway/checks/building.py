"""Import the code that a command line names, and build it."""

import functools
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from headway.checks.calling import THREE
from headway.checks.subject import explain


def build(target: str, told: dict[str, Any], given: dict[str, Any]) -> Any:
    """Import the target, and build it if it is a class or makes modules."""
    found = _import(target)
    name = target.rpartition(":")[2]
    if isinstance(found, nn.Module) or not callable(found):
        if given:
            raise ValueError(f"{name} is built already; got --{next(iter(given))}.")
        return found
    known = inspect.signature(found).parameters
    three = set([*known][:3]) in THREE
    if not isinstance(found, type) and (three or (not given and _needs(known))):
        return functools.partial(found, **given) if given else found
    values = {key: value for key, value in told.items() if key in known} | given
    return _call(name, found, known, values)


def _needs(known: Any) -> list[str]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind not in kinds
    ]


def _call(name: str, make: Callable[..., Any], known: Any, values: Any) -> Any:
    takes_all = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for key in values:
        if key not in known and not takes_all:
            raise ValueError(
                f"{name} must be built with {', '.join(known)}; "
                f"got --{key.replace('_', '-')}."
            )
    for key in _needs(known):
        if key not in values:
            raise ValueError(f"{name} must be given --{key.replace('_', '-')}.")
    try:
        return make(**values)
    except Exception as raised:
        raise ValueError(f"{name} could not be built: {explain(raised)}") from raised


def _import(target: str) -> Any:
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(
            f"target must be file.py:Name or package.module:Name; got {target!r}."
        )
    try:
        found: Any = _file(Path(place)) if place.endswith(".py") else _module(place)
    except Exception as raised:
        raise ValueError(
            f"{place} could not be imported: {explain(raised)}"
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
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
