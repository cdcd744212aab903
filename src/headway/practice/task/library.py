"""The exercises of a set, in their order."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import torch

from headway.practice.task.definition import Draw, Exercise, has_fractions
from headway.practice.task.mistakes import read_mistakes
from headway.practice.task.refused import RefusedError
from headway.practice.task.source import EXAMPLE, Source, cut

BOOK = Path(__file__).parents[1] / "exercises"
_CONTENTS = "contents.txt"
_FROM_INPUT = (
    "Hidden numbers have 64 bits: give new tensors the type of the input, as by "
    "dtype=x.dtype."
)
_OF_RESULTS = "Results have 64 bits: make new tensors with dtype=torch.float64."


@dataclass(frozen=True)
class Task:
    """An exercise of a set.

    Attributes:
        number: Its place, from one.
        place: Its file in the set, without the ending: `basics/masks/causal_mask`.
        path: Its file.
    """

    number: int
    place: str
    path: Path

    @property
    def name(self) -> str:
        """What it is called: the name of its file."""
        return self.place.rpartition("/")[2]

    @property
    def chapter(self) -> str:
        """The folder that it lies in, which is the chapter's page."""
        return self.place.rpartition("/")[0]

    @property
    def stars(self) -> str:
        """Its stars, as a terminal shows them; nothing if it is not core."""
        return "*" * self.exercise.stars

    @cached_property
    def types(self) -> str:
        """What a reader must know of the types of hidden numbers, in one line.

        Nothing where neither what is drawn nor what is right has a fraction.
        """
        try:
            drawn, given = self._first_trial()
        except Exception:  # whatever a teacher's file may raise: a proof tells of it
            return _FROM_INPUT
        if has_fractions(drawn):
            return _FROM_INPUT
        return _OF_RESULTS if has_fractions(given) else ""

    def _first_trial(self) -> tuple[Any, Any]:
        """Draw hidden numbers, and give them with what is right for them."""
        exercise = self.exercise
        generator = torch.Generator().manual_seed(0)
        drawn = exercise.draw(Draw(generator, **cast(Any, exercise.trials[0])))
        program, _, _ = self.source.solution.partition(EXAMPLE)
        made: dict[str, Any] = {"__name__": self.name}
        exec(compile(program, f"<{self.name}>", "exec"), made)  # noqa: S102
        with torch.random.fork_rng(devices=()):
            return drawn, exercise.ask(made[exercise.answer], *drawn)

    @property
    def files(self) -> Sequence[Path]:
        """Its file, and that of its mistakes if there is one."""
        mistakes = self.path.with_suffix(".mistakes")
        return [self.path, mistakes] if mistakes.exists() else [self.path]

    @cached_property
    def source(self) -> Source:
        """Its text and its solution."""
        return cut(self.path.read_text(encoding="utf-8"))

    @cached_property
    def exercise(self) -> Exercise:
        """How an answer is judged."""
        name = "headway_exercise_" + self.place.replace("/", "_")
        module = sys.modules[name] = ModuleType(name)
        SourceFileLoader(name, str(self.path)).exec_module(module)
        found = getattr(module, "EXERCISE", None)
        if not isinstance(found, Exercise):
            raise RefusedError(f"{self.path.name} must define EXERCISE, an Exercise.")
        hole = self.source.hole
        mistakes = [one for file in self.files[1:] for one in read_mistakes(file, hole)]
        return replace(found, wrong=[*found.wrong, *mistakes])


class Library(Mapping[str, Task]):
    """The exercises of a folder by their names, in the order of its contents.txt.

    Raises:
        ValueError: If the contents and the files do not agree.
    """

    def __init__(self, folder: Path = BOOK) -> None:
        self.folder = folder
        self._tasks = {one.name: one for one in _tasks(folder)}

    def __getitem__(self, name: str) -> Task:
        return self._tasks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def find(self, word: str) -> Task:
        """Find an exercise by its name or its number.

        Raises:
            ValueError: If there is none.
        """
        if word in self._tasks:
            return self._tasks[word]
        if word.isdigit() and 1 <= int(word) <= len(self):
            return [*self._tasks.values()][int(word) - 1]
        near = get_close_matches(word, self._tasks, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise RefusedError(
            f"name must be an exercise, or a number from 1 to {len(self)}; "
            f"got name={word!r}.{hint}"
        )

    def chapters(self) -> Mapping[str, Sequence[Task]]:
        """Give the exercises of each chapter."""
        found: dict[str, list[Task]] = {}
        for one in self._tasks.values():
            found.setdefault(one.chapter, []).append(one)
        return found

    def path(self, name: str) -> Sequence[Task]:
        """Give the exercises of a path, which a file beside contents.txt lists.

        Args:
            name: Its file, without the ending: `evening`.

        Raises:
            ValueError: If there is no such file.
        """
        try:
            words = (self.folder / f"{name}.txt").read_text(encoding="utf-8").split()
        except OSError as error:
            paths = [one.stem for one in self.folder.glob("*.txt")]
            known = ", ".join(sorted({*paths} - {"contents"})) or "none"
            raise RefusedError(
                f"path must be one of this set ({known}); got path={name!r}."
            ) from error
        return [self.find(one) for one in words]

    def core(self) -> Sequence[Task]:
        """Give the core exercises: those that have stars."""
        return [one for one in self._tasks.values() if one.exercise.stars]


@cache
def book() -> Library:
    """Give the exercises of the book."""
    return Library()


def _tasks(folder: Path) -> Iterator[Task]:
    try:
        contents = (folder / _CONTENTS).read_text(encoding="utf-8")
    except OSError as error:
        raise RefusedError(
            f"a set of exercises must have a file {_CONTENTS}, which lists them in "
            f"their order; got {folder}."
        ) from error
    places = [line.strip() for line in contents.splitlines() if line.strip()]
    names = [place.rpartition("/")[2] for place in places]
    for name in names:
        if names.count(name) > 1:
            raise RefusedError(f"{_CONTENTS} must name each exercise once; got {name}.")
    present = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for path in folder.rglob("*.py")
        if not path.name.startswith("_")
    }
    for place in {*places} ^ present.keys():
        raise RefusedError(
            f"{_CONTENTS} must list the files of {folder.name}, and no others; "
            f"got {place}."
        )
    for number, place in enumerate(places, start=1):
        yield Task(number, place, present[place])
