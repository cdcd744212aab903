"""Gather what the tests of all pages did, wherever they ran, and sum it up."""

import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_proofread.page.record import Recorder
from pytest_proofread.pytest_plugin.changed import CACHE, KEY
from pytest_proofread.pytest_plugin.elsewhere import NoProgramRanError, run_pages
from pytest_proofread.pytest_plugin.settings import fences, inexact


class Account:
    """Gathers what the tests report, wherever they ran, and sums it up."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.results: dict[str, dict[str, Any]] = {}
        self.skipped: list[str] = []
        self.passed: set[str] = set()
        self.recorder = Recorder(
            config.rootpath,
            lambda text: fences(config, text),
            self.run_elsewhere,
        )

    def run_elsewhere(self, pages: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
        """Run pages again, in the environments that other plugins name."""
        root, settings = self.config.rootpath, self.config.inipath
        # The pages are named from the root, wherever this was started.
        options = [
            f"--rootdir={root}",
            *([f"--config-file={settings}"] if settings else []),
        ]
        found: list[Mapping[str, Mapping[str, str]]]
        found = self.config.hook.pytest_proofread_environments(config=self.config)
        results = {}
        for name, environment in ChainMap(*map(dict, found)).items():
            try:
                results[name] = [*run_pages(pages, options, environment).values()]
            except NoProgramRanError:
                results[name] = []
        return results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a program."""
        if report.skipped and isinstance(report.longrepr, tuple):
            if ".md::" in report.nodeid and not report.nodeid.endswith("-again]"):
                self.skipped.append(f"{report.nodeid}: {report.longrepr[2]}")
        elif report.when == "call":
            properties: dict[str, Any] = dict(report.user_properties)
            if report.passed and KEY in properties:
                self.passed.add(properties[KEY])
            account = properties.get("proofread")
            if account is not None:
                self.results[report.nodeid] = {**account, "outcome": report.outcome}
                self.recorder.add(account, passed=report.passed)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what is to be written."""
        option = self.config.option
        if option.record and not self.recorder.write():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if option.changed:
            passed = {*self.config.cache.get(CACHE, []), *self.passed}
            self.config.cache.set(CACHE, sorted(passed))
        if option.results:
            text = json.dumps(self.results, indent=1, sort_keys=True)
            option.results.write_text(text + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many programs ran, how they were compared, and which did not."""
        write = terminalreporter.write_line
        for line in self.recorder.said:
            write(line)
        if not (self.results or self.skipped or self.config.option.proofread):
            return  # there was no page
        ran = [result for result in self.results.values() if not result["again"]]
        refused = sum(
            bool(result["error"]) and result["outcome"] == "passed" for result in ran
        )
        why = inexact(self.config)
        how = f"token by token ({why})" if why else "exactly"
        write(
            f"proofread: {len(ran)} programs ran, {refused} of them refused as "
            f"recorded, {len(self.skipped)} skipped; outputs compared {how}"
        )
        for line in self.skipped:
            write(f"  skipped: {line}")
