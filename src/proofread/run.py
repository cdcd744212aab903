"""Run a program of a page as a fresh interpreter would, in the process that is there.

It needs nothing but the standard library, so that it also runs, by its path, where
only the reader's packages are installed:

    python run.py < programs.jsonl > results.jsonl

What a program may have changed is put back before the next one runs: the working
directory, the environment, `sys.argv`, `sys.path`, the names of the project's modules
and classes, the random numbers, and the settings of NumPy and PyTorch where they are
loaded. What cannot be put back is a module that was written in C, or an `os._exit`.
"""

import ast
import builtins
import contextlib
import copy
import ctypes
import faulthandler
import importlib
import io
import json
import linecache
import os
import random
import signal
import sys
import tempfile
import threading
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 60.0
MISSING = object()
Restore = Callable[[], object]


class TimeLimitError(BaseException):
    """A program ran longer than it may; no `except Exception` catches this."""


@dataclass
class Result:
    """What a program did."""

    output: str = ""
    error: BaseException | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def refusal(self) -> str:
        """The error that it ended with, as the last line of a traceback shows it."""
        return describe(self.error) if self.error is not None else ""


def describe(error: BaseException) -> str:
    """Return type and message, as the end of a traceback has them."""
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__
    name = f"{module}.{kind.__qualname__}" if module else kind.__qualname__
    return f"{name}: {error}" if str(error) else name


# ---- What a fresh interpreter has --------------------------------------------------


def of_numpy(numpy: Any) -> Restore:
    """Remember the settings of NumPy; its random numbers start anywhere."""
    options, errors = numpy.get_printoptions(), numpy.geterr()

    def restore() -> None:
        numpy.random.seed()
        numpy.set_printoptions(**options)
        numpy.seterr(**errors)

    return restore


def of_torch(torch: Any) -> Restore:
    """Remember the settings of PyTorch; its random numbers start anywhere."""
    options = copy.copy(torch._tensor_str.PRINT_OPTS)
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    threads = torch.get_num_threads()
    precision = torch.get_float32_matmul_precision()

    def restore() -> None:
        torch._tensor_str.PRINT_OPTS.__dict__.update(vars(options))
        torch.seed()
        torch.set_default_dtype(dtype)
        torch.set_default_device(None if device.type == "cpu" else device)
        torch.set_grad_enabled(True)
        torch.set_anomaly_enabled(False)
        torch.use_deterministic_algorithms(False)
        torch.set_float32_matmul_precision(precision)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)

    return restore


KNOWN = {"numpy": of_numpy, "torch": of_torch}


