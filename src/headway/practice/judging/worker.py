"""Judge files in processes of their own, so that none can hang or spoil another.

Importing PyTorch takes longer than judging: a process that has it imported always waits
for the next file.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar, cast

from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, Task

LIMIT = 10.0  # seconds
START_LIMIT = 300.0  # seconds; a slow disk may take one of them to give PyTorch
_TAIL = 2000  # of what Python complains about, in bytes
# The process takes this very package, wherever it lies. Its folder comes last in
# `sys.path`, or not at all: in PYTHONPATH, what else lies there would hide modules of
# Python itself. And -P: what lies in the folder where the reader works hides none.
_START = """\
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from os.path import dirname
spec = spec_from_file_location("headway", sys.argv[2])
root = dirname(dirname(sys.argv[2]))
sys.path += [root] if root not in sys.path else []
sys.modules["headway"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["headway"])
sys.exit(import_module(sys.argv[1]).main())
"""
_PACKAGE = Path(__file__).parents[2] / "__init__.py"
_Answer = TypeVar("_Answer")


def command(module: str) -> Sequence[str]:
    """Give what starts the `main` of a module of this package, and nothing else."""
    return (sys.executable, "-P", "-c", _START, module, str(_PACKAGE))


COMMAND = command(__name__)


class Worker:
    """Judges one file after another, each in a process that was started before.

    Args:
        limit: How many seconds a file may take, the import of PyTorch not counted.
        start_limit: How many seconds that import may take.
        ahead: Whether to start the process for the next file after each; not where
            one is judged alone.
        command: What starts a process that says when it is ready, reads a request and
            writes a verdict.
    """

    def __init__(
        self,
        *,
        limit: float = LIMIT,
        start_limit: float = START_LIMIT,
        ahead: bool = True,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self.limit = limit
        self.start_limit = start_limit
        self.ahead = ahead
        self.command = command
        self._next: Process | None = self._started()

    def judge(self, library: Library, task: Task, path: Path, *, seed: int) -> Verdict:
        """Judge a file; end it if it takes too long.

        Args:
            library: The set that the exercise belongs to.
            task: The exercise.
            path: The reader's file.
            seed: What the hidden numbers are drawn from.
        """
        request = {
            "set": str(library.folder),
            "name": task.name,
            "path": str(path),
            "seed": seed,
        }
        process, self._next = self._next or self._started(), None
        try:
            process.wait_until_ready(self.start_limit)
            return process.ask(json.dumps(request), self.limit, Verdict.from_json)
        except NoVerdictError as why:
            failed = Verdict(task.name, "failed", str(why), read=task.exercise.read)
            return replace(failed, seed=seed)
        except BaseException:  # the reader interrupts
            self.ahead = False
            raise
        finally:
            process.end()
            self._next = self._started() if self.ahead else None

    def _started(self) -> "Process":
        return Process(self.command)

    def close(self) -> None:
        """End the process that waits."""
        if self._next is not None:
            self._next.end()
            self._next = None

    def __enter__(self) -> "Worker":
        """Give the worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process that waits."""
        self.close()


class NoVerdictError(Exception):
    """Says in a sentence why a process gave no verdict."""


class Process:
    """Python, which imports what it needs, and then answers one request.

    Args:
        command: What starts it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        # A file takes whatever is written; a pipe that nobody reads would fill up.
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self.of_the_start = 0  # how much of it is of what is imported
        self.process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )

    def wait_until_ready(self, limit: float) -> None:
        """Wait for the line that says that all is imported."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.process.kill()  # which ends the wait

        timer = threading.Timer(limit, give_up)
        timer.start()
        try:
            line = cast(IO[str], self.process.stdout).readline()
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            raise NoVerdictError(
                f"Python must start within {limit:g} seconds: importing PyTorch took "
                "longer."
            )
        if not line:
            raise NoVerdictError(self._ended("Python could not start, and ended"))
        self.of_the_start = self._complained()

    def ask(
        self, request: str, limit: float, read: Callable[[str], _Answer]
    ) -> _Answer:
        """Have a request answered.

        Args:
            request: A JSON object.
            limit: How many seconds that may take.
            read: What reads the answer, and raises a `ValueError` if it is none.

        Raises:
            NoVerdictError: If it takes too long, or ends Python.
        """
        try:
            text, _ = self.process.communicate(request, timeout=limit)
        except subprocess.TimeoutExpired:
            raise too_long(limit) from None
        try:
            return read(text)
        except ValueError:
            raise NoVerdictError(self._ended("It ended Python")) from None

    def _ended(self, what: str) -> str:
        """Say its exit status, and the last line that it complained in, if any."""
        status = f"{what} with status {self._status()}"
        self.complaints.seek(max(self._complained() - _TAIL, self.of_the_start))
        said = self.complaints.read().decode(errors="replace").strip()
        return f"{status}: {said.splitlines()[-1]}" if said else f"{status}."

    def _status(self) -> int | None:
        return self.process.wait()

    def _complained(self) -> int:
        """Say how long its complaints are; to seek would move where it writes."""
        return os.fstat(self.complaints.fileno()).st_size

    def end(self) -> None:
        """End it, if it has not ended by itself."""
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired, ValueError, OSError):
            self.process.communicate(timeout=1)
        self.complaints.close()


def too_long(limit: float) -> NoVerdictError:
    """Say that something has not ended within so many seconds."""
    return NoVerdictError(
        f"It must end within {limit:g} seconds: a loop may never end."
    )


def main() -> NoReturn:
    """Read one request, judge the file, and write the verdict."""
    import_all()
    answer_one(lambda request: verdict_on(request).to_json())


def import_all() -> None:
    """Import in advance what judges, and what names more."""
    from headway import checks  # noqa: F401
    from headway.practice.judging import no_terminal  # noqa: F401


def answer_one(answered: Callable[[dict[str, Any]], str]) -> NoReturn:
    """Say that all is imported, read one request, and write what answers it."""
    print("ready", flush=True)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 1)  # nothing that the file prints is the answer
        text = answered(json.loads(sys.stdin.read()))
    with answer:
        answer.write(text)
    os._exit(0)  # threads that the file has left behind would keep it


def verdict_on(request: dict[str, Any]) -> Verdict:
    """Judge the file that a request names."""
    from headway.practice.judging.no_terminal import judge_without_terminal

    name, seed = request["name"], request["seed"]
    try:
        task = Library(Path(request["set"]))[name]
        return judge_without_terminal(task, Path(request["path"]), seed=seed)
    except Exception:
        sentence = (
            "It could not be judged because of a mistake in the exercise or in "
            "Headway. Please report it with the output below."
        )
        told = traceback.format_exc()
        return Verdict(name, "failed", sentence, traceback=told, seed=seed)
