"""What `headway practice` does for a class."""

import argparse
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.practice.grading import edition, papers, results
from headway.practice.grading.students import (
    Verdicts,
    as_json,
    files_of,
    judge_class,
    students_of,
    table,
)
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import BOOK, Library, Task
from headway.practice.task.refused import RefusedError

_RESULTS: Mapping[str, Callable[[Mapping[str, Verdict], Sequence[Task]], str]] = {
    "gradescope": results.gradescope,
    "classroom": results.classroom,
}
_OPTIONS = {
    "students": ("FOLDER", "write the files for students, without solutions"),
    "key": ("FILE", "write an answer key, for the teacher"),
    "sheet": ("FILE", "write the tasks as a sheet to be printed"),
    "edition": (
        "FILE",
        "write down exercises and judge for a term; with --all, compare with that",
    ),
    "gradescope": ("FILE", "write results.json, or one for each student, for --all"),
    "classroom": ("FILE", "write results for GitHub Classroom, as --gradescope does"),
    "nbgrader": ("FILE", "write the points of --all as nbgrader's table"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for a class.

    Args:
        parser: That of `headway practice`.
    """
    group = parser.add_argument_group("for a class")
    for name, (metavar, told) in _OPTIONS.items():
        group.add_argument(f"--{name}", type=Path, metavar=metavar, help=told)


def run(known: argparse.Namespace) -> int | None:
    """Do what is asked for a class.

    Args:
        known: What the command line said; `all` is the folder to judge.

    Returns:
        The exit status: 0, or 1 if an answer is not right; `None` if nothing was asked.

    Raises:
        ValueError: If a folder has no files of exercises, or a file cannot be written.
    """
    asked = {name: getattr(known, name) for name in _OPTIONS}
    try:
        if known.all:  # a folder; without its name it is one's own
            return _judge(known, known.all, asked)
        return _write(known, asked)
    except OSError as error:
        raise RefusedError(
            "a file for a class must be written where one can be written; "
            f"got {error.filename} ({error.strerror})."
        ) from error


def _write(known: argparse.Namespace, asked: Mapping[str, Path | None]) -> int | None:
    """Write what needs no answers."""
    for name in (*_RESULTS, "nbgrader"):
        if asked[name] is not None:
            raise RefusedError(f"--{name} must be given with --all FOLDER.")
    if not any(asked.values()):
        return None
    library, tasks = _asked_for(known)
    if (place := asked["students"]) is not None:
        papers.write_for_students(tasks, place)
    for name, text_of in (("key", papers.key), ("sheet", papers.sheet)):
        if (place := asked[name]) is not None:
            _save(place, text_of(tasks))
    if (place := asked["edition"]) is not None:
        edition.write(library, place, _seed(known))
    return 0


def _asked_for(known: argparse.Namespace) -> tuple[Library, list[Task]]:
    """Give the set, and those of its exercises that are asked for."""
    library = Library(known.set or BOOK)
    if known.way in (None, "all"):
        return library, [*library.values()]
    return library, [
        *(library.core() if known.way == "core" else library.path(known.way))
    ]


def _judge(
    known: argparse.Namespace, folder: Path, asked: Mapping[str, Path | None]
) -> int | None:
    """Judge a class; a folder of one's own only where results are asked for."""
    library, tasks = _asked_for(known)
    seed, students = _seed(known), students_of(folder, tasks)
    if not any(asked.values()) and (files_of(folder, tasks) or not students):
        return None
    if not students:
        raise RefusedError(
            "--all must be given a folder with a folder of files for each student; "
            f"got {folder}."
        )
    if asked["edition"] is not None:
        seed, sentence = edition.differs(library, asked["edition"])
        if sentence:
            print(sentence, file=sys.stderr)
    verdicts = judge_class(library, students, seed=seed)
    print(as_json(verdicts) if known.json else table(verdicts, tasks))
    for name, text_of in _RESULTS.items():
        if (place := asked[name]) is not None:
            _save_each(place, {one: text_of(of, tasks) for one, of in verdicts.items()})
    if (place := asked["nbgrader"]) is not None:
        _save(place, results.nbgrader(verdicts, tasks))
    return 0 if _all_right(verdicts) else 1


def _all_right(verdicts: Verdicts) -> bool:
    return all(one.ok for of in verdicts.values() for one in of.values())


def _save_each(place: Path, texts: Mapping[str, str]) -> None:
    """Write one file for a single student; else a folder with one for each."""
    if len(texts) == 1:
        _save(place, *texts.values())
        return
    place.mkdir(parents=True, exist_ok=True)
    for student, text in texts.items():
        _save(place / f"{student}.json", text)


def _save(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8", newline="\n")


def _seed(known: argparse.Namespace) -> int:
    return secrets.randbelow(10**6) if known.seed is None else int(known.seed)
