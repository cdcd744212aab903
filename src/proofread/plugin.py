"""A pytest plugin: each program of a Markdown page is a test, and so is the page.

It is loaded by `-p proofread.plugin`, and does nothing until it is asked to:

    pytest --proofread docs     runs each program and compares what it prints
    pytest --record docs        rewrites what is recorded
    pytest --changed docs       leaves out what has passed and cannot have changed
"""

import importlib.metadata
import json
import os
import random
import sys
import traceback
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from proofread import census, prose
from proofread.census import Problem
from proofread.changed import Keys
from proofread.compare import difference
from proofread.pages import Program, programs
from proofread.record import Recorder
from proofread.run import LIMIT, Interpreter, Result, run

CACHE = "proofread/passed"
CLOCK = Path(sys.modules[run.__module__].__file__ or "")
INTERPRETER = pytest.StashKey[Interpreter]()


class EndedError(Exception):
    """A program tried to end the interpreter, or the test."""


# ---- Settings ----------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options and the settings."""
    group = parser.getgroup("proofread", "programs in Markdown pages")
    flag = {"action": "store_true", "default": False}
    group.addoption("--proofread", help="run them and compare what they print", **flag)
    group.addoption("--record", help="rewrite what the pages say they print", **flag)
    group.addoption(
        "--changed", help="leave out what passed and has not changed", **flag
    )
    group.addoption("--shuffle", type=int, metavar="SEED", help="in another order")
    group.addoption(
        "--compare",
        choices=["auto", "exact", "tokens"],
        default="auto",
        help="auto: exact in the reference environment, else token by token",
    )
    group.addoption("--results", type=Path, metavar="FILE", help="write JSON")
    parser.addini("proofread_kinds", "what a fence may say that is not run", "args")
    parser.addini("proofread_reference", "where outputs are exact", "linelist")
    parser.addini("proofread_limit", "seconds that a program may run", default="")
    parser.addini("proofread_width", "characters in a line of code", default="0")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what makes no sense, and keep the account of this run."""
    config.addinivalue_line("markers", "timeout(seconds): how long a program may run")
    if not wanted(config):
        return
    if config.option.record and "CI" in os.environ:
        raise pytest.UsageError(
            f"--record must not be used where CI is set; got CI={os.environ['CI']}."
        )
    if config.option.record and config.option.changed:
        raise pytest.UsageError("--record must not be combined with --changed.")
    config.stash[INTERPRETER] = Interpreter(config.rootpath)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Account(config), "proofread-account")


def wanted(config: pytest.Config) -> bool:
    """Say whether pages are to be read at all."""
    option = config.option
    return bool(option.proofread or option.record or option.changed)


def differs_from_reference(requirements: Sequence[str]) -> str:
    """Say what is not as in the reference environment; nothing, if all is."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate():
            return f"not {requirement.marker}"
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return f"no {requirement.name}"
        if not requirement.specifier.contains(version, prereleases=True):
            return f"{requirement.name} {version}, not {requirement.specifier}"
    return ""


def inexact(config: pytest.Config) -> str:
    """Say why outputs are compared token by token; nothing, if they are exactly."""
    if config.option.compare != "auto":
        return "as asked" if config.option.compare == "tokens" else ""
    return differs_from_reference(config.getini("proofread_reference"))


def fences(config: pytest.Config, text: str) -> list[Problem]:
    """Count the fences of a page by the settings of the project."""
    kinds = config.getini("proofread_kinds") or census.KINDS
    width = int(config.getini("proofread_width"))
    return census.problems(text, kinds=kinds, width=width)


