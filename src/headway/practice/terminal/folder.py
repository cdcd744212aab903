"""The reader's folder: the files of the exercises, and how far the reader is."""

import ast
import hashlib
import json
import os
import re
import textwrap
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeGuard

from headway.practice.judging.where_to_read import to_section
from headway.practice.task.library import BOOK, Library, Task
from headway.practice.task.refused import RefusedError

NAME = "practice"
PROGRESS = ".headway.json"
_VERSION = 2  # of the progress; the first knew no days
_OPTIONAL = "optional"  # a path of exercises that come after all others
_WEEK = timedelta(days=7)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_README = """\
# Practice

Each file here is an exercise. Read the task, write the missing lines, and save.
`headway practice`, run here or in the folder above, judges what you save.
It never changes what you have written; `headway practice reset NAME` starts over and
keeps your version beside it.
"""
_AGENTS = """\
# For coding assistants

The files in this folder are exercises. The person who opens them wants to learn to
write attention, so please do not fill in the missing lines. Ask a question, name the
operation, point to the chapter that the task names, or explain the verdict of
`headway practice --once`.
"""


def remembered_set(path: Path) -> Path | None:
    """Give the set that a reader's folder was used with last; `None` for the book's.

    Args:
        path: The folder.
    """
    try:
        found = json.loads((path / PROGRESS).read_text(encoding="utf-8"))["set"]
        return Path(found) if found else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Folder:
    """A folder of exercises, made where there is none.

    Args:
        path: The folder.
        library: The exercises.
        way: What the reader goes through: "" for all exercises, "core" for those that
            have stars, or the name of a path; `None` for what it was the last time.
            Any other exercise is judged, too, when it is saved.
    """

    def __init__(self, path: Path, library: Library, *, way: str | None = None) -> None:
        self.path = path
        self.library = library
        self.way = way or ""
        self._kept_aside: Path | None = None  # progress that could not be read
        if way is None and self._progress().get("set") == self._set:
            known = self._progress().get("way")
            self.way = known if known in ("core", *self._paths) else ""

    @property
    def core(self) -> bool:
        """Whether the reader goes through the core exercises alone."""
        return self.way == "core"

    @property
    def choices(self) -> Sequence[str]:
        """What a reader can be told to go through: all, or one of the paths."""
        return ["all", *sorted(self._paths - {_OPTIONAL})]

    def make(self, also: Task | None = None) -> list[Path]:
        """Write the files that are missing; whatever is there stays as it is.

        The files are those that the reader goes through, and that of the current one:
        a path of twelve exercises begins with twelve files.

        Args:
            also: An exercise that is to have a file, too.

        Returns:
            The files that were written.

        Raises:
            ValueError: If the path is a file, or cannot be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            written = []
            for task in dict.fromkeys([*self.tasks, also or self.current]):
                if self._found(task) is None:
                    written.append(self._new_path(task))
                    _write(written[-1], self._stub(task))
            for name, text in (("README.md", _README), ("AGENTS.md", _AGENTS)):
                if not (self.path / name).exists():
                    _write(self.path / name, text)
            progress = self._progress()
            if progress.get("set") != self._set:
                self._save(progress | {"set": self._set, "way": ""})
        except OSError as error:
            raise RefusedError(
                f"folder must be writable; got folder={self.path} ({error.strerror})."
            ) from error
        return written

    def take_notice(self) -> str:
        """Say once where progress that could not be read is kept; else nothing."""
        kept, self._kept_aside = self._kept_aside, None
        if kept is None:
            return ""
        return (
            f"Your saved progress could not be read, and is kept in {kept.name}. Your "
            "files are unchanged; each counts again when it is judged."
        )

    def find(self, word: str) -> Task:
        """Find an exercise by its name, its number, or its file.

        Args:
            word: `softmax`, `6`, `06_softmax`, or `practice/06_softmax.py`.

        Raises:
            ValueError: If there is none.
        """
        if word in self.library:
            return self.library[word]
        name = re.split(r"[/\\]", word)[-1].removesuffix(".py")
        return self.library.find(re.sub(r"^\d+_", "", name))

    def path_of(self, task: Task) -> Path:
        """Give the file of an exercise, which keeps the number it was given."""
        return self._found(task) or self._new_path(task)

    def reset(self, task: Task) -> Path | None:
        """Write the file of an exercise anew, and keep the old one beside it.

        Returns:
            Where the old one is kept; `None` if there was none, or it was untouched.
        """
        path, kept = self.path_of(task), None
        stub = self._stub(task).encode()
        if path.exists() and _own(_content(path)) != _own(stub):
            kept = next(one for one in _backups(path) if not one.exists())
            path.replace(kept)
        _write(path, self._stub(task))
        self._note(task, passed=None)
        return kept

    def passed(self, task: Task) -> bool:
        """Whether the file as it is, or one that covers it, was judged right.

        Comments, docstrings, and how the lines are laid out do not matter.
        """
        return self._passed_itself(task) or self.covered(task) is not None

    def solved(self, task: Task) -> str:
        """Give the day when it was first solved, as 2026-11-26; "" if it never was."""
        return str(self._known(task).get("solved", ""))

    def done(self, task: Task) -> bool:
        """Whether it, or a checkpoint that contains it, was solved once."""
        return any(map(self.solved, [task, *self._checkpoints(task)]))

    def to_review(self) -> Sequence[Task]:
        """Give the exercises that were last solved a week ago or longer, oldest first.

        Their files are still right.
        """
        end = (_today() - _WEEK).isoformat()
        days = {one: str(self._known(one).get("last", "")) for one in self.tasks}
        old = [one for one, day in days.items() if day and day <= end]
        return sorted(filter(self._passed_itself, old), key=lambda one: days[one])

    def covered(self, task: Task) -> Task | None:
        """Give the checkpoint that contains this exercise and was solved."""
        return next(filter(self._passed_itself, self._checkpoints(task)), None)

    def mark(self, task: Task, *, passed: bool) -> None:
        """Keep that the file as it is was judged right, or not.

        The day when it was first solved stays, whatever becomes of the file.
        """
        if not passed:
            self._note(task, passed=None)
            return
        digest, today = _digest(_content(self.path_of(task))), _today().isoformat()
        known = self._known(task)
        again = known.get("last") if known.get("passed") == digest else None
        self._note(
            task,
            passed=digest,
            solved=known.get("solved", today),
            last=again or today,
        )

    def lost(self, task: Task) -> bool:
        """Whether it was solved once, and does not pass now."""
        return self.done(task) and not self.passed(task)

    def kept(self, task: Task) -> Path | None:
        """Give what was kept last of a file that was begun anew, if there is any."""
        *_, kept = None, *takewhile(Path.exists, _backups(self.path_of(task)))
        return kept

    def hints(self, task: Task) -> int:
        """Give how many hints were opened."""
        return int(self._known(task).get("hints", 0))

    def open_hint(self, task: Task) -> int:
        """Open one hint more, and give how many are open."""
        count = min(self.hints(task) + 1, len(task.exercise.hints))
        if self.path.exists():  # who only looks is not given a folder
            self._note(task, hints=count)
        return count

    @property
    def current(self) -> Task:
        """The exercise where the reader is: the one opened last, or the first open."""
        name = self._progress().get("current")
        if isinstance(name, str) and name in self.library:
            return self.library[name]
        return self.next_open(None)

    @current.setter
    def current(self, task: Task) -> None:
        self._save(self._progress() | {"current": task.name, "way": self.way})

    @property
    def tasks(self) -> Sequence[Task]:
        """The exercises that the reader goes through, in their order.

        Raises:
            ValueError: If the set has no such path.
        """
        if not self.way or self.core:
            return self.library.core() if self.core else [*self.library.values()]
        return self.library.path(self.way)

    def next_open(self, task: Task | None) -> Task:
        """Give the next exercise that is not solved; the last one if all are.

        What the set calls optional comes when nothing else is left.
        """
        place = 0 if task is None else self._place(task) + (task in self.tasks)
        late = self.library.path(_OPTIONAL) if _OPTIONAL in self._paths else ()
        in_turn = [*self.tasks[place:], *self.tasks]
        for one in sorted(in_turn, key=lambda one: one in late):
            if not self.passed(one):
                return one
        return self.tasks[-1]

    def following(self, task: Task) -> Task | None:
        """Give the exercise after this one, solved or not; `None` after the last."""
        place = self._place(task) + (task in self.tasks)
        return self.tasks[place] if place < len(self.tasks) else None

    def previous(self, task: Task) -> Task:
        """Give the exercise before; the first one if there is none."""
        return self.tasks[max(self._place(task) - 1, 0)]

    def begun(self, task: Task) -> bool:
        """Whether its file does something else than it did at first."""
        path, stub = self._found(task), self._stub(task).encode()
        return path is not None and _digest(_content(path)) != _digest(stub)

    def state(self) -> Iterator[tuple[Task, str]]:
        """Give each exercise with `done`, `covered`, `begun` or `open`."""
        for task in self.library.values():
            if self._passed_itself(task):
                yield task, "done"
            elif self.covered(task):
                yield task, "covered"
            elif self.begun(task):
                yield task, "begun"
            else:
                yield task, "open"

    def _passed_itself(self, task: Task) -> bool:
        known, path = self._known(task).get("passed"), self._found(task)
        if known is None or path is None:
            return False
        content = _content(path)
        return known in (_digest(content), _digest_of_version_1(content))

    def _checkpoints(self, task: Task) -> Iterator[Task]:
        """Give the exercises that contain this one."""
        for other in self.library.values():
            if task.name in other.exercise.covers:
                yield other

    def _place(self, task: Task) -> int:
        """Give where it stands on the way, or where it would, by its number."""
        tasks = [*self.tasks]
        if task in tasks:
            return tasks.index(task)
        return sum(one.number < task.number for one in tasks)

    @property
    def _paths(self) -> set[str]:
        return {one.stem for one in self.library.folder.glob("*.txt")} - {"contents"}

    def _known(self, task: Task) -> Mapping[str, Any]:
        return self._progress()["exercises"].get(task.name, {})

    @property
    def _set(self) -> str:
        """What the progress calls the set: "" for that of the book."""
        folder = self.library.folder
        return "" if folder == BOOK else str(folder.resolve())

    def _found(self, task: Task) -> Path | None:
        found = sorted(self.path.glob(f"*_{task.name}.py"))
        exact = [one for one in found if one.name.split("_", 1)[1] == f"{task.name}.py"]
        return exact[0] if exact else None

    def _new_path(self, task: Task) -> Path:
        return self.path / f"{task.number:02}_{task.name}.py"

    def _stub(self, task: Task) -> str:
        source = task.source
        page, title = task.exercise.read
        facts = [to_section(page, title)]
        if task.types:
            facts.append(textwrap.fill(task.types, 88))
        if task.exercise.minutes:
            facts.append(f"About {task.exercise.minutes} min.")
        text = "\n".join([source.title, "", source.text, "", *facts])
        return f'"""{text}\n"""\n\n{source.stub}'

    def _progress(self) -> dict[str, Any]:
        path = self.path / PROGRESS
        empty: dict[str, Any] = {"exercises": {}, "version": _VERSION}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            entries = [*found["exercises"].values()]
            if all(isinstance(one, dict) for one in entries):
                if found.get("version", 1) == 1:
                    _give_days(entries, path)
                return found | {"version": _VERSION}
        except (FileNotFoundError, NotADirectoryError):
            return empty
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        self._kept_aside = next(one for one in _backups(path) if not one.exists())
        path.replace(self._kept_aside)
        return empty

    def _note(self, task: Task, **changes: Any) -> None:
        progress = self._progress()
        exercises = progress["exercises"]
        known = {**exercises.get(task.name, {}), **changes}
        kept = {name: value for name, value in known.items() if value is not None}
        self._save(progress | {"exercises": {**exercises, task.name: kept}})

    def _save(self, progress: Mapping[str, Any]) -> None:
        _write(self.path / PROGRESS, json.dumps(progress, indent=2) + "\n")


def _backups(path: Path) -> Iterator[Path]:
    number = 0
    while True:
        yield path.with_name(f"{path.name}.bak{number or ''}")
        number += 1


def _content(path: Path) -> bytes:
    """Read a file; how its lines end is the editor's affair."""
    return path.read_bytes().replace(b"\r\n", b"\n")


