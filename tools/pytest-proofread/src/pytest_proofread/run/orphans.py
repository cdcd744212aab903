"""End what would outlive the run: processes without a parent, on Linux at once.

Elsewhere a worker looks now and then whether who has started it is still there.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Collection

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def end_with_parent(number: int) -> None:
    """Have a signal sent to this process when its parent ends, however that ends."""
    prctl(PR_SET_PDEATHSIG, number)


def adopt() -> None:
    """Become the parent of whatever a descendant leaves behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


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
