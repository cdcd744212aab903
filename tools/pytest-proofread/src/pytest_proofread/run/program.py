"""Run one program of a page in a process that was made for it and ends with it.

The process may be a fresh interpreter or the fork of one that has loaded libraries.
Nothing has to be put back, and nothing that the program does reaches another one.
"""

import atexit
import builtins
import contextlib
import ctypes
import faulthandler
import importlib
import io
import linecache
import marshal
import os
import random
import signal
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pytest_proofread.run.imports import of_packages
from pytest_proofread.run.protocol import Job, Row

# As the program finds them it may have changed them.
EXIT, OPEN, WRITE = os._exit, os.open, os.write
KEPT: list[object] = []


class Report(NamedTuple):
    """What only the process of a program can say of it."""

    error: str
    traceback: str
    problems: list[str]
    seen: list[Row]
    loaded: list[str]


def run_and_exit(job: Job, path: Sequence[str], files: "Files", begin: int) -> NoReturn:
    """Run a program, write down how it ended, and end this process.

    Args:
        job: The program.
        path: Where it imports from, besides its folder.
        files: Its folder, and where what it says is written.
        begin: The end of a pipe; it is closed when the program begins, so that its
            limit does not count what Python needs to start.
    """
    status = 1
    try:
        redirect(files)
        prepare(path, job)
        os.close(begin)
        report = run(job)
        flush()
        save(files.report, report)
        status = 0
    except BaseException:
        traceback.print_exc()
        flush()
    finally:
        EXIT(status)


class Files:
    """The files of one program, in a folder made for it.

    Args:
        folder: A new folder.
    """

    def __init__(self, folder: str) -> None:
        self.home = os.path.join(folder, "home")
        self.stdout = os.path.join(folder, "stdout")
        self.stderr = os.path.join(folder, "stderr")
        self.report = os.path.join(folder, "report")
        os.makedirs(self.home, exist_ok=True)

    def printed(self) -> int:
        """Return how many bytes the program has written so far."""
        sizes = 0
        for file in (self.stdout, self.stderr):
            with contextlib.suppress(FileNotFoundError):
                sizes += os.stat(file).st_size
        return sizes


