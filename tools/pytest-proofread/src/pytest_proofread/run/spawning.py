"""Start each program in a fresh interpreter, where a fork may not survive.

The next interpreter is started while a program runs, and loads what programs import;
so a program waits for neither.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_proofread.run.exit_status import LOOK_SECONDS, may_go_on, result_of
from pytest_proofread.run.imports import NotQuietError, at_top, load
from pytest_proofread.run.orphans import (
    adopt,
    children,
    end_adopted,
    end_with_parent,
)
from pytest_proofread.run.program import Files, flush, run_and_exit
from pytest_proofread.run.protocol import Job, Result, line, read_job

# Seconds: to say where one is that has to stop, and to import modules beforehand.
ABORT_GRACE_SECONDS, PATIENCE = 1.0, 300
AHEAD = 2  # interpreters that wait for a program


class Spawner:
    """Starts a fresh interpreter for each program.

    Args:
        path: Where programs import from.
        worker: The file that is started.
    """

    def __init__(self, path: Sequence[str], worker: Path) -> None:
        self.path = path
        self.parent = os.getppid()
        self.modules: dict[str, None] = {}
        self.left: set[str] = set()
        self.waiting: list[Interpreter] = []
        isolated = ["-I"] if sys.flags.isolated else ["-P"]
        warned = [f"-W{option}" for option in sys.warnoptions]
        self.command = [sys.executable, *isolated, *warned, str(worker), "--program"]
        adopt()

    def run(self, job: Job) -> Result:
        """Run a program, and end all that is left of it."""
        while True:
            process = self.waiting.pop(0) if self.waiting else self.start()
            before = children()
            try:
                result = self.run_in(process, job)
            finally:
                process.end()
                end_adopted([*before, *(one.process.pid for one in self.waiting)])
            if result is not None:
                return result
            # A module does more than to be there: each program must import it itself.
            self.left.update(process.modules)
            self.stop()

    def run_in(self, process: "Interpreter", job: Job) -> Result | None:
        """Run a program; return nothing if the interpreter ended before it began."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            files = Files(os.path.realpath(folder))
            text = line(job) + json.dumps(self.path)
            Path(folder, "job").write_text(text, encoding="utf-8")
            if not process.begin(folder):
                return None
            self.modules.update(dict.fromkeys(at_top(job.code)))
            while len(self.waiting) < AHEAD:
                self.waiting.append(self.start())
            status = wait(
                process.process, job.limit, lambda: self.may_go_on(job, files)
            )
            return replace(result_of(job, status, files), loaded=[])

    def start(self) -> "Interpreter":
        """Start an interpreter that loads what programs import, and then waits."""
        modules = [name for name in self.modules if name not in self.left]
        return Interpreter(self.command, modules, [str(one) for one in self.path])

    def may_go_on(self, job: Job, files: Files) -> bool:
        """Say whether a program has printed no more than it may, and for somebody."""
        return may_go_on(job, files) and os.getppid() == self.parent

    def stop(self) -> None:
        """End the interpreters that wait."""
        while self.waiting:
            self.waiting.pop().end()


class Interpreter:
    """A fresh interpreter, which waits for one program.

    Args:
        command: What starts it.
        modules: What it loads before.
        path: Where it finds them.
    """

    def __init__(
        self, command: Sequence[str], modules: Sequence[str], path: Sequence[str]
    ) -> None:
        self.modules = modules
        self.process = subprocess.Popen(  # noqa: S603
            [*command, " ".join(modules)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.tell(json.dumps([*path]))

    def begin(self, folder: str) -> bool:
        """Let it run the program whose job lies in a folder; say whether it began."""
        self.tell(folder)
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("an interpreter must have pipes.")
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        with self.process.stdout as begun:
            # Its pipe is closed when the program begins, or with it.
            return begun.read() == b"begun" or not self.modules

    def tell(self, text: str) -> None:
        """Send it a line."""
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write(text.encode() + b"\n")
                self.process.stdin.flush()

    def end(self) -> None:
        """Kill it and all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def wait(
    process: subprocess.Popen[bytes], seconds: float, may_go_on: Callable[[], bool]
) -> int | None:
    """Wait for a process; stop it if it takes or prints too much; return nothing then.

    Args:
        process: A child of this one.
        seconds: How long it may take.
        may_go_on: Is asked every now and then; if it says no, the process is stopped.
    """
    over = time.monotonic() + seconds
    while (left := over - time.monotonic()) > 0 and may_go_on():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, LOOK_SECONDS))
    # It says where it is, if it can.
    process.send_signal(signal.SIGABRT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ABORT_GRACE_SECONDS)
    return None


# ---- In the interpreter --------------------------------------------------------------


def run_spawned(modules: Sequence[str]) -> None:
    """Load modules, wait for the folder of a program, run it, and end this process."""
    end_with_parent(signal.SIGKILL)
    begin = os.dup(1)  # a pipe, which closes when the program begins
    with os.fdopen(os.dup(0), encoding="utf-8") as lines:
        if modules and not loaded(modules, json.loads(lines.readline())):
            os._exit(1)
        if not modules:
            lines.readline()
        folder = lines.readline().rstrip("\n")
    if not folder:
        os._exit(0)  # nobody wants it any more
    job, path = Path(folder, "job").read_text(encoding="utf-8").splitlines()
    os.write(begin, b"begun")
    run_and_exit(
        read_job(job), json.loads(path), Files(os.path.realpath(folder)), begin
    )


def loaded(modules: Sequence[str], path: Sequence[str]) -> bool:
    """Load modules where nobody can notice it; say whether all were quiet."""
    before = sys.path[:]
    kept = [os.dup(number) for number in (0, 1, 2)]
    with tempfile.TemporaryFile() as heard, open(os.devnull, "rb") as null:
        for number, file in enumerate((null, heard, heard)):
            os.dup2(file.fileno(), number)
        sys.path[:] = path
        signal.alarm(PATIENCE)
        try:
            for name in modules:
                load(name)
        except NotQuietError:
            return False
        finally:
            flush()
            signal.alarm(0)
            sys.path[:] = before
            for number, descriptor in enumerate(kept):
                os.dup2(descriptor, number)
                os.close(descriptor)
        return os.fstat(heard.fileno()).st_size == 0
