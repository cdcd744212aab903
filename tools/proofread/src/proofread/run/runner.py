"""Run programs in another interpreter, each as if in a fresh one."""

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofread.page.markdown import TIMEOUT, Program

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Python:
    """An interpreter, and how programs run in it.

    Args:
        python: The interpreter.
        ignore: How the warnings begin that every reader gets and may forget.
        limit: Seconds that a program may take.
    """

    python: Path
    ignore: Sequence[str] = ()
    limit: float = 600.0

    def run(
        self, *arguments: str | Path, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in an empty folder, without what is set for Python here."""
        warnings = [f"-Wignore:{message}" for message in self.ignore]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        # Threads that wait sleep: several programs run at once.
        clean.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with tempfile.TemporaryDirectory() as folder:
            command = [self.python, "-Xutf8", *warnings, *arguments]
            try:
                return subprocess.run(  # noqa: S603
                    command,
                    input=given,
                    capture_output=True,
                    encoding="utf-8",
                    timeout=self.limit,
                    cwd=folder,
                    env=clean,
                )
            except subprocess.TimeoutExpired:
                late = f"it did not end within {self.limit:g} s"
                return subprocess.CompletedProcess(command, 1, "", late)


def job(page: str, program: Program, code: str = "") -> dict[str, Any]:
    """Return a program as `run.py` takes it, with another text if one is given."""
    about = {"code": code or program.code, "page": page, "line": program.line}
    marks = map(TIMEOUT.fullmatch, program.marks)
    limits = [float(mark[1]) for mark in marks if mark]
    return about | {"limit": limits[0]} if limits else about


def run_jobs(python: Python, jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run programs one after the other, each as in a fresh interpreter.

    All run in one process: to load a large library anew takes longer than most of them.
    """
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    done = python.run("-I", WORKER, given=lines)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    nothing = {"output": "", "error": "", "traceback": ""}
    if len(results) < len(jobs):
        said = f"it ended the interpreter, with status {done.returncode}\n{done.stderr}"
        results.append(nothing | {"problems": [said.strip()]})
    after = "it did not run: one before it ended the interpreter"
    unknown = nothing | {"problems": [after]}
    return results + [unknown] * (len(jobs) - len(results))
