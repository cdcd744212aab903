"""A pytest plugin for a page and many copies of it: each program runs once.

What a program prints does not depend on what a page says of it. So what it did is kept
for the copies, and a copy is not asked again about a program and a record that it
shares with the page.
"""

import pytest

from pytest_proofread.digests import digest
from pytest_proofread.page.markdown import Program
from pytest_proofread.pytest_plugin.items import FOLLOWING, Run
from pytest_proofread.runner import Result

# The folder of the pages as they are.
UNCHANGED = "unchanged"


def pytest_configure() -> None:
    """Keep what each program did."""
    results: dict[tuple[str, tuple[str, ...]], Result] = {}
    run = Run.run

    def run_once(item: Run) -> Result:
        about = item.program.code, item.program.marks
        if about not in results:
            item.config.stash[FOLLOWING] = None  # it may be known already
            results[about] = run(item)
        return results[about]

    Run.run = run_once  # type: ignore[method-assign,assignment]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what a copy shares with its page, and run the rest next to it."""
    programs = [item for item in items if isinstance(item, Run)]
    whole = {all_of(i.program) for i in programs if i.path.parent.name == UNCHANGED}
    shared = {
        item
        for item in programs
        if item.path.parent.name != UNCHANGED and all_of(item.program) in whole
    }
    for item in programs:
        # With pytest-xdist and `--dist loadgroup`, all copies go to one process.
        item.add_marker(pytest.mark.xdist_group(digest(item.program.code)))
    config.hook.pytest_deselected(items=[*shared])
    items[:] = [item for item in items if item not in shared]


def all_of(program: Program) -> tuple[str, tuple[str, ...], tuple[str, str]]:
    """Return all that the test of a program depends on."""
    return program.code, program.marks, program.recorded
