"""Start each program in a fresh interpreter, where a fork may not survive."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pytest_proofread.run.exit_status import result_of
from pytest_proofread.run.program import Files, run_and_exit
from pytest_proofread.run.protocol import Job, Result, line, read_job

ABORT_GRACE_SECONDS = 1.0


class Spawner:
    """Starts a fresh interpreter for each program.

    Args:
        path: Where programs import from.
        worker: The file that is started.
    """

    def __init__(self, path: Sequence[str], worker: Path) -> None:
        self.path = path
        isolated = ["-I"] if sys.flags.isolated else ["-P"]
        warned = [f"-W{option}" for option in sys.warnoptions]
        self.command = [sys.executable, *isolated, *warned, str(worker), "--program"]

    def run(self, job: Job) -> Result:
        """Run a program, and end all that is left of it."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            folder = os.path.realpath(folder)
            files = Files(folder)
            file = Path(folder, "job")
            file.write_text(line(job) + json.dumps(self.path), encoding="utf-8")
            process = subprocess.Popen(  # noqa: S603
                [*self.command, folder],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                cwd=files.home,
                start_new_session=True,
            )
            try:
                if process.stdout is not None:
                    with process.stdout as begun:
                        begun.read()
                return result_of(job, wait(process, job.limit), files)
            finally:
                end_group(process)

    def stop(self) -> None:
        """Do nothing: no process outlives its program."""


def wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process; stop it if it has not ended by then, and return nothing."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        # It says where it is, if it can.
        process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(ABORT_GRACE_SECONDS)
        return None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


def run_spawned(folder: str) -> None:
    """Run the program whose job lies in a folder, and end this process."""
    job, path = Path(folder, "job").read_text(encoding="utf-8").splitlines()
    # It is a pipe, which closes when the program begins.
    begin = os.dup(1)
    run_and_exit(read_job(job), json.loads(path), Files(folder), begin)
