"""What GitHub shows stands at the code, and holds every sign of the sentence."""

import functools
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from headway.checks import Report, Row
from headway.checks.command.formats import (
    SourcePlace,
    to_github,
    to_github_error,
    to_text,
)
from headway.checks.command.place import named_place, place_of
from headway.checks.core.book_sections import Section
from tests.support.load_module import load_module

HERE = Section("A chapter", "A section", "part/page/#a-section")
ROWS = [
    Row("sizes", "any sizes", "passed", "All.", HERE, 6),
    Row("large-scores", "large scores", "failed", "50% of it,\r\nor: more.", HERE, 100),
    Row("masks", "masks are obeyed", "not applicable", "It takes none.", HERE),
    Row("state", "a call leaves nothing behind", "note", "It keeps attn.", HERE),
    Row(
        "gradients",
        "gradients arrive",
        "expected",
        "No gradient.",
        HERE,
        reason="known",
    ),
]
COUNT = "1 passed, 1 failed, 1 expected to fail, 1 note, 1 not applicable"


def read_on(*rows: Row) -> list[str]:
    report = Report("Attend", {}, rows)
    text = to_text(report, colour=False)
    assert text.startswith(str(report))
    return text.removeprefix(str(report)).splitlines()[1:]


def test_a_terminal_is_told_which_command_explains_what_failed() -> None:
    failed = Row("equation", "equals", "failed", "It differs.", HERE)
    named = replace(failed, mistakes=("no-scale", "mask-flipped"))
    follows = replace(
        failed, id="leak", explained_by="equation", mistakes=("other-id",)
    )
    assert read_on(ROWS[0], *ROWS[2:]) == []
    assert read_on(*ROWS) == ["Read on: headway explain large-scores"]
    assert read_on(named, follows) == ["Read on: headway explain no-scale mask-flipped"]
    many = [named, replace(named, id="leak"), *ROWS, replace(failed, id="past")]
    assert read_on(*many) == [
        "Read on: headway explain no-scale mask-flipped large-scores"
    ]


def test_a_failure_is_an_error_and_a_note_is_a_notice() -> None:
    lines = to_github(Report("Attend", {}, ROWS), SourcePlace("src/a,b.py", 7)).split(
        "\n"
    )
    at = "file=src/a%2Cb.py,line=7,title=Attend%3A "
    assert lines == [
        f"::error {at}large scores [large-scores]::50%25 of it,%0D%0Aor: more. "
        f"Read {HERE}. In a terminal: headway explain large-scores",
        f"::notice {at}a call leaves nothing behind [state]::It keeps attn.",
        f"Attend: {COUNT}",
    ]


def test_without_a_place_there_is_a_title_alone() -> None:
    lines = to_github(Report("f", {}, ROWS[3:4]), None).splitlines()
    assert lines[0] == (
        "::notice title=f%3A a call leaves nothing behind [state]::It keeps attn."
    )


def test_what_follows_says_from_what() -> None:
    row = Row(
        "sizes", "any sizes", "failed", "It raised.", HERE, explained_by="large-scores"
    )
    [line, _] = to_github(Report("f", {}, [row]), None).splitlines()
    assert line.endswith("::It raised. Explained by [large-scores].")


CAUSE = Row(
    "equation",
    "equals the equation",
    "failed",
    "Nothing is hidden.",
    HERE,
    4.2,
    explains=("leak", "past"),
    mistakes=("no-mask",),
)
FOLLOWS = [
    Row("leak", "no leak", "failed", "It moves.", HERE, explained_by="equation"),
    Row("past", "all count", "failed", "One less.", HERE, explained_by="equation"),
]


def test_what_follows_from_a_cause_is_told_with_it() -> None:
    report = Report("f", {}, [FOLLOWS[0], CAUSE, FOLLOWS[1], ROWS[3]])
    first, second, last = to_github(report, None).splitlines()
    assert first.endswith(
        f"[equation]::Nothing is hidden. Read {HERE}. What follows: [leak] [past]. "
        "In a terminal: headway explain no-mask"
    )
    assert second.startswith("::notice ")
    assert last == "f: 0 passed, 3 failed, 1 note, 0 not applicable"


def test_a_failure_does_not_hide_behind_one_that_is_expected() -> None:
    cause = replace(CAUSE, verdict="expected", reason="known")
    first, last = to_github(Report("f", {}, [cause, FOLLOWS[0]]), None).splitlines()
    assert first == (
        "::error title=f%3A no leak [leak]::It moves. Explained by [equation]."
    )
    assert last.startswith("f: 0 passed, 1 failed, 1 expected")


def test_an_error_is_one_line() -> None:
    assert to_github_error("d_in must be\n100%.") == "::error::d_in must be%0A100%25."


CODE = '''"""One, two."""
import functools

from torch import nn


def decorate(one):
    @functools.wraps(one)
    def inner(*arguments):
        return one(*arguments)
    return inner


@decorate
def attend(q, k, v):
    return q


class Attend(nn.Linear):
    pass


class Calls:
    def __call__(self, x):
        return x

    def method(self, x):
        return x
'''


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module in a folder of a repository."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "placed.py"
    file.write_text(CODE)
    yield load_module(file)
    del sys.modules["placed"]


def never(*_: object) -> object:
    """Stand in for a compiler that nobody is to call."""
    raise NotImplementedError("it was compiled")


def test_code_is_at_the_line_of_its_class_or_function(code: ModuleType) -> None:
    for target, line in (
        (code.Attend(3, 3), 19),
        (torch.compile(code.Attend(3, 3), backend=never), 19),
        (code.attend, 14),
        (functools.partial(code.attend, k=3), 14),
        (code.Calls(), 23),
        (code.Calls().method, 27),
    ):
        assert place_of(target) == SourcePlace("src/placed.py", line), target


def test_the_root_is_where_github_says(
    code: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "src")
    assert place_of(code.Attend(3, 3)) == SourcePlace("placed.py", 19)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert place_of(code.Attend(3, 3)) == SourcePlace("src/placed.py", 19)


def test_what_is_not_in_the_repository_has_no_place(
    code: ModuleType, tmp_path: Path
) -> None:
    assert place_of(torch.nn.Linear(3, 3)) is None
    assert place_of(torch.nn.functional.scaled_dot_product_attention) is None
    made: dict[str, type] = {}
    exec("from torch import nn\nclass Made(nn.Linear): pass", made)  # noqa: S102
    assert place_of(made["Made"](3, 3)) is None


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("a/mine.py:Attend", "a/mine.py"),
        ("mine.ipynb", "mine.ipynb"),
        ("torch.nn:Linear", "pyproject.toml"),
        ("torch.nn", "pyproject.toml"),
    ],
)
def test_what_has_no_place_is_where_it_is_named(target: str, file: str) -> None:
    assert named_place(target) == SourcePlace(file, 1)
