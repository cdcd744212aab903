"""Texts about an exercise: its task, its hints, its solution, and the list."""

import textwrap
from collections.abc import Mapping, Sequence

from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task
from headway.practice.terminal.folder import Folder

_MARKS = {"done": "x", "covered": "x", "begun": "~", "open": " "}


def hint_text(
    folder: Folder,
    task: Task,
    verdict: Verdict | None,
    *,
    width: int = 80,
    newest: bool = False,
) -> str:
    """Open one more hint, and give all that are open; one on a named mistake first.

    Args:
        folder: The reader's folder.
        task: The exercise.
        verdict: What was said last.
        width: How many characters a line may have.
        newest: Whether to leave out those that were open, unless all were.
    """
    hints = task.exercise.hints
    special = verdict.hint if verdict is not None and verdict.name == task.name else ""
    before = folder.hints(task)
    count = len(hints) if folder.passed(task) else folder.open_hint(task)
    first = count if newest and count > before else 1
    lines = [special] if special else []
    lines += [f"hint {n}/{len(hints)}  {hints[n - 1]}" for n in range(first, count + 1)]
    return "\n".join(textwrap.fill(line, width - 1) for line in lines)


def solution_text(task: Task) -> str:
    """Give the lines that belong in the hole, and other right ones."""
    lines = [f"{task.name}: a solution", "", task.source.hole.rstrip("\n")]
    for other in task.exercise.right[:1]:
        lines += [
            "",
            "another",
            "",
            textwrap.indent(textwrap.dedent(other).strip("\n"), "    "),
        ]
    return "\n".join(lines)


def list_text(folder: Folder, width: int, *, near: Task | None = None) -> str:
    """List the exercises, chapter by chapter, and what is done.

    Args:
        folder: The reader's folder.
        width: How many characters a line may have.
        near: Which chapter to list, with its neighbours; all if `None`.
    """
    states = {task.name: state for task, state in folder.state()}
    core = folder.library.core()
    timed = any(task.exercise.minutes for task in folder.library.values())
    lines = []
    for chapter, tasks in _shown(folder, near).items():
        lines.append(chapter)
        for task in tasks:
            here = ">" if task is near else " "
            mark = _MARKS[states[task.name]]
            stars = f"{task.stars:3} " if core else ""
            minutes = f"{task.exercise.minutes or '':3} min " if timed else ""
            line = f"{here} [{mark}] {task.number:2}  {task.name:20} {stars}{minutes}"
            line += task.source.title
            if states[task.name] == "covered":
                line += " (covered)"
            lines.append(line[:width].rstrip())
            if (day := folder.solved(task)) and states[task.name] in ("begun", "open"):
                since = ", changed since" if states[task.name] == "begun" else ""
                lines.append(f"{'':11}solved on {day}{since}"[:width])
    told = f"{_done(folder, folder.tasks)} done"
    if core and not folder.way:
        told += f", of the core {_done(folder, core)}"
    if timed:
        left = [one for one in folder.tasks if states[one.name] in ("begun", "open")]
        told += f", about {_long(sum(one.exercise.minutes for one in left))} left"
    told += "; [x] is done, [~] is begun"
    if core:
        told += ", * to *** is core, from easy to hard"
    if near is not None:
        told += "; headway practice list shows all"
    return "\n".join([*lines, "", textwrap.fill(f"{told}.", width)])


def _shown(folder: Folder, near: Task | None) -> Mapping[str, Sequence[Task]]:
    """Give the exercises to list, by their chapters."""
    tasks = [*folder.tasks, *([near] if near and near not in folder.tasks else [])]
    chapters: dict[str, list[Task]] = {}
    for task in tasks:
        chapters.setdefault(task.chapter, []).append(task)
    if near is None:
        return chapters
    place = [*chapters].index(near.chapter)
    shown = [*chapters][max(place - 1, 0) : place + 2]
    return {name: chapters[name] for name in shown}


def _done(folder: Folder, tasks: Sequence[Task]) -> str:
    """Say how many of some exercises were solved once."""
    return f"{sum(map(folder.done, tasks))} of {len(tasks)}"


def _long(minutes: int) -> str:
    """Say a time: 40 min, or 7 h 30 min."""
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
