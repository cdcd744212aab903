"""An error of other people's code is put into one line."""

import os
from pathlib import Path

import pytest
import torch

from headway.checks.errors import describe, frames, place


def test_an_error_is_put_into_one_line() -> None:
    assert describe(KeyError("a")) == "KeyError: 'a'"
    assert describe(RuntimeError("two\n  lines.")) == "RuntimeError: two lines"
    assert describe(ValueError("x" * 157)) == "ValueError: " + "x" * 157
    assert describe(ValueError("x" * 158)) == "ValueError: " + "x" * 157 + "..."


def fails() -> None:
    raise RuntimeError


def test_an_error_without_words_is_told_by_its_line() -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    assert describe(caught.value) == "RuntimeError: raise RuntimeError"
    assert describe(RuntimeError()) == "RuntimeError"


def test_the_place_is_the_last_line_of_a_readers_own() -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    line = fails.__code__.co_firstlineno + 1
    assert place(caught.value) == f" at {os.path.relpath(__file__)}:{line}"
    with pytest.raises(RuntimeError) as raised:
        torch.nn.Linear(2, 3)(torch.zeros(5))
    assert [frame.name for frame in frames(raised.value)] == [
        "test_the_place_is_the_last_line_of_a_readers_own"
    ]
    assert place("words") == ""


def test_a_place_elsewhere_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    monkeypatch.chdir(tmp_path)
    assert place(caught.value).startswith(f" at {__file__}:")
