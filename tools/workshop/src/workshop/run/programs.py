"""Run programs of pages in an interpreter of one's choice, several at once."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from pytest_proofread.page.markdown import TIMEOUT, Program
from pytest_proofread.runner import Job, Result, Worker

# Seconds after which a program is stopped that does not say how long it may take. Only
# what hangs comes to that, however busy the machine is.
LIMIT = 600.0


@dataclass(frozen=True)
class Python:
    """An interpreter, and how programs run in it.

    Args:
        python: The interpreter.
        ignore: How the warnings begin that every reader gets and may forget.
        limit: Seconds that a program may take that is no block of a page.
    """

    python: Path
    ignore: Sequence[str] = ()
    limit: float = LIMIT

    @property
    def command(self) -> list[str | Path]:
        """The interpreter with its options."""
        warnings = [f"-Wignore:{message}" for message in self.ignore]
        return [self.python, "-Xutf8", *warnings]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of this process, without what is set for Python here."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        # Threads that wait sleep: several programs run at once.
        clean.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        return clean

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run Python in an empty folder."""
        with tempfile.TemporaryDirectory() as folder:
            command = [*self.command, *arguments]
            try:
                return subprocess.run(  # noqa: S603
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    encoding="utf-8",
                    timeout=self.limit,
                    cwd=folder,
                    env=self.environment,
                )
            except subprocess.TimeoutExpired:
                late = f"it did not end within {self.limit:g} s"
                return subprocess.CompletedProcess(command, 1, "", late)

    def worker(self) -> Worker:
        """Return a worker in this interpreter."""
        return Worker([*self.command, "-I"], [], self.environment)


def job(page: str, program: Program, code: str = "", *, watch: str = "") -> Job:
    """Return a program as a job, with another text if one is given."""
    about = Job(code or program.code, page, program.line, limit=LIMIT, watch=watch)
    marks = map(TIMEOUT.fullmatch, program.marks)
    limits = [float(mark[1]) for mark in marks if mark]
    return replace(about, limit=limits[0]) if limits else about


def run_jobs(python: Python, jobs: Sequence[Job], at_once: int = 1) -> list[Result]:
    """Run programs, each in a process of its own.

    Args:
        python: Where they run.
        jobs: The programs.
        at_once: How many may run at the same time; each has a worker that starts it.

    Returns:
        What they did, in their order.
    """
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(at_once) as pool:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(at_once):
            idle.put(stack.enter_context(python.worker()))

        def run(job: Job) -> Result:
            worker = idle.get()
            try:
                return worker.run(job)
            finally:
                idle.put(worker)

        return [*pool.map(run, jobs)]
