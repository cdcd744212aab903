"""The failures that the README shows are those that the tool gives."""

import re
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import fences

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = TEXT.partition("## What each failure looks like")[2].partition("\n## ")[0]
TITLES = re.findall(r"^\*\*(.+)\.\*\*$", EXAMPLES, re.MULTILINE)
FOUND = fences(EXAMPLES)
PAIRS = [(FOUND[i].code, FOUND[i + 1].code) for i in range(0, len(FOUND), 2)]


def test_each_example_has_a_page_and_a_failure() -> None:
    assert len(TITLES) == len(PAIRS) == len(FOUND) / 2 >= 10


@pytest.mark.parametrize(("page", "failure"), PAIRS, ids=TITLES)
def test_the_failure_is_what_the_tool_says(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    failure: str,
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\naddopts = ["-p", "pytest_proofread.options"]\n'
    )
    pytester.mkdir("docs").joinpath("page.md").write_text(page, encoding="utf-8")
    said = pytester.runpytest_inprocess(
        "--proofread", "--assert=plain", "docs"
    ).stdout.str()
    _, _, shown = said.partition("= FAILURES =")
    shown = shown.partition("\n")[2].partition("proofread: ")[0]
    assert without_marks(shown) == without_marks(failure)


def without_marks(text: str) -> str:
    """Leave out what underlines calls: versions of Python underline others."""
    return re.sub(r"^ +[~^]+\n", "", text, flags=re.MULTILINE)
