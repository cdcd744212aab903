"""Texts about an exercise: its task, its hints, its solution, and the list."""

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from headway._paths import shown
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task
from headway.practice.task.refused import RefusedError
from headway.practice.terminal.folder import Folder

_MARKS = {"done": "x", "covered": "x", "begun": "~", "open": " "}
_SHORT_WAY = "evening"  # a path, where a set has it
_WORDS = "words.toml"  # of a set: a sentence for the end of each chapter
_SINCE = {"begun": "changed since", "open": "empty now"}  # what was solved once
_LEVELS = ("easy", "medium", "hard")  # of one to three stars
_COUNTS = ("two", "three", "four", "five", "six")


def welcome_text(folder: Folder) -> str:
    """Give what a reader is told at the very first start, in lines.

    Args:
        folder: The reader's folder.
    """
    library = folder.library
    file = shown(folder.path_of(folder.current), Path.cwd())
    lines = [
        "Welcome! Here you write attention piece by piece, and read of each piece "
        "which mistake you made.",
        f"Open {file} in your editor, write the missing lines, and save: the verdict "
        "appears here. h gives a hint, s a solution, n the next exercise; q ends it.",
    ]
    if (library.folder / f"{_SHORT_WAY}.txt").exists():
        tasks = library.path(_SHORT_WAY)
        minutes = sum(one.exercise.minutes for one in tasks)
        time = f", about {minutes} minutes" if minutes else ""
        told = (
            f"headway practice --path {_SHORT_WAY} is the short way: {len(tasks)} of "
        )
        told += f"{len(library)} exercises{time}, and in the end they write a text."
        if [*folder.tasks] != [*tasks]:
            lines.append(told)
    return "\n".join(lines)


def place_text(folder: Folder, task: Task) -> str:
    """Say which exercise it is of those that the reader goes through, and how hard.

    Args:
        folder: The reader's folder.
        task: The exercise.
    """
    number, tasks = task.number, [*folder.library.values()]
    way = ""
    if folder.way:
        way = " in the core" if folder.core else f" on the path {folder.way}"
        if task in folder.tasks:
            tasks = [*folder.tasks]
            number = tasks.index(task) + 1
        else:
            way = f", not{way}"
    told = f"{number} of {len(tasks)}{way}  {task.source.title}"
    if stars := task.exercise.stars:
        told += f"  a core exercise, {_LEVELS[stars - 1]}"
    return told


def done_text(folder: Folder) -> str:
    """Say how many exercises were solved once, and how many of them fail now.

    Args:
        folder: The reader's folder.
    """
    told = f"{_done(folder, folder.tasks)}{' core' if folder.core else ''} done"
    if lost := sum(map(folder.lost, folder.tasks)):
        told += f", {lost} of which {'does' if lost == 1 else 'do'} not pass now"
    return told


def task_text(task: Task, width: int) -> str:
    """Give the task as its file has it; what is indented stays as it is.

    Args:
        task: The exercise.
        width: How many characters a line may have.
    """
    return "\n\n".join(
        one if one.startswith(" ") else textwrap.fill(one, width)
        for one in task.source.text.split("\n\n")
    )


