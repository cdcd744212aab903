"""Run answers in processes of their own, which know no exercise.

A server has PyTorch and the chapters imported, and forks for each answer. It loads this
file by its path: `headway.practice` is never imported where an answer runs.
"""

import contextlib
import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from headway.practice.grading.wire import GoneError, Peer

LOAD = -1  # the number of the function that runs the file of an answer
_SUBREAPER, _DUMPABLE = 36, 4  # of prctl
_MEMORY = 2**31  # bytes, more than the server has
_SECONDS = 20  # of a processor
_REFUSED = (
    *("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system"),
    *("os.kill", "os.link", "os.symlink", "os.rename", "os.remove"),
    *("os.chmod", "os.chown", "os.truncate", "os.mkdir", "os.rmdir", "os.chdir"),
    *("shutil.", "socket.", "ctypes.", "pty.", "signal.pthread_kill", "resource."),
    *("webbrowser.", "urllib.", "ftplib.", "http.", "smtplib.", "sqlite3."),
)
_HIDDEN = str(Path(__file__).parents[1])  # the exercises, and what judges


def main(number: int) -> None:
    """Fork for each answer, as the other side of a socket asks.

    Args:
        number: The descriptor of the socket. One byte of it is an order: `r` comes with
            the descriptor that an answer gets, and `e` ends that answer's processes.
    """
    control = socket.socket(fileno=number)
    torch.set_num_threads(1)
    _prctl(_SUBREAPER, 1)
    _prctl(_DUMPABLE, 0)
    # What an optimizer imports when there is a first one takes seconds.
    torch.optim.SGD([torch.zeros(1, requires_grad=True)]).step()
    gc.freeze()  # or each answer would get a copy of what it counts
    child, folder = 0, ""
    control.sendall(b"k")
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if child:
            _end(child)
            shutil.rmtree(folder, ignore_errors=True)
            child = 0
        if not order:
            return
        if descriptors:
            folder = tempfile.mkdtemp()
            child = _fork(control, descriptors[0], folder)
            os.close(descriptors[0])
        control.sendall(b"k")


# What follows runs in a process that may write no file, so no record of its lines.
def _fork(  # pragma: no cover
    control: socket.socket, number: int, folder: str
) -> int:
    """Begin the process of one answer; it is ended with all that it has begun."""
    if child := os.fork():
        return child
    with contextlib.suppress(BaseException):
        control.close()
        connection = socket.socket(fileno=number)
        with connection:
            _lock_up(number, folder)
            serve(connection)
    while True:
        signal.pause()


def serve(connection: socket.socket) -> None:
    """Answer calls until the other side hangs up."""
    peer = Peer(connection, first=1, trusted=True, source="")

    def load(source: str, name: str) -> Mapping[str, Any]:
        """Run a file, and give what it defines."""
        peer.source = name
        space: dict[str, Any] = {"__name__": name.removesuffix(".py")}
        exec(compile(source, name, "exec"), space)  # noqa: S102
        return {
            one: value
            for one, value in space.items()
            if not one.startswith("__") and not isinstance(value, type(os))
        }

    peer.keep(LOAD, load)
    with contextlib.suppress(GoneError):
        while True:
            peer.answer(*peer.receive())


def _lock_up(number: int, folder: str) -> None:  # pragma: no cover
    """Leave a process nothing but its socket, a folder, and limits."""
    os.setsid()
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    for other in (0, 1, 2):
        os.dup2(nothing, other)
    os.closerange(3, number)
    os.closerange(number + 1, 4096)
    os.environ.clear()
    os.environ.update(TMPDIR=folder, HOME=folder)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.argv = [""]
    _limit()
    sys.addaudithook(guard(folder))


def _limit() -> None:  # pragma: no cover
    """Bound what a process may take: memory, time, files, other processes."""
    import resource

    used = 2**35
    with contextlib.suppress(OSError):  # where there is no /proc
        pages = Path("/proc/self/statm").read_text("utf-8").split()[0]
        used = int(pages) * os.sysconf("SC_PAGE_SIZE")
    for name, most in (
        ("RLIMIT_AS", used + _MEMORY),
        ("RLIMIT_CPU", _SECONDS),
        ("RLIMIT_FSIZE", 2**20),
        ("RLIMIT_NOFILE", 64),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
    ):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (most, most))


def guard(folder: str) -> Any:
    """Give a hook that refuses what no answer needs.

    It catches who tries, and not all who know Python well: what an answer must not know
    is not in its process.

    Args:
        folder: The only folder that may be written to.
    """
    folder = os.path.realpath(folder)
    places = {*sys.path, sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)}
    roots = tuple(os.path.realpath(one) + os.sep for one in places if one)
    devices = (os.devnull, "/dev/urandom")
    real, decoded = os.path.realpath, os.fsdecode
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def look(path: Any, flags: int) -> None:
        if isinstance(path, int):
            return
        place = real(decoded(path))
        if place in devices or place.startswith(folder + os.sep):
            return
        if flags & writes:
            raise PermissionError(f"An answer may not write to {place}.")
        if place.startswith(_HIDDEN) or not (place + os.sep).startswith(roots):
            raise PermissionError(f"An answer may not read {place}.")

    def hook(event: str, given: Any) -> None:
        if event == "open":
            look(given[0], given[2] or 0)
        elif event in ("os.listdir", "os.scandir"):
            look(given[0] or ".", 0)
        elif event == "import":
            if str(given[0]).startswith("headway.practice"):
                raise PermissionError(f"An answer may not import {given[0]}.")
        elif event.startswith(_REFUSED):
            raise PermissionError(f"An answer may not call {event}.")

    return hook


def _end(child: int) -> None:
    """End an answer's process, its group, and all that it has left behind."""
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:  # on Linux, whoever loses its parent gets this process for it
            for one in _children():
                with contextlib.suppress(OSError):
                    os.kill(one, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """List the processes whose parent is this one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, _, rest = stat.read_text("utf-8").rpartition(")")
            if int(rest.split()[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def _prctl(option: int, value: int) -> None:
    """Ask Linux for something; another system is not asked."""
    import ctypes

    with contextlib.suppress(AttributeError):  # which has no such function
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
