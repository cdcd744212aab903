"""The reader's folder: the files of the exercises, and how far the reader is."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.practice.task.library import Library, Task
from headway.practice.task.refused import RefusedError

NAME = "practice"
_PROGRESS = ".headway.json"
_README = """\
# Practice

Each file here is an exercise. Read the task, write the missing lines, and save.
`headway practice`, run in the folder above this one, judges what you save.
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


class Folder:
    """A folder of exercises, made where there is none.

    Args:
        path: The folder.
        library: The exercises.
        core: Whether the reader goes through the core exercises alone. All files are
            made nevertheless, and each is judged when it is saved.

    Raises:
        ValueError: If the path is a file, or cannot be written to.
    """

    def __init__(self, path: Path, library: Library, *, core: bool = False) -> None:
        self.path = path
        self.library = library
        self.core = core
        self._kept_aside: Path | None = None  # progress that could not be read

    def make(self) -> list[Path]:
        """Write the files that are missing; whatever is there stays as it is.

        Returns:
            The files that were written.

        Raises:
            ValueError: If the path is a file, or cannot be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            written = []
            for task in self.library.values():
                if self._found(task) is None:
                    written.append(self._new_path(task))
                    _write(written[-1], self._stub(task))
            for name, text in (("README.md", _README), ("AGENTS.md", _AGENTS)):
                if not (self.path / name).exists():
                    _write(self.path / name, text)
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

    def path_of(self, task: Task) -> Path:
        """Give the file of an exercise, which keeps the number it was given."""
        return self._found(task) or self._new_path(task)

    def reset(self, task: Task) -> Path | None:
        """Write the file of an exercise anew, and keep the old one beside it.

        Returns:
            Where the old one is kept; `None` if there was none, or it was untouched.
        """
        path, kept = self.path_of(task), None
        if path.exists() and _content(path) != self._stub(task).encode():
            kept = next(one for one in _backups(path) if not one.exists())
            path.replace(kept)
        _write(path, self._stub(task))
        self._note(task, passed=None)
        return kept

    def passed(self, task: Task) -> bool:
        """Whether the file as it is, or one that covers it, was judged right."""
        return self._passed_itself(task) or self.covered(task) is not None

    def covered(self, task: Task) -> Task | None:
        """Give the checkpoint that contains this exercise and was solved."""
        for other in self.library.values():
            if task.name in other.exercise.covers and self._passed_itself(other):
                return other
        return None

    def mark(self, task: Task, *, passed: bool) -> None:
        """Keep that the file as it is was judged right, or not."""
        self._note(task, passed=_digest(self.path_of(task)) if passed else None)

    def hints(self, task: Task) -> int:
        """Give how many hints were opened."""
        return int(self._progress()["exercises"].get(task.name, {}).get("hints", 0))

    def open_hint(self, task: Task) -> int:
        """Open one hint more, and give how many are open."""
        count = min(self.hints(task) + 1, len(task.exercise.hints))
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
        progress = self._progress()
        self._save(progress | {"current": task.name})

    @property
    def tasks(self) -> Sequence[Task]:
        """The exercises that the reader goes through, in their order."""
        return self.library.core() if self.core else [*self.library.values()]

    def next_open(self, task: Task | None) -> Task:
        """Give the next exercise that is not solved; the last one if all are."""
        number = 0 if task is None else task.number
        later = [one for one in self.tasks if one.number > number]
        for one in [*later, *self.tasks]:
            if not self.passed(one):
                return one
        return self.tasks[-1]

    def previous(self, task: Task) -> Task:
        """Give the exercise before; the first one if there is none."""
        before = [one for one in self.tasks if one.number < task.number]
        return before[-1] if before else self.tasks[0]

    def state(self) -> Iterator[tuple[Task, str]]:
        """Give each exercise with `done`, `covered`, `begun` or `open`."""
        for task in self.library.values():
            path = self._found(task)
            if self._passed_itself(task):
                yield task, "done"
            elif self.covered(task):
                yield task, "covered"
            elif path and _content(path) != self._stub(task).encode():
                yield task, "begun"
            else:
                yield task, "open"

    def _passed_itself(self, task: Task) -> bool:
        known = self._progress()["exercises"].get(task.name, {}).get("passed")
        path = self._found(task)
        return known is not None and path is not None and known == _digest(path)

    def _found(self, task: Task) -> Path | None:
        found = sorted(self.path.glob(f"*_{task.name}.py"))
        exact = [one for one in found if one.name.split("_", 1)[1] == f"{task.name}.py"]
        return exact[0] if exact else None

    def _new_path(self, task: Task) -> Path:
        return self.path / f"{task.number:02}_{task.name}.py"

    def _stub(self, task: Task) -> str:
        source = task.source
        page, title = task.exercise.read
        head = f'{source.title}\n\n{source.text}\n\nRead: "{title}", {page}\n'
        return f'"""{head}"""\n\n{source.stub}'

    def _progress(self) -> dict[str, Any]:
        path = self.path / _PROGRESS
        empty: dict[str, Any] = {"version": 1, "exercises": {}}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if all(isinstance(one, dict) for one in found["exercises"].values()):
                return {**empty, **found}
        except FileNotFoundError:
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
        _write(self.path / _PROGRESS, json.dumps(progress, indent=2) + "\n")


def _backups(path: Path) -> Iterator[Path]:
    number = 0
    while True:
        yield path.with_name(f"{path.name}.bak{number or ''}")
        number += 1


def _content(path: Path) -> bytes:
    """Read a file; how its lines end is the editor's affair."""
    return path.read_bytes().replace(b"\r\n", b"\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(_content(path)).hexdigest()


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
