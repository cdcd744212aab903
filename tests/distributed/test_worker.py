"""What each process of `run_processes` does, started by hand: how it ends, and when."""

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from torch import distributed

from headway.distributed import _worker, launch
from tests.support.processes import (
    PATIENCE,
    STUBBORN,
    longer_and_longer,
    stand_and,
    stood,
    wait_for,
)


class TestOneWorker:
    """In a process of its own, without a starter and without torch."""

    @staticmethod
    def start(
        folder: Path, program: str, *, seconds: float = 10 * PATIENCE, rank: int = 1
    ) -> "subprocess.Popen[bytes]":
        path = folder / "program.py"
        path.write_text(program, encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, str(launch.WORKER), str(path), str(time.time() + seconds)],
            env={**os.environ, "RANK": str(rank)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def test_prints_nothing_unless_its_rank_is_zero(self, tmp_path: Path) -> None:
        for rank in (0, 1):
            word = "no" if rank else "é"
            worker = self.start(tmp_path, f"print({word!r})", rank=rank)
            assert worker.wait(PATIENCE) == 0
            assert worker.communicate() == (b"", b"")
        assert (tmp_path / "printed.txt").read_text("utf-8") == "é\n"

    @pytest.mark.parametrize(
        ("program", "status", "last"),
        [
            ("import sys; sys.exit()", 0, None),
            ("import sys; sys.exit(0)", 0, None),
            ("import sys; sys.exit(3)", 1, "SystemExit: 3"),
            ("import sys; sys.exit('no heads')", 1, "SystemExit: no heads"),
            ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
            ("x = (", 1, "SyntaxError: '(' was never closed"),
            ("raise ValueError('\\ud800')", 1, "ValueError: \\ud800"),
        ],
    )
    def test_how_it_ends(
        self, tmp_path: Path, program: str, status: int, last: str | None
    ) -> None:
        worker = self.start(tmp_path, program)
        assert worker.wait(PATIENCE) == status
        assert worker.communicate() == (b"", b"")
        error = tmp_path / "error-1"
        if last is None:
            assert not error.exists()
        else:
            text = error.read_text("utf-8")
            assert text.splitlines()[-1] == last
            assert 'File "program.py", line 1' in text

    def test_says_where_it_stands_and_ends_by_itself(self, tmp_path: Path) -> None:
        program = f"import os, pathlib, time\n{stand_and('time.sleep(9000)', tmp_path)}"
        for seconds in longer_and_longer(2.0):
            began = time.time()
            worker = self.start(tmp_path, program, seconds=seconds)
            assert worker.wait(PATIENCE) == 1  # its pipe is open all the time
            worker.communicate()
            if stood(tmp_path, [1], since=began, until=began + seconds):
                break
        place = launch._stood(program, 1, (tmp_path / "late-1").read_text())
        assert place == (
            'Process 1 stood here:\n  File "program.py", line 2, in <module>\n'
            f"    {program.splitlines()[1]}"
        )

    def test_is_killed_if_it_cannot_end(self, tmp_path: Path) -> None:
        """It ignores signals, and waits so that no other thread of Python runs."""
        for seconds in longer_and_longer(1.0):
            stubborn = self.start(tmp_path, STUBBORN, seconds=seconds)
            with contextlib.suppress(subprocess.TimeoutExpired):
                stubborn.wait(seconds + 2.0)
            if stubborn.poll() is None and (tmp_path / "begun-1").exists():
                break  # its limit did not end it
            stubborn.kill()  # it began too late to be stubborn
            stubborn.communicate()
        stubborn.terminate()
        launch._kill_workers(tmp_path)
        assert stubborn.wait(PATIENCE) == -signal.SIGKILL
        stubborn.communicate()
        launch._kill_workers(tmp_path)  # nobody is left to be killed

    def test_who_is_ending_is_not_killed(self, tmp_path: Path) -> None:
        worker = self.start(tmp_path, "import time\ntime.sleep(9000)")
        wait_for(lambda: (tmp_path / "late-1").exists())
        worker.communicate(timeout=PATIENCE)  # closes the pipe, and so ends it
        launch._kill_workers(tmp_path)
        assert worker.returncode == 1

    def test_ends_with_its_caller(self, tmp_path: Path) -> None:
        program = f"import os, pathlib, time\n{stand_and('time.sleep(9000)', tmp_path)}"
        worker = self.start(tmp_path, program)
        wait_for(lambda: (tmp_path / "stands-1").exists())
        assert worker.poll() is None
        worker.communicate(timeout=PATIENCE)  # closes the pipe
        assert worker.returncode == 1


class TestOneWorkerInThisProcess:
    """The same where coverage sees it; its threads are called by hand."""

    @pytest.fixture(autouse=True)
    def _as_a_worker(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setattr(sys, "path", sys.path.copy())
        monkeypatch.setattr(sys, "argv", sys.argv)
        self.started: list[tuple[object, ...]] = []
        monkeypatch.setattr(_worker, "_start", lambda *work: self.started.append(work))
        self.ended: list[int] = []
        monkeypatch.setattr(os, "_exit", self.ended.append)
        yield
        faulthandler.cancel_dump_traceback_later()

    @pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
    @pytest.mark.parametrize(
        ("program", "status"),
        [("print('é')", 0), ("raise SystemExit(0)", 0), ("1 / 0", 1)],
    )
    def test_main(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        program: str,
        status: int,
    ) -> None:
        path = tmp_path / "program.py"
        path.write_text(program, encoding="utf-8")
        monkeypatch.setattr(_worker, "time", SimpleNamespace(time=lambda: 1000.0))
        assert _worker.main(str(path), "7000.0") == status
        assert (tmp_path / "error-0").exists() == bool(status)
        (after, seconds), (with_parent,) = self.started
        assert (after, with_parent) == (_worker._end_after, _worker._end_with_parent)
        assert seconds == 6000.0 + _worker.AFTER
        (alive,) = tmp_path.glob("alive-*")
        assert alive.name == f"alive-{os.getpid()}"

    def test_the_group_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        distributed.init_process_group(
            "gloo", rank=0, world_size=1, store=distributed.HashStore()
        )
        _worker._leave()
        assert not distributed.is_initialized()
        _worker._leave()
        monkeypatch.delitem(sys.modules, "torch.distributed")
        _worker._leave()

    def test_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        slept: list[float] = []
        monkeypatch.setattr(_worker, "time", SimpleNamespace(sleep=slept.append))
        _worker._end_after(3.0)
        assert (slept, self.ended) == ([3.0], [1])

    def test_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = [b"", b"x"]
        monkeypatch.setattr(os, "read", lambda *_: answers.pop())
        _worker._end_with_parent()
        assert self.ended == [1]
        monkeypatch.setattr(os, "read", lambda *_: os.close(-1))
        _worker._end_with_parent()  # there is no pipe
        assert self.ended == [1]

    def test_a_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        done = threading.Event()
        _worker._start(lambda _: done.set(), 1.0)
        assert done.wait(PATIENCE)
