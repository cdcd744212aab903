"""Run programs, each in a process of its own, as a fresh interpreter would.

    with Worker([sys.executable, "-P"], path, os.environ) as worker:
        result = worker.run(Job("print(1 + 1)", limit=10.0))

It needs nothing but the standard library, so this one file also runs by its path, where
only the reader's packages are installed:

    python -I runner.py < programs.jsonl > results.jsonl

Each line is a `Job`, and has its `Result` in a line. Whatever a program does, the
others run, and nothing of it is left. On Linux a process is forked from a server that
has loaded what programs import; on macOS each program has a fresh interpreter that was
started ahead of time, since libraries there may not survive a fork.
"""

import argparse
import ast
import atexit
import builtins
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import importlib.util
import io
import json
import linecache
import marshal
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, Self

HERE = Path(__file__).resolve()
NO_WINDOWS = "pages must be run on Linux or macOS; got sys.platform='win32'."
DEFAULT_LIMIT = 60.0  # seconds that a program may run, if nothing else is asked for
OUTPUT_LIMIT = 1_000_000  # bytes that it may print
PATIENCE = 300.0  # seconds to import a module beforehand
ABORT_GRACE_SECONDS = 1.0  # for a program to say where it is when it has to stop
LOOK_SECONDS = 0.05  # between two looks at how much a program has printed
AHEAD = 2  # fresh interpreters that wait for a program
Row = tuple[str, str]

# A program may change what it finds, so these are taken before it runs, and anew in
# each fork: coverage puts its own in their place, which saves what that fork has done.
EXIT, OPEN, WRITE = os._exit, os.open, os.write
KEPT: list[object] = []


def after_fork() -> None:
    """Take anew what a fork finds."""
    global EXIT, OPEN, WRITE
    EXIT, OPEN, WRITE = os._exit, os.open, os.write


# ---- What is asked and answered ------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """A program that is to be run.

    Args:
        code: Its text.
        page: The file that a traceback names.
        line: The line of the page above the program's first.
        limit: Seconds after which it is stopped.
        output_limit: Bytes that it may print; soon after more, it is stopped.
        watch: What looks on, as `module:name`: it is called with the program's code
            and gives a context manager, within which the program runs, and whose
            `seen(names)` then lists what it has seen, in pairs of texts.
    """

    code: str
    page: str = "<page>"
    line: int = 0
    limit: float = DEFAULT_LIMIT
    output_limit: int = OUTPUT_LIMIT
    watch: str = ""


@dataclass(frozen=True)
class Result:
    """What a program did.

    Args:
        output: What it wrote to stdout, with what C code and processes of its wrote.
        error: The error that it ended with, as the last line of a traceback shows it.
        traceback: The whole of it, beginning in the page.
        problems: What is wrong besides: a warning, or something written to stderr.
        seen: What the job's `watch` has seen.
        loaded: The modules of packages that were imported while it ran.
        finished: Whether it came to its end or to an error, and did not end the
            interpreter.
    """

    output: str = ""
    error: str = ""
    traceback: str = ""
    problems: list[str] = field(default_factory=list)
    seen: list[Row] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    finished: bool = True


def line(message: Job | Result) -> str:
    """Return a message as a line of JSON."""
    return json.dumps(asdict(message)) + "\n"


def read_job(text: str) -> Job:
    """Read a job from its line."""
    return Job(**json.loads(text))


def read_result(text: str) -> Result:
    """Read a result from its line."""
    found = json.loads(text)
    rows = [(name, text) for name, text in found.pop("seen")]
    return Result(**found, seen=rows)


class Worker:
    """Runs programs one after the other; it starts with the first.

    Args:
        command: An interpreter with its options.
        options: Options of `main`, such as where programs import from.
        environment: The variables that programs find.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        options: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self.command = [*map(str, command), str(HERE), *options]
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

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker."""
        self.close()


# ---- The worker's process ------------------------------------------------------------


def usual_way() -> str:
    """Return how programs are started here, if nothing else is asked for."""
    return "fork" if sys.platform == "linux" else "spawn"


def starter(
    way: str,
    path: Sequence[str],
    inherited: Sequence[int] = (),
    preload: Sequence[str] | None = None,
) -> "ForkServer | Spawner":
    """Return what starts programs, by `fork` or by `spawn`."""
    if way == "spawn":
        return Spawner(path, preload)
    return ForkServer(path, inherited, preload)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the programs that stdin has, one a line; write one result a line."""
    parser = argparse.ArgumentParser(description="run programs, one a line of JSON")
    parser.add_argument("path", nargs="*", help="where they import from")
    parser.add_argument("--start", choices=["fork", "spawn"], default=usual_way())
    parser.add_argument("--preload", metavar="MODULES", help="load these, once, alone")
    parser.add_argument("--program", metavar="MODULES", help="be one that it starts")
    options = parser.parse_args(arguments)
    if options.program is not None:
        run_spawned(options.program.split())
    signal.signal(signal.SIGTERM, end)
    end_with_parent(signal.SIGTERM)
    # A program must not write among the results.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    preload = None if options.preload is None else options.preload.split()
    path = options.path or sys.path
    start = starter(options.start, path, [results.fileno()], preload)
    try:
        with results:
            for text in sys.stdin:
                results.write(line(start.run(read_job(text))))
                results.flush()
    finally:
        start.stop()


