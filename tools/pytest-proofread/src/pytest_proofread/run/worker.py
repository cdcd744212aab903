"""Run programs of pages, each in a process of its own.

It needs nothing but the standard library, so that it also runs, by its path, where
only the reader's packages are installed:

    python -I worker.py < programs.jsonl > results.jsonl

Each line is a job, and has its result in a line of `pytest_proofread.run.protocol`.
Whatever a program does, the others run. On Linux a process is forked from a server that
has loaded what programs import; on macOS each program has a fresh interpreter, since
libraries there may not survive a fork.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NoReturn, Protocol

HERE = Path(__file__).resolve()
# By its path it must find its parts, and its programs must not find this project.
if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE.parent]
    sys.path.insert(0, str(HERE.parents[2]))
from pytest_proofread.run.orphans import end_with_parent  # noqa: E402
from pytest_proofread.run.protocol import Job, Result, line, read_job  # noqa: E402
from pytest_proofread.run.spawning import Spawner, run_spawned  # noqa: E402

if __name__ == "__main__":
    del sys.path[0]


class Starter(Protocol):
    """Starts a process for a program."""

    def run(self, job: Job) -> Result:
        """Run a program."""
        ...

    def stop(self) -> None:
        """End what is still there."""
        ...


def usual_way() -> str:
    """Return how programs are started here, if nothing else is asked for."""
    return "fork" if sys.platform == "linux" else "spawn"


def starter(way: str, path: Sequence[str], inherited: Sequence[int]) -> Starter:
    """Return what starts programs."""
    if way == "spawn":
        return Spawner(path, HERE)
    from pytest_proofread.run.forking import (
        ForkServer,  # a spawned program needs none of it
    )

    return ForkServer(path, inherited)


def work(jobs: IO[str], results: IO[str], start: Starter) -> None:
    """Answer each job with its result."""
    try:
        for text in jobs:
            results.write(line(start.run(read_job(text))))
            results.flush()
    finally:
        start.stop()


def end(number: int, frame: object) -> NoReturn:
    """End by an exception, so that what was started ends too."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the programs that stdin has, one a line; write one result a line."""
    parser = argparse.ArgumentParser(description="run programs, one a line of JSON")
    parser.add_argument("path", nargs="*", help="where they import from")
    parser.add_argument("--start", choices=["fork", "spawn"], default=usual_way())
    parser.add_argument("--program", metavar="MODULES", help="be one that it starts")
    options = parser.parse_args(arguments)
    if options.program is not None:
        run_spawned(options.program.split())
    signal.signal(signal.SIGTERM, end)
    end_with_parent(signal.SIGTERM)
    # A program must not write among the results.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    start = starter(options.start, options.path or sys.path, [results.fileno()])
    with results:
        work(sys.stdin, results, start)


if __name__ == "__main__":
    main()
