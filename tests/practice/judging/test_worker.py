"""Files are judged in processes of their own."""

import subprocess
import sys

import pytest

from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import Worker
from headway.practice.terminal.folder import Folder
from practice.terminal.test_folder import write
from processes import PATIENCE

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
            verdict = worker.judge(folder.library, double, path, seed=3)
            assert (verdict.ok, verdict.seed) == (ok, 3)


def standing_in(worker: Worker) -> "subprocess.Popen[str]":
    """Let a process that says that it is ready, and nothing more, be the next."""
    worker.close()
    worker._next = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "print('ready', flush=True); import time; time.sleep(9000)",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return worker._next


def test_a_process_that_hangs_is_ended(folder: Folder) -> None:
    with Worker(limit=0.2, ahead=False) as worker:
        process = standing_in(worker)
        double = folder.library["double"]
        path = folder.path_of(double)
        verdict = worker.judge(folder.library, double, path, seed=3)
    assert verdict.sentence == ("It must end within 0.2 seconds: a loop may never end.")
    assert process.wait(PATIENCE) != 0


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


def test_an_interruption_ends_the_process(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, "double", "while True: pass")
    worker = Worker(ahead=False)
    process = standing_in(worker)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process, "communicate", interrupted)
        patch.setattr("headway.practice.judging.worker._end", lambda one: one.kill())
        with pytest.raises(KeyboardInterrupt):
            worker.judge(folder.library, folder.library["double"], path, seed=1)
    worker.close()
    worker.close()
    process.communicate()
    assert process.returncode != 0
