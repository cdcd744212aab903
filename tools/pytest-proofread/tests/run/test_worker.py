"""The worker runs by its path alone, and answers each line with a line."""

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_proofread.pytest_plugin.lookahead import Lookahead, current_interpreter
from pytest_proofread.runner import (
    HERE,
    Job,
    Result,
    Worker,
    imported,
    line,
    read_result,
    usual_way,
)

WAYS = ["spawn"] if sys.platform != "linux" else ["fork", "spawn"]
LIMIT = 3600.0  # of a program that ends by itself, or that something else ends


def by_path(
    jobs: list[Job], *options: str, folder: Path, flag: str = "-I"
) -> list[Result]:
    """Run programs by the file alone, without this project on the path."""
    done = subprocess.run(
        [sys.executable, flag, HERE, *options],
        cwd=folder,
        input="".join(map(line, jobs)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [read_result(text) for text in done.stdout.splitlines()]


@pytest.mark.parametrize("way", WAYS)
def test_each_line_has_its_answer(way: str, tmp_path: Path) -> None:
    first, second, third, fourth = by_path(
        [
            Job("x = 1\nprint(x)"),
            Job("print('x' in dir())\n1 / 0", page="page.md", line=7),
            Job("import os; os._exit(3)"),
            Job("import os; os.write(2, b'a')"),
        ],
        f"--start={way}",
        folder=tmp_path,
    )
    assert first == Result("1\n")
    assert second.output == "False\n"
    assert second.error == "ZeroDivisionError: division by zero"
    assert 'File "page.md", line 9, in <module>' in second.traceback
    assert not third.finished
    assert fourth.problems == ["wrote to stderr:\na"]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("platform", "way"), [("linux", "fork"), ("darwin", "spawn")])
def test_nothing_is_forked_but_on_linux(
    monkeypatch: pytest.MonkeyPatch, platform: str, way: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert usual_way() == way


def test_it_needs_the_standard_library_alone() -> None:
    tops = {name.partition(".")[0] for name in imported(HERE.read_text("utf-8"))}
    assert tops <= sys.stdlib_module_names
    assert "subprocess" in tops


@pytest.mark.parametrize("flag", ["-I", "-P", "-B"])
@pytest.mark.parametrize("way", WAYS)
def test_programs_find_no_more_than_others_do(
    way: str, flag: str, tmp_path: Path
) -> None:
    code = "import sys\nprint(*filter(None, sys.path))"
    plain = subprocess.run(
        [sys.executable, flag, "-c", code], capture_output=True, text=True, check=True
    )
    (found,) = by_path([Job(code)], f"--start={way}", folder=tmp_path, flag=flag)
    assert found.output == plain.stdout


@pytest.mark.parametrize("way", WAYS)
def test_known_warnings_are_left_out_where_modules_are_loaded(
    way: str, tmp_path: Path
) -> None:
    code = "import sys\nprint(sys.warnoptions)"
    command = [sys.executable, "-Wignore:Known", "-I"]
    with Worker(command, [f"--start={way}"], os.environ) as worker:
        assert worker.run(Job(code)).output == "['ignore:Known']\n"


# ---- What is loaded beforehand -------------------------------------------------------

MODULES = {
    "quiet": "import os; pid = os.getpid()",
    "prints": "print('loaded')",
    "warns": "import warnings; warnings.warn('old')",
    "fails": "1 / 0",
    "exits": "raise SystemExit(3)",
    "kills": "import os; os._exit(5)",
    # Who imports it beforehand has no patience left; a program has its limit.
    "hangs": (
        "import signal, time\n"
        "if signal.getitimer(signal.ITIMER_REAL)[0]:\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "time.sleep(3600)"
    ),
    "threads": (
        "import threading\n"
        "def late():\n    threading.main_thread().join()\n    print('late')\n"
        "threading.Thread(target=late).start()"
    ),
}
SAID = {
    "quiet": Result("done\n"),
    "prints": Result("loaded\ndone\n"),
    "warns": Result("done\n", problems=["warned, from a package: UserWarning: old"]),
    "fails": "ZeroDivisionError: division by zero",
    "exits": "SystemExit: 3",
    "kills": "the program must not end Python; it ended with status 5",
    "hangs": "the program must end within 0.5 s",
    "threads": Result("done\nlate\n"),
    "missing": "ModuleNotFoundError: No module named 'missing'",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(f"{text}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SAID)
@pytest.mark.usefixtures("project")
def test_what_a_module_does_is_seen_by_each_program(name: str, way: str) -> None:
    limit = 0.5 if name == "hangs" else LIMIT
    wanted = SAID[name]
    pid = "import os, quiet\nprint(quiet.pid, quiet.pid == os.getpid())"
    with current_interpreter() as worker:
        worker.command.append(f"--start={way}")
        for _ in range(4):  # what was started ahead knows what the first imported
            result = worker.run(Job(f"import {name}\nprint('done')", limit=limit))
            if isinstance(wanted, Result):
                assert result == wanted
            else:
                said = [result.error, *result.problems]
                assert any(text.startswith(wanted) for text in said)
        if way == "spawn":
            return
        # A module that is quiet is loaded once, whatever the others do.
        first, second = worker.run(Job(pid)), worker.run(Job(pid))
    assert first == second
    assert first.output.endswith(" False\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is loaded")
def test_what_a_library_imports_at_its_first_use_is_imported_once(
    project: Path,
) -> None:
    (project / "library.py").write_text("def use():\n    import quiet\n")
    code = "import os, sys, library\nprint('quiet' in sys.modules)\nlibrary.use()\n"
    pid = "print(sys.modules['quiet'].pid == os.getpid())"
    with current_interpreter() as worker:
        results = [worker.run(Job(code + pid)) for _ in range(3)]
    assert [result.output for result in results] == [
        "False\nTrue\n",
        *2 * ["True\nFalse\n"],
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_nothing_has_threads_when_it_is_forked() -> None:
    count = "import os, torch\nprint(len(os.listdir('/proc/self/task')))"
    parent = "print(len(os.listdir(f'/proc/{os.getppid()}/task')))"
    with current_interpreter() as worker:
        assert worker.run(Job(f"{count}\n{parent}")).output == "1\n1\n"


def test_the_modules_that_a_program_imports() -> None:
    code = "import a.b, c as d\nfrom e.f import g\nfrom . import h\nfrom .i import j\n"
    assert imported(code) == ["a.b", "c", "e.f"]
    assert imported("def") == []
    assert imported("\0") == []


# ---- Who asks ------------------------------------------------------------------------


def processes(text: str) -> list[int]:
    """Return the processes whose environment has this text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("way", WAYS)
def test_who_closes_a_worker_ends_all_that_it_runs(way: str, tmp_path: Path) -> None:
    mark, folder = f"MARK_{way}_{os.getpid()}", tmp_path / "temporary"
    folder.mkdir()
    environment = os.environ | {"TMPDIR": str(folder), mark: "1"}
    worker = Worker([sys.executable, "-P"], [f"--start={way}"], environment)
    started = worker.start()
    worker.process = started
    assert started.stdin is not None
    started.stdin.write(
        line(Job("import time; open('a', 'w').close(); time.sleep(3600)", limit=LIMIT))
    )
    started.stdin.flush()
    while not [*folder.glob("*/home/a")]:
        assert started.poll() is None
        time.sleep(0.01)
    # With fork the server, too; with spawn those that wait for a program.
    assert len(processes(mark)) >= {"fork": 3, "spawn": 2}[way]
    worker.close()
    assert processes(mark) == []
    assert [*folder.iterdir()] == []


def test_a_worker_that_dies_is_told_and_started_anew() -> None:
    with current_interpreter() as worker:
        assert worker.run(Job("print(1)")).output == "1\n"
        assert worker.process is not None
        worker.process.send_signal(signal.SIGKILL)
        worker.process.wait()
        result = worker.run(Job("print(2)"))
        assert result.problems == ["the worker ended, with status -9"]
        assert not result.finished
        assert worker.run(Job("print(3)")).output == "3\n"


def test_a_message_is_a_line() -> None:
    result = Result("a\nb\u2028", "E", "T\n", ["p"], [("x", "(2,)")], finished=False)
    assert read_result(line(result)) == result
    assert line(result).count("\n") == 1
    assert json.loads(line(Job("a\n")))["code"] == "a\n"


# ---- The next program begins while one runs ------------------------------------------

WAITS = """
import pathlib, time
while not pathlib.Path({!r}).exists():
    time.sleep(0.01)
print("seen")
"""
# A file that is there is whole.
SAYS_WHERE = """
import os, pathlib
pathlib.Path("process").write_text(str(os.getpid()))
os.replace("process", {!r})
"""


@pytest.fixture
def two() -> Iterator[Lookahead]:
    workers = Lookahead(current_interpreter(), current_interpreter())
    yield workers
    workers.close()


def test_a_program_can_wait_for_what_the_next_one_does(
    two: Lookahead, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    first = Job(WAITS.format(str(sign)), limit=LIMIT)
    second = Job(f"open({str(sign)!r}, 'w').close()\nprint('left')")
    assert two.run(first, second).output == "seen\n"
    assert two.run(second, first).output == "left\n"
    assert two.run(first).output == "seen\n"


def test_each_program_gets_its_own_result(two: Lookahead) -> None:
    jobs = [Job(f"print({number})") for number in range(5)]
    results = [
        two.run(job, following)
        for job, following in itertools.zip_longest(jobs, jobs[1:])
    ]
    assert [result.output for result in results] == [f"{n}\n" for n in range(5)]


def test_what_was_begun_and_is_not_asked_for_is_ended(
    two: Lookahead, tmp_path: Path
) -> None:
    started, never = str(tmp_path / "started"), str(tmp_path / "never")
    endless = Job(SAYS_WHERE.format(started) + WAITS.format(never), limit=LIMIT)
    two.run(Job(WAITS.format(started), limit=LIMIT), endless)
    assert two.run(Job("print(1)")).output == "1\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path(started).read_text()), 0)


def test_a_single_worker_begins_nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, begin = [], Worker.begin

    def noted(worker: Worker, job: Job) -> None:
        begun.append(job)
        begin(worker, job)

    monkeypatch.setattr(Worker, "begin", noted)
    first, second = Job("print(1)"), Job("print(2)")
    one = Lookahead(current_interpreter())
    try:
        one.run(first, second)
    finally:
        one.close()
    assert begun == [first]


# ---- What ends with the run ----------------------------------------------------------

# A program whose child has left its session.
LEAVES = """
import os, subprocess, sys
code = "import time; open('there', 'w').close(); time.sleep(9000)"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
while not os.path.exists("there"):
    pass
"""


def ended(mark: str, seconds: float = 900.0) -> bool:
    """Wait until no process has this text; only a hang waits long."""
    over = time.monotonic() + seconds
    while processes(mark) and time.monotonic() < over:
        time.sleep(0.01)
    return not processes(mark)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("way", WAYS)
def test_what_has_left_its_session_ends_with_its_program(way: str) -> None:
    mark = f"LEFT_{way}_{os.getpid()}"
    environment = os.environ | {mark: "1"}
    with Worker([sys.executable, "-P"], [f"--start={way}"], environment) as worker:
        result = worker.run(Job(LEAVES, limit=LIMIT))
        left = [
            process
            for process in processes(mark)
            if b"sleep(9000)" in Path(f"/proc/{process}/cmdline").read_bytes()
        ]
    assert (result.error, left) == ("", [])
    assert ended(mark)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_outlives_who_asks(way: str, number: int, tmp_path: Path) -> None:
    mark = f"ASKS_{way}_{number}_{os.getpid()}"
    there = tmp_path / "there"
    code = textwrap.dedent(f"""
    import os, sys
    from pytest_proofread.runner import Job, Worker
    worker = Worker([sys.executable, "-P"], ["--start={way}"], os.environ)
    code = {LEAVES!r} + "open({str(there)!r}, 'w').close()\\nwhile True: pass"
    worker.run(Job(code, limit={LIMIT}))
    """)
    asks = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {mark: "1"})
    while not there.exists():
        assert asks.poll() is None
        time.sleep(0.01)
    asks.send_signal(number)
    asks.wait()
    assert ended(mark)
