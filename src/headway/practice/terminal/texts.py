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
    lines = []
    for chapter, tasks in _shown(folder, near).items():
        lines.append(chapter)
        for task in tasks:
            here = ">" if task is near else " "
            mark = _MARKS[states[task.name]]
            stars = f"{task.stars:3} " if core else ""
            line = f"{here} [{mark}] {task.number:2}  {task.name:20} {stars}"
            line += task.source.title
            if states[task.name] == "covered":
                line += " (covered)"
            lines.append(line[:width].rstrip())
    told = f"{_done(folder.tasks, states)} done"
    if core and not folder.core:
        told += f", of the core {_done(core, states)}"
    told += "; [x] is done, [~] is begun"
    if core:
        told += ", * to *** is core, from easy to hard"
    if near is not None:
        told += "; headway practice list shows all"
    return "\n".join([*lines, "", textwrap.fill(f"{told}.", width)])


def _shown(folder: Folder, near: Task | None) -> Mapping[str, Sequence[Task]]:
    """Give the exercises to list, by their chapters."""
    names = {one.name for one in [*folder.tasks, *([near] if near else [])]}
    chapters = {
        chapter: own
        for chapter, tasks in folder.library.chapters().items()
        if (own := [one for one in tasks if one.name in names])
    }
    if near is None:
        return chapters
    place = [*chapters].index(near.chapter)
    shown = [*chapters][max(place - 1, 0) : place + 2]
    return {name: chapters[name] for name in shown}


def _done(tasks: Sequence[Task], states: Mapping[str, str]) -> str:
    """Say how many of some exercises are done."""
    done = sum(states[one.name] in ("done", "covered") for one in tasks)
    return f"{done} of {len(tasks)}"
