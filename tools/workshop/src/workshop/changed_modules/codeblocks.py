"""Leave out the tests of pytest-codeblocks that have passed and cannot have changed."""

from typing import Any

import pytest

from pytest_proofread.pytest_plugin.changed import Keys, leave_out

PYTHON = "python"


def leave_out_codeblocks(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave them out; what has passed is kept with what the plugin keeps of pages."""
    files = config.hook.pytest_proofread_files(config=config)
    keys = Keys(config.rootpath, files=files)
    leave_out(
        config,
        items,
        lambda item: key_of_codeblock(keys, item) if is_codeblock(item) else None,
    )


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
