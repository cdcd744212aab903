"""A program that needs another, or a processor, is found in whichever way it shows."""

import json
import sys
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import ERROR, OUTPUT, REFUSES
from pytest_proofread.pytest_plugin.elsewhere import run_pages
from workshop.run.code_paths import BY_THEMSELVES, OLDEST, CodePath
from workshop.verify import prove

PLUGINS = ["-p", "pytest_proofread.options", "-p", "xdist"]
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
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    # To ask the libraries takes seconds; `test_code_paths` does.
    monkeypatch.setattr(prove, "taken", lambda path: path.branches)
    monkeypatch.setattr(prove, "PATHS", (BY_THEMSELVES, OLDEST, NEWER))
    return tmp_path


def run(
    book: Path, text: str, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, list[str]]:
    (book / "page.md").write_text(text, encoding="utf-8")
    status = prove.main([str(book / "page.md"), *options])
    return status, capsys.readouterr().out.splitlines()


NEWER = CodePath("newer", {"PyTorch": "newer", "MKL": "newer"}, 2)
HEAD = "                        programs  commands  problems"


@pytest.mark.slow
def test_a_book_that_holds_still(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(book, STEADY, capsys) == (
        0,
        [
            HEAD,
            "in order                       2         0         0",
            "in another order               2         0         0",
            "in two processes               2         0         0",
            "oldest, 1 thread               2         0         0",
            "newer                          2         0         0",
            "each alone                     2         0         0",
        ],
    )


@pytest.mark.slow
def test_in_a_hurry_two_code_paths_are_tried_with_each_command(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "make.py").write_text(
        "import os, sys\n"
        "open('log', 'a').write(os.environ.get('ATEN_CPU_CAPABILITY', '-'))\n"
    )
    also = ["--also", "python make.py", "--also", f"{sys.executable} make.py"]
    assert run(book, STEADY, capsys, "--quick", *also) == (
        0,
        [
            HEAD,
            "in order                       2         2         0",
            "oldest, 1 thread               2         2         0",
        ],
    )
    assert (book / "log").read_text() == "--defaultdefault"


def test_what_has_run_does_not_run_again(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "page.md").write_text(STEADY, encoding="utf-8")
    (book / "make.py").write_text("open('log', 'a').write('-')")
    ran = json.dumps(run_pages([Path("page.md")]), ensure_ascii=False)
    # Nobody wrote it, and it shows what the first way was.
    (book / "results.json").write_text(ran.replace("√3\\n", "√5\\n"), "utf-8")
    arguments = ["page.md", "--quick", "--also", "python make.py"]
    status = prove.main([*arguments, f"--results={book}/results.json"])
    lines = capsys.readouterr().out.splitlines()
    assert status == 1
    assert lines[0].endswith(r"one: output was '√5\n', and is '√3\n'")
    assert lines[2:] == [
        "in order                       2         1         0",
        "oldest, 1 thread               2         1         1",
    ]
    assert (book / "log").read_text() == "--"


def test_what_others_ran_is_no_result(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "page.md").write_text(STEADY, encoding="utf-8")
    (book / "results.json").write_text(json.dumps(run_pages([Path("page.md")])))
    (book / "page.md").write_text(STEADY.replace("√3", "√7"), encoding="utf-8")
    assert prove.main(["page.md", f"--results={book}/results.json"]) == 1
    assert capsys.readouterr().err == (
        f"{book}/results.json must hold what each program of the pages did; it does "
        "not of page.md.\n"
    )


def test_a_command_that_fails_on_one_code_path_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "make.py").write_text(
        "import os, sys\n"
        "if os.environ.get('ATEN_CPU_CAPABILITY'):\n"
        "    sys.exit('a.svg must be as drawn now')\n"
    )
    status, lines = run(book, STEADY, capsys, "--quick", "--also", "python make.py")
    assert status == 1
    assert lines == [
        "oldest, 1 thread: python make.py: ends with status 1; it says:",
        "a.svg must be as drawn now",
        HEAD,
        "in order                       2         1         0",
        "oldest, 1 thread               2         1         1",
    ]


@pytest.mark.slow
def test_it_says_which_code_paths_cannot_be_tried(
    book: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Here PyTorch has no newer branch, and MKL does what it wants.
    found = {"PyTorch": "default", "MKL": "AUTO", "oneDNN": "Intel SSE4.1"}
    monkeypatch.setattr(prove, "taken", lambda path: found)
    status, lines = run(book, STEADY, capsys)
    assert status == 0
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "in order",
        "in another order",
        "in two processes",
        "oldest, 1 thread",
        "each alone",
        "not tried: MKL COMPATIBLE: it takes AUTO instead",
        "not tried: PyTorch newer: it takes default instead",
        "not tried: MKL newer: it takes AUTO instead",
    ]


# What no process of its own can hide: a file that another program has written.
COUNT = (
    "from pathlib import Path\nfile = Path({!r}, 'runs')\nfile.touch()\n"
    "with file.open('a') as runs: runs.write('a')\nprint(len(file.read_text()))"
)
PAGE = "```python\n{}\n```\n\n" + OUTPUT + "\n\n```text\n{}\n```\n\n"


@pytest.mark.slow
def test_a_program_that_needs_another_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = COUNT.format(str(book))
    text = "".join(PAGE.format(count, number) for number in (1, 2, 3))
    status, lines = run(book, text, capsys)
    assert status == 1
    assert "in order                       3         0         0" in lines
    assert any(line.endswith(": fails") for line in lines)
    assert "each alone                     3         0         3" in lines


@pytest.mark.slow
def test_a_program_that_needs_a_newer_processor_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import os\nprint(os.environ.get('ATEN_CPU_CAPABILITY', 'newer'))"
    status, lines = run(book, PAGE.format(code, "newer"), capsys)
    assert status == 1
    assert "oldest, 1 thread               1         0         2" in lines
    moved = r"page.md::top: output was 'newer\n', and is 'default\n'"
    assert f"oldest, 1 thread: {moved}" in lines
    assert "newer                          1         0         0" in lines


@pytest.mark.slow
def test_a_program_that_knows_its_runner_is_found(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys\nprint('argparse' in sys.modules)"
    status, lines = run(book, PAGE.format(code, "True"), capsys)
    assert status == 1
    assert lines[-1] == "each alone                     1         0         1"


@pytest.mark.slow
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
    run_pages = prove.run_pages

    def with_a_mark(paths, options, environment) -> prove.Results:
        return run_pages(paths, options, {**environment, "BY_PYTEST": "1"})

    monkeypatch.setattr(prove, "run_pages", with_a_mark)
    status, lines = run(book, f"```python\n{code}\n```\n", capsys)
    assert status == 1
    assert lines[-1] == "each alone                     1         0         1"
    assert any(said in line for line in lines)


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
