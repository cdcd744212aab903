"""Import beforehand what programs import, as far as nobody can notice it."""

import ast
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterable, Iterator


class NotQuietError(Exception):
    """A module does more than to be there, so each program must import it itself."""


def imported(code: str) -> list[str]:
    """Return the names of the modules that a program imports, wherever it does."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    return [name for node in ast.walk(tree) for name in names(node)]


def at_top(code: str) -> list[str]:
    """Return the modules outside of the standard library that it imports at its top."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    return [*of_packages(name for node in tree.body for name in names(node))]


def of_packages(modules: Iterable[str]) -> Iterator[str]:
    """Yield those of some modules that are not in the standard library."""
    return (name for name in modules if top(name) not in sys.stdlib_module_names)


def names(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


def top(name: str) -> str:
    """Return the package that a module is in."""
    return name.partition(".")[0]


def load(name: str) -> None:
    """Import a module; one that does not exist is left to the program.

    Raises:
        NotQuietError: If it cannot be imported, or has started a thread.
    """
    threads = threading.active_count()
    try:
        if importlib.util.find_spec(top(name)) is not None:
            importlib.import_module(name)
    except BaseException as error:
        raise NotQuietError(f"{name} raised {error!r}") from error
    if threading.active_count() > threads:
        raise NotQuietError(f"{name} started a thread")
