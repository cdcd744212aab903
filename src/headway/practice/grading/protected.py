"""Judge answers that run in other processes, and cannot forge their verdicts.

The hidden numbers, what is right for them, the exercise, the judge and the verdict stay
in this process. An answer sees arguments, and gives back tensors as plain data.
"""

import ast
import contextlib
import io
import linecache
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway.practice.grading.child import LOAD
from headway.practice.grading.wire import GoneError, Peer
from headway.practice.judging.judge import (
    KnownResults,
    defined,
    example,
    judge,
    own_lines,
    still_open,
    with_example,
)
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task
from headway.practice.task.refused import RefusedError

LIMIT = 10.0  # seconds that an answer may take
_LARGEST = 2**20  # bytes of a file
_HERE = Path(__file__).parent
_ENV = {
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "HOME": os.devnull,
    # This process has said so already, when it imported PyTorch.
    "PYTHONWARNINGS": "ignore:Failed to initialize NumPy",
}
# The package is loaded without `headway.practice`: of that there is a shell, into
# which the two files of this folder go that know no exercise.
_START = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
from os.path import dirname
from types import ModuleType
package, here, number = sys.argv[1:]
def load(name, path):
    spec = spec_from_file_location(name, path)
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
root = dirname(dirname(package))
sys.path += [root] if root not in sys.path else []
load("headway", package).__getattr__("attention")
for name in ("headway.practice", "headway.practice.grading"):
    shell = sys.modules[name] = ModuleType(name)
    shell.__path__ = []
load("headway.practice.grading.wire", here + "/wire.py")
child = load("headway.practice.grading.child", here + "/child.py")
child.main(int(number))
"""


class Server:
    """A process that has PyTorch imported, and forks for each answer.

    Raises:
        ValueError: If this system cannot fork.
    """

    def __init__(self) -> None:
        if not hasattr(os, "fork"):
            raise RefusedError(
                "a class must be judged on Linux or macOS, or in a container, because "
                f"each answer gets a process by a fork; got {sys.platform}."
            )
        self.control, other = socket.socketpair()
        package = _HERE.parents[1] / "__init__.py"
        number = other.fileno()
        words = [sys.executable, "-P", "-c", _START, str(package), str(_HERE)]
        with other:
            self.process = subprocess.Popen(  # noqa: S603
                [*words, str(number)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_ENV,
                pass_fds=[number],
            )
        self._wait()

    def _wait(self) -> None:
        if self.control.recv(1) != b"k":
            self.close()
            raise RefusedError("the server of a class must start; it has ended.")

    @contextlib.contextmanager
    def process_of_answer(self) -> Iterator[socket.socket]:
        """Give a connection to a new process, which is ended afterwards."""
        mine, other = socket.socketpair()
        with mine:
            with other:
                socket.send_fds(self.control, [b"r"], [other.fileno()])
            self._wait()
            try:
                yield mine
            finally:
                self.control.sendall(b"e")
                self._wait()

    def close(self) -> None:
        """End the server, and what it has left."""
        self.control.close()
        self.process.wait()

    def __enter__(self) -> "Server":
        """Give the server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()


def judge_protected(
    server: Server, path: Path, known: KnownResults, *, limit: float = LIMIT
) -> Verdict:
    """Judge a file, which runs in a process of its own.

    Args:
        server: What forks.
        path: The file of the answer.
        known: The exercise, with what is right for its hidden numbers; it serves all
            answers.
        limit: How many seconds the file may take.
    """
    task = known.task
    failed = Verdict(task.name, "failed", "", read=task.exercise.read, seed=known.seed)
    try:
        source = read(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        sentence = f"{path.name} could not be read: {why}."
        return replace(failed, sentence=sentence)
    lines = source.splitlines(keepends=True)
    # Where a traceback looks for the lines of a file.
    linecache.cache[path.name] = (len(source), None, lines, path.name)
    with server.process_of_answer() as connection:
        peer = Peer(
            connection,
            first=0,
            trusted=False,
            source=path.name,
            sources=lambda kind: _source(task, kind),
            limit=limit,
        )
        try:
            return _judged(peer, source, path.name, known, failed)
        except GoneError as gone:
            return replace(failed, sentence=str(gone))
        except Exception as raised:  # no answer keeps others from their verdicts
            sentence = f"It could not be judged: {type(raised).__name__}."
            return replace(failed, sentence=sentence)


def read(path: Path) -> str:
    """Read the file of an answer.

    Raises:
        ValueError: If it is no file of its own, such as a link, or too large.
    """
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it must be a file, and no link or folder")
    if found.st_size > _LARGEST:
        raise ValueError(f"it has {found.st_size} bytes, and may have {_LARGEST}")
    return path.read_text(encoding="utf-8-sig")


def _judged(
    peer: Peer, source: str, name: str, known: KnownResults, failed: Verdict
) -> Verdict:
    task = known.task
    try:
        namespace = peer.call(LOAD, [source, name], {})
    except Exception as raised:  # whatever an answer may raise
        if still_open(raised):
            return replace(failed, state="open", sentence="The hole is still open.")
        sentence = f"{name} could not be run."
        return replace(failed, sentence=sentence, traceback=own_lines(raised))
    if not isinstance(namespace, dict):
        raise GoneError("What it gave cannot be read.")
    with contextlib.redirect_stdout(io.StringIO()):
        verdict = judge(task, namespace, seed=known.seed, known=known)
    if verdict.state == "open":
        return verdict
    ours = defined(task, task.source.solution)
    _, told = example(task, {**ours, **_functions(namespace)})
    return with_example(verdict, told)


def _functions(namespace: dict[str, Any]) -> dict[str, Any]:
    """Give what the example may call: the functions that a file defines."""
    return {name: one for name, one in namespace.items() if callable(one)}


def _source(task: Task, kind: type) -> str | None:
    """Give the source of a class that an exercise defines, and of those it is from."""
    text = task.path.read_text(encoding="utf-8")
    known = {
        one.name: ast.get_source_segment(text, one)
        for one in ast.parse(text).body
        if isinstance(one, ast.ClassDef)
    }
    names = [one.__name__ for one in reversed(kind.__mro__) if one.__name__ in known]
    return "\n\n\n".join(str(known[name]) for name in names) or None
