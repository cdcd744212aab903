"""Texts about an exercise: its task, its hints, its solution, and the list."""

import textwrap

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
    chapters = folder.library.chapters()
    if near is not None:
        place = [*chapters].index(near.chapter)
        shown = [*chapters][max(place - 1, 0) : place + 2]
        chapters = {name: chapters[name] for name in shown}
    lines = []
    for chapter, tasks in chapters.items():
        lines.append(chapter)
        for task in tasks:
            here = ">" if task is near else " "
            mark = _MARKS[states[task.name]]
            line = f"{here} [{mark}] {task.number:2}  {task.name:24} "
            line += task.source.title
            if states[task.name] == "covered":
                line += " (covered)"
            lines.append(line[:width].rstrip())
    done = sum(one in ("done", "covered") for one in states.values())
    told = f"{done} of {len(states)} done; [x] is done, [~] is begun"
    if near is not None:
        told += "; headway practice list shows all"
    return "\n".join([*lines, "", textwrap.fill(f"{told}.", width)])