def names_of(module: types.ModuleType) -> Restore:
    """Remember the names of a module and of the classes that it defines."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    spaces = [(module, dict(vars(module))), *((c, dict(vars(c))) for c in classes)]

    def restore() -> None:
        for owner, names in spaces:
            now = vars(owner)
            for name in [*now.keys() - names.keys()]:
                # Python binds a submodule to its package once, and not again.
                if not isinstance(now[name], types.ModuleType):
                    delattr(owner, name)
            for name, value in names.items():
                if now.get(name, MISSING) is not value:
                    setattr(owner, name, value)

    return restore


class Interpreter:
    """Puts back what programs change, so that each finds what a fresh one has.

    Args:
        project: The folder whose modules a program may have changed; those of the
            packages that are installed are left alone.
    """

    def __init__(self, project: Path) -> None:
        self.project = project.resolve()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_")
        }
        self.path = list(sys.path)
        self.seen: set[str] = set()
        self.restores: list[Restore] = []

    def imports(self, code: str) -> None:
        """Import beforehand what a program will, to see it before it is changed."""
        for name in imported(code):
            # The program itself will show what is wrong.
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
        for name in sys.modules.keys() - self.seen:
            self.seen.add(name)
            module = sys.modules[name]
            if name in KNOWN:
                self.restores.append(KNOWN[name](module))
            elif isinstance(module, types.ModuleType) and self.owns(module):
                self.restores.append(names_of(module))

    def owns(self, module: types.ModuleType) -> bool:
        """Say whether a module is a part of the project, and not of what checks it."""
        file = getattr(module, "__file__", None)
        if not file or module.__name__.partition(".")[0] == __name__.partition(".")[0]:
            return False
        path = Path(file)
        return self.project in path.parents and "site-packages" not in path.parts

    def restore(self, threads: int = 0) -> None:
        """Put everything back, but let PyTorch use this many threads if not 0."""
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.argv[:] = [""]
        sys.path[:] = ["", *self.path]
        random.seed()
        for restore in self.restores:
            restore()
        if threads and "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(threads)

    @contextlib.contextmanager
    def fresh(self, code: str, threads: int = 0) -> Iterator[None]:
        """Run what is inside in a fresh state and an empty folder."""
        surrounding = dict(os.environ), list(sys.argv), list(sys.path), os.getcwd()
        self.imports(code)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            os.chdir(folder)
            self.restore(threads)
            modules = set(sys.modules)
            try:
                yield
            finally:
                self.restore()
                os.chdir(surrounding[3])
                self.forget(modules, Path(folder).resolve())
        os.environ.clear()
        os.environ.update(surrounding[0])
        sys.argv[:], sys.path[:] = surrounding[1:3]

    def forget(self, before: set[str], folder: Path) -> None:
        """Drop the modules that a program wrote itself."""
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file is None or folder in Path(file).resolve().parents:
                del sys.modules[name]
        importlib.invalidate_caches()


def imported(code: str) -> list[str]:
    """Return the names of the modules that a program imports."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names


# ---- One program -------------------------------------------------------------------


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


def execute(code: str, page: str, line: int, limit: float) -> BaseException | None:
    """Run a program as `__main__`; return what it raised."""
    with main_module(page, line, code) as module:
        interrupts: list[int] = []

        def interrupt(number: int, frame: object) -> None:
            interrupts.append(number)
            raise KeyboardInterrupt

        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupt) if in_main else None
        try:
            program = compile("\n" * line + code, page, "exec", dont_inherit=True)
            with limited(limit):
                exec(program, vars(module))  # noqa: S102
        except BaseException as error:
            if interrupts:  # a person asked, not the program
                raise
            return error
        finally:
            if in_main:
                signal.signal(signal.SIGINT, before)
    return None


def run(
    code: str,
    interpreter: Interpreter,
    *,
    page: str = "<page>",
    line: int = 0,
    limit: float = LIMIT,
    threads: int = 0,
) -> Result:
    """Run a program as if it were pasted into a fresh interpreter.

    Args:
        code: The program.
        interpreter: What is put back before and after.
        page: The file that a traceback names.
        line: The line of the page above the program's first.
        limit: Seconds after which the program is stopped.
        threads: How many threads PyTorch uses; 0 for as many as by itself.

    Returns:
        What it printed and how it ended. That it wrote to stderr or gave a warning
        is a problem.
    """
    result = Result()
    with (
        interpreter.fresh(code, threads),
        captured(2, "stderr") as stderr,
        captured(1, "stdout") as stdout,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        result.error = execute(code, page, line, limit)
    result.output = stdout[0]
    for warning in warned:
        where = f"line {warning.lineno}" if warning.filename == page else "a package"
        kind = warning.category.__name__
        result.problems.append(f"warned, from {where}: {kind}: {warning.message}")
    if stderr[0]:
        result.problems.append(f"wrote to stderr:\n{stderr[0].rstrip()}")
    return result


def main() -> None:
    """Run the programs that stdin has, one a line; write one result a line."""
    interpreter = Interpreter(Path.cwd())
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as results:
        for text in sys.stdin:
            result = run(interpreter=interpreter, **json.loads(text))
            trace = ""
            if result.error is not None:
                trace = "".join(traceback.format_exception(result.error))
            answer = {
                "output": result.output,
                "error": result.refusal,
                "problems": result.problems,
                "traceback": trace,
            }
            results.write(json.dumps(answer) + "\n")
            results.flush()


if __name__ == "__main__":
    faulthandler.enable()
    main()
