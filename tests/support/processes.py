"""Ask whether a process is still there, without touching it, and wait for it."""

import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

# A program that ignores signals, and waits so that no other thread of Python runs.
STUBBORN = """
import ctypes, os, pathlib, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(__file__).with_name("begun-" + os.environ["RANK"]).touch()
ctypes.PyDLL(None).sleep(600)
"""


def running(pid: int) -> bool:
    """Say whether there is such a process; one that is dead and not buried is not."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def recorded(folder: Path) -> list[int]:
    """Read the ids that processes have written, each as the name of a file."""
    return [int(file.name) for file in folder.iterdir()]


def left(pids: Iterable[int], seconds: float) -> list[int]:
    """Wait for processes to end; list those that have not."""
    until = time.monotonic() + seconds
    pids = [pid for pid in pids if running(pid)]
    while pids and time.monotonic() < until:
        time.sleep(0.05)
        pids = [pid for pid in pids if running(pid)]
    return pids


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until something holds, for two minutes at most."""
    until = time.monotonic() + 120.0
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)
