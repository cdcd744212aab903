"""What reaches nothing that differs from the main branch, such as a module of tests.

The checks of that branch have run them. Nothing is known yet of what they read and
start; what is outside of all modules counts as read if the name of its outer folder,
or its own, stands in one that they reach. Those in a folder `src` are left out of this:
what is installed reads nothing beside itself.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from workshop.changed_files import changed_files
from workshop.reached import Reached


def differing() -> set[str] | None:
    """Return the files that differ from the main branch.

    Returns:
        None, if nobody knows, or if one of them is the settings or says which versions
        are installed: then all is different.
    """
    changed = changed_files(unpushed=True)
    if changed is None or any(
        "/" not in one and one.endswith((".toml", ".txt")) for one in changed
    ):
        return None
    return changed


class MainBranch:
    """Tells whether the checks of the main branch have run something as it is.

    Args:
        reached: What finds the files that it reaches.
    """

    def __init__(self, reached: Reached) -> None:
        self.reached = reached

    @cached_property
    def differing(self) -> set[str] | None:
        """The files that differ from it; None if all is different, or nobody knows."""
        return differing()

    def has(self, modules: Iterable[Path], texts: Iterable[Path] = ()) -> bool:
        """Say whether it has some files as they are, and what lies beside modules.

        Args:
            modules: The modules that run.
            texts: Other files.
        """
        if self.differing is None:
            return False
        files = {*modules}
        folders = {file.parent for file in files}
        files |= {*texts}.union(*map(self.reached.files_beside, folders))
        project = self.reached.project
        names = {
            file.relative_to(project).as_posix()
            for file in (one.resolve() for one in files)
            if file.is_relative_to(project)
        }
        return not names & self.differing


def same_as_on_main(
    modules: Iterable[str],
    changed: set[str],
    outside: set[str],
    reach: Callable[[str], set[str]],
    imports: Callable[[str], set[str]],
    read: Callable[[str], str],
) -> set[str]:
    """Return the modules that reach nothing that has changed.

    Args:
        modules: Modules of tests, as paths.
        changed: The paths of the files that differ from the main branch.
        outside: Those of them that no module is, or has beside itself.
        reach: Gives the paths of the files that a module reaches by imports, or that
            lie beside these.
        imports: Gives those of them that are modules.
        read: Gives the text of a file.
    """
    tops = {PurePosixPath(file).parts[0] for file in outside}
    named = [f"{quote}{top}" for top in tops for quote in "\"'"]
    return {
        module
        for module in modules
        if not reach(module) & changed
        and not any(_has(read(one), named) for one in imports(module) if _may_read(one))
    }


def _may_read(file: str) -> bool:
    path = PurePosixPath(file)
    return path.suffix == ".py" and "src" not in path.parts


def _has(text: str, parts: Sequence[str]) -> bool:
    return any(part in text for part in parts)


def is_in(module: str, folders: Sequence[str]) -> bool:
    """Say whether a file is a module of tests in one of some folders."""
    path = PurePosixPath(module)
    is_test = path.suffix == ".py" and path.name.startswith("test_")
    return is_test and any(path.is_relative_to(one) for one in folders)
