"""Keep what a test computes, until something changes that it depends on."""

import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from workshop.caching import keep, key
from workshop.changed_modules.main_branch import MainBranch
from workshop.reached import Reached

CACHE = Path(".cache/kept")
T = TypeVar("T")


class Kept:
    """Computes something, or takes it from an earlier run where nothing has changed.

    Args:
        project: The folder of the files that may change.
        path: Where modules are found.
        active: Whether anything is kept: with `--changed` alone.
    """

    def __init__(
        self, project: Path, path: Sequence[str | Path], *, active: bool
    ) -> None:
        self.folder = project / CACHE
        self.reached = Reached(project, path)
        self.main = MainBranch(self.reached)
        self.active = active

    def __call__(
        self,
        name: str,
        make: Callable[[], T],
        *,
        programs: Sequence[str] = (),
        files: Sequence[Path] = (),
        parts: Sequence[str | bytes] = (),
    ) -> T:
        """Return what `make` returns, now or before.

        Args:
            name: A name that no other result has, and a file can have.
            make: What computes it; it can be pickled.
            programs: The programs that it depends on, and on what these reach.
            files: Modules that it depends on, with those that they import.
            parts: What else.
        """
        if not self.active:
            return make()
        found = self.reached_by(programs, files)
        about = key(name, *programs, "parts", *parts, *self.reached.parts(found))
        file = self.folder / f"{name}-{about}.pickle"
        if file.is_file():
            before: T = pickle.loads(file.read_bytes())  # noqa: S301  # our own
            return before
        made = make()
        keep(file, lambda part: part.write_bytes(pickle.dumps(made)))
        return made

    def reached_by(self, programs: Sequence[str], files: Sequence[Path]) -> set[Path]:
        """Return the modules that programs and modules reach."""
        found = self.reached.modules_of(files)
        return found.union(*map(self.reached.of, programs))

    def passed_on_main(
        self,
        *,
        programs: Sequence[str] = (),
        files: Sequence[Path] = (),
        texts: Sequence[Path] = (),
    ) -> bool:
        """Say whether what a test depends on is as in the main branch, which ran it.

        Args:
            programs: The programs that it depends on, and on what these reach.
            files: Modules that it depends on, with those that they import.
            texts: Files that it depends on, and not on what they import.
        """
        if not self.active or self.main.differing is None:
            return False
        return self.main.has(self.reached_by(programs, files), texts)


def kept_here(project: Path, *, active: bool) -> Kept:
    """Return what keeps results of this project."""
    return Kept(project, [project / "src", project, *sys.path], active=active)
