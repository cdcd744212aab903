"""What ends the process of a check leaves the lines that it met."""

import faulthandler
import os
from typing import Any

import pytest

from headway.checks.command import worker


def test_an_exit_leaves_lines_and_that_of_another_process_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[Any] = []
    monkeypatch.setattr(faulthandler, "enable", happened.append)
    monkeypatch.delattr(faulthandler, "register", raising=False)  # as on Windows
    monkeypatch.setattr(
        faulthandler, "dump_traceback", lambda lines, **_: happened.append(lines)
    )
    monkeypatch.setattr(os, "_exit", happened.append)
    worker._record_ends("lines")  # type: ignore[arg-type]
    os._exit(3)
    monkeypatch.setattr(os, "getpid", lambda: -1)  # the code has forked
    os._exit(5)
    assert happened == ["lines", "lines", 3, 5]
