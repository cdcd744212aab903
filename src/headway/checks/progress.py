"""Say what a check is doing, for whoever waits."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar, runtime_checkable

One = TypeVar("One")
_PATIENCE = 2.0  # seconds until something is shown
_HINT = "Small modules take half a second and tell as much: build it small."
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


@contextmanager
def shown_if_slow(stream: Stream, patience: float | None = None) -> Iterator[None]:
    """Show the step of a check that takes long, if somebody sees it.

    Args:
        stream: Where to; if it is no terminal, nothing is shown.
        patience: How many seconds to wait before the first line, two if it is not
            given; a tenth of it passes between two looks.
    """
    if not stream.isatty():
        yield
        return
    patience = patience or _PATIENCE
    steps = ["calling it"]
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(stream, steps, done, patience))
    token = _listener.set(steps.append)
    watcher.start()
    try:
        yield
    finally:
        _listener.reset(token)
        done.set()
        watcher.join()


def _watch(
    stream: Stream, steps: list[str], done: threading.Event, patience: float
) -> None:
    """Write the last step over the one before, and wipe it off at the end."""
    if done.wait(patience):
        return
    shown = ""
    stream.write(f"{_HINT}\n")
    while not done.is_set():
        if steps[-1] != shown:
            shown = steps[-1]
            stream.write(f"\r\x1b[K{shown} ...")
            stream.flush()
        done.wait(patience / 10)
    stream.write("\r\x1b[K")
    stream.flush()
