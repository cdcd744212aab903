"""What a page says is rewritten, and nothing else on it."""

from pathlib import Path
from typing import Any

import pytest

from pytest_proofread.page import record
from pytest_proofread.page.markdown import ERROR, OUTPUT, REFUSES, programs
from pytest_proofread.pytest_plugin.lookahead import current_interpreter
from pytest_proofread.runner import Job

# Each page before and after, with what is said of it.
PAGES = {
    "an output is replaced, and nothing else": (
        f"A.\n\n```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n0\n```\n\nB.\n",
        f"A.\n\n```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```\n\nB.\n",
        "3: output changed",
    ),
    "a longer output pushes the rest down": (
        f"```python\nprint('a\\n\\nb')\n```\n\n{OUTPUT}\n\n```text\n0\n```\n\nB.\n",
        f"```python\nprint('a\\n\\nb')\n```\n\n{OUTPUT}\n\n```text\na\n\nb\n```\n\nB.\n",
        "1: output changed",
    ),
    "a block that prints gets a record": (
        "```python\nprint(1)\n```\n\nB.\n",
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```\n\nB.\n",
        "1: output added",
    ),
    "a page may end in its program": (
        "```python\nprint(1)\n```",
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```",
        "1: output added",
    ),
    "a block that falls silent loses its record": (
        f"```python\nx = 1\n```\n\n{OUTPUT}\n\n```text\n0\n```\n\nB.\n",
        "```python\nx = 1\n```\n\nB.\n",
        "1: output removed",
    ),
    "in a list or an admonition the indent is kept, in empty lines too": (
        "1. A.\n\n    ```python\n    print('a\\n\\n  b')\n    ```\n\n    B.\n",
        "1. A.\n\n    ```python\n    print('a\\n\\n  b')\n    ```\n\n"
        f"    {OUTPUT}\n\n    ```text\n    a\n    \n      b\n    ```\n\n    B.\n",
        "3: output added",
    ),
    "a record keeps an indent of its own": (
        f"```python\nprint(1)\n```\n\n  {OUTPUT}\n\n  ```text\n  0\n  ```\n",
        f"```python\nprint(1)\n```\n\n  {OUTPUT}\n\n  ```text\n  1\n  ```\n",
        "1: output changed",
    ),
    "a fence in the output gets a longer one around it": (
        "```python\nprint('  ````` a')\n```\n",
        "```python\nprint('  ````` a')\n```\n\n"
        f"{OUTPUT}\n\n``````text\n  ````` a\n``````\n",
        "1: output added",
    ),
    "and is replaced as a whole": (
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n````text\n```\n0\n````\n\nB.\n",
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```\n\nB.\n",
        "1: output changed",
    ),
    "only the space that differs is written; letters of any language": (
        f"```python\nprint(' ü ')\n```\n\n{OUTPUT}\n\n```text\nü\n```\n",
        f"```python\nprint(' ü ')\n```\n\n{OUTPUT}\n\n```text\n ü \n```\n",
        "1: output changed",
    ),
}


REFUSAL = f"{REFUSES}\n\n```python\nprint(1)\n1 / 0\n```\n"
RECORDED = f"\n{OUTPUT}\n\n```text\n1\n```\n"
REFUSED = f"\n{ERROR}\n\n```text\nZeroDivisionError: division by zero\n```\n"
PAGES |= {
    "an error gets a record, below the output": (
        REFUSAL + "B.\n",
        REFUSAL + RECORDED + REFUSED + "B.\n",
        "3: output added",
    ),
    "an error is added below an output": (
        REFUSAL + RECORDED + "\nB.\n",
        REFUSAL + RECORDED + REFUSED + "\nB.\n",
        "3: error added",
    ),
    "an output is added above an error": (
        REFUSAL + REFUSED + "\nB.\n",
        REFUSAL + RECORDED + REFUSED + "\nB.\n",
        "3: output added",
    ),
    "an error that is another is replaced": (
        REFUSAL + RECORDED + REFUSED.replace("zero", "one") + "\nB.\n",
        REFUSAL + RECORDED + REFUSED + "\nB.\n",
        "3: error changed",
    ),
    "an error that is gone is removed": (
        "```python\nx = 1\n```\n" + REFUSED + "\nB.\n",
        "```python\nx = 1\n```\n\nB.\n",
        "1: error removed",
    ),
}


def results(text: str) -> dict[int, dict[str, Any]]:
    """Run the programs of a page."""
    with current_interpreter() as worker:
        done = {p.line: worker.run(Job(p.code)) for p in programs(text)}
    return {
        line: {"output": result.output, "error": result.error}
        for line, result in done.items()
    }


@pytest.mark.parametrize(
    ("before", "after", "sentence"), PAGES.values(), ids=PAGES.keys()
)
def test_a_page_gets_the_outputs_of_now(before: str, after: str, sentence: str) -> None:
    text, changes = record.rewrite(before, results(before))
    assert text == after
    assert changes[0].splitlines()[0] == sentence
    assert record.rewrite(after, results(after)) == (after, [])


def test_what_changed_is_shown() -> None:
    before = f"```python\nprint(0.1385)\n```\n\n{OUTPUT}\n\n```text\n0.1387\n```\n"
    _, (change,) = record.rewrite(before, results(before))
    assert change.startswith("1: output changed\n--- recorded\n+++ printed\n")
    assert "recorded 0.1387, printed 0.1385, off by 0.0002" in change


def test_a_program_without_a_result_keeps_its_record() -> None:
    before = PAGES["an output is replaced, and nothing else"][0]
    assert record.rewrite(before, {}) == (before, [])


def test_pytest_codeblocks_agrees_with_every_record(pytester: pytest.Pytester) -> None:
    pairs = [(before, after) for before, after, _ in PAGES.values()]
    for number, (before, after) in enumerate(pairs):
        (pytester.path / f"{number}.md").write_text(after, encoding="utf-8")
        (pytester.path / f"{number}-old.md").write_text(before, encoding="utf-8")
    refusing = sum(REFUSES in after for _, after in pairs)
    # It lets an old error pass, and an output that is not there.
    old = sum(OUTPUT in before and REFUSES not in before for before, _ in pairs)
    passed = 2 * (len(pairs) - refusing) - old
    result = pytester.runpytest_inprocess("--codeblocks")
    result.assert_outcomes(passed=passed, failed=old, xfailed=2 * refusing)


def test_many_programs_are_told_by_the_lines_of_the_page_as_it_was(
    tmp_path: Path,
) -> None:
    new = "```python\nprint('a\\nb')\n```\n\n"
    old = f"```python\nprint(2)\n```\n\n{OUTPUT}\n\n```text\n0\n```\n\n"
    true = f"```python\nprint(3)\n```\n\n{OUTPUT}\n\n```text\n3\n```\n\n"
    before = new + true + old + new
    text, changes = record.rewrite(before, results(before))
    added = f"{new}{OUTPUT}\n\n```text\na\nb\n```\n\n"
    assert text == added + true + old.replace("0\n", "2\n") + added
    assert [change.splitlines()[0] for change in changes] == [
        "1: output added",
        "15: output changed",
        "25: output added",
    ]


def test_a_page_is_replaced_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    page.chmod(0o640)
    replace = Path.replace

    def full_disk(source: Path, target: Path) -> Path:
        # The new text is complete before the page is touched.
        assert source.read_text() == "new √\n"
        assert target.read_text() == "old"
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OSError, match="disk full"):
        record.write(page, "new √\n")
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]

    monkeypatch.setattr(Path, "replace", replace)
    record.write(page, "new √\n")
    assert page.read_bytes() == "new √\n".encode()
    assert page.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [page]
