"""Import the code that a command line names, and build it."""

import contextlib
import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from torch import nn

from headway.checks.attention.subject.calls import takes_three
from headway.checks.command.constructor import build, describe_arguments
from headway.checks.command.imports import Notebook, import_place, search_path
from headway.checks.command.target_name import FILES, split
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.signature import arguments as arguments_of

_MOST = 12  # names that are listed


@contextlib.contextmanager
def load_target(
    target: str,
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
    by_place: Sequence[Any] = (),
) -> Iterator[Any]:
    """Import the target, and build it if it is a class or a function that makes one.

    A function makes one if its first argument is given, or if it needs none. Else it is
    what is to be checked, and takes the others. What lies beside the target can be
    imported until the context ends: code may import when it is called.

    Args:
        target: `path/to/file.py:Name` or `package.module:Name`; the name may be left
            out if there is one module alone in a file.
        options: The options of a check; a constructor gets those that it takes.
        arguments: All other arguments of the constructor, by name.
        by_place: The same, in the order of the constructor.

    Raises:
        ValueError: If it cannot be imported or built.
    """
    place, name = _split(target)
    with search_path(place):
        name, found = _find(place, name)
        yield build(name, found, options, arguments, by_place)


def explain_target(target: str) -> str:
    """List the arguments that a target takes.

    Raises:
        ValueError: If it cannot be imported.
    """
    place, name = _split(target)
    with search_path(place):
        return describe_arguments(*_find(place, name))


def _split(target: str) -> tuple[str, str]:
    place, name = split(target)
    if not place or not (name or place.endswith(FILES)):
        raise CannotCheckError(
            f"target must be file.py:Name or package.module:Name; got {target!r}."
        )
    return place, name


def _find(place: str, name: str) -> tuple[str, Any]:
    """Import a file or a module, and take what is named out of it."""
    module = import_place(place)
    name = name or _only_name(place, module)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise CannotCheckError(_missing(place, name, part, found))
        found = getattr(found, part)
    return name, found


def _only_name(place: str, module: ModuleType) -> str:
    """Choose the only module of a file, or its only function of attention.

    Raises:
        ValueError: If there are several, or none.
    """
    classes, others = _offered(module)
    choice = classes or others
    if len(choice) == 1:
        return choice[0]
    names = [f"{place}:{one}" for one in (*classes, *others)]
    if not names:
        raise CannotCheckError(
            f"{place} must have a module, or a function of queries, keys and values; "
            f"got none{_first_error(module)}."
        )
    more = f" or {len(names) - _MOST} more" if len(names) > _MOST else ""
    raise CannotCheckError(
        f"target must be one of {', '.join(names[:_MOST])}{more}; got {place!r}."
    )


def _offered(module: ModuleType) -> tuple[list[str], list[str]]:
    """List the modules that a file has of its own, and what else may be attention."""
    own = {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ or _is_built(value)
    }
    classes = [
        name
        for name, value in own.items()
        if isinstance(value, type) and issubclass(value, nn.Module)
    ]
    others = [name for name, value in own.items() if _is_built(value)]
    others += [
        name
        for name, value in own.items()
        if inspect.isfunction(value) and arguments_of(value) and takes_three(value)
    ]
    return classes, others


def _is_built(value: object) -> bool:
    return isinstance(value, nn.Module)


def _missing(place: str, name: str, part: str, found: Any) -> str:
    names = [one for one in vars(found) if not one.startswith("_")]
    by_small = {one.lower(): one for one in names}
    near = difflib.get_close_matches(part, names, 1, 0.75)
    near += [
        by_small[one]
        for one in difflib.get_close_matches(part.lower(), by_small, 1, 0.6)
    ]
    hint = "."
    if near:
        hint = f": did you mean {near[0]}?"
    elif isinstance(found, ModuleType):
        classes, others = _offered(found)
        listed = ", ".join([*classes, *others][:_MOST])
        hint = f", which has {listed}." if listed else "."
        hint = f"{_first_error(found)}{hint}"
    return f"{place} must have {name}; got no {part!r} in it{hint}"


def _first_error(module: ModuleType) -> str:
    """Say what kept a notebook from defining all that it would."""
    if isinstance(module, Notebook) and module.errors:
        return f", and {module.errors[0]}"
    return ""
