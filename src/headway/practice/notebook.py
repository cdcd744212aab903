"""An exercise in a notebook, and how far the reader is."""

import contextlib
import html
import itertools
import json
import re
import secrets
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

from headway.practice.judging.judge import defined, example, judge, with_example
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, Task, book
from headway.practice.task.source import EXAMPLE

_LIMIT = 10.0  # seconds
_PROGRESS = ".headway.json"  # written as in the folder of a terminal


class NotebookExercise:
    """An exercise that judges what a notebook has defined.

    In a notebook it shows its task. What was solved, and which hints are open, a
    notebook keeps in the file `.headway.json` beside it.

    Args:
        task: The exercise.
        contents: The list that it is one of.
    """

    def __init__(self, task: Task, contents: "Contents") -> None:
        self._task = task
        self._contents = contents

    @property
    def stub(self) -> str:
        """The program to begin with, for a cell: without the worked example."""
        return self._task.source.stub.partition(EXAMPLE)[0].rstrip() + "\n"

    def check(self, answer: Any, *, seed: int | None = None) -> Verdict:
        """Judge a function or a class.

        An answer that takes longer than ten seconds is stopped, where signals can do
        that: not on Windows.

        Args:
            answer: What you have written.
            seed: What hidden numbers are drawn from; `None` draws it anew.

        Returns:
            The verdict, which a notebook shows as it shows a report of `check`.
        """
        seed = secrets.randbelow(10_000) if seed is None else seed
        task = self._task
        given = {task.exercise.answer: answer}
        try:
            with _limited(_LIMIT):
                verdict = judge(task, given, seed=seed)
                if verdict.state == "open":
                    return verdict
                own = defined(task, task.source.solution)
                _, told = example(task, own | given)
        except _TooLongError:
            return Verdict(
                task.name,
                "failed",
                f"It took longer than {_LIMIT:.0f} seconds, and was stopped. "
                "Is there a loop that does not end?",
                read=task.exercise.read,
                seed=seed,
            )
        verdict = with_example(verdict, told)
        if verdict.ok:
            today = date.today().isoformat()
            first = _progress.of(task.name).get("solved", today)
            _progress.note(task.name, solved=first, last=today)
        return verdict

    def hint(self) -> str:
        """Open one more hint, and return it; after the last one, return that again."""
        name, hints = self._task.name, self._task.exercise.hints
        count = min(_progress.of(name).get("hints", 0) + 1, len(hints))
        _progress.note(name, hints=count)
        return f"hint {count}/{len(hints)}  {hints[count - 1]}"

    def solution(self) -> str:
        """Return the program with the hole filled."""
        return self._task.source.solution

    def other_ways(self) -> list[str]:
        """Return other lines for the hole, each after what it is good for."""
        return [textwrap.dedent(one).strip("\n") for one in self._task.exercise.right]

    def next(self) -> "NotebookExercise":
        """Return the next exercise that is not solved; the last one if all are."""
        return self._contents.next(self._task.name)

    @property
    def _place(self) -> str:
        task, names = self._task, [*self._contents]
        told = f"{names.index(task.name) + 1} of {len(names)}  {task.name}"
        if task.exercise.minutes:
            told += f", about {task.exercise.minutes} minutes"
        return told + (", solved" if task.name in self._contents.solved else "")

    @property
    def _texts(self) -> list[str]:
        """The task's paragraphs, and the line on types."""
        one = self._task
        return [*filter(str.strip, one.source.text.split("\n\n")), one.types]

    @property
    def _program(self) -> str:
        """The stub, and the worked example with what it prints."""
        program, printed = self._task.source.example
        below = "".join(f"\n# {line}" for line in printed.splitlines())
        return f"{self.stub}\n\n# An example, and what it must print:\n{program}{below}"

    def __repr__(self) -> str:
        """Give the task as text."""
        texts = "\n\n".join(self._texts)
        return f"{self._place}\n{self._task.source.title}\n\n{texts}\n\n{self._program}"

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"<p>{_inline(one)}</p>" for one in self._texts)
        return (
            f"<p><code>{html.escape(self._place)}</code></p>"
            f"<h4>{html.escape(self._task.source.title)}</h4>{paragraphs}"
            f"<pre>{html.escape(self._program)}</pre>"
        )


