"""What other plugins, and the conftest.py of a project, can add."""

from collections.abc import Iterable, Mapping

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


def pytest_proofread_check(text: str) -> Iterable[tuple[int, str]]:
    """Return what else is wrong with a page, for its test `[fences]`.

    Args:
        text: The page.

    Returns:
        Lines, and a sentence for each.
    """
    raise NotImplementedError
