"""Start a program in several processes, and leave none of them behind."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headway import _require

GRACE = 5.0  # seconds to end by themselves, before they are killed


def run_processes(program: str, processes: int, *, timeout: float = 60.0) -> str:
    r"""Run one program in several processes, and give what the first of them prints.

    The program is written to a file in a temporary folder, which `python -m
    torch.distributed.run --standalone` then starts in each process, on this machine;
    they find each other by `torch.distributed.init_process_group("gloo")`. What
    processes other than the first print is dropped.

    None of them is left when the call returns or raises: each ends itself when the
    time is up, whatever it waits for.

    Args:
        program: Source code in Python.
        processes: Number of processes.
        timeout: Seconds that they may take, their start included.

    Returns:
        What the process of rank zero has printed.

    Raises:
        ValueError: If `processes` is not a positive integer, or `timeout` is not
            positive.
        RuntimeError: If a process ends with an error, with its traceback.
        TimeoutError: If they take longer than `timeout`, with the place where one of
            them stood.

    Examples:
        >>> run_processes("print(6 * 7)", 1)
        '42\n'
    """
    _require.positive(processes=processes)
    _require.positive_and_finite(timeout=timeout)
    deadline = time.time() + timeout
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        path = Path(folder, "program.py")
        path.write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--nproc-per-node", str(processes), "--module"]
        command += ["headway.distributed._worker", str(path), str(deadline)]
        status = _status(command, timeout)
        rank, late = _first(path.parent, "late-*")
        if status is None or late:
            stood = (
                f"; process {rank} of {processes} stood here:\n{late}" if late else ""
            )
            raise TimeoutError(f"The program took longer than {timeout:g} s{stood}")
        if status != 0:
            rank, error = _first(path.parent, "error-*")
            found = (
                f"process {rank} of {processes} raised:\n{error}"
                if error
                else ("a process ended with a status other than zero")
            )
            raise RuntimeError(f"The program failed: {found}")
        return Path(folder, "printed.txt").read_text(encoding="utf-8")


def _status(command: list[str], timeout: float) -> int | None:
    """Run the starter, and end it, and so all that it has started."""
    starter = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return starter.wait(timeout + GRACE)
    except subprocess.TimeoutExpired:
        return None
    finally:
        starter.terminate()  # it ends the processes, too
        try:
            starter.wait(GRACE)
        except subprocess.TimeoutExpired:
            starter.kill()
            starter.wait()


def _first(folder: Path, pattern: str) -> tuple[int, str]:
    """Find what the first process wrote that had something to write."""
    files = [file for file in folder.glob(pattern) if file.stat().st_size]
    if not files:
        return -1, ""
    first = min(files, key=lambda file: file.stat().st_mtime_ns)
    return int(first.stem.rpartition("-")[2]), first.read_text(
        encoding="utf-8"
    ).rstrip()
