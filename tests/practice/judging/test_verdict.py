"""A verdict is shown on a terminal, in a notebook, and as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headway.practice.judging.verdict import Verdict

FAILED = Verdict(
    "double",
    "failed",
    "2 of 2 numbers are wrong.",
    mistakes=("it is squared", "one is added"),
    case=("smallest case  1", "yours          2", "must be        3"),
    read=("basics/masks/#x", "What breaks it"),
    exhibits=("museum/pieces/#x",),
    example="The worked example raised ValueError.",
    printed="one\ntwo",
    traceback="line 3, in double",
    seed=7,
)


def test_the_text_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(FAILED) == (
        "double  FAILED\n"
        "\n"
        "your file printed:\n"
        "| one\n"
        "| two\n"
        "\n"
        "  2 of 2 numbers are wrong.\n"
        "    line 3, in double\n"
        "    smallest case  1\n"
        "    yours          2\n"
        "    must be        3\n"
        "  This is exactly what comes out when it is squared, and when one is added.\n"
        '  Read "What breaks it" in "Hiding the future".\n'
        '  The museum shows it in "Pieces and tiles".'
    )


def test_the_worked_example_is_told_where_no_mistake_is_named() -> None:
    text = str(replace(FAILED, mistakes=()))
    assert "must be        3\n  The worked example raised ValueError.\n" in text


def test_the_text_of_a_success_has_no_section_to_read() -> None:
    verdict = Verdict("double", "passed", "It holds.", read=("a", "b"))
    assert verdict.ok
    assert str(verdict) == "double  passed\n  It holds."


def test_colours_and_widths() -> None:
    text = FAILED.text(width=30, colour=True)
    assert text.startswith("double  \x1b[1;31mFAILED\x1b[0m\n")
    sentences = [one for one in text.splitlines() if one.startswith("  This")]
    assert all(len(one) <= 30 for one in sentences)


def test_json_is_read_back() -> None:
    assert Verdict.from_json(FAILED.to_json()) == FAILED
    assert json.loads(FAILED.to_json())["ok"] is False


def test_a_notebook_shows_no_markup_of_the_reader() -> None:
    shown = Verdict("double", "failed", "<b>", printed="<i>")._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<i>" not in shown
    assert "<strong" in shown
    assert "hidden numbers from seed 0" in shown
    assert "seed" not in Verdict("double", "passed", "It holds.")._repr_html_()