def end(number: int, frame: object) -> NoReturn:
    """End by an exception, so that what was started ends too."""
    raise SystemExit(128 + number)


def wait(
    poll: Callable[[], int | None],
    seconds: float,
    may_go_on: Callable[[], bool] = lambda: True,
) -> int | None:
    """Wait for a process; return with what it ended, or nothing if it did not.

    Args:
        poll: Tells with what it ended, if it did.
        seconds: How long it may take.
        may_go_on: Is asked every now and then; if it says no, the wait is over.
    """
    over = time.monotonic() + seconds
    while (status := poll()) is None:
        left = over - time.monotonic()
        if left <= 0 or not may_go_on():
            return None
        pause(min(left, LOOK_SECONDS))
    return status


def pause(seconds: float) -> None:
    """Sleep until a child of this process ends, where it can hear of that."""
    if sys.platform == "linux":
        signal.sigtimedwait({signal.SIGCHLD}, seconds)
    else:
        time.sleep(min(seconds, 0.01))


def hear_of_children() -> None:
    """Have the signal that a child has ended wait until it is asked for."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})


# ---- Forks of a server ---------------------------------------------------------------
#
# The server has loaded what it was told to, or else what programs say at their top, and
# what libraries import while one runs. It imports and computes nothing, so that no
# library has threads when it forks. What cannot be imported unnoticed (it prints,
# warns, fails, hangs, crashes or starts a thread) ends the server; the next one leaves
# that to the programs.


class ForkServer:
    """A process that forks one for each program.

    Args:
        path: Where programs import from.
        inherited: Descriptors of this process that the server must not keep open.
        preload: The modules that the server loads, if they are not those of programs.
    """

    def __init__(
        self,
        path: Sequence[str],
        inherited: Sequence[int] = (),
        preload: Sequence[str] | None = None,
    ) -> None:
        self.path = path
        self.inherited = inherited
        self.preload = preload
        self.left: set[str] = set()
        self.process = 0
        self.status = 0
        hear_of_children()

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
        (take, give), (hear, say) = os.pipe(), os.pipe()
        flush()
        self.process = os.fork()
        if self.process == 0:
            try:
                after_fork()
                end_with_parent(signal.SIGTERM)
                adopt()
                for descriptor in (give, hear, *self.inherited):
                    os.close(descriptor)
                serve(take, say, self.path, self.left, self.preload)
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
        status = wait(polling(self.process), PATIENCE)
        if status is None:  # it is somewhere where it hears no signal
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            status = -signal.SIGKILL
        self.process, self.status = 0, status
        with contextlib.suppress(BrokenPipeError):
            self.jobs.close()
        self.answers.close()


def polling(process: int) -> Callable[[], int | None]:
    """Return what tells with what a child ended, if it did."""

    def poll() -> int | None:
        done, status = os.waitpid(process, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None

    return poll


def serve(
    take: int,
    say: int,
    path: Sequence[str],
    left: Iterable[str],
    preload: Sequence[str] | None,
) -> NoReturn:
    """Be the server: load what a program imports, and fork a process that runs it."""
    signal.signal(signal.SIGTERM, end)
    errors = os.dup(2)
    loader = Loader(path, left, os.fdopen(say, "w"))
    status = 1
    try:
        lately: list[str] = []
        for text in os.fdopen(take):
            job = read_job(text)
            loader.load([*at_top(job.code), *lately] if preload is None else preload)
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


def fork(job: Job, path: Sequence[str], own: Sequence[int]) -> Result:
    """Run a program in a process of its own, and end all that is left of it."""
    with new_files() as files:
        flush()
        begun, begin = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                after_fork()
                end_with_parent(signal.SIGKILL)
                detach_from_server([*own, begun])
                run_and_exit(job, path, files, begin)
            finally:
                EXIT(1)
        os.close(begin)
        status = waited_for(process, job, files, begun)
        return result_of(job, status, files)


def waited_for(process: int, job: Job, files: "Files", begun: int) -> int | None:
    """Wait for a fork that runs a program; kill it if it must stop, and its own.

    Returns:
        With what it ended, or nothing, if it had to be stopped.
    """
    poll, ended = polling(process), False
    try:
        with open(begun, "rb") as pipe:
            pipe.read()
        status = wait(poll, job.limit, lambda: may_go_on(job, files))
        ended = status is not None
        if not ended:
            # It says where it is, if it can.
            os.kill(process, signal.SIGABRT)
            ended = wait(poll, ABORT_GRACE_SECONDS) is not None
        return status
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        end_adopted()


def detach_from_server(own: Sequence[int]) -> None:
    """Make the fork of a server a process that has nothing to do with it."""
    import resource  # Linux and macOS have it

    os.setsid()
    for descriptor in own:
        os.close(descriptor)
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


# ---- Fresh interpreters --------------------------------------------------------------
#
# The next ones are started while a program runs, and load what programs import; so a
# program waits for neither.


class Spawner:
    """Starts a fresh interpreter for each program.

    Args:
        path: Where programs import from.
        preload: The modules that they load before, if not those of programs.
    """

    def __init__(
        self, path: Sequence[str], preload: Sequence[str] | None = None
    ) -> None:
        self.path = path
        self.preload = preload
        self.parent = os.getppid()
        self.modules: dict[str, None] = {}
        self.left: set[str] = set()
        self.waiting: list[Interpreter] = []
        isolated = ["-I"] if sys.flags.isolated else ["-P"]
        warned = [f"-W{option}" for option in sys.warnoptions]
        self.command = [sys.executable, *isolated, *warned, str(HERE), "--program"]
        adopt()
        hear_of_children()

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
        with new_files() as files:
            text = line(job) + json.dumps(self.path)
            Path(files.folder, "job").write_text(text, encoding="utf-8")
            if not process.begin(files.folder):
                return None
            self.modules.update(dict.fromkeys(at_top(job.code)))
            while len(self.waiting) < AHEAD:
                self.waiting.append(self.start())
            status = wait(
                process.process.poll, job.limit, lambda: self.may_go_on(job, files)
            )
            if status is None:
                # It says where it is, if it can.
                process.process.send_signal(signal.SIGABRT)
                wait(process.process.poll, ABORT_GRACE_SECONDS)
            return replace(result_of(job, status, files), loaded=[])

    def start(self) -> "Interpreter":
        """Start an interpreter that loads what programs import, and then waits."""
        asked = self.modules if self.preload is None else self.preload
        modules = [name for name in asked if name not in self.left]
        return Interpreter(self.command, modules, [str(one) for one in self.path])

    def may_go_on(self, job: Job, files: "Files") -> bool:
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


def run_spawned(modules: Sequence[str]) -> NoReturn:
    """Load modules, wait for the folder of a program, run it, and end this process."""
    end_with_parent(signal.SIGKILL)
    begin = os.dup(1)  # a pipe, which closes when the program begins
    with os.fdopen(os.dup(0), encoding="utf-8") as lines:
        path = json.loads(lines.readline())
        if modules and not loaded(modules, path):
            EXIT(1)
        folder = lines.readline().rstrip("\n")
    if not folder:
        EXIT(0)  # nobody wants it any more
    job, path = Path(folder, "job").read_text(encoding="utf-8").splitlines()
    os.write(begin, b"begun")
    run_and_exit(read_job(job), json.loads(path), Files(folder), begin)


def loaded(modules: Sequence[str], path: Sequence[str]) -> bool:
    """Load modules where nobody can notice it; say whether all were quiet."""
    before = sys.path[:]
    kept = [os.dup(number) for number in (0, 1, 2)]
    with tempfile.TemporaryFile() as heard, open(os.devnull, "rb") as null:
        for number, file in enumerate((null, heard, heard)):
            os.dup2(file.fileno(), number)
        sys.path[:] = path
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            for name in modules:
                load(name)
        except NotQuietError:
            return False
        finally:
            flush()
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.path[:] = before
            for number, descriptor in enumerate(kept):
                os.dup2(descriptor, number)
                os.close(descriptor)
        return os.fstat(heard.fileno()).st_size == 0


# ---- What became of a program --------------------------------------------------------


class Report(NamedTuple):
    """What only the process of a program can say of it."""

    error: str
    traceback: str
    problems: list[str]
    seen: list[Row]
    loaded: list[str]


class Files:
    """The files of one program, in a folder made for it.

    Args:
        folder: A new folder.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.home = os.path.join(folder, "home")
        self.stdout = os.path.join(folder, "stdout")
        self.stderr = os.path.join(folder, "stderr")
        self.report = os.path.join(folder, "report")
        os.makedirs(self.home, exist_ok=True)

    def printed(self) -> int:
        """Return how many bytes the program has written so far."""
        sizes = 0
        for file in (self.stdout, self.stderr):
            with contextlib.suppress(FileNotFoundError):
                sizes += os.stat(file).st_size
        return sizes


