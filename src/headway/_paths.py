"""Paths as reports show them."""

from pathlib import PurePath


def shown(path: PurePath, here: PurePath) -> str:
    """Name a file from a folder, if it stands below it; with slashes everywhere."""
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()
