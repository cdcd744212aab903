"""Single keys from a terminal, without waiting for the end of a line."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

REDRAW = "\x0c"  # Ctrl-L
_continued = threading.Event()


@contextlib.contextmanager
def single_keys() -> Iterator[None]:
    """Let the terminal give each key at once, and leave it as it was.

    A program that goes on after Ctrl-Z gets single keys again, the first of which is
    `REDRAW`.
    """
    if sys.platform == "win32":
        import os

        os.system("")  # noqa: S605, S607  # makes the console understand colours
        yield
        return
    import signal
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def go_on(*_: object) -> None:
        # What was typed before is kept.
        tty.setcbreak(number, termios.TCSADRAIN)
        _continued.set()

    earlier = signal.signal(signal.SIGCONT, go_on)
    tty.setcbreak(number, termios.TCSADRAIN)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, earlier)
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def pressed(seconds: float) -> str:
    """Wait for a key for so many seconds; give it in small letters, or nothing.

    Args:
        seconds: How long to wait.

    Raises:
        EOFError: If nothing can come any more.
    """
    if sys.platform == "win32":
        import msvcrt

        end = time.monotonic() + seconds
        while not msvcrt.kbhit():
            if time.monotonic() >= end:
                return ""
            time.sleep(0.02)
        key = msvcrt.getwch()
        if key in ("\x00", "\xe0"):  # an arrow or the like: two characters
            msvcrt.getwch()
            return ""
        return key.lower()
    import os
    import select

    number = sys.stdin.fileno()
    if _continued.is_set():
        _continued.clear()
        return REDRAW
    if not select.select([number], [], [], seconds)[0]:
        return ""
    try:
        found = os.read(number, 1)
    except OSError as error:  # the terminal is gone
        raise EOFError from error
    if not found:
        raise EOFError
    if found == b"\x1b":  # an arrow or the like: more follows at once
        if select.select([number], [], [], 0)[0]:
            os.read(number, 32)
        return ""
    return found.decode("ascii", "ignore").lower()
