"""Programs in several processes: what they print, how they end, and what is left."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from headway.distributed import launch
from headway.distributed.launch import run_processes
from tests.support.processes import (
    PATIENCE,
    STUBBORN,
    left,
    longer_and_longer,
    recorded,
    running,
    stand_and,
    stood,
    wait_for,
)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have temporary files in a folder that the test can look into."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(folder))
    return folder


@pytest.fixture
def ids(tmp_path: Path) -> Path:
    """Give a folder where the processes write down who they are."""
    folder = tmp_path / "ids"
    folder.mkdir()
    return folder


def a_program(ids: Path, text: str) -> str:
    """Write a program; its first three lines write down the ids of each process."""
    # The parent of a worker is the starter.
    record = f"""\
        import os, pathlib, sys, time; rank = int(os.environ["RANK"])
        for pid in (os.getpid(), os.getppid()):
            pathlib.Path({str(ids)!r}, str(pid)).touch()
        """
    return textwrap.dedent(record) + textwrap.dedent(text)


def nothing_is_left(ids: Path, temporary: Path, processes: int) -> None:
    """Check that all were there, and that none is, nor a file of theirs."""
    pids = recorded(ids)
    assert len(pids) == processes + 1
    assert left(pids) == []
    assert list(temporary.iterdir()) == []


def both_stood(folder: Path, since: float, until: float) -> bool:
    return stood(folder, range(2), since=since, until=until)


def hang(
    ids: Path, program: str, limit: float, begun: Callable[[float, float], bool]
) -> tuple[float, str]:
    """Run a program that hangs, with more time to begin if it needs that.

    Args:
        ids: Where they write down who they are.
        program: What two processes run.
        limit: The first limit to try.
        begun: Whether they came to where they hang between two times.

    Returns:
        The limit within which they did, and what is said of where they stood.
    """
    for seconds in longer_and_longer(limit):
        for file in ids.iterdir():
            file.unlink()
        began = time.time()
        with pytest.raises(TimeoutError) as caught:
            run_processes(program, 2, timeout=seconds)
        assert time.time() - began > seconds
        if begun(began, began + seconds):
            break
    return seconds, str(caught.value)


class TestThreeThatEnd:
    def test_rank_zero_prints_and_nothing_is_left(
        self, ids: Path, temporary: Path
    ) -> None:
        program = a_program(
            ids,
            """\
            print("rank", rank, "of", os.environ["WORLD_SIZE"], "Grüße, 注意 🙂")
            print("to the other side", file=sys.stderr)
            print(__name__, sys.argv == [__file__], pathlib.Path(__file__).name)
            print(sys.path[0] == str(pathlib.Path(__file__).parent))
            import torch.distributed as dist
            dist.init_process_group("gloo")
            everybody = [None] * 3
            dist.all_gather_object(everybody, rank)
            print(everybody, end="")
            """,
        )
        printed = run_processes(program, 3, timeout=PATIENCE)
        assert printed == (
            "rank 0 of 3 Grüße, 注意 🙂\n__main__ True program.py\nTrue\n[0, 1, 2]"
        )
        nothing_is_left(ids, temporary, 3)


class TestOneThatFails:
    def test_its_line_and_rank_while_others_wait(
        self, ids: Path, temporary: Path
    ) -> None:
        program = a_program(
            ids,
            """\
            def give(heads):
                raise ValueError(f"too few heads for Jürgen: {heads}")

            while rank != 1 or len(os.listdir(IDS)) < 4:
                time.sleep(0.01)
            give(2)
            """.replace("IDS", repr(str(ids))),
        )
        with pytest.raises(RuntimeError) as caught:  # nobody waits for the limit
            run_processes(program, 3, timeout=PATIENCE)
        assert re.sub(r"\n +[\^~]+", "", str(caught.value)) == (
            "The program failed: process 1 raised:\n"
            "Traceback (most recent call last):\n"
            '  File "program.py", line 9, in <module>\n'
            "    give(2)\n"
            '  File "program.py", line 5, in give\n'
            '    raise ValueError(f"too few heads for Jürgen: {heads}")\n'
            "ValueError: too few heads for Jürgen: 2"
        )
        nothing_is_left(ids, temporary, 3)


class TestAHang:
    def test_ends_at_its_limit_with_each_place(
        self, ids: Path, temporary: Path, tmp_path: Path
    ) -> None:
        # Each waits for a file that the other never writes.
        wait = "os.path.exists(str(other)) or time.sleep(9000)  # é"
        program = a_program(
            ids,
            f"""\
            def wait_for(other):
                {(line := stand_and(wait, tmp_path))}
            wait_for(1 - rank)
            """,
        )
        limit, places = hang(ids, program, 7.0, partial(both_stood, tmp_path))
        place = f'File "program.py", line 5, in wait_for\n    {line}'
        assert places == (
            f"The program took longer than {limit:g} s."
            f"\nProcess 0 stood here:\n  {place}"
            f"\nProcess 1 stood here:\n  {place}"
        )
        nothing_is_left(ids, temporary, 2)


class TestBeforeTheyStart:
    def test_not_enough_time_to_start(
        self, temporary: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # It is ended as soon as it was started: no machine imports torch so quickly.
        monkeypatch.setattr(launch, "GRACE", 0.0)
        with pytest.raises(
            TimeoutError, match=r"^The program took longer than 0.001 s.$"
        ):
            run_processes("", 2, timeout=0.001)
        assert list(temporary.iterdir()) == []

    def test_windows_is_refused(
        self, temporary: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "win32")
        with pytest.raises(
            RuntimeError,
            match=r"^run_processes must run on Linux or macOS; "
            r"got sys\.platform='win32'\.$",
        ):
            run_processes("", 1)
        assert list(temporary.iterdir()) == []

    def test_without_locks_the_package_is_imported(self) -> None:
        program = (
            "import sys; sys.modules['fcntl'] = sys.modules['termios'] = None\n"
            "import headway.practice.cli, headway.checks.cli"
        )
        subprocess.run([sys.executable, "-c", program], check=True)

    @pytest.mark.refusal
    @pytest.mark.parametrize("processes", [0, -1, 2.0, True])
    def test_processes_must_be_positive(self, processes: int) -> None:
        with pytest.raises(ValueError, match=r"^processes must be a positive integer"):
            run_processes("", processes)

    @pytest.mark.parametrize("timeout", [0.0, -1.0, float("inf"), float("nan")])
    def test_timeout_must_be_positive(self, timeout: float) -> None:
        with pytest.raises(ValueError, match=r"^timeout must be positive and finite"):
            run_processes("", 1, timeout=timeout)


class TestWhoFailed:
    def test_the_first(self, tmp_path: Path) -> None:
        for rank, seconds in ((0, 20), (1, 10), (2, 30)):
            file = tmp_path / f"error-{rank}"
            file.write_text(f"of {rank}\n")
            os.utime(file, (seconds, seconds))
        assert launch._failed(tmp_path) == "process 1 raised:\nof 1"

    def test_what_the_starter_says(self, tmp_path: Path) -> None:
        said = tmp_path / "starter.txt"
        said.write_text("failed (exitcode: -9) local_rank: 2 (pid: 5) of binary")
        assert launch._failed(tmp_path) == "process 2 ended with status -9."
        said.write_text("no such module\n")
        assert launch._failed(tmp_path) == "it was not started:\nno such module"


def test_a_starter_that_will_not_end(
    ids: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE", 0.2)
    program = (
        "import os, pathlib, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"pathlib.Path({str(ids)!r}, str(os.getpid())).touch()\n"
        "time.sleep(9000)"
    )

    class UntilItBegan(subprocess.Popen):
        """What is waited for in vain only when it ignores signals."""

        def wait(self, timeout: float | None = None) -> int:
            wait_for(lambda: recorded(ids) == [self.pid])
            return super().wait(timeout)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", UntilItBegan)
        command = [sys.executable, "-c", program]
        assert launch._status(command, tmp_path, 0.1) is None
    [pid] = recorded(ids)
    assert not running(pid)


def test_a_worker_that_had_not_begun() -> None:
    assert launch._stood("", 2, "Timeout!\n") == "Process 2 had not begun."


@pytest.mark.slow
class TestSlow:
    def test_a_receiver_without_a_sender(
        self, ids: Path, temporary: Path, tmp_path: Path
    ) -> None:
        program = a_program(
            ids,
            f"""\
            import torch, torch.distributed as dist
            dist.init_process_group("gloo")
            x = torch.zeros(1)
            {(line := stand_and("dist.recv(x, 1 - rank)", tmp_path))}
            """,
        )
        limit, places = hang(ids, program, 20.0, partial(both_stood, tmp_path))
        place = f'File "program.py", line 7, in <module>\n    {line}'
        assert places == (
            f"The program took longer than {limit:g} s."
            f"\nProcess 0 stood here:\n  {place}"
            f"\nProcess 1 stood here:\n  {place}"
        )
        nothing_is_left(ids, temporary, 2)

    def test_the_first_to_fail_is_named_not_those_who_miss_it(
        self, ids: Path, temporary: Path
    ) -> None:
        program = a_program(
            ids,
            """\
            import torch, torch.distributed as dist
            dist.init_process_group("gloo")
            if rank == 2:
                1 / 0
            dist.all_reduce(torch.zeros(1))
            """,
        )
        with pytest.raises(
            RuntimeError, match=r"process 2 raised(.|\n)*line 7(.|\n)*1 / 0"
        ):
            run_processes(program, 3, timeout=PATIENCE)
        nothing_is_left(ids, temporary, 3)

    @pytest.mark.parametrize(
        ("end", "says"),
        [
            ("os._exit(3)", "process 1 ended with status 3."),
            ("os.kill(os.getpid(), 9)", "process 1 ended with status -9."),
        ],
    )
    def test_ends_without_a_word(
        self, ids: Path, temporary: Path, end: str, says: str
    ) -> None:
        wait = f"while rank != 1 or len(os.listdir({str(ids)!r})) < 3: time.sleep(0.01)"
        with pytest.raises(RuntimeError) as caught:
            run_processes(a_program(ids, f"{wait}\n{end}"), 2, timeout=PATIENCE)
        assert str(caught.value) == f"The program failed: {says}"
        nothing_is_left(ids, temporary, 2)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
    def test_the_caller_is_ended(
        self, ids: Path, temporary: Path, number: signal.Signals
    ) -> None:
        program = a_program(ids, "time.sleep(9000)")
        call = (  # a shell may have made us, and so the caller, deaf to Ctrl-C
            "import signal\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from headway.distributed.launch import run_processes\n"
            f"run_processes({program!r}, 3, timeout=9000.0)"
        )
        caller = subprocess.Popen(
            [sys.executable, "-c", call],
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        wait_for(lambda: len(recorded(ids)) == 4)
        assert all(running(pid) for pid in recorded(ids))
        caller.send_signal(number)
        said = caller.communicate(timeout=PATIENCE)[1]
        if number == signal.SIGINT:
            assert said.rstrip().endswith(b"KeyboardInterrupt")
            nothing_is_left(ids, temporary, 3)
        else:  # nobody is there to wait for them
            assert left(recorded(ids)) == []

    def test_who_ignores_signals_and_waits_inside_of_c(
        self, ids: Path, temporary: Path
    ) -> None:
        program = a_program(ids, STUBBORN)
        hang(ids, program, 20.0, lambda *_: len(recorded(ids)) == 3)
        nothing_is_left(ids, temporary, 2)

    def test_what_cannot_be_started(
        self, temporary: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launch, "WORKER", Path("no such file.py"))
        with pytest.raises(RuntimeError, match=r"process . ended with status 2"):
            run_processes("", 1, timeout=PATIENCE)
        monkeypatch.setattr(sys, "executable", os.path.realpath(sys.executable))
        monkeypatch.setenv("PYTHONHOME", "/nowhere")
        with pytest.raises(RuntimeError, match=r"it was not started:\n"):
            run_processes("", 1, timeout=PATIENCE)
        assert list(temporary.iterdir()) == []
