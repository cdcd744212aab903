"""Say what a check is doing, for whoever waits."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from typing import Protocol, TypeVar, runtime_checkable

One = TypeVar("One")
_PATIENCE = 2.0  # seconds until something is shown
_HINT = "A small module takes half a second and tells as much, so build it small."
_listener: ContextVar[Callable[[str], None] | None] = ContextVar(
    "listener", default=None
)


@runtime_checkable
class Stream(Protocol):
    """What can be written to."""

    def isatty(self) -> bool:
        """Ask whether somebody sees it."""
        ...

    def write(self, text: str, /) -> int:
        """Write a text."""
        ...

    def flush(self) -> None:
        """Write it now."""
        ...


def tell(step: str) -> None:
    """Say which step begins, to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(step)


def told(steps: Iterable[One], name: Callable[[One], str]) -> Iterator[One]:
    """Go through steps, and say which one begins."""
    for step in steps:
        tell(name(step))
        yield step


class _Line:
    """A line of a terminal that says which step a check is at.

    Args:
        stream: Where it is written.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._step = "calling it"
        self._begun = False
        self._lock = Lock()  # a step may begin while patience runs out

    def begin(self) -> None:
        """Show this step, and from now on each one that begins."""
        with self._lock:
            self._begun = True
            self._stream.write(f"{_HINT}\n")
            self._write(f"{self._step} ...")

    def tell(self, step: str) -> None:
        """Write a step over the one before, if steps are shown."""
        with self._lock:
            self._step = step
            if self._begun:
                self._write(f"{step} ...")

    def wipe(self) -> None:
        """Leave no step behind."""
        if self._begun:
            self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()


@contextmanager
def shown_if_slow(stream: Stream) -> Iterator[None]:
    """Show the step of a check that takes longer than two seconds, if somebody sees it.

    Args:
        stream: Where to; if it is no terminal, nothing is shown.
    """
    if not stream.isatty():
        yield
        return
    line = _Line(stream)
    timer = Timer(_PATIENCE, line.begin)
    token = _listener.set(line.tell)
    timer.start()
    try:
        yield
    finally:
        _listener.reset(token)
        timer.cancel()
        timer.join()  # it may be writing
        line.wipe()
