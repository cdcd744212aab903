"""Import the code that a command line names, and build it."""

import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from headway.checks.errors import describe
from headway.checks.subject.signature import arguments as arguments_of

Parameters = Mapping[str, inspect.Parameter]


@contextlib.contextmanager
def load_target(
    target: str, options: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Iterator[Any]:
    """Import the target, and build it if it is a class or a function that makes one.

    A function makes one if its first argument is given, or if it needs none. Else it is
    what is to be checked, and takes the others. What lies beside the target can be
    imported until the context ends: code may import when it is called.

    Args:
        target: `path/to/file.py:Name` or `package.module:Name`.
        options: The options of a check; a constructor gets those that it takes.
        arguments: All other arguments of the constructor, by name.

    Raises:
        ValueError: If it cannot be imported or built.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(
            f"target must be file.py:Name or package.module:Name; got {target!r}."
        )
    with _search_path(_root(place)):
        yield _build(name, _find(place, name), options, arguments)


def _build(
    name: str, found: Any, options: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Any:
    if isinstance(found, nn.Module) or not callable(found):
        if arguments:
            raise ValueError(
                f"{name} is built already; got {_option(next(iter(arguments)))}."
            )
        return found
    known = arguments_of(found)
    _refuse_unknown(name, known, arguments)
    taken = {key: value for key, value in options.items() if key in known}
    values = taken | dict(arguments)
    built_in = inspect.isbuiltin(found)
    if isinstance(found, type) or (not built_in and _makes_target(known, values)):
        return _call(name, found, known, values)
    return functools.partial(found, **values) if values else found


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _makes_target(known: Parameters, values: Mapping[str, Any]) -> bool:
    """Ask whether a function is to be called for what is to be checked."""
    return next(iter(known), "") in values or not _needed(known)


def _needed(known: Parameters) -> list[str]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind not in kinds
    ]


def _refuse_unknown(name: str, known: Parameters, arguments: Mapping[str, Any]) -> None:
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for key in arguments:
        if key not in known:
            options = ", ".join(map(_option, known)) or "no option"
            raise ValueError(f"{name} must be given {options}; got {_option(key)}.")


def _call(
    name: str, make: Callable[..., Any], known: Parameters, values: Mapping[str, Any]
) -> Any:
    for key in _needed(known):
        if key not in values:
            raise ValueError(f"{name} must be given {_option(key)}.")
    try:
        return make(**values)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        raise ValueError(f"{name} could not be built: {describe(raised)}.") from raised


def _find(place: str, name: str) -> Any:
    """Import a file or a module, and take what is named out of it."""
    try:
        if place.endswith(".py"):
            found: Any = _import_file(Path(place))
        else:
            found = importlib.import_module(place)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        raise ValueError(
            f"{place} could not be imported: {describe(raised)}."
        ) from raised
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{place} must have {name}; got no {part!r} in it.")
        found = getattr(found, part)
    return found


def _root(place: str) -> Path:
    """Give the folder that imports begin in: above all packages that a file is in."""
    if not place.endswith(".py"):
        return Path.cwd()
    folder = Path(place).resolve().parent
    while _is_package(folder):
        folder = folder.parent
    return folder


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").exists()


@contextlib.contextmanager
def _search_path(folder: Path) -> Iterator[None]:
    """Let modules in a folder be imported for a while."""
    before = [*sys.path]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


def _import_file(path: Path) -> ModuleType:
    path.stat()  # its error names the file as the reader does
    if _is_package(path.resolve().parent):
        return _import_from_package(path.resolve())
    name = path.stem if path.stem not in sys.modules else f"checked_{path.stem}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as dataclasses, for one, look themselves up
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import_from_package(path: Path) -> ModuleType:
    """Import a file by its full name, which its relative imports need."""
    inside = path.relative_to(_root(str(path))).with_suffix("")
    name = ".".join(part for part in inside.parts if part != "__init__")
    module = importlib.import_module(name)
    if path != Path(module.__file__ or "").resolve():
        raise ImportError(f"another package is called {inside.parts[0]}")
    return module