def chapter_word(folder: Folder, task: Task) -> str:
    """Say what one can do now, if all of the exercise's chapter is solved.

    Args:
        folder: The reader's folder.
        task: The exercise.

    Returns:
        A sentence, from `words.toml` of the set if there is one; "" before that.

    Raises:
        ValueError: If that file is no TOML.
    """
    own = folder.library.chapters()[task.chapter]
    if folder.core:
        own = [one for one in own if one.stars]
    if not all(map(folder.passed, own)):
        return ""
    plain = "All exercises of this chapter are solved."
    try:
        text = (folder.library.folder / _WORDS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return plain
    try:
        return tomllib.loads(text).get(task.chapter, plain)
    except tomllib.TOMLDecodeError as error:
        raise RefusedError(f"{_WORDS} of a set must be TOML; got: {error}.") from error


def ways(task: Task) -> str:
    """Say what the solution of an exercise shows, once it is solved."""
    count = len(task.exercise.right)
    if not count:
        return "a solution"
    number = _COUNTS[count - 1] if count <= len(_COUNTS) else count + 1
    return f"{number} ways to write it"


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


def solution_text(task: Task, *, solved: bool = True) -> str:
    """Give the lines that belong in the hole.

    Args:
        task: The exercise.
        solved: Whether to show the other right answers, too.
    """
    others = task.exercise.right if solved else ()
    lines = [f"{task.name}: a solution", "", task.source.hole.rstrip("\n")]
    for place, other in enumerate(others, start=1):
        rest = f" {place}" if len(others) > 1 else ""
        body = textwrap.indent(textwrap.dedent(other).strip("\n"), "    ")
        lines += ["", f"another way{rest}", "", body]
    return "\n".join(lines)


def list_text(folder: Folder, width: int, *, near: Task | None = None) -> str:
    """List the exercises, chapter by chapter, and what is done.

    Args:
        folder: The reader's folder.
        width: How many characters a line may have.
        near: Which chapter to list, with its neighbours, and where one is; all if
            `None`, or on a path.
    """
    states = {task.name: state for task, state in folder.state()}
    core = folder.library.core()
    timed = any(task.exercise.minutes for task in folder.library.values())
    lines, marks = [], set()
    for chapter, tasks in _shown(folder, near).items():
        lines.append(chapter)
        for task in tasks:
            state, day = states[task.name], folder.solved(task)
            mark = "o" if day and state == "open" else _MARKS[state]
            marks.add(mark)
            stars = f"{task.stars:3} " if core else ""
            minutes = f"{task.exercise.minutes or '':3} min " if timed else ""
            line = f"{'>' if task is near else ' '} [{mark}] {task.number:2}  "
            line += f"{task.name:20} {stars}{minutes}{task.source.title}"
            line += " (covered)" if state == "covered" else ""
            cut = f"{line[: width - 4].rstrip()} ..."
            lines.append(line if len(line) <= width else cut)
            if day and state in _SINCE:
                lines.append(f"{'':11}solved on {day}, {_SINCE[state]}"[:width])
    told = done_text(folder)
    if core and not folder.way:
        told += f", of the core {_done(folder, core)}"
    if timed:
        left = [one for one in folder.tasks if states[one.name] in _SINCE]
        told += f", about {_long(sum(one.exercise.minutes for one in left))} left"
    told += "; [x] is done, [~] is begun"
    told += ", [o] was solved, and its file is empty now" if "o" in marks else ""
    told += ", * to *** is core, from easy to hard" if core else ""
    if near is not None and not _path(folder):
        told += "; headway practice list shows all"
    return "\n".join([*lines, "", textwrap.fill(f"{told}.", width)])


def _shown(folder: Folder, near: Task | None) -> Mapping[str, Sequence[Task]]:
    """Give the exercises to list, by their chapters."""
    tasks = [*folder.tasks, *([near] if near and near not in folder.tasks else [])]
    chapters: dict[str, list[Task]] = {}
    for task in tasks:
        chapters.setdefault(task.chapter, []).append(task)
    if near is None or _path(folder):
        return chapters
    place = [*chapters].index(near.chapter)
    shown = [*chapters][max(place - 1, 0) : place + 2]
    return {name: chapters[name] for name in shown}


def _path(folder: Folder) -> bool:
    """Whether the reader goes through a path, which is short."""
    return bool(folder.way) and not folder.core


def _done(folder: Folder, tasks: Sequence[Task]) -> str:
    """Say how many of some exercises were solved once."""
    return f"{sum(map(folder.done, tasks))} of {len(tasks)}"


def _long(minutes: int) -> str:
    """Say a time: 40 min, or 7 h 30 min."""
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
