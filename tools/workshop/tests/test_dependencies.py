"""The workshop names what it imports."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from pytest_proofread.runner import imported

HERE = Path(__file__).parents[1]
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
# Started by its name, not imported.
STARTED = {"pytest-xdist"}


def test_it_names_what_it_imports() -> None:
    named = {
        re.split(r"[<>=]", text)[0].lower()
        for text in PROJECT["project"]["dependencies"]
    }
    of = packages_distributions()
    needed = {
        distribution.lower().replace("_", "-")
        for path in HERE.joinpath("src").rglob("*.py")
        for name in imported(path.read_text(encoding="utf-8"))
        if (top := name.partition(".")[0])
        not in {*sys.stdlib_module_names, "workshop", "pytest_proofread"}
        for distribution in of[top]
    }
    assert named == needed | STARTED | {"pytest-proofread"}
