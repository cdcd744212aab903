"""Judge a file where nobody can type anything: say so, in place of waiting."""

import builtins
import pdb
import sys
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from headway.practice.judging.judge import own_lines
from headway.practice.judging.run_file import judge_file
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task


class _NeedsTerminalError(BaseException):
    """Not an `Exception`, which a file might catch."""


def _refusing(name: str) -> Any:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise _NeedsTerminalError(name)

    return refuse


def judge_without_terminal(task: Task, path: Path, *, seed: int = 0) -> Verdict:
    """Judge a reader's file as `judge_file` does; a debugger or `input` ends it.

    Args:
        task: The exercise.
        path: The file.
        seed: What the hidden numbers are drawn from.
    """
    try:
        with (
            patch.object(sys, "breakpointhook", _refusing("breakpoint()")),
            patch.object(pdb, "set_trace", _refusing("pdb.set_trace()")),
            patch.object(builtins, "input", _refusing("input()")),
        ):
            return judge_file(task, path, seed=seed)
    except _NeedsTerminalError as called:
        return Verdict(
            task.name,
            "failed",
            f"{called} needs a terminal of its own: run python {path.name}, which "
            "calls what you wrote, and take that line out to be judged.",
            read=task.exercise.read,
            traceback=own_lines(called, told=True),
            seed=seed,
        )
