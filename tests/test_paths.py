"""Paths as reports show them, on either kind of system."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from headway._paths import shown


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (PureWindowsPath(r"C:\code\src\mine.py"), "src/mine.py"),
        (PureWindowsPath(r"c:\Code\mine.py"), "mine.py"),
        (PureWindowsPath(r"D:\code\mine.py"), "D:/code/mine.py"),
        (PurePosixPath("/code/src/mine.py"), "/code/src/mine.py"),
    ],
)
def test_a_file_is_named_with_slashes_everywhere(
    path: PureWindowsPath | PurePosixPath, name: str
) -> None:
    assert shown(path, type(path)(r"C:\code")) == name
