"""Whoever waits at a terminal is told what for, and nobody else."""

import io
import threading
from collections.abc import Callable

import pytest

from headway.checks.core import progress
from headway.checks.core.progress import shown_if_slow, tell, told
from tests.checks.support.timers import ByHand
from tests.support.processes import PATIENCE

HINT = "A small module takes half a second and tells as much, so build it small.\n"


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.flushed = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.flushed.set()


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[ByHand]:
    """Give a list that will have each timer that is made."""
    made: list[ByHand] = []

    def make(seconds: float, act: Callable[[], None]) -> ByHand:
        made.append(ByHand(seconds, act))
        return made[-1]

    monkeypatch.setattr(progress, "Timer", make)
    return made


def test_a_step_that_takes_long_is_shown_and_wiped_off(timers: list[ByHand]) -> None:
    stream = Terminal()
    with shown_if_slow(stream):
        for step in told(["first", "second"], str.upper):
            assert step
        tell("third")
        timers[0].time_is_up()
    assert stream.getvalue() == f"{HINT}\r\x1b[Kthird ...\r\x1b[K"


def test_each_step_is_shown_over_the_one_before(timers: list[ByHand]) -> None:
    stream = Terminal()
    with shown_if_slow(stream):
        timers[0].time_is_up()
        for _ in told(["first", "second"], str.upper):
            pass
    steps = "calling it ...\r\x1b[KFIRST ...\r\x1b[KSECOND ...\r\x1b[K"
    assert stream.getvalue() == f"{HINT}\r\x1b[K{steps}"


def test_patience_runs_out_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.001)
    stream = Terminal()
    with shown_if_slow(stream):
        assert stream.flushed.wait(PATIENCE)
    assert stream.getvalue() == f"{HINT}\r\x1b[Kcalling it ...\r\x1b[K"


def test_a_quick_check_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", PATIENCE)
    stream = Terminal()
    with shown_if_slow(stream):
        tell("first")
    assert stream.getvalue() == ""
    tell("nobody hears")
    assert not stream.flushed.is_set()


def test_what_is_no_terminal_gets_nothing(timers: list[ByHand]) -> None:
    stream = io.StringIO()
    with shown_if_slow(stream):
        tell("first")
    assert timers == []
    assert stream.getvalue() == ""


def test_without_a_listener_nothing_is_told() -> None:
    tell("nobody hears")
    assert [*told([3, 5], str)] == [3, 5]
