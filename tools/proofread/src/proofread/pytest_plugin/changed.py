"""Tell what a change can affect: a key for a program, its modules and its environment.

The key of a program is made of its text and what is recorded of it, of the text of
each module of the project that it imports, directly or through others, and of the
environment: Python, the platform, every installed version, and this tool. A file that
a program reads, or a module that it finds by a name made at run time, is not seen.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from proofread.caching import digest, installed
from proofread.page.markdown import Program


def environment() -> list[str]:
    """Return what is installed, where, and with which text of this tool."""
    own = sorted(Path(__file__).parents[1].rglob("*.py"))
    return [*installed(), *(path.read_text(encoding="utf-8") for path in own)]


class Keys:
    """Makes the keys of programs.

    Args:
        project: The folder whose modules may change; what is installed has a version.
        settings: What else a result depends on.
    """

    def __init__(self, project: Path, settings: Sequence[str] = ()) -> None:
        self.project = project.resolve()
        self.settings = digest(*map(str, settings), *environment())
        self.texts: dict[Path, str] = {}
        self.direct: dict[Path, set[Path]] = {}

    def of(self, program: Program) -> str:
        """Return the key of a program."""
        files: set[Path] = set()
        waiting = self.imported(program.code, None)
        while waiting:
            file = waiting.pop()
            if file not in files:
                files.add(file)
                waiting |= self.imports_of(file)
        modules = [self.texts[file] for file in sorted(files)]
        marks = [*program.marks, *program.recorded]
        return digest(self.settings, program.code, *marks, "modules", *modules)

    def imports_of(self, file: Path) -> set[Path]:
        """Return the files of the project that a file imports."""
        if file not in self.direct:
            self.texts[file] = file.read_text(encoding="utf-8")
            self.direct[file] = self.imported(self.texts[file], file)
        return self.direct[file]

    def imported(self, code: str, file: Path | None) -> set[Path]:
        """Return the files of the project that a text imports."""
        try:
            tree = ast.parse(code)
        except SyntaxError:
            return set()
        found: set[Path] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found.update(self.files(None, alias.name))
            elif isinstance(node, ast.ImportFrom):
                base = file.parents[node.level - 1] if file and node.level else None
                module = node.module or ""
                found.update(self.files(base, module))
                for alias in node.names:
                    found.update(self.files(base, f"{module}.{alias.name}".strip(".")))
        return found

    def files(self, base: Path | None, name: str) -> Iterator[Path]:
        """Yield the files of a module, with those of the packages that it is in."""
        for folder in [base] if base else [Path(entry) for entry in sys.path]:
            if not self.owns(folder):
                continue
            if base:
                yield from existing(folder / "__init__.py")
            for part in name.split(".") if name else []:
                yield from existing(folder / f"{part}.py")
                folder = folder / part
                yield from existing(folder / "__init__.py")

    def owns(self, folder: Path) -> bool:
        """Say whether a folder belongs to the project and not to what is installed."""
        resolved = folder.resolve()
        inside = resolved == self.project or self.project in resolved.parents
        return inside and "site-packages" not in resolved.parts


def existing(path: Path) -> Iterator[Path]:
    """Yield a path if there is such a file."""
    if path.is_file():
        yield path.resolve()