@contextlib.contextmanager
def new_files() -> Iterator[Files]:
    """Make the files of a program in a new folder, and remove it."""
    # Not `TemporaryDirectory`: the program would remove it when it ends.
    folder = os.path.realpath(tempfile.mkdtemp())
    try:
        yield Files(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def result_of(job: Job, status: int | None, files: Files) -> Result:
    """Return what a program did.

    Args:
        job: The program.
        status: With what its process ended, negative for a signal; nothing, if it had
            to be stopped.
        files: What it has written.
    """
    output, errors = (
        beginning(file, job.output_limit) for file in (files.stdout, files.stderr)
    )
    over = not may_go_on(job, files)
    report = read_report(files.report) if status == 0 and not over else None
    problems = [] if report is None else [*report.problems]
    if over:
        problems.append(f"the program must print at most {job.output_limit:,} bytes")
    elif report is None:
        problems.append(f"{ending(job, status)}{place(job, errors)}")
        # What `faulthandler` writes when a process dies: a heading, then the frames.
        errors = re.sub(r"(?ms)^Fatal Python error: .*", "", errors)
    if errors.strip():
        problems.append(f"wrote to stderr:\n{errors.rstrip()}")
    if report is None:
        return Result(output, problems=problems, finished=False)
    return Result(
        output, report.error, report.traceback, problems, report.seen, report.loaded
    )


def may_go_on(job: Job, files: Files) -> bool:
    """Say whether a program has printed no more than it may."""
    return files.printed() <= job.output_limit


def beginning(file: str, limit: int) -> str:
    """Return what a program has written, as far as it may."""
    try:
        with open(file, "rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def ending(job: Job, status: int | None) -> str:
    """Say how a program ended that could not say so itself."""
    if status is None:
        return f"the program must end within {job.limit:g} s"
    if status < 0:
        try:
            how = f"by {signal.Signals(-status).name}"
        except ValueError:
            how = f"by signal {-status}"
    else:
        how = f"with status {status}"
    return f"the program must not end Python; it ended {how}"


def place(job: Job, errors: str) -> str:
    """Say at which line of the page it was, as far as the interpreter told."""
    frame = re.search(
        rf'^  File "{re.escape(job.page)}", line (\d+) in ', errors, re.MULTILINE
    )
    return f", at line {frame[1]}" if frame else ""


def read_report(file: str) -> Report | None:
    """Return the report of a program, or nothing if it came to write none."""
    try:
        return Report(*marshal.loads(Path(file).read_bytes()))  # noqa: S302
    except (OSError, EOFError, ValueError, TypeError):
        return None


def save(file: str, report: Report) -> None:
    """Write a report; `marshal` is in C, and no program can have changed it."""
    data = marshal.dumps(tuple(report))
    descriptor = OPEN(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    while data:
        data = data[WRITE(descriptor, data) :]


# ---- In the process of a program -----------------------------------------------------
#
# Nothing has to be put back, and nothing that the program does reaches another one.


def run_and_exit(job: Job, path: Sequence[str], files: Files, begin: int) -> NoReturn:
    """Run a program, write down how it ended, and end this process.

    Args:
        job: The program.
        path: Where it imports from, besides its folder.
        files: Its folder, and where what it says is written.
        begin: The end of a pipe; it is closed when the program begins, so that its
            limit does not count what Python needs to start.
    """
    status = 1
    try:
        redirect(files)
        prepare(path)
        os.close(begin)
        report = run(job)
        flush()
        save(files.report, report)
        status = 0
    except BaseException:
        traceback.print_exc()
        flush()
    finally:
        EXIT(status)


def redirect(files: Files) -> None:
    """Let Python, C and child processes read nothing and write into files."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    ways = (os.devnull, os.O_RDONLY), (files.stdout, flags), (files.stderr, flags)
    for number, (file, mode) in enumerate(ways):
        descriptor = os.open(file, mode, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, "rb", closefd=False))  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = stream(1, "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = stream(2, "backslashreplace")  # type: ignore[misc]
    faulthandler.enable(2)
    os.chdir(files.home)


def stream(number: int, errors: str) -> io.TextIOWrapper:
    """Return a stream that holds nothing back, so that the order of lines is kept."""
    raw = io.FileIO(number, "wb", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)


def prepare(path: Sequence[str]) -> None:
    """Make what a program finds as a reader finds it who starts Python."""
    sys.argv[:] = [""]
    sys.path[:] = ["", *path]
    sys.breakpointhook = no_breakpoint
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # What libraries would do at the end of Python takes longer than most programs; and
    # so does it to drop that here.
    finalize: Any = weakref.finalize
    KEPT.append(finalize._registry)
    finalize._registry = {}
    start_random_numbers_anywhere()


def start_random_numbers_anywhere() -> None:
    """Give each program random numbers of its own; else all forks draw the same."""
    random.seed()
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        # `torch.seed` would do it for each device, and load half of PyTorch.
        torch.random.default_generator.seed()


def no_breakpoint(*_: object, **__: object) -> NoReturn:
    """Refuse to wait for somebody who is not there."""
    raise RuntimeError("a program of a page must not call breakpoint().")


def main_module(job: Job) -> types.ModuleType:
    """Make a `__main__` whose source Python finds in the page, at its own lines."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __file__=job.page)
    # Nothing but the program: inspect parses all that a file has.
    lines = ["\n"] * job.line + [f"{text}\n" for text in job.code.split("\n")]
    linecache.cache[job.page] = (sum(map(len, lines)), None, lines, job.page)
    sys.modules["__main__"] = module
    return module


def run(job: Job) -> Report:
    """Run a program as `__main__`, to the end of its threads and exit functions."""
    process = os.getpid()
    before = frozenset(sys.modules)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        names = vars(main_module(job))
        error, watch = execute(job, names)
        # Wait for threads and call what waits for the end, as Python does.
        with contextlib.suppress(AttributeError):
            threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        if os.getpid() != process:
            exit_as_python(error)
        seen = watch.seen(names) if watch is not None else []
        loaded = [name for name in sys.modules if name not in before]
        text = ""
        if error is not None:
            text = "".join(traceback.format_exception(error))
        said = describe(error) if error is not None else ""
        ends = not isinstance(error, Exception | None)
        # A file that was left open warns when nothing refers to it any more.
        error = None
        names.clear()
    problems = [as_problem(warning, job.page) for warning in warned]
    if ends:
        problems.insert(0, f"the program must not end Python; got {said}")
    return Report(said, text, problems, seen, [*of_packages(loaded)])


def execute(job: Job, names: dict[str, Any]) -> tuple[BaseException | None, Any]:
    """Run the text of a program.

    Returns:
        What it raised, beginning in the page, and what has looked on, if anything did.
    """
    watch = None
    try:
        code = compile("\n" * job.line + job.code, job.page, "exec", dont_inherit=True)
        watch = watching(job, code)
        with watch if watch is not None else contextlib.nullcontext():
            exec(code, names)  # noqa: S102
    except BaseException as error:
        inside = error.__traceback__
        error.with_traceback(inside.tb_next if inside else None)
        return error, watch
    return None, watch


def watching(job: Job, code: types.CodeType) -> Any:
    """Return what looks on while a program runs, if it is to be watched."""
    if not job.watch:
        return None
    module, _, name = job.watch.partition(":")
    return getattr(importlib.import_module(module), name)(code)


def exit_as_python(error: BaseException | None) -> NoReturn:
    """End a process that the program has forked, and that went on as its parent."""
    status = 0
    if isinstance(error, SystemExit):
        status = error.code if isinstance(error.code, int) else int(bool(error.code))
    elif error is not None:
        traceback.print_exception(error)
        status = 1
    flush()
    EXIT(status)


def flush() -> None:
    """Write out what Python and C still hold back."""
    for name in ("stdout", "stderr"):
        # It may be anything that a program put there.
        with contextlib.suppress(Exception):
            getattr(sys, name).flush()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)


def describe(error: BaseException) -> str:
    """Return type and message, as the end of a traceback has them."""
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__
    name = f"{module}.{kind.__qualname__}" if module else kind.__qualname__
    try:
        # Where it is wrong is no part of the message: lines of a page move.
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        message = "<exception str() failed>"
    return f"{name}: {message}" if message else name


def as_problem(warning: warnings.WarningMessage, page: str) -> str:
    """Return a warning as a sentence."""
    where = f"line {warning.lineno}" if warning.filename == page else "a package"
    return f"warned, from {where}: {warning.category.__name__}: {warning.message}"


# ---- What programs import ------------------------------------------------------------


class NotQuietError(Exception):
    """A module does more than to be there, so each program must import it itself."""


def parsed(code: str) -> ast.Module:
    """Return the tree of a program, which is empty if it is none."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def imported(code: str) -> list[str]:
    """Return the names of the modules that a program imports, wherever it does."""
    return [name for node in ast.walk(parsed(code)) for name in names_in(node)]


def at_top(code: str) -> list[str]:
    """Return the modules outside of the standard library that it imports at its top."""
    found = (name for node in parsed(code).body for name in names_in(node))
    return [*of_packages(found)]


def of_packages(modules: Iterable[str]) -> Iterator[str]:
    """Yield those of some modules that are not in the standard library."""
    return (name for name in modules if top(name) not in sys.stdlib_module_names)


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


def top(name: str) -> str:
    """Return the package that a module is in."""
    return name.partition(".")[0]


def load(name: str) -> None:
    """Import a module; one that does not exist is left to the program.

    Raises:
        NotQuietError: If it cannot be imported, or has started a thread.
    """
    threads = threading.active_count()
    try:
        if importlib.util.find_spec(top(name)) is not None:
            importlib.import_module(name)
    except BaseException as error:
        raise NotQuietError(f"{name} raised {error!r}") from error
    if threading.active_count() > threads:
        raise NotQuietError(f"{name} started a thread")


# ---- What would outlive the run ------------------------------------------------------
#
# Processes without a parent end at once on Linux. Elsewhere a worker looks now and then
# whether who has started it is still there.


def end_with_parent(number: int) -> None:
    """Have a signal sent to this process when its parent ends, however that ends."""
    prctl(1, number)  # PR_SET_PDEATHSIG


def adopt() -> None:
    """Become the parent of whatever a descendant leaves behind."""
    prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def prctl(option: int, value: int) -> None:
    """Change what Linux does with this process; elsewhere do nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_adopted(own: Collection[int] = ()) -> None:
    """Kill the children of this process but its own, and what these leave in turn."""
    while left := [child for child in children() if child not in own]:
        for child in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def children() -> list[int]:
    """List the children of this process, where Linux tells them."""
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:
            return [*map(int, file.read().split())]
    except OSError:
        return []


if __name__ == "__main__":
    # Programs must not find what lies beside this file.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE.parent]
    main()
