"""Papers for a class: files without solutions, a key for the teacher, a sheet."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from headway.practice.judging.where_to_read import to_section
from headway.practice.task.library import Task
from headway.practice.task.refused import RefusedError

_README = """\
# Practice

Each file here is an exercise: read the task, and write the missing lines.
`python 01_NAME.py` runs its example; below that stands what it must print.
Hints are in `hints.md`. Your teacher's program judges what you hand in.
"""


def write_for_students(tasks: Sequence[Task], folder: Path) -> None:
    """Write files with open holes, and hints, into a new folder.

    Args:
        tasks: The exercises.
        folder: Where to; it must not be there, or be empty.

    Raises:
        ValueError: If something is there.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RefusedError(f"--students must be given a new folder; got {folder}.")
    folder.mkdir(parents=True, exist_ok=True)
    hints = ["# Hints"]
    for task in tasks:
        source = task.source
        where = to_section(*task.exercise.read)
        head = f'"""{source.title}\n\n{source.text}\n\n{where}\n"""\n\n'
        _write(folder / f"{task.number:02}_{task.name}.py", head + source.stub)
        hints += [f"## {task.number}. {task.name}"]
        hints += [f"{n}. {one}" for n, one in enumerate(task.exercise.hints, start=1)]
    _write(folder / "hints.md", "\n\n".join(hints) + "\n")
    _write(folder / "README.md", _README)


def key(tasks: Sequence[Task]) -> str:
    """Give the answers to exercises, with other ways and known mistakes, in Markdown.

    Args:
        tasks: The exercises.
    """
    parts = ["# Answers"]
    for task in tasks:
        exercise, source = task.exercise, task.source
        parts += [f"## {task.number}. {source.title}", _code(source.hole)]
        for one in exercise.right:
            parts += ["Another way:", _code(one)]
        parts += [exercise.law, "What goes wrong, as the verdict says it:"]
        parts += ["\n".join(f"- {one.sentence}" for one in exercise.wrong)]
    return "\n\n".join(parts) + "\n"


def sheet(tasks: Sequence[Task]) -> str:
    """Give the tasks on a sheet that can be printed, in Markdown.

    Args:
        tasks: The exercises.
    """
    parts = ["# Exercises"]
    for task in tasks:
        exercise, source = task.exercise, task.source
        marks = [task.stars] if task.stars else []
        marks += [f"{exercise.minutes} minutes"] if exercise.minutes else []
        told = f" ({', '.join(marks)})" if marks else ""
        parts += [f"## {task.number}. {source.title}{told}", source.text]
        parts += [_code(source.before + source.indent + "...")]
    return "\n\n".join(parts) + "\n"


def _code(lines: str) -> str:
    stripped = textwrap.dedent(lines).strip()
    return f"```python\n{stripped}\n```"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