def save(file: str, report: Report) -> None:
    """Write a report; `marshal` is in C, and no program can have changed it."""
    data = marshal.dumps(tuple(report))
    descriptor = OPEN(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    while data:
        data = data[WRITE(descriptor, data) :]


def read_report(file: str) -> Report | None:
    """Return the report of a program, or nothing if it came to write none."""
    try:
        return Report(*marshal.loads(Path(file).read_bytes()))  # noqa: S302
    except (OSError, EOFError, ValueError, TypeError):
        return None


# ---- What a fresh interpreter has ----------------------------------------------------


def redirect(files: Files) -> None:
    """Let Python, C and child processes read nothing and write into files."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    ways = (os.devnull, os.O_RDONLY), (files.stdout, flags), (files.stderr, flags)
    for number, (file, mode) in enumerate(ways):
        descriptor = os.open(file, mode, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, "rb", closefd=False))  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = stream(1, "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = stream(2, "backslashreplace")  # type: ignore[misc]
    faulthandler.enable(2)
    os.chdir(files.home)


def stream(number: int, errors: str) -> io.TextIOWrapper:
    """Return a stream that holds nothing back, so that the order of lines is kept."""
    raw = io.FileIO(number, "wb", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)


def prepare(path: Sequence[str], job: Job) -> None:
    """Make what a program finds as a reader finds it who starts Python."""
    sys.argv[:] = [""]
    sys.path[:] = ["", *path]
    sys.breakpointhook = no_breakpoint
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # What libraries would do at the end of Python takes longer than most programs; and
    # so does it to drop that here.
    finalize: Any = weakref.finalize
    KEPT.append(finalize._registry)
    finalize._registry = {}
    start_random_numbers_anywhere()


def start_random_numbers_anywhere() -> None:
    """Give each program random numbers of its own; else all forks draw the same."""
    random.seed()
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        # `torch.seed` would do it for each device, and load half of PyTorch.
        torch.random.default_generator.seed()


def no_breakpoint(*_: object, **__: object) -> NoReturn:
    """Refuse to wait for somebody who is not there."""
    raise RuntimeError("a program of a page must not call breakpoint().")


def main_module(job: Job) -> types.ModuleType:
    """Make a `__main__` whose source Python finds in the page, at its own lines."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __file__=job.page)
    # Nothing but the program: inspect parses all that a file has.
    lines = ["\n"] * job.line + [f"{text}\n" for text in job.code.split("\n")]
    linecache.cache[job.page] = (sum(map(len, lines)), None, lines, job.page)
    sys.modules["__main__"] = module
    return module


# ---- The program ---------------------------------------------------------------------


def run(job: Job) -> Report:
    """Run a program as `__main__`, to the end of its threads and exit functions."""
    process = os.getpid()
    before = frozenset(sys.modules)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        names = vars(main_module(job))
        error, watch = execute(job, names)
        finish()
        if os.getpid() != process:
            exit_as_python(error)
        seen = watch.seen(names) if watch is not None else []
        loaded = [name for name in sys.modules if name not in before]
        text = ""
        if error is not None:
            text = "".join(traceback.format_exception(error))
        said = describe(error) if error is not None else ""
        ends = not isinstance(error, Exception | None)
        # A file that was left open warns when nothing refers to it any more.
        error = None
        names.clear()
    problems = [as_problem(warning, job.page) for warning in warned]
    if ends:
        problems.insert(0, f"the program must not end Python; got {said}")
    return Report(said, text, problems, seen, [*of_packages(loaded)])


def execute(job: Job, names: dict[str, Any]) -> tuple[BaseException | None, Any]:
    """Run the text of a program.

    Returns:
        What it raised, beginning in the page, and what has looked on, if anything did.
    """
    watch = None
    try:
        code = compile("\n" * job.line + job.code, job.page, "exec", dont_inherit=True)
        watch = watching(job, code)
        with watch if watch is not None else contextlib.nullcontext():
            exec(code, names)  # noqa: S102
    except BaseException as error:
        inside = error.__traceback__
        error.with_traceback(inside.tb_next if inside else None)
        return error, watch
    return None, watch


def watching(job: Job, code: types.CodeType) -> Any:
    """Return what looks on while a program runs, if it is to be watched."""
    if not job.watch:
        return None
    module, _, name = job.watch.partition(":")
    return getattr(importlib.import_module(module), name)(code)


def finish() -> None:
    """Wait for threads and call what waits for the end, as Python does."""
    with contextlib.suppress(AttributeError):
        threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


def exit_as_python(error: BaseException | None) -> NoReturn:
    """End a process that the program has forked, and that went on as its parent."""
    status = 0
    if isinstance(error, SystemExit):
        status = error.code if isinstance(error.code, int) else int(bool(error.code))
    elif error is not None:
        traceback.print_exception(error)
        status = 1
    flush()
    EXIT(status)


def flush() -> None:
    """Write out what Python and C still hold back."""
    for name in ("stdout", "stderr"):
        # It may be anything that a program put there.
        with contextlib.suppress(Exception):
            getattr(sys, name).flush()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)


def describe(error: BaseException) -> str:
    """Return type and message, as the end of a traceback has them."""
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__
    name = f"{module}.{kind.__qualname__}" if module else kind.__qualname__
    try:
        # Where it is wrong is no part of the message: lines of a page move.
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        message = "<exception str() failed>"
    return f"{name}: {message}" if message else name


def as_problem(warning: warnings.WarningMessage, page: str) -> str:
    """Return a warning as a sentence."""
    where = f"line {warning.lineno}" if warning.filename == page else "a package"
    return f"warned, from {where}: {warning.category.__name__}: {warning.message}"
