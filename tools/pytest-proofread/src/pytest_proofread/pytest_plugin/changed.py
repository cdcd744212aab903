"""Tell what a change can affect: a key for a program, its modules and its environment.

The key of a program is made of its text and what is recorded of it, of each file of the
project that it reaches through its imports, and of the environment: Python, the
platform, every installed version, and this tool.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from pytest_proofread.digests import digest, installed
from pytest_proofread.page.markdown import Program
from pytest_proofread.reached import Reached

CACHE = "proofread/passed"
KEY = "proofread_key"
Files = Callable[[str], Iterable[Path]]


def environment() -> list[str]:
    """Return what is installed, where, and with which text of this tool."""
    own = sorted(Path(__file__).parents[1].rglob("*.py"))
    return [*installed(), *(path.read_text(encoding="utf-8") for path in own)]


class Keys:
    """Makes the keys of programs.

    Args:
        project: The folder whose modules may change; what is installed has a version.
        settings: What else a result depends on.
        files: Finds the files that code reaches, more exactly than by its imports.
    """

    def __init__(
        self, project: Path, settings: Sequence[str] = (), files: Files | None = None
    ) -> None:
        self.settings = digest(*map(str, settings), *environment())
        self.reached = Reached(project, sys.path)
        self.files = files or self.reached.of

    def of(self, program: Program) -> str:
        """Return the key of a program."""
        return self.of_code(program.code, [*program.marks, *program.recorded])

    def of_code(self, code: str, rest: Sequence[str]) -> str:
        """Return the key of code, and of what else its result depends on."""
        modules = self.reached.parts(self.files(code))
        return digest(self.settings, code, *rest, "modules", *modules)


def leave_out(
    config: pytest.Config,
    items: list[pytest.Item],
    key_of: Callable[[pytest.Item], str | None],
) -> None:
    """Leave out the tests that have passed with the same key."""
    passed = {*config.cache.get(CACHE, [])}
    same = set()
    for item in items:
        if (key := key_of(item)) is not None:
            item.user_properties.append((KEY, key))
            if key in passed:
                same.add(item)
    config.hook.pytest_deselected(items=[*same])
    items[:] = [item for item in items if item not in same]
