"""Run programs of pages in an interpreter, each in a process of its own."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from pytest_proofread.page.markdown import TIMEOUT, Program
from pytest_proofread.run.protocol import Job, Result, line, read_result

WORKER = Path(__file__).with_name("worker.py")


class Worker:
    """Runs programs one after the other; it starts with the first.

    Args:
        command: An interpreter with its options.
        options: Options of the worker.
        environment: The variables that programs find.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        options: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self.command = [*map(str, command), str(WORKER), *options]
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None

    def run(self, job: Job) -> Result:
        """Run a program and return what it did."""
        self.begin(job)
        return self.result()

    def begin(self, job: Job) -> None:
        """Begin a program, and do not wait for it."""
        self.process = process = self.process or self.start()
        if process.stdin is None:
            raise RuntimeError("a worker must have pipes.")
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(line(job))
            process.stdin.flush()

    def result(self) -> Result:
        """Wait for the program that was begun, and return what it did."""
        process = self.process
        if process is None or process.stdout is None:
            raise RuntimeError("a worker must have begun a program.")
        if text := process.stdout.readline():
            return read_result(text)
        self.close()
        sentence = f"the worker ended, with status {process.returncode}"
        return Result(problems=[sentence], finished=False)

    def start(self) -> subprocess.Popen[str]:
        """Start the worker where no key that a person presses reaches it."""
        return subprocess.Popen(  # noqa: S603
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=self.environment,
            start_new_session=True,
        )

    def close(self) -> None:
        """End the worker, and the program that it runs."""
        if self.process is not None:
            self.process.terminate()
            with contextlib.suppress(BrokenPipeError):
                self.process.communicate()
            self.process = None

    def __enter__(self) -> "Worker":
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the worker."""
        self.close()


class Lookahead:
    """Runs programs in order, and begins one more while it waits for one.

    Args:
        workers: Two workers, which take turns, or a single one, which begins nothing
            ahead of time.
    """

    def __init__(self, *workers: Worker) -> None:
        self.workers = workers
        self.idle = list(workers)
        self.begun: tuple[Job, Worker] | None = None

    def run(self, job: Job, following: Job | None = None) -> Result:
        """Run a program, and begin the one that is asked for after it.

        Args:
            job: The program.
            following: The program that comes next, if one is known.

        Returns:
            What `job` did.
        """
        worker = self.take(job)
        if following is not None and self.idle:
            ahead = self.idle.pop()
            ahead.begin(following)
            self.begun = following, ahead
        result = worker.result()
        self.idle.append(worker)
        return result

    def take(self, job: Job) -> Worker:
        """Return the worker that has begun a program, or one that begins it now."""
        if self.begun is not None:
            begun, worker = self.begun
            self.begun = None
            if begun == job:
                return worker
            worker.close()  # nobody asks for that program any more
            self.idle.append(worker)
        worker = self.idle.pop()
        worker.begin(job)
        return worker

    def close(self) -> None:
        """End the workers, and what they run, also where a person interrupted that."""
        for worker in self.workers:
            worker.close()


def current_interpreter() -> Worker:
    """Return a worker in this interpreter, importing from where this process does.

    Of the environment it has all but what pytest has added.
    """
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return Worker([sys.executable, "-P"], path, clean)


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
    limit: float = 600.0

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
    about = Job(code or program.code, page, program.line, watch=watch)
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
