"""Hold a program: take what it writes, stop it in time, be its main module."""

import builtins
import contextlib
import ctypes
import io
import itertools
import linecache
import os
import signal
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Callable, Iterator

# What ends a process without a word; the first of these is needed to do so in earnest.
ENDS = ("_exit", "abort", "execv", "execve")
EXIT = os._exit
PATIENCE = 10


class TimeLimitError(BaseException):
    """A program ran longer than it may; no `except Exception` catches this."""


def flush() -> None:
    """Write out what Python and C still hold back."""
    for stream in (sys.stdout, sys.stderr):
        # It may be anything that a program put there.
        with contextlib.suppress(Exception):
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
        own = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        setattr(sys, name, own)
        try:
            yield text
        finally:
            flush()
            own.close()
            setattr(sys, name, before)
            os.dup2(saved, number)
            os.close(saved)
            file.seek(0)
            text.append(file.read().decode("utf-8", "replace"))


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise in the program when its time is over, again and again until it ends.

    One that does not end even then takes this process with it: better than a run that
    hangs. Where signals reach no program (on Windows, or in another thread) nothing
    limits it.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    sentence = f"the program must end within {seconds:g} s."
    rings = itertools.count(1)

    def ring(number: int, frame: object) -> None:
        if next(rings) > PATIENCE:
            os.write(2, f"{sentence} It cannot be stopped.\n".encode())
            EXIT(1)
        raise TimeLimitError(sentence)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, min(seconds, 1.0))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def kept_alive() -> Iterator[None]:
    """Let no program end this process, and no child that it forks go on as it."""
    process = os.getpid()
    real = {name: getattr(os, name) for name in ENDS}

    def guarded(name: str) -> Callable[..., object]:
        def end(*arguments: object) -> object:
            if os.getpid() == process:
                raise SystemExit(f"os.{name}")
            return real[name](*arguments)

        return end

    try:
        for name in real:
            setattr(os, name, guarded(name))
        yield
    finally:
        for name, function in real.items():
            setattr(os, name, function)
        if os.getpid() != process:
            error = sys.exc_info()[1]
            failed = error is not None and not isinstance(error, SystemExit)
            if failed:
                traceback.print_exc()
            flush()
            EXIT(int(failed))


@contextlib.contextmanager
def main_module(page: str, line: int, code: str) -> Iterator[types.ModuleType]:
    """Make a `__main__` whose source Python finds in the page, at its own lines."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __file__=page)
    lines = ["\n"] * line + [f"{text}\n" for text in code.split("\n")]
    # Nothing but the program: inspect parses all that a file has.
    linecache.cache[page] = (sum(map(len, lines)), None, lines, page)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.modules["__main__"] = before
