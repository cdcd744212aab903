"""Keep what took long to make, until what it was made from has changed."""

import os
from collections.abc import Callable
from pathlib import Path

from pytest_proofread.digests import digest, installed


def key(*parts: str | bytes) -> str:
    """Return a short name for some contents and all that is installed."""
    return digest(*parts, "installed", *installed())[:16]


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
