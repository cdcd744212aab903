"""What other plugins, and the conftest.py of a project, can add."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest


def pytest_proofread_environments(
    config: pytest.Config,
) -> Mapping[str, Mapping[str, str]]:
    """Return the environments in which programs must print the same to be recorded.

    `--record` runs each page once more in each of them, in a process of its own.

    Args:
        config: Of pytest.

    Returns:
        All variables of each environment, under what is said of an output that
        differs there, such as "on another processor".
    """
    raise NotImplementedError  # pytest calls those who implement it, and never this


@pytest.hookspec(firstresult=True)
def pytest_proofread_files(
    config: pytest.Config,
) -> Callable[[str], Iterable[Path]] | None:
    """Return what tells the files of the project that a program reaches.

    `--changed` leaves a program out if none of them has changed. Without it, a program
    reaches each module that it imports, and all that these import.

    Args:
        config: Of pytest.
    """
    raise NotImplementedError


@pytest.hookspec(firstresult=True)
def pytest_proofread_watch(config: pytest.Config) -> str | None:
    """Return what looks on while programs run, as `module:name`.

    It is called with a program's code, and gives a context manager, within which the
    program runs, and whose `seen(names)` then lists what it has seen, in pairs of
    texts. They are in the results of each program. Programs that are recorded run
    unseen.

    Args:
        config: Of pytest.
    """
    raise NotImplementedError


def pytest_proofread_check(text: str) -> Iterable[tuple[int, str]]:
    """Return what else is wrong with a page, for its test `[fences]`.

    Args:
        text: The page.

    Returns:
        Lines, and a sentence for each.
    """
    raise NotImplementedError
