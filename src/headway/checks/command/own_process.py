"""Check a target in a process of its own.

So no target gets the modules of another one, nothing that code prints, in Python or
below it, is taken for the report, and code that never ends, or ends Python, is told
with the line that it was at.
"""

import contextlib
import json
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from headway.checks.command.configuration import ConfiguredTarget
from headway.checks.core.errors import innermost

LIMIT = 60.0  # seconds that one call may take
INTERRUPTED = 130  # the exit status of what somebody ended from the keyboard
_TERMINATED = 128 + signal.SIGTERM  # and of what `timeout` or a cancelled job ended
_GRACE = 2.0  # seconds that a process has to end by itself when it is interrupted
_AGAIN = 0.5  # after so many it is told again
_START = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
try:
    from headway.checks.command.worker import main
    main(sys.argv[2])
except KeyboardInterrupt:
    sys.exit(130)
"""
_THREAD = re.compile(r"^(?=(?:Current t|T)hread 0x)", re.MULTILINE)
_LINE = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)


class Request(NamedTuple):
    """What is asked of a target.

    Attributes:
        target: The target, with its options and arguments.
        format: How the report is to be written, as `--format` names it.
        colour: Whether a text has colours.
        explain: Whether to list the arguments that it takes instead.
        limit: How many seconds one call may take.
    """

    target: ConfiguredTarget
    format: str = "text"
    colour: bool = False
    explain: bool = False
    limit: float = LIMIT


class Reply(NamedTuple):
    """What came out.

    Attributes:
        status: 0 if no property fails, 1 if one does, 2 if the code could not be
            checked, 130 if somebody ended it.
        text: The report, or one sentence that says why there is none.
    """

    status: int
    text: str


Ask = Callable[[Request], Reply]


def ask(request: Request) -> Reply:
    """Have a process of its own check a target, and wait for it.

    Args:
        request: What is asked.
    """
    with _ended_in_order(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "request").write_bytes(pickle.dumps(request))
        # It finds what this process finds, and in the same order, and ignores the same
        # warnings. What it prints goes where errors go: the report comes in a file.
        options = ["-P", *(f"-W{one}" for one in sys.warnoptions)]
        command = [sys.executable, *options, "-c", _START, json.dumps(sys.path), name]
        process = subprocess.Popen(command, stdout=2)  # noqa: S603  # Python itself
        try:
            process.wait()
        except KeyboardInterrupt:  # the process has been told, too
            return _interrupted(folder, process)
        finally:
            process.kill()
            process.wait()
        return _reply(folder) or _ended(folder, request, process.returncode)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a signal to terminate end the process that was started, too."""

    def end(*_: object) -> NoReturn:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _reply(folder: Path) -> Reply | None:
    """Read what the process has answered, if it has."""
    try:
        return Reply(*json.loads((folder / "reply").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _interrupted(folder: Path, process: "subprocess.Popen[bytes]") -> Reply:
    until = time.monotonic() + _GRACE
    while process.poll() is None:
        left = until - time.monotonic()
        try:
            process.wait(max(0.0, min(left, _AGAIN)))
        except subprocess.TimeoutExpired:
            if left <= 0:  # it does not listen
                process.kill()
                process.wait()
            else:
                # A thread below Python may have heard it, which Python does not see.
                with contextlib.suppress(ValueError):  # Windows has no such signal
                    process.send_signal(signal.SIGINT)
    reply = _reply(folder)
    if reply is not None and reply.status == INTERRUPTED:
        return reply
    return Reply(INTERRUPTED, f"interrupted{_place(folder)}.")


def _ended(folder: Path, request: Request, status: int) -> Reply:
    """Say why a process has ended without an answer, and at which line."""
    name, place = request.target.name, _place(folder)
    if _lines(folder).startswith("Timeout"):
        return Reply(
            2,
            f"{name} could not be checked: one call took longer than "
            f"{request.limit:g} seconds{place}. A loop may never end; if it only takes "
            "long, --limit SECONDS gives it longer.",
        )
    how = f"with status {status}"
    if status < 0:
        how = f"by a signal, {signal.strsignal(-status)}"
    return Reply(2, f"{name} could not be checked: it ended Python {how}{place}.")


def _lines(folder: Path) -> str:
    """Read the lines of code that the process was at, the innermost first."""
    file = folder / "lines"
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _place(folder: Path) -> str:
    """Give the innermost line of the reader's own code, such as ` at mine.py:17`."""
    threads = _THREAD.split(_lines(folder))
    # The one that ended Python, or else the first that was started, which stands last.
    current = [thread for thread in threads if thread.startswith("Current")] or threads[
        -1:
    ]
    places = [(path, int(line)) for path, line in _LINE.findall(current[0])]
    if not places:
        return ""
    return innermost(places)
