"""Keep the shapes that programs have made, by what each program depends on."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_proofread.digests import digest
from pytest_proofread.page.markdown import Program, programs
from pytest_proofread.runner import Row
from workshop.caching import keep, key
from workshop.reached import Reached
from workshop.run import bound_names, tensor_shapes

CACHE = Path(".cache/shapes")
MOST = 5000  # programs, several times those of the book
Shapes = dict[str, list[Row]]  # by the key of a program


def key_of(program: Program, reached: Reached) -> str:
    """Return a key for a program, what it reaches and how it ends."""
    modules = reached.parts(reached.of(program.code))
    return digest(program.code, program.recorded[1], *modules)


def cache_file(folder: Path) -> Path:
    """Return the file for the shapes of all programs, as long as all is installed."""
    files = [Path(tensor_shapes.__file__), Path(bound_names.__file__)]
    lister = "".join(file.read_text(encoding="utf-8") for file in files)
    return folder / f"shapes-{key(lister)}.json"


def kept(folder: Path) -> Shapes:
    """Return what is kept in a folder."""
    file = cache_file(folder)
    found: Shapes = json.loads(file.read_text()) if file.is_file() else {}
    return found


def keep_shapes(folder: Path, made: Shapes) -> None:
    """Keep the shapes of programs in a folder, those that were made last."""
    made = dict([*made.items()][-MOST:])
    keep(cache_file(folder), lambda part: part.write_text(json.dumps(made)))


class KeptShapes:
    """Keeps the shapes that the programs of pages make while they are tested.

    Args:
        config: Of pytest.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.seen: dict[tuple[str, str], list[Row]] = {}  # by page and code

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of what a program has made."""
        properties: dict[str, Any] = dict(report.user_properties)
        if report.when == "call" and report.passed and "proofread" in properties:
            ran = properties["proofread"]
            self.seen[ran["page"], ran["code"]] = [*map(tuple, ran["seen"])]

    def pytest_sessionfinish(self) -> None:
        """Keep them where the site looks for them."""
        if not self.seen:
            return
        reached = Reached(self.root, [self.root / "src", self.root, *sys.path])
        made: Shapes = {}
        for page in sorted({page for page, _ in self.seen}):
            for program in programs((self.root / page).read_text(encoding="utf-8")):
                if (found := (page, program.code)) in self.seen:
                    made[key_of(program, reached)] = self.seen[found]
        before = kept(self.root / CACHE)
        others = {name: rows for name, rows in before.items() if name not in made}
        keep_shapes(self.root / CACHE, others | made)
