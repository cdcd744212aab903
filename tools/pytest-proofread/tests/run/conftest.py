"""A worker, which runs the programs of many tests."""

import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest

from pytest_proofread.pytest_plugin.lookahead import current_interpreter
from pytest_proofread.runner import Job, Result, Worker

Run = Callable[..., Result]
WAYS = ["spawn"] if sys.platform != "linux" else ["fork", "spawn"]


def running(worker: Worker) -> Run:
    """Return what runs a text with this worker."""

    def run(code: str, **rest: object) -> Result:
        return worker.run(Job(textwrap.dedent(code), **{"limit": 3600.0} | rest))

    return run


def printing(run: Run) -> Callable[..., str]:
    """Return what runs a program that must print and do nothing else."""

    def printed(code: str, **rest: object) -> str:
        result = run(code, **rest)
        assert result.error == "", result.traceback
        assert result.problems == []
        return result.output

    return printed


@pytest.fixture(scope="session")
def workers() -> Iterator[dict[str, Worker]]:
    """Return a worker for each way in which a program can be started."""
    found = {way: current_interpreter() for way in WAYS}
    for way, worker in found.items():
        worker.command.append(f"--start={way}")
    yield found
    for worker in found.values():
        worker.close()


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest, workers: dict[str, Worker]) -> Run:
    """Run a program, in each way in which one can be started."""
    return running(workers[request.param])


@pytest.fixture
def printed(run: Run) -> Callable[..., str]:
    """Return what a program prints, in each way in which one can be started."""
    return printing(run)


@pytest.fixture
def usual(workers: dict[str, Worker]) -> Run:
    """Run a program in the way that is usual here."""
    return running(workers[WAYS[0]])


@pytest.fixture
def usually_printed(usual: Run) -> Callable[..., str]:
    """Return what a program prints, in the way that is usual here."""
    return printing(usual)
