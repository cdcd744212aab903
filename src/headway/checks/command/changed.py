"""Which targets a change concerns: those that reach a file which it touches."""

import ast
import importlib.util
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from headway.checks.command.configuration import FILE, ConfiguredTarget
from headway.checks.command.imports import import_root
from headway.checks.command.target_name import FILES, split
from headway.checks.core.cannot_check import CannotCheckError


def concerned(
    targets: Iterable[ConfiguredTarget], revision: str
) -> list[ConfiguredTarget]:
    """Leave out the targets that reach nothing that has changed.

    A target reaches its file and what that imports from the same repository; one that
    is installed reaches nothing there. What configures targets concerns all of them,
    and any change concerns one whose imports cannot be followed: a notebook, or a
    module that is not found.

    Args:
        targets: Some targets.
        revision: The revision of git since which something has changed, or not.

    Raises:
        ValueError: If git cannot tell.
    """
    top = Path(_git("rev-parse", "--show-toplevel")[0]).resolve()
    names = _git("diff", "--name-only", "--no-renames", "-z", revision, "--", cwd=top)
    names += _git("ls-files", "--others", "--exclude-standard", "-z", cwd=top)
    changed = {top / name for name in names}
    if any(file.name == FILE for file in changed):
        return [*targets]
    return [one for one in targets if _reaches(one.name, changed, top)]


def _git(*words: str, cwd: Path | None = None) -> list[str]:
    """Ask git for names, which it parts by a zero or a new line."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *words],  # noqa: S607
            cwd=cwd, capture_output=True, check=True, encoding="utf-8",
        )  # fmt: skip
    except FileNotFoundError:
        raise CannotCheckError(
            "changed_since needs git; there is no such program."
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or ["nothing"]
        raise CannotCheckError(
            "changed_since must be a revision of git's, such as HEAD~1 or main; "
            f"git {words[0]} said: {said[0]}."
        ) from error
    parts = done.stdout.split("\0" if "-z" in words else "\n")
    return [part for part in parts if part]


def _reaches(target: str, changed: set[Path], top: Path) -> bool:
    place = split(target)[0]
    roots = [import_root(place), Path.cwd(), *map(Path, sys.path)]
    roots = [root.resolve() for root in roots]
    roots = [*dict.fromkeys(root for root in roots if _is_ours(root, top))]
    first = [Path(place)] if place.endswith(FILES) else _files_of(place, roots)
    if place.endswith(".ipynb") or not (first or _is_installed(place, top)):
        return bool(changed)
    return not changed.isdisjoint(_reached(first, roots))


def _is_ours(path: Path, top: Path) -> bool:
    """Say whether it is of the repository, and not of an environment that is in it."""
    installed = {Path(one).resolve() for one in sysconfig.get_paths().values()}
    parents = {path, *path.parents}
    return top in parents and installed.isdisjoint(parents - {top, *top.parents})


def _is_installed(name: str, top: Path) -> bool:
    spec = importlib.util.find_spec(name.partition(".")[0])
    origin = None if spec is None else spec.origin
    return origin is not None and not _is_ours(Path(origin).resolve(), top)


def _reached(first: Iterable[Path], roots: Sequence[Path]) -> set[Path]:
    """Follow imports, as far as files below the roots go."""
    reached: set[Path] = set()
    waiting = [file.resolve() for file in first]
    while waiting:
        file = waiting.pop()
        if file in reached:
            continue
        reached.add(file)
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):  # the check will say so
            continue
        for name in _imported(tree, file, roots):
            waiting += _files_of(name, [*roots, file.parent])
    return reached


def _imported(tree: ast.Module, file: Path, roots: Sequence[Path]) -> Iterator[str]:
    """Name all modules that a file may import, with those that are none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            for base in _bases(node, file, roots):
                yield base
                yield from (f"{base}.{one.name}" for one in node.names)


def _bases(node: ast.ImportFrom, file: Path, roots: Sequence[Path]) -> Iterator[str]:
    """Give the full name of what stands behind *from*; relative, from each root."""
    if not node.level:
        yield node.module or ""
        return
    folder = file.parents[node.level - 1]
    for root in roots:
        if folder.is_relative_to(root):
            parts = [*folder.relative_to(root).parts, node.module or ""]
            yield ".".join(part for part in parts if part)


def _files_of(name: str, roots: Sequence[Path]) -> list[Path]:
    """Find the file of a module, and those of the packages that it is in."""
    parts = name.split(".")
    found = []
    for root in roots:
        for count in range(1, len(parts) + 1):
            path = root.joinpath(*parts[:count])
            files = (path / "__init__.py", path.with_name(f"{path.name}.py"))
            found += [file.resolve() for file in files if path.name and file.is_file()]
    return found
