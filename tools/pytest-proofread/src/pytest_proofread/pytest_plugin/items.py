"""The tests that a page is made of: itself, and each of its programs."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_proofread.output.compare import difference
from pytest_proofread.page.markdown import Finding, Program, programs
from pytest_proofread.page.prose_lint import check_prose
from pytest_proofread.pytest_plugin.lookahead import Lookahead
from pytest_proofread.pytest_plugin.marks import MarkError, read_mark
from pytest_proofread.pytest_plugin.settings import fences, inexact, number
from pytest_proofread.runner import DEFAULT_LIMIT, OUTPUT_LIMIT, Job, Result

WORKER = pytest.StashKey[Lookahead]()
FOLLOWING = pytest.StashKey[Job | None]()
WATCH = pytest.StashKey[str]()


class Page(pytest.File):
    """A Markdown page: its programs, and whether all on it is accounted for."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for the fences, one for the prose, and one for each program."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            line = self.path.read_bytes().count(b"\n", 0, error.start) + 1
            wrong = [(line, "a page must be UTF-8; a byte of this line is not.")]
            yield Whole.from_parent(self, name="[text]", find=lambda: wrong)
            return
        if not self.config.option.record:
            for name, find in (
                ("[fences]", lambda: fences(self.config, text)),
                ("[prose]", lambda: check_prose(text)),
            ):
                yield Whole.from_parent(self, name=name, find=find)
        for program in programs(text):
            yield Run.from_parent(self, name=program.name, program=program)
        if self.config.option.record:
            for program in programs(text):
                name = f"{program.heading}[{program.number}-again]"
                yield Run.from_parent(self, name=name, program=program, again=True)


def shown(item: pytest.Item) -> str:
    """Return the path of a page as it is shown: from the folder of the project."""
    return os.path.relpath(item.path, item.config.rootpath)


class Whole(pytest.Item):
    """What must hold for a page as a whole, whatever its programs do."""

    def __init__(self, *, find: Callable[[], list[Finding]], **rest: Any) -> None:
        super().__init__(**rest)
        self.find = find

    def runtest(self) -> None:
        """Fail with file and line of whatever is wrong."""
        if found := self.find():
            place = shown(self)
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
        self.unread: list[str] = []
        for text in program.marks:
            try:
                mark = read_mark(text)
            except MarkError as error:
                self.unread.append(str(error))
                continue
            if mark is not None:
                self.add_marker(mark)

    @property
    def where(self) -> str:
        """The place of the program, as an editor opens it."""
        return f"{shown(self)}:{self.program.line}"

    @property
    def job(self) -> Job:
        """The program, as a worker is asked to run it."""
        limit = number(self.config, "proofread_limit", DEFAULT_LIMIT)
        most = number(self.config, "proofread_output_limit", OUTPUT_LIMIT)
        if mark := self.get_closest_marker("timeout"):
            limit = float(mark.args[0])
        return Job(
            self.program.code,
            str(self.path),
            self.program.line,
            limit,
            int(most),
            self.config.stash[WATCH],
        )

    @property
    def may_begin_ahead(self) -> bool:
        """Whether it is certain that the program will run."""
        marks = ("skip", "skipif")
        skipped = any(self.get_closest_marker(mark) for mark in marks)
        return not (self.unread or skipped)

    def run(self) -> Result:
        """Run the program in a process of its own, and let the next one begin."""
        following = self.config.stash.get(FOLLOWING, None)
        return self.config.stash[WORKER].run(self.job, following)

    def runtest(self) -> None:
        """Run the program, and hold it to what is recorded of it."""
        if self.unread:
            pytest.fail(f"{self.where}: {' '.join(self.unread)}", pytrace=False)
        result = self.run()
        self.user_properties.append(("proofread", self.account(result)))
        refuses = "pytest.mark.xfail" in self.program.marks
        wrong = list(result.problems)
        if not result.finished or (result.error and not refuses):
            if result.output:
                self.add_report_section("call", "stdout", result.output)
            if result.error:
                trace = result.traceback.replace(str(self.path), shown(self))
                wrong.append(f"the program ends in an error:\n{trace.rstrip()}")
        elif self.config.option.record:
            wrong += self.changes_between_runs(result)
        else:
            wrong += self.differences_from_recorded(result)
        if wrong:
            lines = [f"{self.where}: {what}" for what in wrong]
            pytest.fail("\n".join(lines), pytrace=False)

    def account(self, result: Result) -> dict[str, Any]:
        """Return what others need to know of this run."""
        return {
            "page": shown(self),
            "line": self.program.line,
            "code": self.program.code,
            "output": result.output,
            "error": result.error,
            "seen": result.seen,
            "again": self.again,
        }

    def changes_between_runs(self, result: Result) -> Iterator[str]:
        """Run the program a second time and say what is not the same."""
        second = self.run()
        if wrong := difference(result.output, second.output, exact=True):
            yield f"two runs must print the same; they differ:\n{wrong}"
        if wrong := difference(result.error, second.error, exact=True):
            yield f"two runs must end the same; they differ:\n{wrong}"

    def differences_from_recorded(self, result: Result) -> Iterator[str]:
        """Say what is not as recorded."""
        output, error = self.program.recorded
        exact = not inexact(self.config)
        if result.output and not output:
            printed = result.output.removesuffix("\n")
            yield f"the program prints, and no output is recorded:\n{printed}"
        elif wrong := difference(output, result.output, exact=exact):
            yield f"the program does not print what is recorded:\n{wrong}"
        if error and not result.error:
            yield f"the program must end in an error, and does not:\n- {error}"
        elif wrong := difference(f"{error}\n", f"{result.error}\n", exact=exact):
            yield f"the program does not end in the error that is recorded:\n{wrong}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the page, the line of the fence counted from 0, and the heading."""
        return self.path, self.program.line - 1, self.name
