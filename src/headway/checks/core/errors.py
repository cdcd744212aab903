"""Errors: whose they are, and those of other people's code in one line."""

import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePath, PureWindowsPath
from types import CodeType
from typing import Literal, TypeVar

from headway._paths import shown

Function = TypeVar("Function", bound=Callable[..., object])
Owner = Literal["checks", "library", "call", "reader"]
_CHECKS = str(Path(__file__).parents[1])
_FOUND = find_spec("torch")  # importing it takes longer than all else
_TORCH = str(Path(str(_FOUND and _FOUND.origin)).parent)
_STANDARD = sysconfig.get_paths()["stdlib"]
_LIBRARIES = {"jaxtyping", "beartype", "numpy"}
_BORDER: set[CodeType] = set()


def describe(error: BaseException) -> str:
    """Put an error into one line, cut if it is long.

    An assertion without words is told by the line that stands in the code.
    """
    text = " ".join(str(error).split()).rstrip(".")
    if not text and (found := frames(error)):
        text = found[-1].line or ""
    kind = type(error).__name__
    return f"{kind}: {text[:157]}{'...' * (len(text) > 157)}" if text else kind


def frames(error: object) -> list[traceback.FrameSummary]:
    """List where in a reader's own code an error was raised, the outermost first."""
    passed = traceback.extract_tb(getattr(error, "__traceback__", None))
    return [frame for frame in passed if owner(frame.filename) == "reader"]


def place(error: object) -> str:
    """Give file and line of the reader's own code that raised, as editors link them.

    Returns:
        Such as ` at mine.py:17`, or nothing if no line of theirs was met.
    """
    return innermost((one.filename, one.lineno or 0) for one in reversed(frames(error)))


def innermost(lines: Iterable[tuple[str, int]]) -> str:
    """Give the first of some lines that is the reader's own, as `place` does.

    Args:
        lines: Files and numbers of lines, the innermost first.
    """
    for filename, number in lines:
        if owner(filename) == "reader":
            return f" at {shown(_path(filename), Path.cwd())}:{number}"
    return ""


@cache
def owner(
    filename: str,
    *,
    checks: str = _CHECKS,
    torch: str = _TORCH,
    standard: str = _STANDARD,
) -> Owner:
    """Say whose a line of a traceback is, by the name of its file.

    Args:
        filename: As the traceback has it, in the form of any system.
        checks: The folder of the checks.
        torch: The folder of PyTorch.
        standard: The folder of Python's own modules.

    Returns:
        `"checks"` if it is ours, `"library"` if an error of somebody else's code only
        passes by there, `"call"` if it is an expression that says how to call code,
        and else `"reader"`.
    """
    if filename in ("<call>", "<cached>"):
        return "call"
    if filename.startswith(("<frozen", "<@beartype")):
        return "library"
    path = _path(filename)
    if path.is_relative_to(checks):
        return "checks"
    if path.is_relative_to(torch) or _LIBRARIES & {*path.parts[:-1]}:
        return "library"
    own = path.is_relative_to(standard) and "site-packages" not in path.parts
    return "library" if own else "reader"


def _path(filename: str) -> PurePath:
    """Read the name of a file as the system does on which it is one."""
    return PureWindowsPath(filename) if "\\" in filename else Path(filename)


def at_the_border(function: Function) -> Function:
    """Mark a function that meets a reader's code: it calls it, or takes its results.

    An error that is raised there is a reader's, as one that their code raises.
    """
    _BORDER.add(inspect.unwrap(function).__code__)
    return function


def is_ours(error: BaseException) -> bool:
    """Ask whether an error is one of the checks, and none of the code that they ask.

    Where it was raised tells it, or what called the library that raised it. What
    PyTorch refuses, by a `RuntimeError`, is about tensors of a reader's code.
    """
    if type(error) is RuntimeError:
        return False
    passed = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    for code in reversed(passed):
        whose = owner(code.co_filename)
        if whose != "library":
            return whose == "checks" and code not in _BORDER
    return False


def theirs() -> tuple[type[Exception], ...]:
    """Give what `except` is to catch: an error of a reader's code, whatever it is.

    Python asks for it when something was raised. An error of ours goes on, so that
    nobody is told that it is theirs.

    Examples:
        >>> try:
        ...     1 / 0
        ... except theirs() as raised:
        ...     describe(raised)
        'ZeroDivisionError: division by zero'
    """
    raised = sys.exception()
    ours = raised is None or is_ours(raised)
    return () if ours else (Exception,)


@contextmanager
def suppress_theirs() -> Iterator[None]:
    """Go on after an error of a reader's code; one of ours goes on itself."""
    try:
        yield
    except theirs():
        pass
