"""A program that needs another is found, in whichever way it shows."""

from pathlib import Path

import pytest

from proofread.page.markdown import ERROR, OUTPUT, REFUSES
from proofread.verify import prove

PLUGINS = ["-p", "proofread.pytest_plugin.plugin", "-p", "xdist"]
SETTINGS = f"[tool.pytest.ini_options]\naddopts = {PLUGINS}"
STEADY = f"""
# One

```python
print("√3")
```

{OUTPUT}

```text
√3
```

{REFUSES}

```python
print(1)
raise ValueError("two\\nlines")
```

{OUTPUT}

```text
1
```

{ERROR}

```text
ValueError: two
lines
```
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    return tmp_path


def run(
    book: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    (book / "page.md").write_text(text, encoding="utf-8")
    status = prove.main([str(book / "page.md")])
    return status, capsys.readouterr().out.splitlines()


def test_a_book_that_holds_still(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(book, STEADY, capsys) == (
        0,
        [
            "in order                   2 programs, 0 problems",
            "in another order           2 programs, 0 problems",
            "in two processes           2 programs, 0 problems",
            "on an older processor      2 programs, 0 problems",
            "each alone                 2 programs, 0 problems",
        ],
    )


# What the book's own isolation cannot put back: a module that belongs to Python.
COUNT = "import json\njson.runs = getattr(json, 'runs', 0) + 1\nprint(json.runs)"
PAGE = "```python\n{}\n```\n\n" + OUTPUT + "\n\n```text\n{}\n```\n\n"


def test_a_program_that_needs_another_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(PAGE.format(COUNT, count) for count in (1, 2, 3, 4, 5))
    status, lines = run(book, text, capsys)
    assert status == 1
    assert lines[0] == "in order                   5 programs, 0 problems"
    assert lines[1].startswith("in another order           5 programs, ")
    assert any(line.endswith(": fails") for line in lines)
    assert r"  page.md::top[2]: output was '2\n', and is '1\n'" in lines
    assert "each alone                 5 programs, 4 problems" in lines


def test_a_program_that_needs_a_newer_processor_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import os\nprint(os.environ.get('ATEN_CPU_CAPABILITY', 'newer'))"
    status, lines = run(book, PAGE.format(code, "newer"), capsys)
    assert status == 1
    assert "on an older processor      1 programs, 2 problems" in lines
    assert r"  page.md::top: output was 'newer\n', and is 'default\n'" in lines


def test_a_program_that_knows_its_runner_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys\nprint('proofread' in sys.modules)"
    status, lines = run(book, PAGE.format(code, "True"), capsys)
    assert status == 1
    assert lines[-2] == "each alone                 1 programs, 1 problems"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import os\nif 'BY_PYTEST' not in os.environ: 1 / 0",
            "must end with ''; wrote",
        ),
        ("import os\nif 'BY_PYTEST' not in os.environ: os.write(2, b'a')", "wrote 'a'"),
    ],
)
def test_what_a_program_writes_to_stderr_alone_is_found(
    book: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    said: str,
) -> None:
    by_pytest = prove.by_pytest

    def told(*arguments: object) -> prove.Results:
        with monkeypatch.context() as context:
            context.setenv("BY_PYTEST", "1")
            return by_pytest(*arguments)

    monkeypatch.setattr(prove, "by_pytest", told)
    status, lines = run(book, f"```python\n{code}\n```\n", capsys)
    assert status == 1
    assert lines[-2] == "each alone                 1 programs, 1 problems"
    assert said in lines[-1]


def test_an_error_that_is_another_alone_is_found() -> None:
    result = {"code": "1 / 0", "output": "", "error": "ZeroDivisionError: b"}
    (said,) = prove.differences_alone({"page.md::a": result})
    assert said.startswith(
        r"page.md::a: must end with '\nZeroDivisionError: b\n'; wrote"
    )
    other = {**result, "code": "", "error": "Z"}
    (said,) = prove.differences_alone({"a": other})
    assert said == r"a: must end with '\nZ\n'; wrote ''"


def test_what_ran_in_one_way_alone_is_found() -> None:
    result = {"output": "", "error": "", "outcome": "passed"}
    assert [*prove.differences({"a": result}, {})] == [
        "a: ran in one way and not in the other"
    ]
    assert [*prove.differences({"a": result}, {"a": {**result, "error": "E"}})] == [
        "a: error was '', and is 'E'"
    ]


def test_without_programs_nothing_is_proved(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "page.md").write_text("# Words\n")
    assert prove.main([str(book / "page.md")]) == 1
    assert capsys.readouterr().err.startswith("no program ran; pytest says:\n")
    assert prove.main([str(book / "none.md")]) == 1
    assert capsys.readouterr().err.startswith("no program ran; pytest says:\n")
