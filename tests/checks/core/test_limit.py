"""A call of a reader's code has a limit, where one was set."""

import faulthandler
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from headway import CrossAttention, GroupedQueryAttention, MultiHeadAttention, small_gpt
from headway.checks import check, check_model
from headway.checks.command.configuration import ConfiguredTarget
from headway.checks.command.own_process import Request
from headway.checks.command.worker import answer
from headway.checks.core import limit
from headway.checks.core.limit import limited, set_limit


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


# What is within the limit


RECORDS = """
from torch import nn
from headway.checks.core import limit

within = {"import": [limit._state.depth], "constructor": [], "copy": [], "call": []}

class Records(nn.Linear):
    def __init__(self, d_in):
        within["constructor"].append(limit._state.depth)
        super().__init__(d_in, d_in)

    def __deepcopy__(self, memo):
        within["copy"].append(limit._state.depth)
        return type(self)(self.in_features)

    def forward(self, x):
        within["call"].append(limit._state.depth)
        return super().forward(x)
"""


@pytest.fixture
def limits(timers: list[Any]) -> list[Any]:
    set_limit(7.0, io.StringIO())
    return timers


@pytest.mark.usefixtures("limits")
def test_import_constructor_copies_and_calls_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records_depths.py").write_text(RECORDS)
    target = ConfiguredTarget("records_depths.py:Records", {}, {"d_in": 7})
    assert answer(Request(target)).status == 1
    within = sys.modules.pop("records_depths").within
    assert all(depths and min(depths) > 0 for depths in within.values()), within


@pytest.mark.parametrize(
    ("check", "build"),
    [
        (check, lambda: nn.MultiheadAttention(12, 4)),
        (check, lambda: MultiHeadAttention(12, 20, 30, 0.1, 4)),
        (check, lambda: GroupedQueryAttention(12, 20, 30, 0.1, 4, num_kv_heads=2)),
        (check, lambda: CrossAttention(12, 15, 20, 0.1, 4)),
        (check_model, small_gpt),
    ],
)
@pytest.mark.usefixtures("limits")
def test_each_call_of_a_check_is(check: Any, build: Any) -> None:
    within: list[int] = []
    module = build()
    module.register_forward_pre_hook(lambda *_: within.append(limit._state.depth))
    assert check(module).rows
    assert len(within) > 50
    assert min(within) > 0
