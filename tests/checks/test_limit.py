"""A call of a reader's code has a limit, where one was set."""

import faulthandler
import io
from collections.abc import Iterator
from typing import Any

import pytest

from headway.checks import limit
from headway.checks.limit import limited, set_limit


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Record which timers begin and end, and begin none."""
    happened: list[Any] = []
    monkeypatch.setattr(limit, "_state", limit._State())
    monkeypatch.setattr(
        faulthandler,
        "dump_traceback_later",
        lambda seconds, **how: happened.append((seconds, how)),
    )
    monkeypatch.setattr(
        faulthandler, "cancel_dump_traceback_later", lambda: happened.append("ended")
    )
    return happened


def test_without_a_limit_nothing_begins(timers: list[Any]) -> None:
    with limited():
        pass
    assert timers == []


def test_each_outermost_call_gets_the_whole_limit(timers: list[Any]) -> None:
    lines = io.StringIO()
    set_limit(7.0, lines)
    begun = (7.0, {"file": lines, "exit": True})
    with limited(), limited():
        pass
    assert timers == [begun, "ended"]
    with pytest.raises(ZeroDivisionError), limited():
        raise ZeroDivisionError
    assert timers == [begun, "ended"] * 2
