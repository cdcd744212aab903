"""Start each program as a fork of a server that has loaded what programs import.

That is what a program says at its top, and what libraries import while it runs.
The server imports and computes nothing, so that no library has threads when it forks.
What cannot be imported unnoticed (it prints, warns, fails, hangs, crashes or starts a
thread) ends the server; the next one leaves that to the programs.
"""

import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import IO, NoReturn

from pytest_proofread.run.exit_status import LOOK_SECONDS, may_go_on, result_of
from pytest_proofread.run.imports import NotQuietError, at_top, load
from pytest_proofread.run.orphans import adopt, end_adopted, end_with_parent
from pytest_proofread.run.program import EXIT, Files, flush, run_and_exit
from pytest_proofread.run.protocol import Job, Result, line, read_job, read_result

# Seconds: to import a module beforehand, and to say where one is that has to stop.
PATIENCE, ABORT_GRACE_SECONDS = 300.0, 1.0


class ForkServer:
    """A process that forks one for each program.

    Args:
        path: Where programs import from.
        inherited: Descriptors of this process that the server must not keep open.
    """

    def __init__(self, path: Sequence[str], inherited: Sequence[int] = ()) -> None:
        self.path = path
        self.inherited = inherited
        self.left: set[str] = set()
        self.process = 0
        self.status = 0

    def run(self, job: Job) -> Result:
        """Run a program, in a new server if a module had ended the last one."""
        while True:
            if not self.process:
                self.start()
            loading = ""
            with contextlib.suppress(BrokenPipeError):
                self.jobs.write(line(job))
                self.jobs.flush()
            for text in self.answers:
                message = json.loads(text)
                if "loading" not in message:
                    return read_result(text)
                loading = message["loading"]
            self.stop()
            if not loading or loading in self.left:
                sentence = f"the server of programs ended, with status {self.status}"
                return Result(problems=[sentence], finished=False)
            self.left.add(loading)

    def start(self) -> None:
        """Fork the server, with a pipe to it and one from it."""
        # Who waits for a child hears of its end, and loses no such signal.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        (take, give), (hear, say) = os.pipe(), os.pipe()
        flush()
        self.process = os.fork()
        if self.process == 0:
            try:
                end_with_parent(signal.SIGTERM)
                adopt()
                for descriptor in (give, hear, *self.inherited):
                    os.close(descriptor)
                serve(take, say, self.path, self.left)
            finally:
                EXIT(1)
        os.close(take)
        os.close(say)
        self.jobs: IO[str] = os.fdopen(give, "w")
        self.answers: IO[str] = os.fdopen(hear)

    def stop(self) -> None:
        """End the server, and the program that it runs."""
        if not self.process:
            return
        os.kill(self.process, signal.SIGTERM)
        # It has a program to end, which nobody else would.
        status = wait(self.process, PATIENCE)
        if status is None:  # it is somewhere where it hears no signal
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            status = -signal.SIGKILL
        self.process, self.status = 0, status
        with contextlib.suppress(BrokenPipeError):
            self.jobs.close()
        self.answers.close()


# ---- In the server -------------------------------------------------------------------


def serve(take: int, say: int, path: Sequence[str], left: Iterable[str]) -> NoReturn:
    """Be the server: load what a program imports, and fork a process that runs it."""
    signal.signal(signal.SIGTERM, end)
    errors = os.dup(2)
    loader = Loader(path, left, os.fdopen(say, "w"))
    status = 1
    try:
        lately: list[str] = []
        for text in os.fdopen(take):
            job = read_job(text)
            loader.load([*at_top(job.code), *lately])
            result = fork(job, path, (take, say, errors))
            # What a library imports when it is first used, each program would import.
            lately = result.loaded
            loader.say(line(replace(result, loaded=[])))
        status = 0
    except (KeyboardInterrupt, SystemExit, NotQuietError):
        pass
    except BaseException:
        os.dup2(errors, 2)
        traceback.print_exc()
    finally:
        EXIT(status)


def end(number: int, frame: object) -> NoReturn:
    """End the server by an exception, so that its program ends too."""
    raise SystemExit(number)


class Loader:
    """Imports modules in a server, in an empty folder, and sees whether they are quiet.

    Args:
        path: Where modules are looked for.
        left: Those that are left to the programs.
        answers: Where it says what is being loaded.
    """

    def __init__(
        self, path: Sequence[str], left: Iterable[str], answers: IO[str]
    ) -> None:
        self.tried = set(left)
        self.answers = answers
        # It lives until the server ends, and has no name.
        self.heard = tempfile.TemporaryFile()  # noqa: SIM115
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((null, *2 * [self.heard.fileno()])):
            os.dup2(descriptor, number)
        sys.path[:] = path

    def say(self, text: str) -> None:
        """Send a line."""
        self.answers.write(text)
        self.answers.flush()

    def load(self, names: Sequence[str]) -> None:
        """Import modules that were not tried before.

        Raises:
            NotQuietError: If a module would not go unnoticed.
        """
        new = [name for name in dict.fromkeys(names) if name not in self.tried]
        self.tried.update(new)
        for name in (name for name in new if name not in sys.modules):
            self.say(json.dumps({"loading": name}) + "\n")
            # Both signals end the process, wherever in C it is.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            load(name)
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGTERM, end)
            flush()
            if os.fstat(self.heard.fileno()).st_size:
                raise NotQuietError(f"{name} wrote something")
        if new:
            # What is never collected is never written to, and stays shared.
            gc.collect()
            gc.freeze()


@contextlib.contextmanager
def new_files() -> Iterator[Files]:
    """Make the files of a program in a new folder, and remove it."""
    # Not `TemporaryDirectory`: the program would remove it when it ends.
    folder = os.path.realpath(tempfile.mkdtemp())
    try:
        yield Files(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fork(job: Job, path: Sequence[str], own: Sequence[int]) -> Result:
    """Run a program in a process of its own, and end all that is left of it."""
    with new_files() as files:
        flush()
        begun, begin = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                end_with_parent(signal.SIGKILL)
                detach_from_server([*own, begun])
                run_and_exit(job, path, files, begin)
            finally:
                EXIT(1)
        ended = False
        try:
            os.close(begin)
            with open(begun, "rb") as pipe:
                pipe.read()
            status = wait(process, job.limit, lambda: may_go_on(job, files))
            if status is None:
                # It says where it is, if it can.
                os.kill(process, signal.SIGABRT)
                ended = wait(process, ABORT_GRACE_SECONDS) is not None
            else:
                ended = True
        finally:
            end_group(process, ended)
            end_adopted()
        return result_of(job, status, files)


def detach_from_server(own: Sequence[int]) -> None:
    """Make the fork of a server a process that has nothing to do with it."""
    os.setsid()
    for descriptor in own:
        os.close(descriptor)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def wait(
    process: int, seconds: float, may_go_on: Callable[[], bool] = lambda: True
) -> int | None:
    """Wait for a process; return with what it ended, or nothing if it did not.

    Args:
        process: A child of this one.
        seconds: How long it may take.
        may_go_on: Is asked every now and then; if it says no, the wait is over.
    """
    over = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        left = over - time.monotonic()
        if left <= 0 or not may_go_on():
            return None
        signal.sigtimedwait({signal.SIGCHLD}, min(left, LOOK_SECONDS))


def end_group(process: int, ended: bool) -> None:
    """Kill a process, if it has not ended, and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if not ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
