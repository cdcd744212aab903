"""Start a program in several processes, and leave none of them behind."""

import contextlib
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, cast

from headway import _require

WORKER = Path(__file__).with_name("_worker.py")
AFTER = 1.0  # seconds for a worker to end when its starter has
GRACE = 5.0  # seconds to end by themselves, before they are killed


def run_processes(program: str, processes: int, *, timeout: float = 60.0) -> str:
    r"""Run one program in several processes, and return what the first of them prints.

    The program is written to a file in a temporary folder, which `python -m
    torch.distributed.run --standalone` then starts in each process, on this machine;
    they find each other by `torch.distributed.init_process_group("gloo")`. What
    processes other than the first print is dropped.

    None of these processes is left when the call returns or raises: when one fails,
    the others are ended; each ends itself when the time is up, and when the caller has
    ended; one that cannot, as it waits inside of C, is killed. What a program starts
    itself, it must end itself.

    Args:
        program: Source code in Python.
        processes: Number of processes.
        timeout: Seconds that they may take, their start included.

    Returns:
        What the process of rank zero has printed.

    Raises:
        ValueError: If `processes` is not a positive integer, or `timeout` is not
            positive.
        RuntimeError: If a process ends with an error or a status other than zero,
            with the traceback of the first that raised one; and on Windows, which has
            neither the locks nor the signals that this needs.
        TimeoutError: If they take longer than `timeout`, with the line of the program
            where each of them stood.

    Examples:
        >>> run_processes("print(6 * 7)", 1)
        '42\n'
    """
    if sys.platform == "win32":
        raise RuntimeError(
            "run_processes must run on Linux or macOS; got sys.platform='win32'."
        )
    _require.positive(processes=processes)
    _require.positive_and_finite(timeout=timeout)
    deadline = time.time() + timeout
    # A process that had hardly begun may still write there while it is removed.
    with tempfile.TemporaryDirectory(
        prefix="headway-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        path = folder / "program.py"
        path.write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--nproc-per-node", str(processes)]
        command += [str(WORKER), str(path), str(deadline)]
        status = _status(command, folder, deadline + GRACE - time.time())
        stood = [_stood(program, *late) for late in _written(folder, "late-*")]
        if status is None or stood:
            places = "".join(f"\n{place}" for place in stood)
            raise TimeoutError(f"The program took longer than {timeout:g} s.{places}")
        if status != 0:
            raise RuntimeError(f"The program failed: {_failed(folder)}")
        return (folder / "printed.txt").read_text(encoding="utf-8")


def _status(command: list[str], folder: Path, seconds: float) -> int | None:
    """Run the starter; then end it, and all that it has started."""
    # What it leaves in a temporary folder, it leaves in ours.
    aside = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    with (folder / "starter.txt").open("wb") as said:
        starter = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,  # the workers end when it closes
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, **aside},
        )
        try:
            return starter.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            starter.terminate()  # it ends the workers, too
            cast(IO[bytes], starter.stdin).close()
            try:
                starter.wait(GRACE)
            except subprocess.TimeoutExpired:
                starter.kill()
                starter.wait()
            _kill_workers(folder)


def _kill_workers(folder: Path) -> None:
    """Kill those that nothing else could end: each still holds its file."""
    for file in folder.glob("alive-*"):
        _wait(file, AFTER)  # it may be about to end
        if _held(file):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(file.name.rpartition("-")[2]), signal.SIGKILL)
            _wait(file, math.inf)


def _wait(file: Path, seconds: float) -> None:
    """Wait until a process has let go of its file, but no longer than this."""
    until = time.monotonic() + seconds
    while _held(file) and time.monotonic() < until:
        time.sleep(0.01)


def _held(file: Path) -> bool:
    """Say whether the process is there that has locked a file; never another one."""
    import fcntl  # not in Windows, where this module is imported too

    try:
        with file.open("ab") as opened:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _written(folder: Path, pattern: str) -> list[tuple[int, str]]:
    """Read what processes have written, by rank."""
    texts = [
        (int(file.name.rpartition("-")[2]), file.read_text("utf-8"))
        for file in folder.glob(pattern)
    ]
    return sorted((rank, text) for rank, text in texts if text)


def _stood(program: str, rank: int, late: str) -> str:
    """Say where a process stood: the innermost of the program's own lines."""
    found = re.search(r'program\.py", line (\d+) in (.*)', late)
    if found is None:
        return f"Process {rank} had not begun."
    number, function = int(found[1]), found[2]
    line = program.splitlines()[number - 1].strip()
    return (
        f"Process {rank} stood here:\n"
        f'  File "program.py", line {number}, in {function}\n    {line}'
    )


def _failed(folder: Path) -> str:
    """Say which process was the first to fail, and how."""
    files = list(folder.glob("error-*"))
    if files:
        first = min(files, key=lambda file: (file.stat().st_mtime_ns, file.name))
        rank = first.name.rpartition("-")[2]
        return f"process {rank} raised:\n{first.read_text('utf-8').rstrip()}"
    said = (folder / "starter.txt").read_text("utf-8", "replace")
    # What it says of each process that ended by itself: (exitcode: 3) local_rank: 1
    found = re.search(r"exitcode: (-?\d+)\) local_rank: (\d+)", said)
    if found is None:
        return f"it was not started:\n{said.rstrip()}"
    return f"process {found[2]} ended with status {found[1]}."
