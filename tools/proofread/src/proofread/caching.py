"""Keep what took long to make, until what it was made from has changed."""

import hashlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path


def digest(*parts: str | bytes) -> str:
    """Return a short name for some contents, which knows where each of them ends."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()


@cache
def installed() -> list[str]:
    """Return what is installed, and where."""
    found = {
        f"{distribution.name}=={distribution.version}"
        for distribution in importlib.metadata.distributions()
    }
    return [sys.version, platform.platform(), *sorted(found)]


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
