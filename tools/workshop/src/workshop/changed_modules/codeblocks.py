"""Leave out the tests of pytest-codeblocks that have passed and cannot have changed.

Of pages that the settings name, the checks of the main branch have run them, too.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pytest_proofread.pytest_plugin.changed import Keys, leave_out
from workshop.changed_modules.main_branch import MainBranch
from workshop.reached import Reached

PYTHON = "python"


def leave_out_codeblocks(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave them out; what has passed is kept with what the plugin keeps of pages."""
    reached = Reached(config.rootpath, sys.path)
    keys = Keys(config.rootpath, files=reached.of)
    same = {*tested_on_main(config, items, reached)}
    config.hook.pytest_deselected(items=[*same])
    items[:] = [item for item in items if item not in same]
    leave_out(
        config,
        items,
        lambda item: key_of_codeblock(keys, item) if is_codeblock(item) else None,
    )


def tested_on_main(
    config: pytest.Config, items: Iterable[pytest.Item], reached: Reached
) -> Iterator[pytest.Item]:
    """Yield those that the main branch has as they are, with all that they reach."""
    tested = [config.rootpath / one for one in config.getini("workshop_tested_on_main")]
    main = MainBranch(reached)
    for item in items:
        if is_codeblock(item) and any(item.path.is_relative_to(one) for one in tested):
            block: Any = item.obj  # type: ignore[attr-defined]
            if main.has(reached.of(block.code), [item.path]):
                yield item


def is_codeblock(item: pytest.Item) -> bool:
    """Say whether a test is a Python program that pytest-codeblocks runs.

    What a shell does may depend on anything.
    """
    block: Any = getattr(item, "obj", None)
    stock = type(item).__module__ == "pytest_codeblocks.plugin"
    return stock and bool(block.syntax == PYTHON)


def key_of_codeblock(keys: Keys, item: pytest.Item) -> str:
    """Return the key of such a test."""
    block: Any = item.obj  # type: ignore[attr-defined]
    compared = [block.expected_output, block.expected_output_ignore_whitespace]
    rest = ["pytest-codeblocks", block.importorskip, *compared, *block.marks]
    return keys.of_code(block.code, [str(one) for one in rest])
