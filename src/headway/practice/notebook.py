"""An exercise in a notebook."""

import contextlib
import html
import re
import secrets
import signal
import threading
from collections.abc import Iterator
from functools import cache
from types import FrameType
from typing import Any

from headway.practice.judging.judge import defined, example, judge, with_example
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, Task, book

_LIMIT = 10.0  # seconds


class NotebookExercise:
    """An exercise that judges what a notebook has defined.

    In a notebook it shows its task.

    Args:
        task: The exercise.
        count: How many exercises its set has.
    """

    def __init__(self, task: Task, count: int) -> None:
        self._task = task
        self._count = count
        self._hints = 0

    @property
    def stub(self) -> str:
        """The program to begin with."""
        return self._task.source.stub

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
        return with_example(verdict, told)

    def hint(self) -> str:
        """Open one more hint, and return it; after the last one, return that again."""
        hints = self._task.exercise.hints
        self._hints = min(self._hints + 1, len(hints))
        return f"hint {self._hints}/{len(hints)}  {hints[self._hints - 1]}"

    def solution(self) -> str:
        """Return the program with the hole filled."""
        return self._task.source.solution

    @property
    def _place(self) -> str:
        return f"{self._task.number} of {self._count}  {self._task.name}"

    def __repr__(self) -> str:
        """Give the task as text."""
        source = self._task.source
        return f"{self._place}\n{source.title}\n\n{source.text}\n\n{source.stub}"

    def _repr_html_(self) -> str:
        source = self._task.source
        paragraphs = "".join(
            f"<p>{_inline(one)}</p>" for one in _paragraphs(source.text)
        )
        return (
            f"<p><code>{html.escape(self._place)}</code></p>"
            f"<h4>{html.escape(source.title)}</h4>{paragraphs}"
            f"<pre>{html.escape(source.stub)}</pre>"
        )


class Contents:
    """The exercises of a set, in their order; a notebook shows them as a list."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __len__(self) -> int:
        return len(self._library)

    def __iter__(self) -> Iterator[str]:
        """Give the names, in their order."""
        return iter(self._library)

    def __repr__(self) -> str:
        """Give the list as text: number, name, stars and title, chapter by chapter."""
        lines = []
        for chapter, tasks in self._library.chapters().items():
            lines.append(chapter)
            lines += [
                f"  {one.number:3}  {one.name:20} {one.stars:3} {one.source.title}"
                for one in tasks
            ]
        return "\n".join(lines)


def exercises() -> Contents:
    """List the exercises of the book.

    Examples:
        >>> from headway.practice import exercises
        >>> next(iter(exercises()))
        'lookup'
    """
    return Contents(book())


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
    return _made(book().find(str(name)).name)


@cache
def _made(name: str) -> NotebookExercise:
    """Make an exercise once, so that it remembers which hints are open."""
    return NotebookExercise(book()[name], len(book()))


def _paragraphs(text: str) -> list[str]:
    return [one for one in text.split("\n\n") if one.strip()]


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
