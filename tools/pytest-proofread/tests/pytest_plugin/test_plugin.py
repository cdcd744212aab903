"""A page that lies fails like any other test, and what it says can be recorded anew."""

import json
import os
import re
import signal
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE
from types import SimpleNamespace

import pytest

from pytest_proofread.output.reference_environment import differs_from_reference
from pytest_proofread.page.markdown import ERROR, OUTPUT, REFUSES
from pytest_proofread.pytest_plugin import plugin, summary
from pytest_proofread.pytest_plugin.elsewhere import NoProgramRanError
from pytest_proofread.runner import Job, Worker

SETTINGS = """
[tool.pytest.ini_options]
addopts = ["-p", "pytest_proofread.options", "-p", "no:cacheprovider"]
proofread_limit = "3600"
"""


def block(code: str) -> str:
    return f"```python\n{textwrap.dedent(code).strip()}\n```\n"


def output(text: str) -> str:
    return f"\n{OUTPUT}\n\n```text\n{text}\n```\n"


def refusal(text: str) -> str:
    return f"\n{ERROR}\n\n```text\n{text}\n```\n"


@pytest.fixture
def book(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with settings and nothing else, outside of CI."""
    monkeypatch.delenv("CI", raising=False)
    # Loading the plugins of others takes longer than the tests.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(SETTINGS)
    return pytester


def write(book: pytest.Pytester, text: str, name: str = "page.md") -> Path:
    path = book.path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def lines(result: pytest.RunResult) -> str:
    return result.stdout.str()


# ---- A page that is true -----------------------------------------------------------

GOOD = (
    "# The start\n\n"
    + block("print(1 + 1)")
    + output("2")
    + block("x = 1")
    + f"\n## How it fails\n\n{REFUSES}\n\n"
    + block("print('so far')\n1 / 0")
    + output("so far")
    + refusal("ZeroDivisionError: division by zero")
)
GOOD_IDS = ["[fences]", "[prose]", "the-start", "the-start[2]", "how-it-fails"]


def test_a_true_page_passes(book: pytest.Pytester) -> None:
    write(book, GOOD)
    result = book.runpytest_inprocess("--proofread", "-v")
    result.assert_outcomes(passed=5)
    assert result.ret == 0
    ids = re.findall(r"^page\.md::(\S+) PASSED", lines(result), re.MULTILINE)
    assert ids == GOOD_IDS
    result.stdout.fnmatch_lines(
        "proofread: 3 programs ran, 1 of them refused as recorded, 0 skipped; "
        "outputs compared exactly"
    )


def test_nothing_is_read_until_it_is_asked_for(book: pytest.Pytester) -> None:
    write(book, GOOD)
    result = book.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "proofread:" not in lines(result)


def test_a_program_is_chosen_by_its_heading(book: pytest.Pytester) -> None:
    write(book, GOOD)
    book.runpytest_inprocess("--proofread", "-k", "fails").assert_outcomes(
        passed=1, deselected=4
    )
    book.runpytest_inprocess("--proofread", "page.md::the-start").assert_outcomes(
        passed=2
    )


def test_other_tests_run_beside_the_pages(book: pytest.Pytester) -> None:
    write(book, GOOD)
    book.makepyfile(
        "import pytest\n"
        "def test_it(): assert 3\n"
        "@pytest.mark.skip\n"
        "def test_not(): pass\n"
    )
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=6, skipped=1)
    assert "0 skipped; outputs" in lines(result)


@pytest.mark.parametrize("name", ["build", "dist"])
def test_a_page_is_found_in_a_folder_of_any_name(
    book: pytest.Pytester, name: str
) -> None:
    write(book, GOOD, f"docs/{name}/deep/page.md")
    write(book, GOOD, f"{name}/page.md")
    write(book, GOOD, f"docs/.{name}/page.md")
    book.runpytest_inprocess("--proofread", "docs").assert_outcomes(passed=5)
    # What is built beside the book is not a part of it.
    result = book.runpytest_inprocess("--proofread")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    # Without pages, a folder is none of our business.
    book.mkdir("docs/.git")
    assert book.runpytest_inprocess("docs").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_page_may_stand_elsewhere(
    book: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = tmp_path_factory.mktemp("other") / "page.md"
    page.write_text(GOOD)
    inside = f"--config-file={book.path / 'pyproject.toml'}"
    result = book.runpytest_inprocess("--proofread", inside, str(page))
    result.assert_outcomes(passed=5)


# ---- A page that lies --------------------------------------------------------------

# What stands on the page, and what the failure says.
LIES = {
    "another output": (
        block("print('a b', 3)") + output("a b 4"),
        "page.md:1: the program does not print what is recorded:\n",
    ),
    "an output that is missing": (
        block("print(3)"),
        "page.md:1: the program prints, and no output is recorded:\n3\n",
    ),
    "an output of nothing": (
        block("x = 3") + output("3"),
        "page.md:1: the program does not print what is recorded:\n",
    ),
    "output to stderr": (
        block("import sys\nprint('a', file=sys.stderr)"),
        "page.md:1: wrote to stderr:\na\n",
    ),
    "a warning": (
        "\n\n" + block("import warnings\nwarnings.warn('old')"),
        "page.md:3: warned, from line 5: UserWarning: old\n",
    ),
    "no refusal": (
        f"{REFUSES}\n" + block("x = 1") + refusal("ValueError: a"),
        "page.md:2: the program must end in an error, and does not:\n- ValueError: a\n",
    ),
    "another type": (
        f"{REFUSES}\n" + block("raise KeyError('a')") + refusal("ValueError: 'a'"),
        "page.md:2: the program does not end in the error that is recorded:\n",
    ),
    "another message": (
        f"{REFUSES}\n" + block("raise KeyError('b')") + refusal("KeyError: 'a'"),
        "page.md:2: the program does not end in the error that is recorded:\n",
    ),
    "a fence that is not run": (
        "# A\n\n```py\n1\n```\n",
        "page.md:3: a fence must say python or [",
    ),
    "a number nobody computes": ("It is 0.2386.\n", "page.md:1: "),
    "Python that is none": (
        "# A\n\n" + block("x = ("),
        "page.md:3: the program ends in an error:\n"
        '  File "page.md", line 4\n    x = (\n        ^\n'
        "SyntaxError: '(' was never closed\n",
    ),
}


@pytest.mark.parametrize(("text", "said"), LIES.values(), ids=LIES)
def test_a_page_that_lies_fails(book: pytest.Pytester, text: str, said: str) -> None:
    write(book, text)
    result = book.runpytest_inprocess("--proofread")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert said in lines(result)
    # Nothing of this tool stands between the reader and the sentence.
    assert "plugin.py" not in lines(result)


def test_an_error_has_a_traceback_in_the_page(book: pytest.Pytester) -> None:
    write(book, "# A\n\n" + block("def f(x):\n    return 1 / x\n\nprint('b')\nf(0)"))
    result = book.runpytest_inprocess("--proofread")
    # Which calls are underlined differs between versions of Python.
    shown = [line for line in result.outlines if line.strip(" ~^") or not line]
    pytest.LineMatcher(shown).fnmatch_lines(
        [
            "*_ a _*",
            "page.md:3: the program ends in an error:",
            "Traceback (most recent call last):",
            '  File "page.md", line 8, in <module>',
            "    f(0)",
            '  File "page.md", line 5, in f',
            "    return 1 / x",
            "ZeroDivisionError: division by zero",
            "*Captured stdout*",
            "b",
        ],
        consecutive=True,
    )
    assert "pytest_proofread/runner" not in lines(result)


ENDS = {
    "exit()": "the program must not end Python; got SystemExit: None",
    "import pytest; pytest.skip('no')": (
        "the program must not end Python; got Skipped: no"
    ),
    "import os; os._exit(0)": (
        "the program must not end Python; it ended with status 0"
    ),
    "while True: pass": "the program must end within 0.5 s",
}


@pytest.mark.parametrize(("code", "said"), ENDS.items())
@pytest.mark.parametrize("may_refuse", [False, True])
def test_what_would_end_the_run_ends_one_program(
    book: pytest.Pytester, code: str, said: str, may_refuse: bool
) -> None:
    mark = f"{REFUSES}\n" if may_refuse else ""
    record = refusal(said.rpartition("got ")[2]) if may_refuse else ""
    limit = "<!--pytest.mark.timeout(0.5)-->\n" if "True" in code else ""
    write(
        book,
        f"# First\n{limit}{mark}"
        + block(code)
        + record
        + "# Second\n"
        + block("print(3)")
        + output("3"),
    )
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=3, failed=1)
    assert said in lines(result)


def test_what_would_skip_a_test_is_an_error_of_the_program(
    book: pytest.Pytester,
) -> None:
    code = "import unittest; raise unittest.SkipTest('no')"
    write(book, block(code) + f"{REFUSES}\n" + block(code) + refusal("x"))
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=2, failed=2)
    assert "unittest.case.SkipTest: no" in lines(result)


def test_a_person_can_interrupt(book: pytest.Pytester) -> None:
    mark = book.path / "mark"
    code = f"""
        import os, pathlib, time
        pathlib.Path("process").write_text(str(os.getpid()))
        os.replace("process", {str(mark)!r})
        time.sleep(3600)
        """
    write(book, block(code))
    command = [sys.executable, "-m", "pytest", "--proofread"]
    run = book.popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    while not mark.exists():
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=600)
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert b"KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_the_worker_ends_with_the_run(book: pytest.Pytester) -> None:
    write(book, block("import os\nprint(os.getppid())"))
    said = lines(book.runpytest_inprocess("--proofread"))
    (server,) = re.findall(r"no output is recorded:\n(\d+)$", said, re.MULTILINE)
    with pytest.raises(ProcessLookupError):
        os.kill(int(server), 0)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a second core")
def test_a_program_begins_while_the_one_before_it_runs(book: pytest.Pytester) -> None:
    sign = str(book.path / "sign")
    waits = f"""
        import pathlib, time
        while not pathlib.Path({sign!r}).exists():
            time.sleep(0.01)
        """
    write(book, block(waits) + "\n" + block(f"open({sign!r}, 'w').close()"))
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=4)


def test_a_program_that_is_skipped_does_not_begin(
    book: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = [], Worker.begin

    def noted(worker: Worker, job: Job) -> None:
        begun.append(job.code)
        begin(worker, job)

    monkeypatch.setattr(Worker, "begin", noted)
    reason = "<!--pytest.mark.skip(reason='needs a GPU; until 9999-12-31')-->\n"
    write(book, "\n".join([block("1"), reason + block("2"), block("3"), block("4")]))
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=5, skipped=1)
    assert begun == ["1\n", "3\n", "4\n"]


def test_no_debugger_waits_for_somebody(book: pytest.Pytester) -> None:
    write(book, GOOD)
    result = book.runpytest_inprocess("--proofread", "--pdb")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "ERROR: --pdb must not be used for pages: a program has a process of its own."
    )


def test_the_limit_is_a_setting(book: pytest.Pytester) -> None:
    book.makepyprojecttoml(SETTINGS.replace('"3600"', '"0.1"'))
    write(book, block("import time\ntime.sleep(3600)"))
    result = book.runpytest_inprocess("--proofread")
    assert "the program must end within 0.1 s" in lines(result)


# ---- Skips -------------------------------------------------------------------------


def skip(reason: str, condition: str = "True") -> str:
    mark = f'<!--pytest.mark.skipif({condition}, reason="{reason}")-->\n'
    return "# A\n" + mark + block("1 / 0")


def test_a_skip_is_counted_and_explained(book: pytest.Pytester) -> None:
    write(book, skip("needs a GPU; until 9999-12-31"))
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "proofread: 0 programs ran, 0 of them refused as recorded, 1 skipped; *",
            "  skipped: page.md::a: Skipped: needs a GPU; until 9999-12-31",
        ]
    )


@pytest.mark.parametrize("reason", ["needs a GPU", "needs a GPU; until 2001-12-31"])
def test_a_skip_without_end_or_past_it_fails(
    book: pytest.Pytester, reason: str
) -> None:
    write(book, skip(reason))
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_condition_is_looked_at(book: pytest.Pytester) -> None:
    write(book, skip("needs time; until 9999-12-31", "sys.maxsize == 0"))
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=2, failed=1)


# ---- Comparison --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("pytest", ""),
        ("pytest>=8", ""),
        (f"pytest=={pytest.__version__}; sys_platform == '{sys.platform}'", ""),
        ("pytest>=9999", f"pytest {pytest.__version__}, not >=9999"),
        ("nothing-of-this-name", "no nothing-of-this-name"),
        ("pytest; sys_platform == 'amiga'", 'not sys_platform == "amiga"'),
    ],
)
def test_what_differs_from_the_reference(requirement: str, said: str) -> None:
    assert differs_from_reference(["pytest", requirement]) == said


VERSION = pytest.__version__
NEARLY = block("print(0.12345)") + output("0.12346")


@pytest.mark.parametrize(
    ("requirement", "option", "passed", "how"),
    [
        ("pytest", "auto", False, "exactly"),
        ("pytest<1", "auto", True, f"token by token (pytest {VERSION}, not <1)"),
        ("pytest", "tokens", True, "token by token (as asked)"),
        ("pytest<1", "exact", False, "exactly"),
    ],
)  # fmt: skip
def test_elsewhere_the_last_digit_may_differ(
    book: pytest.Pytester, requirement: str, option: str, passed: bool, how: str
) -> None:
    book.makepyprojecttoml(SETTINGS + f"proofread_reference = ['{requirement}']\n")
    write(book, NEARLY)
    result = book.runpytest_inprocess("--proofread", f"--compare={option}")
    assert (result.ret == 0) == passed
    assert f"outputs compared {how}" in lines(result)


def test_kinds_and_width_are_settings(book: pytest.Pytester) -> None:
    book.makepyprojecttoml(
        SETTINGS + "proofread_kinds = ['cobol']\nproofread_width = '20'\n"
    )
    write(book, f"```cobol\n1\n```\n\n```text\n1\n```\n\n{block('x = ' + '1' * 17)}")
    result = book.runpytest_inprocess("--proofread")
    assert "page.md:5: a fence must say python or ['cobol'], no more" in lines(result)
    assert "page.md:10: a line of code must have at most 20 " in lines(result)
    assert "page.md:1:" not in lines(result)


# ---- Recording ---------------------------------------------------------------------


def test_a_page_is_recorded(book: pytest.Pytester) -> None:
    before = (
        "# A\n\n"
        + block("print('new')")
        + "\n"
        + block("print('now')")
        + output("then")
        + "\nWords.\n\n"
        + f"{REFUSES}\n"
        + block("raise ValueError('no')")
        + '\nThe last is 8<!--= at("b")[1] -->.\n\n# B\n'
        + block("print(7)")
        + output("8")
    )
    after = (
        "# A\n\n"
        + block("print('new')")
        + output("new")
        + "\n"
        + block("print('now')")
        + output("now")
        + "\nWords.\n\n"
        + f"{REFUSES}\n"
        + block("raise ValueError('no')")
        + refusal("ValueError: no")
        + '\nThe last is 7<!--= at("b")[1] -->.\n\n# B\n'
        + block("print(7)")
        + output("7")
    )
    page = write(book, before)
    result = book.runpytest_inprocess("--record")
    assert result.ret == 0
    assert page.read_text() == after
    result.stdout.fnmatch_lines(
        [
            "page.md:3: output added",
            "page.md:7: output changed",
            "-*then",
            "+*now",
            "page.md:20: error added",
            "page.md:27: output changed",
            "page.md: numbers in the prose computed anew",
            '-The last is 8<!--= at("b")[[]1] -->.',
            '+The last is 7<!--= at("b")[[]1] -->.',
        ]
    )
    written = page.stat()
    again = book.runpytest_inprocess("--record")
    assert "page.md:" not in lines(again)
    assert page.stat().st_ino == written.st_ino
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=6)


UNSTEADY = {
    "an error": ("1 / 0", "a program on it fails."),
    "a warning": ("import warnings\nwarnings.warn('a')", "a program on it fails."),
    "the time": ("import time\nprint(time.time_ns())", "a program on it fails."),
    "random numbers": (
        "import random\nprint(random.random())",
        "a program on it fails.",
    ),
    "an error of the moment": (
        "import time\nraise ValueError(time.time_ns())",
        "a program on it fails.",
    ),
    "what ran before": (
        "from pathlib import Path\n"
        "file = Path({folder!r}, 'runs')\n"
        "file.touch()\n"
        "with file.open('a') as more: more.write('a')\n"
        "print((len(file.read_text()) - 1) // 2)",
        "line 11: the program prints something else in another order; round what it "
        "prints to fewer digits (`:.3f`), or print what is the same each time:\n",
    ),
    "half a line": (
        "print(1, end='')",
        "line 11: output must be whole lines of plain text; got output='1'.",
    ),
    "no plain text": (
        r"print('1\r2')",
        r"line 11: output must be whole lines of plain text; got output='1\r2\n'.",
    ),
    "a page out of order": (
        "print(1)\n```\n\n```py\n",
        "line 21: a fence must say python or [",
    ),
}


@pytest.mark.parametrize(("code", "said"), UNSTEADY.values(), ids=UNSTEADY)
def test_a_page_that_does_not_hold_still_is_left(
    book: pytest.Pytester, code: str, said: str
) -> None:
    code = code.replace("{folder!r}", repr(str(book.path)))
    mark = f"{REFUSES}\n" if "raise" in code else "\n"
    bad = block("print(1)") + output("0") + mark + block(code)
    good = block("print(1)") + output("0")
    broken, whole = write(book, bad, "broken.md"), write(book, good, "whole.md")
    result = book.runpytest_inprocess("--record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert f"broken.md: left as it was: {said}" in lines(result)
    assert broken.read_text() == bad
    assert whole.read_text() == good.replace("0", "1")
    assert sorted(p.name for p in book.path.glob("*.md")) == ["broken.md", "whole.md"]


def test_what_is_skipped_keeps_its_record(book: pytest.Pytester) -> None:
    text = skip("needs a GPU; until 9999-12-31") + output("7") + "\n# B\n\n"
    page = write(book, text + block("print(3)"))
    assert book.runpytest_inprocess("--record").ret == 0
    assert page.read_text() == text + block("print(3)") + output("3")


def test_line_ends_and_links_stay(book: pytest.Pytester) -> None:
    page = write(book, "", "real.md")
    text = "# A\n\n" + block("print(1)") + output("0")
    page.write_bytes(text.replace("\n", "\r\n").encode())
    link = book.path / "link.md"
    link.symlink_to(page)
    assert book.runpytest_inprocess("--record", "link.md").ret == 0
    recorded = text.replace("text\n0\n", "text\n1\n").replace("\n", "\r\n")
    assert page.read_bytes() == recorded.encode()
    assert link.is_symlink()


def test_other_ends_of_lines_are_letters(book: pytest.Pytester) -> None:
    text = "A\f B\u2028 C\x85.\n\n" + block("print(1)")
    page = write(book, text)
    assert book.runpytest_inprocess("--record").ret == 0
    assert page.read_text() == text + output("1")
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=3)


def test_a_skip_is_counted_once(book: pytest.Pytester) -> None:
    write(book, skip("needs a GPU; until 9999-12-31"))
    assert " 1 skipped; outputs" in lines(book.runpytest_inprocess("--record"))


def test_a_part_of_a_page_can_be_recorded(book: pytest.Pytester) -> None:
    first, second = block("print(1)") + output("0"), block("print(2)") + output("0")
    page = write(book, f"# A\n\n{first}\n# B\n\n{second}")
    assert book.runpytest_inprocess("--record", "page.md::b").ret == 0
    assert page.read_text() == f"# A\n\n{first}\n# B\n\n{second.replace('0', '2')}"


def test_a_program_that_ran_but_once_is_not_recorded(book: pytest.Pytester) -> None:
    page = write(book, "# A\n\n" + block("print(1)"))
    result = book.runpytest_inprocess("--record", "-k", "not again")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "left as it was: line 3: the program must run a second time." in lines(
        result
    )
    assert OUTPUT not in page.read_text()


CHECK = """
def pytest_proofread_check(text):
    return [(3, "a page must be done")] if "TODO" in text else []
"""


def test_a_project_can_add_checks(book: pytest.Pytester) -> None:
    book.makeconftest(CHECK)
    write(book, "# A\n\nTODO: all.\n")
    result = book.runpytest_inprocess("--proofread")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["page.md:3: a page must be done"])
    write(book, "# A\n\nDone.\n")
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=2)


ELSEWHERE = """
import os

def pytest_proofread_environments():
    return {"on a Sunday": {**os.environ, "DAY": "Sunday"}}
"""
DAY = "import os\nprint(os.environ.get('DAY', 'Monday'))"


def test_what_differs_in_another_environment_is_not_recorded(
    book: pytest.Pytester,
) -> None:
    book.makeconftest(ELSEWHERE)
    page = write(book, "# A\n\n" + block("print(1)") + "\n" + block(DAY))
    other = write(book, "# B\n\n" + block("print(1)"), "other.md")
    result = book.runpytest_inprocess("--record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "page.md: left as it was: line 7: the program prints something else on a "
            "Sunday; round what it prints to fewer digits (`:.3f`), or print *:",
            "-Monday",
            "+Sunday",
        ]
    )
    assert OUTPUT not in page.read_text()
    assert other.read_text().endswith(output("1"))


def test_a_program_that_does_not_run_in_another_environment_is_not_recorded(
    book: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*arguments: object) -> None:
        raise NoProgramRanError("no program ran")

    monkeypatch.setattr(summary, "run_pages", nothing)
    book.makeconftest(ELSEWHERE)
    page = write(book, "# A\n\n" + block("print(1)"))
    result = book.runpytest_inprocess("--record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "line 3: the program must run on a Sunday, too." in lines(result)
    assert OUTPUT not in page.read_text()


def test_a_number_that_no_output_has_is_said_in_a_sentence(
    book: pytest.Pytester,
) -> None:
    text = (
        "# A\n\n"
        + block("print(1, 2)")
        + output("0")
        + "\nTwo: 2<!--= out[1, 3] -->.\n"
    )
    page = write(book, text)
    result = book.runpytest_inprocess("--record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "page.md: left as it was: a computed number must " in lines(result)
    assert page.read_text() == text


def test_a_page_that_changed_meanwhile_is_left(book: pytest.Pytester) -> None:
    page = write(book, "")
    text = f"# A\n\n{block(f'open({str(page)!r}, chr(97)).write(chr(10)).close()')}"
    text = (
        "# A\n\n"
        + block(f"from pathlib import Path\np = Path({str(page)!r})")
        + "\n"
        + block(f"from pathlib import Path\nPath({str(page)!r}).write_text('new')")
    )
    write(book, text)
    result = book.runpytest_inprocess("--record")
    assert "left as it was: it changed while its programs ran." in lines(result)
    assert page.read_text() == "new"


@pytest.mark.slow
def test_many_processes_record_what_one_does(book: pytest.Pytester) -> None:
    for name in "abc":
        text = "".join(f"# P{i}\n\n{block(f'print({i})')}\n" for i in range(5))
        write(book, text, f"{name}.md")
    one = book.mkdir("one")
    for name in "abc":
        (one / f"{name}.md").write_text((book.path / f"{name}.md").read_text())
    assert book.runpytest_inprocess("--record", "one").ret == 0
    result = book.runpytest_subprocess(
        "--record", "-p", "xdist", "-n", "2", "a.md", "b.md", "c.md"
    )
    assert result.ret == 0
    for name in "abc":
        recorded = (book.path / f"{name}.md").read_text()
        assert recorded == (one / f"{name}.md").read_text()
        assert recorded.count(OUTPUT) == 5


def test_ci_records_nothing(
    book: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write(book, block("print(1)"))
    monkeypatch.setenv("CI", "true")
    result = book.runpytest_inprocess("--record")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "ERROR: --record must not be used where CI is set; got CI=true."
    )
    assert OUTPUT not in page.read_text()


def test_windows_runs_no_pages(
    book: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(book, block("print(1)"))
    # For the plugin alone: pytest would look for parts of Windows.
    monkeypatch.setattr(plugin, "sys", SimpleNamespace(platform="win32"))
    result = book.runpytest_inprocess("--proofread")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "ERROR: pages must be run on Linux or macOS; got sys.platform='win32'."
    )


def test_recording_leaves_nothing_out(book: pytest.Pytester) -> None:
    result = book.runpytest_inprocess("--record", "--changed")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: --record must not be combined with --changed.")


# ---- Order, results ----------------------------------------------------------------


def order(book: pytest.Pytester, *options: str) -> list[str]:
    result = book.runpytest_inprocess("--proofread", "-v", *options)
    return re.findall(r"^page\.md::(\S+) PASSED", lines(result), re.MULTILINE)


def test_the_order_can_be_another(book: pytest.Pytester) -> None:
    write(book, GOOD)
    shuffled = [order(book, f"--shuffle={seed}") for seed in (3, 3, 5)]
    assert shuffled[0] == shuffled[1] != shuffled[2]
    assert all(sorted(one) == sorted(GOOD_IDS) for one in shuffled)
    assert order(book) == GOOD_IDS


def test_results_are_written(book: pytest.Pytester) -> None:
    write(book, GOOD + "# Lie\n" + block("print(3)"))
    book.runpytest_inprocess("--proofread", "--results=out.json")
    results = json.loads((book.path / "out.json").read_text())
    written = {
        name: (result["line"], result["output"], result["error"], result["outcome"])
        for name, result in results.items()
    }
    assert written == {
        "page.md::the-start": (3, "2\n", "", "passed"),
        "page.md::the-start[2]": (12, "", "", "passed"),
        "page.md::how-it-fails": (
            *(20, "so far\n", "ZeroDivisionError: division by zero", "passed"),
        ),
        "page.md::lie": (37, "3\n", "", "failed"),
    }


WATCH = """
import contextlib

import pytest


class Watch(contextlib.AbstractContextManager):
    def __init__(self, code):
        self.name = code.co_filename.rpartition("/")[2]

    def __exit__(self, *error):
        pass

    def seen(self, names):
        return [(self.name, repr(names["x"]))]


@pytest.hookimpl(optionalhook=True)
def pytest_proofread_watch(config):
    return "watching:Watch"
"""


def test_what_looks_on_is_heard(book: pytest.Pytester) -> None:
    book.makepyfile(watching=WATCH)
    book.syspathinsert()
    write(book, block("x = 3"))
    options = ["--results=out.json", "-p", "watching"]
    book.runpytest_inprocess("--proofread", *options).assert_outcomes(passed=3)
    [result] = json.loads((book.path / "out.json").read_text()).values()
    assert result["seen"] == [["page.md", "3"]]
    book.runpytest_inprocess("--record", *options)
    results = json.loads((book.path / "out.json").read_text()).values()
    assert [result["seen"] for result in results] == [[], []]


# ---- Only what changed -------------------------------------------------------------


@pytest.fixture
def changing(book: pytest.Pytester) -> Callable[..., dict[str, int]]:
    """Run what changed; return what passed, failed and was left out."""
    book.makepyprojecttoml(SETTINGS.replace(', "-p", "no:cacheprovider"', ""))
    book.syspathinsert()
    (book.path / "ours").mkdir()
    for name, text in {
        "__init__": "",
        "first": "from ours.second import x",
        "second": "x = 3\n",
        "third": "y = 5\n",
    }.items():
        (book.path / f"ours/{name}.py").write_text(text)
    write(
        book,
        "# One\n\n"
        + block("from ours.first import x\nprint(x)")
        + output("3")
        + "\n# Two\n\n"
        + block("from ours import third\nprint(third.y)")
        + output("5"),
    )

    def go(*options: str) -> dict[str, int]:
        found = book.runpytest_inprocess("--changed", *options).parseoutcomes()
        return {name: found.get(name, 0) for name in ("passed", "failed", "deselected")}

    return go


def counts(passed: int, failed: int, deselected: int) -> dict[str, int]:
    return {"passed": passed, "failed": failed, "deselected": deselected}


FILES = """
def pytest_proofread_files(config):
    return lambda code: [config.rootpath / "ours/second.py"] if "third" in code else []
"""


def test_a_project_can_say_what_a_program_reaches(
    book: pytest.Pytester, changing: Callable[..., dict[str, int]]
) -> None:
    book.makeconftest(FILES)
    assert changing("--proofread", "--changed")["passed"] == 4
    (book.path / "ours/third.py").write_text("y = 5  # new\n")
    assert changing("--proofread", "--changed")["deselected"] == 2
    (book.path / "ours/second.py").write_text("x = 3  # new\n")
    found = changing("--proofread", "--changed", "-k", "not fences and not prose")
    assert (found["passed"], found["deselected"]) == (1, 3)


def test_what_passed_and_did_not_change_is_left_out(
    book: pytest.Pytester, changing: Callable[..., dict[str, int]]
) -> None:
    assert changing() == counts(4, 0, 0)
    assert changing() == counts(2, 0, 2)
    # What a module imports counts, what another does not.
    (book.path / "ours/second.py").write_text("x = 3  # as before\n")
    assert changing() == counts(3, 0, 1)
    assert changing() == counts(2, 0, 2)
    # What failed runs again, and what was true once is known.
    (book.path / "ours/third.py").write_text("y = 11\n")
    assert changing() == counts(2, 1, 1)
    assert changing() == counts(2, 1, 1)
    (book.path / "ours/third.py").write_text("y = 5\n")
    assert changing() == counts(2, 0, 2)
    # A package counts for all that is in it.
    (book.path / "ours/__init__.py").write_text("# new\n")
    assert changing() == counts(4, 0, 0)
    # So does another way to compare, and the record itself.
    assert changing("--compare=tokens") == counts(4, 0, 0)
    page = book.path / "page.md"
    page.write_text(page.read_text().replace("\n3\n", "\n4\n"))
    assert changing() == counts(2, 1, 1)


def test_without_the_option_everything_runs(
    book: pytest.Pytester, changing: Callable[..., dict[str, int]]
) -> None:
    assert changing() == counts(4, 0, 0)
    book.runpytest_inprocess("--proofread").assert_outcomes(passed=4)


def test_only_the_process_that_sees_all_keeps_the_account(
    book: pytest.Pytester,
) -> None:
    config = book.parseconfig("--proofread")
    config._do_configure()
    assert config.pluginmanager.has_plugin("proofread-account")
    worker = book.parseconfig("--proofread")
    worker.workerinput = {}
    worker._do_configure()
    assert not worker.pluginmanager.has_plugin("proofread-account")


@pytest.mark.parametrize("name", ["proofread_limit", "proofread_output_limit"])
@pytest.mark.parametrize("given", ["ten", "0", "-3", "inf"])
def test_a_setting_that_is_no_number_is_named(
    pytester: pytest.Pytester, name: str, given: str
) -> None:
    write(pytester, GOOD)
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\n{name} = '{given}'\n")
    result = pytester.runpytest_inprocess("--proofread")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        f"ERROR: {name} must be a positive number; got {name}='{given}'."
    )


def test_what_prints_too_much_is_told(pytester: pytest.Pytester) -> None:
    write(pytester, block("while True: print('a' * 100)") + output("a"))
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\nproofread_output_limit = '300'\n"
    )
    result = pytester.runpytest_inprocess("--proofread", "-k", "top")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines("*: the program must print at most 300 bytes")
