"""Errors of other people's code, in one line."""

import os
import re
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

import torch

_STANDARD = re.escape(sysconfig.get_paths()["stdlib"])
# Where an error of somebody else's code can only pass by.
_PASSED = re.compile(
    rf"{re.escape(str(Path(torch.__file__).parent))}"
    rf"|{re.escape(str(Path(__file__).parent))}|{_STANDARD}/(?!site-packages/)"
    r"|<frozen|<call>|.*/(jaxtyping|beartype|numpy)/"
)


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
    return [frame for frame in passed if not _PASSED.match(frame.filename)]


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
        if not _PASSED.match(filename):
            path = Path(filename)
            shown = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else path
            return f" at {shown}:{number}"
    return ""


def is_ours(error: BaseException) -> bool:
    """Ask whether an error is one of the checks: it met no line of a reader."""
    return not frames(error)
