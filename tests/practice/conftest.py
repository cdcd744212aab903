from pathlib import Path

import pytest

from headway.practice.task.library import Library
from headway.practice.terminal.folder import Folder
from tests.practice.small import small_set


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Give a set of two exercises."""
    return small_set(tmp_path / "set")


@pytest.fixture
def folder(tmp_path: Path, library: Library) -> Folder:
    """Give a reader's folder of that set."""
    made = Folder(tmp_path / "practice", library)
    made.make()
    return made


@pytest.fixture(autouse=True)
def _hidden_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hidden numbers be the same each time, where no seed is given."""
    monkeypatch.setattr("secrets.randbelow", lambda _: 3)
