"""Whatever ends a program ends it alone, and is told in one sentence."""

import os
import select
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_proofread import runner
from pytest_proofread.runner import Job, Result, ending, starter

Run = Callable[..., Result]
WAYS = ["spawn"] if sys.platform != "linux" else ["fork", "spawn"]

ERRORS = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "raise ValueError": "ValueError",
    "import json; json.loads('')": (
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    ),
    "class MyError(Exception): ...\nraise MyError('a')": "MyError: a",
    "class MyError(Exception):\n    __str__ = None\nraise MyError('a')": (
        "MyError: <exception str() failed>"
    ),
    "def": "SyntaxError: invalid syntax",
    "x = '\0'": "SyntaxError: source code string cannot contain null bytes",
}


@pytest.mark.parametrize(("code", "said"), ERRORS.items())
def test_the_error_that_ends_a_program(run: Run, code: str, said: str) -> None:
    result = run(code, page="page.md", line=7)
    assert (result.error, result.problems, result.finished) == (said, [], True)


ENDS = {
    "raise SystemExit(3)": "SystemExit: 3",
    "exit()": "SystemExit: None",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import os, signal; os.kill(os.getpid(), signal.SIGINT)": "KeyboardInterrupt",
    "import pytest; pytest.skip('no')": "Skipped: no",
}


@pytest.mark.parametrize(("code", "said"), ENDS.items())
def test_no_program_may_end_python_by_an_exception(
    run: Run, code: str, said: str
) -> None:
    result = run(code)
    assert result.error == said
    assert result.problems == [f"the program must not end Python; got {said}"]


def test_a_program_that_ends_well_has_no_error(run: Run) -> None:
    assert run("print(3)") == Result("3\n")


def test_a_traceback_begins_in_the_page(run: Run, tmp_path: Path) -> None:
    page = str(tmp_path / "page.md")
    trace = run("def f():\n    1 / 0\nf()\n", page=page, line=10).traceback.split("\n")
    assert trace[:3] == [
        "Traceback (most recent call last):",
        f'  File "{page}", line 13, in <module>',
        "    f()",
    ]
    assert f'  File "{page}", line 12, in f' in trace
    assert "    1 / 0" in trace
    trace = run("x = (", page=page, line=10).traceback.split("\n")
    assert trace[:2] == [f'  File "{page}", line 11', "    x = ("]


PROBLEMS = {
    "import sys; print('a', file=sys.stderr)": ["wrote to stderr:\na"],
    "import os; os.write(2, b'b')": ["wrote to stderr:\nb"],
    "import os; os.system('echo d >&2')": ["wrote to stderr:\nd"],
    "import logging\nlogging.warning('a')": ["wrote to stderr:\nWARNING:root:a"],
    "import warnings; warnings.warn('a')\nwarnings.warn('b', DeprecationWarning)": [
        "warned, from line 8: UserWarning: a",
        "warned, from line 9: DeprecationWarning: b",
    ],
    "import warnings; warnings.warn_explicit('c', UserWarning, 'x.py', 1)": [
        "warned, from a package: UserWarning: c",
    ],
    "def f(): ...\nfile = open('a', 'w', encoding='utf-8')": [
        "warned, from a package: ResourceWarning: unclosed file "
        "<_io.TextIOWrapper name='a' mode='w' encoding='utf-8'>"
    ],
}


@pytest.mark.parametrize(("code", "problems"), PROBLEMS.items())
def test_what_is_wrong_though_it_ends_well(
    run: Run, code: str, problems: list[str]
) -> None:
    for _ in range(2):  # a warning is seen each time
        result = run(code, page="page.md", line=7)
        assert result.error == ""
        assert result.problems == problems


DEATHS = {
    "exits at once": ("import os\nos._exit(0)", "ended with status 0"),
    "becomes another": (
        "import os\nos.execv('/bin/false', ['false'])",
        "ended with status 1",
    ),
    "is killed": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "ended by SIGKILL",
    ),
    "aborts": ("import os\nos.abort()", "ended by SIGABRT, at line 9"),
    "reads where nothing is": (
        "import ctypes\nctypes.string_at(0)",
        "ended by SIGSEGV, at line 9",
    ),
    "breaks what reports": (
        "import traceback\ntraceback.format_exception = None\n1 / 0",
        "ended with status 1",
    ),
}


@pytest.mark.parametrize(("code", "said"), DEATHS.values(), ids=DEATHS)
def test_a_program_that_ends_its_process(run: Run, code: str, said: str) -> None:
    result = run(f"{code}\nprint('after')", page="page.md", line=7)
    sentence = f"the program must not end Python; it {said}"
    assert result.problems[0] == sentence
    assert (result.output, result.error, result.finished) == ("", "", False)
    assert run("print(3)") == Result("3\n")


def test_what_it_said_before_is_kept(run: Run) -> None:
    result = run("import os\nprint(3)\nos.write(2, b'a')\nos._exit(7)")
    sentence = "the program must not end Python; it ended with status 7"
    assert result.problems == [sentence, "wrote to stderr:\na"]
    assert result.output == "3\n"


def test_an_end_that_has_no_name() -> None:
    assert ending(Job(""), -60).endswith("; it ended by signal 60")


