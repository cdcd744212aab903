"""The files that are built, since git does not keep them."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path

from generators import GENERATED, ROOT
from workshop.caching import keep, key
from workshop.changed_modules.kept import kept_here
from workshop.generator_support import hashes_of, write

# The folders of such files, and what their generators read besides the modules that
# they import and what lies beside these.
BUILT = {
    "exhibits": ["docs/museum", "docs/reference/ids.md"],
    "live": ["generated/trained"],
    "pictures": ["generated/trained", "mkdocs.yml"],
    "practice": ["mkdocs.yml"],
    "sources": ["mkdocs.yml"],
}
# The modules that make them, where a generator makes other files, too.
MODULES = {"exhibits": "museum.names_and_fixes"}
# Where all code lies that any of them reaches: while nothing changes there, nor in what
# they read and in what is built, nobody has to ask what reaches what.
CODE = ["generators", "src", "tools/pytest-proofread/src", "tools/workshop/src"]


def build() -> None:
    """Build all files; nothing is computed again until something changes for it."""
    if mark().is_file():
        return
    kept = kept_here(ROOT, active=True)
    for name, inputs in BUILT.items():
        made = kept(
            f"built-{name}",
            partial(make, name),
            programs=[program(name)],
            parts=kept.reached.parts(files_of(inputs)),
        )
        files = {GENERATED / name / file: text for file, text in made.items()}
        for path in hashes_of(GENERATED / name).keys() - files.keys():
            path.unlink()  # of another revision: nothing makes it now
        write(files)
    keep(mark(), Path.touch)


def mark() -> Path:
    """Return the file that is there if all is built, and nothing has changed since."""
    folders = [f"generated/{name}" for name in BUILT]
    parts: list[str | bytes] = []
    for path in files_of([*CODE, *folders, *chain(*BUILT.values())]):
        parts += [str(path), path.read_bytes()]
    return ROOT / ".cache" / "built" / f"all-{key(*parts)}.done"


def program(name: str) -> str:
    """Return a program that needs all that a generator needs."""
    return f"from {module(name)} import make"


def module(name: str) -> str:
    """Return the module that makes the files of a folder."""
    return f"generators.{MODULES.get(name, f'{name}.__main__')}"


def make(name: str) -> dict[str, str]:
    """Make the files of a generator."""
    made: dict[str, str] = import_module(module(name)).make()
    return made


def files_of(inputs: Sequence[str]) -> list[Path]:
    """List files, and those in folders."""
    places = [ROOT / name for name in inputs]
    found = [path for place in places for path in (place, *place.rglob("*.*"))]
    return sorted(
        path for path in found if path.is_file() and path.parent.name != "__pycache__"
    )


def hashes() -> dict[Path, str]:
    """Return the hash of each built file that may hold a number, as it is now."""
    folders = (hashes_of(GENERATED / name) for name in BUILT if name != "exhibits")
    return {path: one for found in folders for path, one in found.items()}
