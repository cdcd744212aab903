"""The tests that a page is made of: itself, and each of its programs."""

import os
import sys
import traceback
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proofread.output.compare import difference
from proofread.page.markdown import Finding, Program, programs
from proofread.page.prose_lint import check_prose
from proofread.pytest_plugin.settings import fences, inexact
from proofread.run import sandbox
from proofread.run.isolation import Interpreter
from proofread.run.worker import LIMIT, Result, run

CLOCK = Path(sandbox.__file__)
INTERPRETER = pytest.StashKey[Interpreter]()


class EndedError(Exception):
    """A program tried to end the interpreter, or the test."""


class Page(pytest.File):
    """A Markdown page: its programs, and whether all on it is accounted for."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for the fences, one for the prose, and one for each program."""
        text = self.path.read_text(encoding="utf-8")
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
        self.key = ""
        for mark in program.marks:
            if "xfail" not in mark:
                self.add_marker(eval(mark, {"sys": sys, "pytest": pytest}))  # noqa: S307

    @property
    def where(self) -> str:
        """The place of the program, as an editor opens it."""
        return f"{shown(self)}:{self.program.line}"

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
            "page": shown(self),
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