# ---- Collection --------------------------------------------------------------------


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Read each Markdown page."""
    if wanted(parent.config) and file_path.suffix == ".md":
        return Page.from_parent(parent, path=file_path)
    return None


class Page(pytest.File):
    """A Markdown page: its programs, and whether all on it is accounted for."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for the fences, one for the prose, and one for each program."""
        text = self.path.read_text(encoding="utf-8")
        if not self.config.option.record:
            for name, find in (
                ("[fences]", lambda: fences(self.config, text)),
                ("[prose]", lambda: prose.problems(text)),
            ):
                yield Whole.from_parent(self, name=name, find=find)
        for program in programs(text):
            yield Run.from_parent(self, name=program.name, program=program)
        if self.config.option.record:
            for program in programs(text):
                name = f"{program.heading}[{program.number}-again]"
                yield Run.from_parent(self, name=name, program=program, again=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Order the programs, and leave out those that nothing can have changed."""
    if not wanted(config):
        return
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)  # noqa: S311
    # What runs again does so in another order.
    again = [item for item in items if isinstance(item, Run) and item.again]
    items[:] = [*(item for item in items if item not in {*again}), *again[::-1]]
    if config.option.changed:
        keys = Keys(
            config.rootpath, (inexact(config), config.getini("proofread_limit"))
        )
        passed = set(config.cache.get(CACHE, []))
        for item in items:
            if isinstance(item, Run):
                item.key = keys.of(item.program)
        same = [i for i in items if isinstance(i, Run) and i.key in passed]
        config.hook.pytest_deselected(items=same)
        items[:] = [item for item in items if item not in {*same}]


# ---- Tests -------------------------------------------------------------------------


class Whole(pytest.Item):
    """What must hold for a page as a whole, whatever its programs do."""

    def __init__(self, *, find: Callable[[], list[Problem]], **rest: Any) -> None:
        super().__init__(**rest)
        self.find = find

    def runtest(self) -> None:
        """Fail with file and line of whatever is wrong."""
        if found := self.find():
            place = self.path.relative_to(self.config.rootpath)
            lines = [f"{place}:{line}: {sentence}" for line, sentence in found]
            pytest.fail("\n".join(lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the test stands."""
        return self.path, 0, self.name


class Run(pytest.Item):
    """A program of a page."""

    def __init__(self, *, program: Program, again: bool = False, **rest: Any) -> None:
        super().__init__(**rest)
        self.program = program
        self.again = again
        self.key = ""
        for mark in program.marks:
            if "xfail" not in mark:
                self.add_marker(eval(mark, {"sys": sys, "pytest": pytest}))  # noqa: S307

    @property
    def where(self) -> str:
        """The place of the program, as an editor opens it."""
        return f"{self.path.relative_to(self.config.rootpath)}:{self.program.line}"

    def run(self) -> Result:
        """Run the program as in a fresh interpreter."""
        limit = float(self.config.getini("proofread_limit") or LIMIT)
        if mark := self.get_closest_marker("timeout"):
            limit = float(mark.args[0])
        return run(
            self.program.code,
            self.config.stash[INTERPRETER],
            page=str(self.path),
            line=self.program.line,
            limit=limit,
            threads=other_threads() if self.again else 0,
        )

    def runtest(self) -> None:
        """Run the program, and hold it to what is recorded of it."""
        result = self.run()
        self.user_properties.append(
            ("proofread", self.account(result)),
        )
        refuses = "pytest.mark.xfail" in self.program.marks
        if result.error is not None and not (refuses and is_usual(result.error)):
            if result.output:
                self.add_report_section("call", "stdout", result.output)
            raise as_failure(result.error)
        wrong = list(result.problems)
        if self.config.option.record:
            wrong += self.wavers(result)
        else:
            wrong += self.deviations(result)
        if wrong:
            lines = [f"{self.where}: {what}" for what in wrong]
            pytest.fail("\n".join(lines), pytrace=False)

    def account(self, result: Result) -> dict[str, Any]:
        """Return what others need to know of this run."""
        return {
            "page": str(self.path.relative_to(self.config.rootpath)),
            "line": self.program.line,
            "code": self.program.code,
            "output": result.output,
            "error": result.refusal,
            "again": self.again,
            "key": self.key,
        }

    def wavers(self, result: Result) -> Iterator[str]:
        """Run the program a second time and say what is not the same."""
        second = self.run()
        if wrong := difference(result.output, second.output, exact=True):
            yield f"two runs must print the same; they differ:\n{wrong}"
        if wrong := difference(result.refusal, second.refusal, exact=True):
            yield f"two runs must end the same; they differ:\n{wrong}"

    def deviations(self, result: Result) -> Iterator[str]:
        """Say what is not as recorded."""
        output, error = self.program.recorded
        exact = not inexact(self.config)
        if result.output and not output:
            printed = result.output.removesuffix("\n")
            yield f"the program prints, and no output is recorded:\n{printed}"
        elif wrong := difference(output, result.output, exact=exact):
            yield f"the program does not print what is recorded:\n{wrong}"
        if error and not result.refusal:
            yield f"the program must end in an error, and does not:\n- {error}"
        elif wrong := difference(f"{error}\n", f"{result.refusal}\n", exact=exact):
            yield f"the program does not end in the error that is recorded:\n{wrong}"

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return a traceback that begins in the page, or the sentences alone."""
        if isinstance(excinfo.value, pytest.fail.Exception):
            return super().repr_failure(excinfo, style)
        excinfo.traceback = excinfo.traceback.cut(path=self.path)
        if excinfo.traceback[0].path != self.path:  # it did not begin to run
            lines = traceback.format_exception_only(excinfo.value)
            return f"{self.where}\n{''.join(lines)}"
        # The clock that stops a program does not belong to it.
        excinfo.traceback = excinfo.traceback.filter(lambda entry: entry.path != CLOCK)
        chosen = style or self.config.getoption("tbstyle")
        return excinfo.getrepr(
            # The long style shows a module from the first line of its file.
            style="short" if chosen in ("auto", "long") else chosen
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the page, the line of the fence counted from 0, and the heading."""
        return self.path, self.program.line - 1, self.name


def is_usual(error: BaseException) -> bool:
    """Say whether this is an error like any other, and ends no test and no run."""
    ends = (unittest.SkipTest, pytest.exit.Exception)
    return isinstance(error, Exception) and not isinstance(error, ends)


def as_failure(error: BaseException) -> BaseException:
    """Return an error that fails this test, and neither skips it nor ends all."""
    if is_usual(error):
        return error
    sentence = f"{type(error).__name__}: {error}"
    return EndedError(sentence).with_traceback(error.__traceback__)


def other_threads() -> int:
    """Return another number of threads than PyTorch uses by itself."""
    torch = sys.modules.get("torch")
    return 0 if torch is None else 1 if torch.get_num_threads() > 1 else 2


# ---- The account of a run ----------------------------------------------------------


class Account:
    """Gathers what the tests report, wherever they ran, and sums it up."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.results: dict[str, dict[str, Any]] = {}
        self.skipped: list[str] = []
        self.recorder = Recorder(config.rootpath, lambda text: fences(config, text))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a program."""
        if report.skipped and isinstance(report.longrepr, tuple):
            if ".md::" in report.nodeid:
                self.skipped.append(f"{report.nodeid}: {report.longrepr[2]}")
        elif report.when == "call":
            account: Any = dict(report.user_properties).get("proofread")
            if account is not None:
                self.results[report.nodeid] = {**account, "outcome": report.outcome}
                self.recorder.add(account, passed=report.passed)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what is to be written."""
        option = self.config.option
        if option.record and not self.recorder.write():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if option.changed:
            passed = set(self.config.cache.get(CACHE, []))
            for result in self.results.values():
                if result["outcome"] == "passed":
                    passed.add(result["key"])
            self.config.cache.set(CACHE, sorted(passed))
        if option.results:
            text = json.dumps(self.results, indent=1, sort_keys=True)
            option.results.write_text(text + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many programs ran, how they were compared, and which did not."""
        write = terminalreporter.write_line
        for line in self.recorder.said:
            write(line)
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