class Contents:
    """The exercises of a set or of a path; a notebook shows them as a list.

    Args:
        library: The set.
        path: A path of the set, such as "evening"; nothing for all exercises.

    Raises:
        ValueError: If the set has no such path.
    """

    def __init__(self, library: Library, path: str = "") -> None:
        self._library = library
        self._tasks = library.path(path) if path else [*library.values()]

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[str]:
        """Give the names, in their order."""
        return (one.name for one in self._tasks)

    @property
    def solved(self) -> set[str]:
        """Names of those that were solved once, by themselves or in a checkpoint."""
        own = {name for name in self._library if "solved" in _progress.of(name)}
        covered = {one for name in own for one in self._library[name].exercise.covers}
        return (own | covered) & {*self}

    def next(self, name: str = "") -> NotebookExercise:
        """Return an exercise that is not solved; the last one if all are.

        Args:
            name: The one to go on from; nothing to begin with the first.
        """
        names = [*self]
        place = names.index(name) + 1 if name else 0
        solved = self.solved
        left = [one for one in names[place:] + names[:place] if one not in solved]
        return NotebookExercise(self._library[[*left, names[-1]][0]], self)

    def __repr__(self) -> str:
        """Give the list as text: number, name, stars and title, chapter by chapter."""
        lines, solved = [], self.solved
        for chapter, tasks in itertools.groupby(self._tasks, lambda one: one.chapter):
            lines.append(chapter)
            lines += [
                f"{'x' if one.name in solved else ' '} {one.number:3}  {one.name:20} "
                f"{one.stars:3} {one.source.title}"
                for one in tasks
            ]
        minutes = sum(one.exercise.minutes for one in self._tasks)
        told = f"{len(solved)} of {len(self)} solved, about {minutes} minutes in all"
        return "\n".join([*lines, "", told])


def exercises(path: str = "") -> Contents:
    """List the exercises of the book, or those of a path.

    Args:
        path: A path, such as "evening"; nothing for all exercises.

    Raises:
        ValueError: If there is no such path.

    Examples:
        >>> from headway.practice import exercises
        >>> next(iter(exercises()))
        'lookup'
        >>> next(iter(exercises("evening")))
        'softmax'
    """
    return Contents(book(), path)


def exercise(name: str | int) -> NotebookExercise:
    """Return an exercise of the book, for a notebook.

    Args:
        name: Its name, or its number.

    Raises:
        ValueError: If there is none of this name.

    Examples:
        >>> from headway import causal_mask
        >>> from headway.practice import exercise
        >>> exercise("causal_mask").check(causal_mask).ok
        True
    """
    return NotebookExercise(book().find(str(name)), exercises())


class _Progress:
    """What was solved, and how many hints are open, by the names of exercises.

    A notebook keeps it in a file; elsewhere it lasts as long as the program.
    """

    def __init__(self) -> None:
        self._here: dict[str, Any] = {"exercises": {}, "version": 2}

    def of(self, name: str) -> dict[str, Any]:
        """Give what is known of an exercise."""
        known: dict[str, Any] = self._read()["exercises"].get(name, {})
        return known

    def note(self, name: str, **changes: Any) -> None:
        """Keep something of an exercise; a file that cannot be read stays as it is."""
        found = self._read()
        found["exercises"][name] = self.of(name) | changes
        path = Path(_PROGRESS)
        if _in_notebook() and (found is not self._here or not path.exists()):
            with contextlib.suppress(OSError):
                path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        self._here = found

    def _read(self) -> dict[str, Any]:
        if _in_notebook():
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found: dict[str, Any] = json.loads(Path(_PROGRESS).read_text("utf-8"))
                if all(
                    isinstance(one, dict) for one in {**found["exercises"]}.values()
                ):
                    return found
        return self._here


_progress = _Progress()


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None


def _inline(text: str) -> str:
    """Write Markdown's code between backticks as HTML, and the rest as it is."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


class _TooLongError(BaseException):
    """Not an `Exception`, which an answer might catch."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLongError


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise what ends an endless loop, where this thread can be sent a signal."""
    here = threading.current_thread() is threading.main_thread()
    if not (here and hasattr(signal, "setitimer")):
        yield
        return

    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
