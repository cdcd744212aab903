"""Judge files in processes of their own, so that none can hang or spoil another.

Importing PyTorch takes longer than judging: a process that has it imported always waits
for the next file.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, Task

LIMIT = 10.0  # seconds


class Worker:
    """Judges one file after another, each in a process that was started before.

    Args:
        limit: How many seconds a file may take, the import of PyTorch not counted.
        ahead: Whether to start the process for the next file after each; not where
            one is judged alone.
    """

    def __init__(self, *, limit: float = LIMIT, ahead: bool = True) -> None:
        self.limit = limit
        self.ahead = ahead
        self._next: subprocess.Popen[str] | None = _start()

    def judge(self, library: Library, task: Task, path: Path, *, seed: int) -> Verdict:
        """Judge a file; end it if it takes too long.

        Args:
            library: The set that the exercise belongs to.
            task: The exercise.
            path: The reader's file.
            seed: What the hidden numbers are drawn from.
        """
        request = {
            "set": str(library.folder),
            "name": task.name,
            "path": str(path),
            "seed": seed,
        }
        process, self._next = self._next, None
        process = process or _start()
        failed = Verdict(task.name, "failed", "", read=task.exercise.read, seed=seed)
        try:
            # The process has a line to say when it has imported what it needs.
            cast(IO[str], process.stdout).readline()
            text, _ = process.communicate(json.dumps(request), timeout=self.limit)
        except subprocess.TimeoutExpired:
            _end(process)
            sentence = (
                f"It must end within {self.limit:g} seconds: a loop may never end."
            )
            return replace(failed, sentence=sentence)
        except BaseException:  # the reader interrupts
            self.ahead = False
            _end(process)
            raise
        finally:
            self._next = _start() if self.ahead else None
        try:
            return Verdict.from_json(text)
        except ValueError:
            sentence = f"It ended Python with status {process.returncode}."
            return replace(failed, sentence=sentence)

    def close(self) -> None:
        """End the process that waits."""
        if self._next is not None:
            _end(self._next)
            self._next = None

    def __enter__(self) -> "Worker":
        """Give the worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process that waits."""
        self.close()


def _start() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        # -P: what lies in the folder where the reader works hides no module.
        [sys.executable, "-P", "-m", "headway.practice.judging.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env=_environment(),
    )


def _environment() -> Mapping[str, str]:
    """Let it find this package where it was found, and write UTF-8 everywhere."""
    root = str(Path(__file__).parents[3])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONUTF8": "1",
    }


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired, ValueError, OSError):
        process.communicate(timeout=1)


def main() -> int:
    """Read one request, judge the file, and write the verdict."""
    # Here, so that all is imported in advance: what judges, and what names more.
    from headway import checks  # noqa: F401
    from headway.practice.judging import run_file

    print("ready", flush=True)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 1)  # nothing that the file prints is the verdict
        request = json.loads(sys.stdin.read())
        library = Library(Path(request["set"]))
        verdict = run_file.judge_file(
            library[request["name"]], Path(request["path"]), seed=request["seed"]
        )
    with answer:
        answer.write(verdict.to_json())
    os._exit(0)  # threads that the file has left behind would keep it


if __name__ == "__main__":
    sys.exit(main())
