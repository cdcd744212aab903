"""Hold a program: take what it writes, stop it in time, be its main module."""

import builtins
import contextlib
import ctypes
import io
import linecache
import os
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Iterator


class TimeLimitError(BaseException):
    """A program ran longer than it may; no `except Exception` catches this."""


def flush() -> None:
    """Write out what Python and C still hold back."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def captured(number: int, name: str) -> Iterator[list[str]]:
    """Take what is written to a stream, by this process, its C code and children."""
    text: list[str] = []
    flush()
    before, saved = getattr(sys, name), os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        raw = os.fdopen(os.dup(number), "wb", buffering=0)
        setattr(sys, name, io.TextIOWrapper(raw, encoding="utf-8", write_through=True))
        try:
            yield text
        finally:
            flush()
            getattr(sys, name).close()
            setattr(sys, name, before)
            os.dup2(saved, number)
            os.close(saved)
            file.seek(0)
            text.append(file.read().decode("utf-8", "replace"))


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise in the program when its time is over, again and again until it ends.

    Where signals reach no program (on Windows, or in another thread) nothing limits it.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TimeLimitError(f"the program must end within {seconds:g} s.")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def main_module(page: str, line: int, code: str) -> Iterator[types.ModuleType]:
    """Make a `__main__` whose source Python finds in the page, at its own lines."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __file__=page)
    lines = ["\n"] * line + code.splitlines(keepends=True)
    # Nothing but the program: inspect parses all that a file has.
    linecache.cache[page] = (sum(map(len, lines)), None, lines, page)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.modules["__main__"] = before
