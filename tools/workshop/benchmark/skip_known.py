"""A pytest plugin: leave out the tests that are the same as in an earlier run.

With `--known FILE`, where there is no such file, it is written, and all tests run;
where there is one, only those run whose program or output is not in it. What is the
same passes or fails the same, whichever tool runs it. Left out, too, are the programs
that failed in the earlier run: that they fail says nothing about a mutant.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tools import unmarked


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--known", type=Path)


def parts(item: Any) -> tuple[str, str]:
    """Return what a test of one of the tools runs, and what it expects."""
    if hasattr(item, "cell"):  # nbval
        outputs = [one.get("text") or one.get("evalue") for one in item.cell.outputs]
        return item.cell.source, repr(outputs)
    if hasattr(item, "callspec"):  # pytest-examples
        source = item.callspec.params["example"].source
        return unmarked(source), source
    if hasattr(item, "example"):  # sybil
        return str(item.example.parsed), ""
    block = item.obj  # pytest-codeblocks
    return block.code, repr((block.syntax, block.expected_output, block.marks))


class Known:
    """What there was in the earlier run."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.first = not file.exists()
        self.items: dict[str, tuple[str, str]] = {}
        self.failing: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = {item.nodeid: parts(item) for item in items}
        if self.first:
            return
        known = json.loads(self.file.read_text(encoding="utf-8"))
        same = {tuple(pair) for pair in known["same"]}
        items[:] = [
            item
            for item in items
            if self.items[item.nodeid] not in same
            and self.items[item.nodeid][0] not in known["failing"]
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failing.append(self.items[report.nodeid][0])

    def pytest_sessionfinish(self) -> None:
        if self.first:
            known = {"same": [*self.items.values()], "failing": self.failing}
            self.file.write_text(json.dumps(known), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Known(config.option.known))
