"""Marks are read by their syntax, and nothing that stands in one is run."""

import sys
from pathlib import Path

import pytest

from pytest_proofread.pytest_plugin.marks import MarkError, read_mark

READ = {
    'skip(reason="needs a GPU")': ((), {"reason": "needs a GPU"}),
    'skipif(True, reason="a")': ((True,), {"reason": "a"}),
    "timeout(2.5)": ((2.5,), {}),
    f'skipif(sys.platform == "{sys.platform}")': ((True,), {}),
    'skipif(sys.platform.startswith("no"))': ((False,), {}),
    "skipif(sys.version_info >= (3, 11))": ((True,), {}),
    "skipif(sys.version_info[:2] < (3, 11))": ((False,), {}),
    "skipif(sys.version_info[0] == 3 and not False)": ((True,), {}),
    'skipif(sys.platform in ["one", "two"] or False)': ((False,), {}),
}


@pytest.mark.parametrize(("text", "said"), READ.items(), ids=READ)
def test_a_mark_is_what_it_says(
    text: str, said: tuple[tuple[object, ...], dict[str, object]]
) -> None:
    mark = read_mark(f"pytest.mark.{text}")
    assert mark is not None
    assert (mark.args, mark.kwargs) == said
    assert mark.name == text.partition("(")[0]


def test_what_must_end_in_an_error_needs_no_mark_of_pytest() -> None:
    assert read_mark("pytest.mark.xfail") is None


REFUSED = {
    'skipif(__import__("os").system("touch ran"), reason="a")': "plain values",
    "skipif(open('a'))": "plain values",
    "skipif(sys.exit())": "plain values",
    "skipif(sys.version_info[99])": "plain values",
    "skipif(sys.platform < 3)": "plain values",
    "skipif(undefined)": "plain values",
    'timeout("abc")': "a positive number of seconds",
    "timeout(0)": "a positive number of seconds",
    "timeout(True)": "a positive number of seconds",
    "timeout()": "a positive number of seconds",
    "slow()": "skip, skipif, xfail or timeout",
    "skip(": "must be Python",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_plain_mark_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(MarkError, match=said) as caught:
        read_mark(f"pytest.mark.{text}")
    assert f"got pytest.mark.{text}." in str(caught.value)


def test_collecting_a_page_runs_nothing_of_it(pytester: pytest.Pytester) -> None:
    mark = 'pytest.mark.skipif(__import__("os").system("touch ran"), reason="a")'
    Path("page.md").write_text(f"# A\n\n<!--{mark}-->\n```python\nx = 1\n```\n")
    pytester.runpytest_inprocess("--proofread", "--collect-only")
    assert not Path("ran").exists()
    result = pytester.runpytest_inprocess("--proofread", "-k", "not fences")
    assert not Path("ran").exists()
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["page.md:4: a mark must have plain values*"])


def test_a_bad_page_is_one_red_test_and_others_run(pytester: pytest.Pytester) -> None:
    good = "# A\n\n```python\nx = 1\n```\n"
    Path("good.md").write_text(good)
    Path("bad.md").write_bytes(b"# Caf\xc3\xa9\n\ncaf\xe9\n")
    result = pytester.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["bad.md:3: a page must be UTF-8*"])
