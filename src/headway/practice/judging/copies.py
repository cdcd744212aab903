"""Judge many files: PyTorch is imported once, and each gets a copy of this process."""

import contextlib
import json
import multiprocessing
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

from headway.practice.judging.worker import (
    LIMIT,
    NoVerdictError,
    Process,
    Worker,
    import_all,
    too_long,
    verdict_on,
)

CAN_COPY = hasattr(os, "fork")  # not on Windows
_Answer = TypeVar("_Answer")


class Copies(Worker):
    """Judges each file in a copy of this process, which needs no time to start.

    Args:
        limit: How many seconds a file may take.
    """

    def __init__(self, *, limit: float = LIMIT) -> None:
        import_all()
        super().__init__(limit=limit, ahead=False)

    def _started(self) -> Process:
        return _Copy()


class _Copy(Process):
    """A copy of this process, which answers one request."""

    def __init__(self) -> None:
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self.of_the_start = 0
        context = multiprocessing.get_context("fork")
        self.reader, self.writer = context.Pipe(duplex=False)
        self.copy = context.Process(target=self._answer)
        self.request = ""

    def wait_until_ready(self, limit: float) -> None:
        """Do nothing: what it needs was imported before."""

    def ask(
        self, request: str, limit: float, read: Callable[[str], _Answer]
    ) -> _Answer:
        """Have a request answered."""
        self.request = request
        with warnings.catch_warnings(action="ignore"):  # of the threads of libraries
            self.copy.start()
        self.writer.close()
        end, text = time.monotonic() + limit, ""
        if self.reader.poll(limit):
            with contextlib.suppress(EOFError):  # it has ended without an answer
                text = self.reader.recv_bytes().decode(errors="replace")
        # To join it would wait for what it has started and left, too.
        while self.copy.exitcode is None:
            if time.monotonic() >= end:
                raise too_long(limit)
            time.sleep(0.001)
        try:
            return read(text)
        except ValueError:
            raise NoVerdictError(self._ended("It ended Python")) from None

    def _status(self) -> int | None:
        return self.copy.exitcode

    def _answer(self) -> None:
        """Answer the request; this is done in the copy."""
        os.setsid()  # what it starts is ended with it
        for number in (0, 1):  # nothing is typed, and what is printed is no answer
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        os.dup2(self.complaints.fileno(), 2)
        verdict = verdict_on(json.loads(self.request))
        self.writer.send_bytes(verdict.to_json().encode())
        os._exit(0)  # threads that the file has left behind would keep it

    def end(self) -> None:
        """End it, and whatever it has started."""
        if self.copy.pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.copy.pid, signal.SIGKILL)
            self.copy.kill()
            self.copy.join()
        self.copy.close()
        self.reader.close()
        self.writer.close()
        self.complaints.close()
