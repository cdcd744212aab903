import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from proofread import record

MARKER = "<!--pytest-codeblocks:expected-output-->"

# Each page before and after, with what is said of it.
PAGES = {
    "an output is replaced, and nothing else": (
        f"A.\n\n```python\nprint(1)\n```\n\n{MARKER}\n\n```text\n0\n```\n\nB.\n",
        f"A.\n\n```python\nprint(1)\n```\n\n{MARKER}\n\n```text\n1\n```\n\nB.\n",
        "line 3: output changed",
    ),
    "a longer output pushes the rest down": (
        f"```python\nprint('a\\n\\nb')\n```\n\n{MARKER}\n\n```text\n0\n```\n\nB.\n",
        f"```python\nprint('a\\n\\nb')\n```\n\n{MARKER}\n\n```text\na\n\nb\n```\n\nB.\n",
        "line 1: output changed",
    ),
    "a block that prints gets a record": (
        "```python\nprint(1)\n```\n\nB.\n",
        f"```python\nprint(1)\n```\n\n{MARKER}\n\n```text\n1\n```\n\nB.\n",
        "line 1: output added",
    ),
    "a page may end in its program": (
        "```python\nprint(1)\n```",
        f"```python\nprint(1)\n```\n\n{MARKER}\n\n```text\n1\n```",
        "line 1: output added",
    ),
    "a block that falls silent loses its record": (
        f"```python\nx = 1\n```\n\n{MARKER}\n\n```text\n0\n```\n\nB.\n",
        "```python\nx = 1\n```\n\nB.\n",
        "line 1: output removed",
    ),
    "words between program and record stay": (
        f"```python\nx = 1\n```\nIt prints:\n{MARKER}\n```text\n0\n```\n\nB.\n",
        "```python\nx = 1\n```\nIt prints:\n\nB.\n",
        "line 1: output removed",
    ),
    "in a list or an admonition the indent is kept, in empty lines too": (
        "1. A.\n\n    ```python\n    print('a\\n\\n  b')\n    ```\n\n    B.\n",
        "1. A.\n\n    ```python\n    print('a\\n\\n  b')\n    ```\n\n"
        f"    {MARKER}\n\n    ```text\n    a\n    \n      b\n    ```\n\n    B.\n",
        "line 3: output added",
    ),
    "a record keeps an indent of its own": (
        f"```python\nprint(1)\n```\n\n  {MARKER}\n\n  ```text\n  0\n  ```\n",
        f"```python\nprint(1)\n```\n\n  {MARKER}\n\n  ```text\n  1\n  ```\n",
        "line 1: output changed",
    ),
    "a fence in the output gets a longer one around it": (
        "```python\nprint('  ````` a')\n```\n",
        "```python\nprint('  ````` a')\n```\n\n"
        f"{MARKER}\n\n``````text\n  ````` a\n``````\n",
        "line 1: output added",
    ),
    "and is replaced as a whole": (
        f"```python\nprint(1)\n```\n\n{MARKER}\n\n````text\n```\n0\n````\n\nB.\n",
        f"```python\nprint(1)\n```\n\n{MARKER}\n\n```text\n1\n```\n\nB.\n",
        "line 1: output changed",
    ),
    "only the space that differs is written; letters of any language": (
        f"```python\nprint(' ü ')\n```\n\n{MARKER}\n\n```text\nü\n```\n",
        f"```python\nprint(' ü ')\n```\n\n{MARKER}\n\n```text\n ü \n```\n",
        "line 1: output changed",
    ),
}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def stock_pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the pages by pytest-codeblocks alone, which must agree with us."""
    command = [sys.executable, "-m", "pytest", "--codeblocks", "-c", os.devnull]
    return subprocess.run(
        [*command, "--rootdir", folder, folder], capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("before", "after", "sentence"), PAGES.values(), ids=PAGES.keys()
)
def test_a_page_gets_the_outputs_of_now(
    page: Path,
    before: str,
    after: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page.write_text(before, encoding="utf-8")

    assert record.main(["--check", str(page)]) == 1
    assert capsys.readouterr() == (f"{page}, {sentence}\n", "")
    assert page.read_text(encoding="utf-8") == before

    assert record.main([str(page)]) == 0
    assert capsys.readouterr() == (f"{page}, {sentence}\n", "")
    assert page.read_text(encoding="utf-8") == after

    written = page.stat()
    for arguments in ([str(page)], ["--check", str(page)]):
        assert record.main(arguments) == 0
        assert capsys.readouterr() == ("", "")
        assert page.stat().st_ino == written.st_ino


def test_pytest_codeblocks_agrees_with_every_record(tmp_path: Path) -> None:
    for number, (before, _, _) in enumerate(PAGES.values()):
        (tmp_path / f"{number}.md").write_text(before, encoding="utf-8")
    # Where nothing is recorded yet, it compares nothing.
    added = sum("added" in sentence for _, _, sentence in PAGES.values())
    before = stock_pytest(tmp_path)
    assert f"{len(PAGES) - added} failed, {added} passed" in before.stdout
    assert record.main([str(tmp_path)]) == 0
    after = stock_pytest(tmp_path)
    assert f"{len(PAGES)} passed" in after.stdout
    assert after.returncode == 0


def test_a_page_with_many_programs(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = "```python\nprint('a\\nb')\n```\n\n"
    old = f"```python\nprint(2)\n```\n\n{MARKER}\n\n```text\n0\n```\n\n"
    true = f"```python\nprint(3)\n```\n\n{MARKER}\n\n```text\n3\n```\n\n"
    page.write_text(new + true + old + new)
    assert record.main([str(page)]) == 0
    added = f"{new}{MARKER}\n\n```text\na\nb\n```\n\n"
    assert page.read_text() == added + true + old.replace("0\n", "2\n") + added
    # Lines are those of the page as it was.
    assert capsys.readouterr().out == (
        f"{page}, line 1: output added\n"
        f"{page}, line 15: output changed\n"
        f"{page}, line 25: output added\n"
    )


def test_a_program_sees_nothing_of_the_one_before(page: Path, tmp_path: Path) -> None:
    page.write_text(
        f"```python\nimport os, warnings\nos.chdir({str(tmp_path)!r})\n"
        "warnings.simplefilter('ignore')\nx = 1\n```\n\n"
        "```python\nimport os\nprint(os.getcwd(), 'x' in dir(), __name__)\n```\n"
    )
    folder = Path.cwd()
    assert record.main([str(page)]) == 0
    assert Path.cwd() == folder
    # The name is not __main__ under pytest-codeblocks either.
    assert f"```text\n{folder} False builtins\n```" in page.read_text()


BROKEN = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "raise SystemExit(2)": "SystemExit: 2",
    "print(1": "SyntaxError: '(' was never closed (<string>, line 1)",
    "print(1, end='')": ("output must be whole lines of plain text; got output='1'."),
    r"print('1\r2')": (
        r"output must be whole lines of plain text; got output='1\r2\n'."
    ),
}


@pytest.mark.parametrize(("code", "sentence"), BROKEN.items())
def test_a_broken_page_is_left_and_the_others_are_written(
    tmp_path: Path, code: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, broken, last = (tmp_path / f"{name}.md" for name in "abc")
    before, after, _ = PAGES["an output is replaced, and nothing else"]
    text = before + f"\n```python\n{code}\n```\n"
    first.write_text(before)
    broken.write_text(text)
    last.write_text(before)
    assert record.main([str(tmp_path)]) == 1
    assert first.read_text() == after
    assert broken.read_text() == text
    assert last.read_text() == after
    assert capsys.readouterr().err == f"{broken}: line 15: {sentence}\n"


def test_a_warning_is_an_error_whatever_python_was_told(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page.write_text("```python\nimport warnings\nwarnings.warn('old')\n```\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filters = [*warnings.filters]
        assert record.main([str(page)]) == 1
        assert filters == warnings.filters
    assert capsys.readouterr().err == f"{page}: line 1: UserWarning: old\n"


def test_a_page_that_pytest_codeblocks_cannot_read_is_left(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page.write_text("```python\nprint(1)\n")
    assert record.main([str(page)]) == 1
    assert page.read_text() == "```python\nprint(1)\n"
    assert capsys.readouterr().err == (
        f"{page}: Hit end-of-file prematurely. Syntax error?\n"
    )


def test_a_page_that_is_not_there(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record.main([str(page)]) == 1
    assert "No such file or directory" in capsys.readouterr().err


def test_other_fences_are_not_run(page: Path) -> None:
    text = (
        "```text\nprint(1)\n```\n\n```console\n$ exit 1\n```\n\n"
        "````markdown\n```python\nprint(1)\n```\n````\n"
    )
    page.write_text(text)
    assert record.main([str(page)]) == 0
    assert page.read_text() == text


def test_folders_are_searched_for_markdown(tmp_path: Path) -> None:
    text = "```python\nprint(1)\n```\n"
    (tmp_path / "docs" / "walk").mkdir(parents=True)
    deep, other = tmp_path / "docs" / "walk" / "a.md", tmp_path / "docs" / "a.txt"
    single, left = tmp_path / "README.md", tmp_path / "b.md"
    for file in (deep, other, single, left):
        file.write_text(text)
    assert record.main([str(tmp_path / "docs"), str(single)]) == 0
    assert MARKER in deep.read_text()
    assert MARKER in single.read_text()
    assert other.read_text() == left.read_text() == text


def test_a_page_is_replaced_in_one_step(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after, _ = PAGES["an output is replaced, and nothing else"]
    page.write_text(before)
    page.chmod(0o640)
    replace = Path.replace

    def full_disk(source: Path, target: Path) -> Path:
        # The new text is complete before the page is touched.
        assert source.read_text() == after
        assert target.read_text() == before
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OSError, match="disk full"):
        record.main([str(page)])
    assert page.read_text() == before
    assert list(page.parent.iterdir()) == [page]

    monkeypatch.setattr(Path, "replace", replace)
    assert record.main([str(page)]) == 0
    assert page.read_text() == after
    assert page.stat().st_mode & 0o777 == 0o640
    assert list(page.parent.iterdir()) == [page]


def test_the_command_ends_with_the_status(page: Path) -> None:
    page.write_text("```python\n1 / 0\n```\n")
    command = [sys.executable, "-m", "proofread.record", str(page)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"{page}: line 1: ZeroDivisionError: division by zero\n"