FORKS = {
    "goes on": ("print('child')", "child\nparent 0\n", []),
    "raises": ("1 / 0", "parent 1\n", ["ZeroDivisionError: division by zero"]),
    "exits": ("raise SystemExit", "parent 0\n", []),
    "exits with a status": ("raise SystemExit(7)", "parent 7\n", []),
    "exits at once": ("os._exit(3)", "parent 3\n", []),
}


@pytest.mark.parametrize(("code", "output", "said"), FORKS.values(), ids=FORKS)
def test_a_child_does_not_go_on_as_its_parent(
    run: Run, code: str, output: str, said: list[str]
) -> None:
    program = (
        "import os\npid = os.fork()\nif pid:\n"
        "    status = os.waitpid(pid, 0)[1]\n"
        "    print('parent', os.waitstatus_to_exitcode(status))\n"
        f"else:\n    {code}\n"
    )
    result = run(program)
    assert result.output == output
    assert [text.splitlines()[-1] for text in result.problems] == said


# ---- Programs that do not end --------------------------------------------------------

ENDLESS = {
    "a loop": "while True: pass",
    "a wait": "import time; time.sleep(3600)",
    "a wait in C": "import ctypes; ctypes.CDLL(None).sleep(3600)",
    "a thread": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=[3600]).start()"
    ),
    "a child that holds its output": (
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import time; time.sleep(3600)'])"
    ),
    "one that catches all": (
        "while True:\n    try:\n        while True: pass\n"
        "    except BaseException: pass"
    ),
    "one that hears no signal": (
        "import signal, time\nfor number in {*signal.valid_signals()} - {9, 19}:\n"
        "    if number < 32: signal.signal(number, signal.SIG_IGN)\ntime.sleep(3600)"
    ),
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_a_program_that_never_ends(run: Run, code: str) -> None:
    result = run(code, limit=0.5)
    assert result.problems[0].startswith("the program must end within 0.5 s")
    assert (len(result.problems), result.finished) == (1, False)
    assert run("print(3)") == Result("3\n")


@pytest.mark.parametrize("way", WAYS)
def test_where_it_was_is_told(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, there = 2.0, tmp_path / "there"
    wait = runner.wait

    def wait_until_it_is_there(
        process: object, seconds: float, *rest: object
    ) -> int | None:
        if seconds != limit:
            return wait(process, seconds, *rest)
        while not there.exists():
            time.sleep(0.01)
        return wait(process, 0.0, *rest)

    monkeypatch.setattr(runner, "wait", wait_until_it_is_there)
    monkeypatch.setattr(runner, "ABORT_GRACE_SECONDS", 600.0)
    code = f"def f():\n    while True: open({str(there)!r}, 'w').close()\nf()"
    start = starter(way, sys.path, [])
    try:
        result = start.run(Job(code, limit=limit, page="a (page).md", line=7))
    finally:
        start.stop()
    assert result.problems == ["the program must end within 2 s, at line 9"]


@pytest.mark.parametrize("way", WAYS)
def test_the_limit_does_not_count_how_python_starts(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 3600.0
    wait = runner.wait

    def wait_if_it_has_begun(
        process: object, seconds: float, *rest: object
    ) -> int | None:
        begun = seconds != limit or [*tmp_path.glob("*/stdout")]
        return wait(process, seconds, *rest) if begun else None

    monkeypatch.setattr(runner, "wait", wait_if_it_has_begun)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    start = starter(way, sys.path, [])
    try:
        assert start.run(Job("print(3)", limit=limit)) == Result("3\n")
    finally:
        start.stop()


def test_what_a_program_has_started_ends_with_it(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code = f"""
    import os, subprocess, sys
    writer = os.open({str(pipe)!r}, os.O_WRONLY)
    os.write(writer, b"a")
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    subprocess.Popen(sleep, stdout=writer)
    """
    assert run(code).finished
    assert os.read(reader, 1) == b"a"
    # Whoever could write into the pipe is gone.
    assert select.select([reader], [], [], 600.0)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_a_program_that_kills_what_started_it_ends_alone(run: Run) -> None:
    result = run("import os\nos.kill(os.getppid(), 9)")
    assert len(result.problems) == 1
    assert result.problems[0].endswith(" ended, with status -9")
    assert run("print(3)") == Result("3\n")


LONG = ("a" * 1000 + "\n") * 1 + "a" * 999
ENDLESSLY = {
    "without end": ("while True: print('a' * 1000)", LONG),
    "once too much": ("print('a' * 3000)", "a" * 2000),
    "to stderr": ("import os\nwhile True: os.write(2, b'a' * 1000)", ""),
}


@pytest.mark.parametrize(("code", "kept"), ENDLESSLY.values(), ids=ENDLESSLY)
def test_a_program_that_prints_too_much(run: Run, code: str, kept: str) -> None:
    result = run(code, output_limit=2000)
    assert result.problems[0] == "the program must print at most 2,000 bytes"
    assert not result.finished
    assert result.output == kept
    assert len("".join(result.problems)) < 3000
    assert run("print('a' * 1999)", output_limit=2000).problems == []
