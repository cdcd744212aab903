"""A package for programs to import, which hands on one name when it is asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

MODULES = {
    "package/__init__.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from package.given import f\n"
    "def __getattr__(name):\n    from importlib import import_module\n"
    "    return getattr(import_module('package.given'), name)\n",
    "package/module.py": "import package.deep\n",
    "package/deep.py": "x = 1\n",
    "package/given.py": "f = 1\n",
    "package/data/table.csv": "1\n",
    "package/other.py": "hint = 1\n",
}


@pytest.fixture
def write_package() -> Callable[[Path], None]:
    """Write the package into a folder."""

    def write(folder: Path) -> None:
        (folder / "package" / "data").mkdir(parents=True)
        for name, text in MODULES.items():
            (folder / name).write_text(text)

    return write
