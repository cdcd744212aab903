"""Single keys come from a terminal at once."""

import os
import pty
import sys
import termios
from collections.abc import Iterator

import pytest

from headway.practice.keys import pressed, single_keys


@pytest.fixture
def master(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Let standard input be a terminal, and give its other end."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield master
    os.close(master)


def test_a_key_comes_without_the_end_of_a_line(master: int) -> None:
    before = termios.tcgetattr(sys.stdin.fileno())
    with single_keys():
        os.write(master, b"H")
        assert pressed(5.0) == "h"
        assert pressed(0.0) == ""
    assert termios.tcgetattr(sys.stdin.fileno()) == before


def test_the_end_of_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "r") as ended:
        monkeypatch.setattr(sys, "stdin", ended)
        with pytest.raises(EOFError):
            pressed(1.0)


def test_a_terminal_that_is_gone_is_the_end(
    master: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> bytes:
        raise OSError("input/output error")

    os.write(master, b"x\n")
    monkeypatch.setattr(os, "read", gone)
    with pytest.raises(EOFError):
        pressed(5.0)
