"""A limit on each call of the code that is checked.

A loop that never ends can only be ended from outside: where a call takes longer than
the limit, the process ends, and leaves the line that it was at in a file. So only a
process that does nothing but check sets one, which is what `headway check` starts.
"""

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO


@dataclass
class _State:
    """What was set, and how many calls are within each other now."""

    seconds: float = 0.0
    lines: IO[str] | None = None
    depth: int = 0


_state = _State()


def set_limit(seconds: float, lines: IO[str]) -> None:
    """End this process where a call takes longer from now on.

    Args:
        seconds: How long one may take.
        lines: A file, which gets the lines that the process was at.
    """
    _state.seconds, _state.lines = seconds, lines


@contextmanager
def limited() -> Iterator[None]:
    """Limit what is inside; of calls within each other the outermost counts."""
    if _state.lines is None:
        yield
        return
    if not _state.depth:
        faulthandler.dump_traceback_later(_state.seconds, file=_state.lines, exit=True)
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1
        if not _state.depth:
            faulthandler.cancel_dump_traceback_later()
