"""Errors of other people's code, in one line."""

import os
import re
import sysconfig
import traceback
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
    found = frames(error)
    if not found:
        return ""
    path = found[-1].filename
    if Path(path).is_relative_to(Path.cwd()):
        path = os.path.relpath(path)
    return f" at {path}:{found[-1].lineno}"
