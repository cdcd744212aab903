"""Keep what took long to make, until what it was made from has changed."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from proofread.pytest_plugin.changed import installed
from proofread.verify.reader_environment import digest


def key(text: str, depends: Sequence[str | Path]) -> str:
    """Return a name for all that the outputs of a program may come from.

    Args:
        text: The program.
        depends: The folders of the modules that it may import.
    """
    files = [path for folder in depends for path in Path(folder).rglob("*.py")]
    modules = [part for path in sorted(files) for part in (str(path), path.read_text())]
    return digest(text, *modules, "installed", *installed())


def keep(file: Path, write: Callable[[Path], object]) -> None:
    """Write a file NAME-KEY in the place of those with another key."""
    file.parent.mkdir(parents=True, exist_ok=True)
    name = file.stem.rpartition("-")[0]
    for old in file.parent.glob(f"{name}-*{file.suffix}"):
        if old != file:
            old.unlink(missing_ok=True)
    # In one step: nobody finds half a file, nor do two that write at once.
    part = file.with_suffix(f".{os.getpid()}.part")
    write(part)
    part.replace(file)