def _own(content: bytes) -> bytes:
    """Leave out where to read: that depends on where the book was when it was made."""
    return re.sub(rb"(?m)^Read.*\n", b"", content, count=1)


def _digest(content: bytes) -> str:
    """Give a digest of what a file does, without its comments, docstrings and layout.

    Of what is no Python it is a digest of the text.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes, such as "\d"
            tree = ast.parse(content)
        for node in ast.walk(tree):
            if _has_docstring(node):
                del node.body[0]
        content = ast.unparse(tree).encode()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return hashlib.sha256(content).hexdigest()


def _has_docstring(node: ast.AST) -> TypeGuard[ast.Module | ast.ClassDef | _Function]:
    able = ast.Module | ast.ClassDef | _Function
    return isinstance(node, able) and ast.get_docstring(node, clean=False) is not None


def _digest_of_version_1(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _give_days(entries: Sequence[dict[str, Any]], progress: Path) -> None:
    """Say of what was solved before days were kept that it was on the last one."""
    day = date.fromtimestamp(progress.stat().st_mtime).isoformat()
    for one in entries:
        if "passed" in one:
            one.update(solved=day, last=day)


def _today() -> date:
    return date.today()


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8", newline="\n")
    for wait in (0.02, 0.1, 0.5):
        try:
            os.replace(beside, path)
            return
        except PermissionError:  # on Windows, while another program reads it
            time.sleep(wait)
    os.replace(beside, path)
