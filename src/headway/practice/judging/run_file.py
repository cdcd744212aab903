"""Run a reader's file, and judge what it defines."""

import contextlib
import io
import linecache
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway.practice.judging.judge import (
    example,
    judge,
    own_lines,
    still_open,
    with_example,
)
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task

_LONGEST = 2000  # of what a file prints, in characters


def judge_file(task: Task, path: Path, *, seed: int = 0) -> Verdict:
    """Judge a reader's file, and keep what it prints by itself or in the example.

    Args:
        task: The exercise.
        path: The file.
        seed: What the hidden numbers are drawn from.
    """
    printed = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        with contextlib.redirect_stdout(printed):
            namespace = _run(task, path, seed)
        if isinstance(namespace, Verdict):
            return replace(namespace, printed=_short(printed.getvalue()))
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = judge(task, namespace, seed=seed)
        if verdict.state == "open":
            return verdict
        shown, told = example(task, namespace)
    verdict = replace(verdict, printed=_short(printed.getvalue() + shown))
    return with_example(verdict, told)


def _run(task: Task, path: Path, seed: int) -> dict[str, Any] | Verdict:
    """Run a file; give what it has defined, or a verdict if it cannot be run."""
    failed = Verdict(task.name, "failed", "", read=task.exercise.read, seed=seed)
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return replace(failed, sentence=f"{path.name} could not be read: {why}.")
    linecache.checkcache(str(path))
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), namespace)  # noqa: S102
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        if still_open(raised):
            return replace(failed, state="open", sentence="The hole is still open.")
        sentence = f"{path.name} could not be run."
        return replace(failed, sentence=sentence, traceback=own_lines(raised))
    return namespace


def _short(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
