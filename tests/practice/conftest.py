from pathlib import Path

import pytest

from headway.practice.folder import Folder
from headway.practice.library import Library
from practice.small import small_set


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
