"""Whoever waits at a terminal is told what for, and nobody else."""

import io
import time

from headway.checks.progress import shown_if_slow, tell, told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow(stream: io.StringIO, patience: float, seconds: float) -> str:
    with shown_if_slow(stream, patience):
        for step in told(["first", "second"], str.upper):
            assert step
        tell("third")
        time.sleep(seconds)
    return stream.getvalue()


def test_a_step_that_takes_long_is_shown_and_wiped_off() -> None:
    shown = slow(Terminal(), 0.02, 0.2)
    assert shown == (
        "Small modules take half a second and tell as much: build it small.\n"
        "\r\x1b[KTHIRD ...\r\x1b[K".replace("THIRD", "third")
    )


def test_each_step_is_shown_over_the_one_before() -> None:
    stream = Terminal()
    with shown_if_slow(stream, 0.02):
        for _ in told(["first", "second"], str.upper):
            time.sleep(0.2)
    assert "\r\x1b[KFIRST ...\r\x1b[KSECOND ...\r\x1b[K" in stream.getvalue()


def test_a_quick_check_shows_nothing() -> None:
    assert slow(Terminal(), 60.0, 0.0) == ""


def test_what_is_no_terminal_gets_nothing() -> None:
    assert slow(io.StringIO(), 0.01, 0.1) == ""


def test_without_a_listener_nothing_is_told() -> None:
    tell("nobody hears")
    assert [*told([3, 5], str)] == [3, 5]
