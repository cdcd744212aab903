"""An exercise in a notebook."""

import html
import secrets
from typing import Any

from headway.practice.judge import judge
from headway.practice.library import Task, book
from headway.practice.verdict import Verdict


class NotebookExercise:
    """An exercise that judges what a notebook has defined.

    In a notebook it shows its task.

    Args:
        task: The exercise.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._hints = 0

    @property
    def stub(self) -> str:
        """The program to begin with."""
        return self._task.source.stub

    def check(self, answer: Any, *, seed: int | None = None) -> Verdict:
        """Judge a function or a class.

        Args:
            answer: What you have written.
            seed: What hidden numbers are drawn from; `None` draws it anew.

        Returns:
            The verdict, which a notebook shows as it shows a report of `check`.
        """
        seed = secrets.randbelow(10_000) if seed is None else seed
        return judge(self._task, {self._task.exercise.answer: answer}, seed=seed)

    def hint(self) -> str:
        """Open one more hint, and give it."""
        hints = self._task.exercise.hints
        self._hints = min(self._hints + 1, len(hints))
        return hints[self._hints - 1]

    def solution(self) -> str:
        """Give the program with the hole filled."""
        return self._task.source.solution

    def __repr__(self) -> str:
        """Give the task as text."""
        source = self._task.source
        return f"{source.title}\n\n{source.text}\n\n{source.stub}"

    def _repr_html_(self) -> str:
        source = self._task.source
        paragraphs = "".join(
            f"<p>{html.escape(one)}</p>" for one in source.text.split("\n\n")
        )
        return (
            f"<h4>{html.escape(source.title)}</h4>{paragraphs}"
            f"<pre>{html.escape(source.stub)}</pre>"
        )


def exercise(name: str) -> NotebookExercise:
    """Give an exercise of the book, for a notebook.

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
    return NotebookExercise(book().find(name))
