"""Files are judged in processes of their own."""

import sys
from pathlib import Path

import pytest

from headway.practice.judging import worker as worker_module
from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import COMMAND, Worker
from headway.practice.terminal.folder import Folder
from tests.practice.terminal.test_folder import write
from tests.support.processes import PATIENCE

PACKAGE = Path(worker_module.__file__).parents[2]
pytestmark = pytest.mark.xdist_group("processes")


def of(folder: Folder, line: str, *, limit: float = PATIENCE) -> Verdict:
    path = write(folder, "double", line)
    with Worker(limit=limit, ahead=False) as worker:
        return worker.judge(folder.library, folder.library["double"], path, seed=3)


@pytest.mark.usefixtures("coverage_of_processes")
def test_one_file_after_another_is_judged(folder: Folder) -> None:
    double = folder.library["double"]
    with Worker(limit=PATIENCE) as worker:
        # What a file writes to the terminal is no verdict.
        wrong = 'import os; os.write(1, b"{}"); return x * 3'
        for line, ok in (("return x + x", True), (wrong, False)):
            path = write(folder, "double", line)
            worker.ahead = ok  # for the second, and none is judged after it
            verdict = worker.judge(folder.library, double, path, seed=3)
            assert (verdict.ok, verdict.seed) == (ok, 3)


def program(text: str) -> list[str]:
    """Let a program stand in for what judges."""
    return [sys.executable, "-c", text]


HANGS = "import time; time.sleep(9000)"
IS_READY = "print('ready', flush=True)"


def judged_by(text: str, folder: Folder, **limits: float) -> Verdict:
    double = folder.library["double"]
    limits = {"limit": PATIENCE, "start_limit": PATIENCE} | limits
    with Worker(ahead=False, command=program(text), **limits) as worker:
        return worker.judge(folder.library, double, folder.path_of(double), seed=3)


def test_a_process_that_hangs_is_ended(folder: Folder) -> None:
    with Worker(limit=0.2, command=program(f"{IS_READY}; {HANGS}")) as worker:
        worker.ahead = False
        hanging = worker._next
        double = folder.library["double"]
        verdict = worker.judge(folder.library, double, Path("none.py"), seed=3)
    assert verdict.sentence == ("It must end within 0.2 seconds: a loop may never end.")
    assert hanging is not None
    assert hanging.process.returncode not in (None, 0)


def test_a_process_that_never_says_that_it_is_ready_is_ended(folder: Folder) -> None:
    verdict = judged_by(HANGS, folder, start_limit=0.2)
    assert (verdict.state, verdict.seed) == ("failed", 3)
    assert verdict.sentence == (
        "Python must start within 0.2 seconds: importing PyTorch took longer."
    )


def test_why_python_could_not_start_is_said(folder: Folder) -> None:
    verdict = judged_by("import sys; sys.exit('one line\\nand the last\\n')", folder)
    assert verdict.sentence == (
        "Python could not start, and ended with status 1: and the last"
    )


def test_a_process_may_complain_as_much_as_it_likes(folder: Folder) -> None:
    # More than any pipe takes that nobody reads.
    complains = "import sys; sys.stderr.write('much\\n' * 10**6 + 'at last')"
    verdict = judged_by(f"{IS_READY}; input(); {complains}", folder)
    assert verdict.sentence == "It ended Python with status 0: at last"


def test_what_imports_complain_of_is_not_why_it_ended(folder: Folder) -> None:
    # PyTorch warns where there is no NumPy.
    complains = "import sys; print('no NumPy', file=sys.stderr, flush=True)"
    verdict = judged_by(f"{complains}; {IS_READY}; input()", folder)
    assert verdict.sentence == "It ended Python with status 0."


@pytest.mark.slow
def test_a_file_that_hangs_is_ended(folder: Folder) -> None:
    verdict = of(folder, "while True: pass", limit=4.0)
    assert verdict.sentence.startswith("It must end within 4 seconds")


def test_a_file_that_ends_python_is_told(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A module of the reader's own that is called as one of Python's is not imported.
    (folder.path / "queue.py").write_text("raise SystemExit(4)")
    monkeypatch.chdir(folder.path)
    verdict = of(folder, "import os; os._exit(3)")
    assert verdict.sentence == "It ended Python with status 3."


@pytest.mark.usefixtures("coverage_of_processes")
def test_a_mistake_in_an_exercise_is_told_as_one(folder: Folder) -> None:
    double = folder.library["double"]
    broken = double.path.read_text(encoding="utf-8").replace("d.normal(", "d.normals(")
    double.path.write_text(broken, encoding="utf-8")
    verdict = of(folder, "return x + x")
    assert (verdict.state, verdict.seed) == ("failed", 3)
    assert verdict.sentence == (
        "It could not be judged because of a mistake in the exercise or in Headway. "
        "Please report it with the output below."
    )
    assert verdict.traceback.startswith("Traceback (most recent call last):")
    assert "draw=lambda d: (d.normals(d.T, d.D),)" in verdict.traceback


def test_an_interruption_ends_the_process(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = folder.library["double"]
    worker = Worker(command=program(f"{IS_READY}; {HANGS}"))
    waiting = worker._next
    assert waiting is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.judge(folder.library, double, folder.path_of(double), seed=1)
    assert waiting.process.returncode not in (None, 0)
    assert worker._next is None
    worker.close()


# Where the package lies


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Lay the package into a folder, as into site-packages."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "headway").symlink_to(PACKAGE, target_is_directory=True)
    return site


def started_from(
    site: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch, line: str
) -> Verdict:
    """Judge a line, with the package of a folder that only an argument names."""
    monkeypatch.setenv("PYTHONPATH", str(folder.path))
    path = write(folder, "double", line)
    command = [*COMMAND[:-1], str(site / "headway" / "__init__.py")]
    with Worker(limit=PATIENCE, ahead=False, command=command) as worker:
        return worker.judge(folder.library, folder.library["double"], path, seed=3)


def test_the_package_is_the_one_that_judges_and_what_lies_beside_it_hides_nothing(
    installed: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "pathlib.py").write_text("raise ImportError('a stale backport')")
    line = "import os, sys, headway; print(headway.__file__, sys.path[-1]); "
    line += "print(os.environ.get('PYTHONPATH')); return x + x"
    verdict = started_from(installed, folder, monkeypatch, line)
    assert verdict.state == "passed"
    assert verdict.printed.splitlines()[:2] == [
        f"{installed / 'headway' / '__init__.py'} {installed}",
        str(folder.path),  # the reader's path stays
    ]
