"""Ask whether a process is still there, without touching it, and wait for it."""

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# Seconds after which a test takes something for a hang, on a machine that is much
# slower and busier than this one. Nothing that should happen takes a tenth of it.
PATIENCE = 900.0

# A program that ignores signals, and waits so that no other thread of Python runs: from
# the moment when its file is there, which it makes without letting go of Python's lock.
STUBBORN = """
import ctypes, os, pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
begun = pathlib.Path(__file__).with_name("begun-" + os.environ["RANK"])
sys.setswitchinterval(1e6)
c = ctypes.PyDLL(None)
c.creat(bytes(begun), 0o600)
c.sleep(9000)
"""


def running(pid: int) -> bool:
    """Say whether there is such a process; one that is dead and not buried is not."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def recorded(folder: Path) -> list[int]:
    """Read the ids that processes have written, each as the name of a file."""
    return [int(file.name) for file in folder.iterdir()]


def left(pids: Iterable[int]) -> list[int]:
    """Wait for processes to end; list those that do not."""
    until = time.monotonic() + PATIENCE
    pids = [pid for pid in pids if running(pid)]
    while pids and time.monotonic() < until:
        time.sleep(0.05)
        pids = [pid for pid in pids if running(pid)]
    return pids


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def longer_and_longer(seconds: float) -> Iterator[float]:
    """Give limits for what must begin before its limit, and begins late if it is busy.

    Whoever asks for another limit says that nothing began within the last one.
    """
    while seconds < PATIENCE:
        yield seconds
        seconds *= 4
    raise AssertionError("it did not begin")


def stand_and(wait: str, folder: Path) -> str:
    """Write a line on which a process writes down when it came there, and then waits.

    Its program imports `os`, `pathlib` and `time`. Whoever finds the file knows that
    the process stands on this line, and nowhere before it.
    """
    file = f"pathlib.Path({str(folder)!r}, 'stands-' + os.environ['RANK'])"
    return f"{file}.write_text(str(time.time())); {wait}"


def stood(folder: Path, ranks: Iterable[int], *, since: float, until: float) -> bool:
    """Say whether each of these processes came to its `stand_and` in this time."""
    files = [folder / f"stands-{rank}" for rank in ranks]
    texts = [file.read_text() if file.exists() else "" for file in files]
    return all(since <= float(text or "inf") < until for text in texts)
