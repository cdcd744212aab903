"""Find the files of a project that a program reaches through what it imports.

A program is followed through each module of the project that it imports, directly or
through others, wherever in its text that stands. A text in it counts as an import if it
is the full name of a module, or a program itself, as it is handed to another process.
A name that is made while a program runs is not seen.

A module may read what lies beside it. So with each module come the files in its folder
and below that are no modules, unless that is the folder of the project, since all
builds leave their files there.
"""

import ast
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
PROGRAM = re.compile(r"^\s*(import|from)\s", re.MULTILINE)


class Reached:
    """Finds the files of a project that programs reach.

    It remembers what it has read, so each is for a moment in which no file changes.

    Args:
        project: The folder of the files that may change.
        path: The folders that modules are looked for in; what lies outside of the
            project or is installed is passed over.
    """

    def __init__(self, project: Path, path: Sequence[str | Path]) -> None:
        self.project = project.resolve()
        folders = dict.fromkeys(Path(folder).resolve() for folder in path)
        self.path = [
            folder
            for folder in folders
            if folder.is_relative_to(self.project)
            and "site-packages" not in folder.parts
        ]
        self.contents: dict[Path, bytes] = {}

    def of(self, code: str) -> set[Path]:
        """Return the files that a program reaches."""
        found: set[Path] = set()
        waiting = {*self.modules(code, None)}
        while waiting:
            file = waiting.pop()
            found.add(file)
            waiting |= {*self.modules(self.content(file), file)} - found
        folders = {file.parent for file in found} - {self.project}
        return found.union(*map(files_beside, folders))

    def parts(self, files: Iterable[Path]) -> list[str | bytes]:
        """Return the names and contents of files, in order, to make a key of."""
        return [
            part
            for file in sorted(files)
            for part in (os.path.relpath(file, self.project), self.content(file))
        ]

    def content(self, file: Path) -> bytes:
        """Return what is in a file."""
        if file not in self.contents:
            self.contents[file] = file.read_bytes()
        return self.contents[file]

    def modules(self, code: str | bytes, file: Path | None) -> Iterator[Path]:
        """Yield the files of the modules that a program names."""
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self.files(self.path, alias.name)
            elif isinstance(node, ast.ImportFrom):
                bases = self.path
                if node.level:
                    bases = [file.parents[node.level - 1]] if file else []
                for alias in node.names:
                    yield from self.files(bases, f"{node.module or ''}.{alias.name}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if MODULE.fullmatch(node.value):
                    yield from self.files(self.path, node.value)
                elif PROGRAM.search(node.value):
                    yield from self.modules(textwrap.dedent(node.value), None)

    def files(self, bases: Iterable[Path], name: str) -> Iterator[Path]:
        """Yield the file of a module, and those of the packages that it is in.

        Its last part may be a name in a module instead.
        """
        for base in bases:
            place = base
            for part in ["", *filter(None, name.split("."))]:
                place = place / part
                packages = [place / "__init__.py"] if place != self.project else []
                for file in (*packages, place.parent / f"{place.name}.py"):
                    if file.is_file():
                        yield file


def files_beside(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below that are no modules, hidden or compiled."""
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from files_beside(path)
        elif path.suffix != ".py":
            yield path
