"""Single keys come from a terminal at once."""

import os
import signal
import sys
import types
from collections.abc import Iterator

import pytest

from headway.practice.terminal.keys import REDRAW, pressed, single_keys
from tests.support.processes import PATIENCE

posix = pytest.mark.skipif(sys.platform == "win32", reason="reads a pipe as POSIX does")


@pytest.fixture
def master(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Let standard input be a terminal, and give its other end."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield master
    os.close(master)


def test_a_key_comes_without_the_end_of_a_line(master: int) -> None:
    import termios

    before = termios.tcgetattr(sys.stdin.fileno())
    with single_keys():
        os.write(master, b"H")
        assert pressed(PATIENCE) == "h"
        assert pressed(0.0) == ""
    assert termios.tcgetattr(sys.stdin.fileno()) == before


@pytest.mark.parametrize("keys", [b"\x1b[H", b"\x1bOP", b"\x1b"])
def test_arrows_and_the_like_are_no_letters(master: int, keys: bytes) -> None:
    with single_keys():
        os.write(master, keys)
        assert pressed(PATIENCE) == ""
        os.write(master, b"n")
        assert pressed(PATIENCE) == "n"


def test_after_ctrl_z_keys_come_at_once_again(master: int) -> None:
    import termios

    before = signal.getsignal(signal.SIGCONT)
    number = sys.stdin.fileno()
    cooked = termios.tcgetattr(number)
    with single_keys():
        single = termios.tcgetattr(number)
        assert single != cooked
        termios.tcsetattr(number, termios.TCSADRAIN, cooked)  # as a shell does
        os.kill(os.getpid(), signal.SIGCONT)
        assert pressed(PATIENCE) == REDRAW
        assert termios.tcgetattr(number) == single
        os.write(master, b"N")
        assert pressed(PATIENCE) == "n"
        os.write(master, REDRAW.encode())
        assert pressed(PATIENCE) == REDRAW
    assert termios.tcgetattr(number) == cooked
    assert signal.getsignal(signal.SIGCONT) == before


class Console(types.ModuleType):
    """What Windows has in the place of a terminal."""

    def __init__(self, keys: str) -> None:
        super().__init__("msvcrt")
        self.keys = [*keys]
        self.asked = False

    def kbhit(self) -> bool:
        """Say whether there is a key; the first comes when it is asked for again."""
        asked, self.asked = self.asked, True
        return asked and bool(self.keys)

    def getwch(self) -> str:
        return self.keys.pop(0)


def test_keys_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "system", commands.append)
    monkeypatch.setitem(sys.modules, "msvcrt", Console("N\xe0Hq\x00Pp\x03"))
    with single_keys():
        got = [pressed(PATIENCE), *(pressed(0.0) for _ in range(6))]
    assert got == ["n", "", "q", "", "p", "\x03", ""]
    assert commands == [""]


@posix
def test_the_end_of_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "r") as ended:
        monkeypatch.setattr(sys, "stdin", ended)
        with pytest.raises(EOFError):
            pressed(PATIENCE)


def test_a_terminal_that_is_gone_is_the_end(
    master: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> bytes:
        raise OSError("input/output error")

    os.write(master, b"x\n")
    monkeypatch.setattr(os, "read", gone)
    with pytest.raises(EOFError):
        pressed(PATIENCE)
