"""Run the programs of pages in this interpreter, one of them ahead of time."""

import os
import sys

from pytest_proofread.runner import Job, Result, Worker


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
