"""Rewrite what pages say their programs print: `pytest --record`.

Programs may run in many processes; what they did is gathered here, in one, and here
the pages are written, each as a whole and only if every program on it held still: in
two orders, and in each environment that is named.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_proofread.output.compare import difference
from pytest_proofread.page import prose_lint
from pytest_proofread.page.markdown import (
    ERROR,
    OUTPUT,
    Fence,
    Finding,
    Program,
    as_fence,
    programs,
)

Account = dict[str, Any]
AGAIN = "in another order"
ADVICE = (
    "round what it prints to fewer digits (`:.3f`), or print what is the same each time"
)


class CannotRecordError(Exception):
    """A page that must be left as it is, and why."""


def put(
    lines: list[str], below: Fence, comment: str, old: Fence | None, text: str
) -> str:
    """Put an output into the lines of a page; say what was done."""
    if old is None:
        new = ["", below.indent + comment, "", as_fence("text", text, below.indent)]
        lines[below.end : below.end] = new
        return "added"
    if text:
        lines[old.line - 1 : old.end] = [as_fence("text", text, old.indent)]
        return "changed"
    # The comment and the empty lines around it go with what they announced.
    del lines[below.end : old.end]
    return "removed"


def rewrite(text: str, results: dict[int, Account]) -> tuple[str, list[str]]:
    """Return a page with these results, by line, and what is now other than it was."""
    lines = text.split("\n")
    changes: list[str] = []
    # From the bottom, so that the line numbers above stay true.
    for program in reversed(programs(text)):
        if (result := results.get(program.line)) is None:
            continue
        output, error = program.recorded
        above = program.output or program.fence
        parts = [
            ("error", above, ERROR, program.error, error, result["error"]),
            ("output", program.fence, OUTPUT, program.output, output, result["output"]),
        ]
        for what, below, comment, old, before, after in parts:
            if before != after:
                done = put(lines, below, comment, old, after)
                changed = difference(before, after, exact=True)
                changes.insert(0, f"{program.line}: {what} {done}\n{changed}")
    return "\n".join(lines), changes


def write(page: Path, text: str) -> None:
    """Replace a page in one step: whoever reads it sees the old one or the new one."""
    page = page.resolve()  # a link stays one
    newline = "\r\n" if b"\r\n" in page.read_bytes() else "\n"
    temporary = page.with_name(f".{page.name}.recording")
    try:
        temporary.write_text(text, encoding="utf-8", newline=newline)
        shutil.copymode(page, temporary)
        temporary.replace(page)
    finally:
        temporary.unlink(missing_ok=True)


class Recorder:
    """Gathers what programs print, and writes it to their pages.

    Args:
        root: The folder that pages are named from.
        check: Finds what is wrong with a page; one with a finding is not written.
        elsewhere: Runs pages in other environments, and gives what their programs did
            in each, by its name.
    """

    def __init__(
        self,
        root: Path,
        check: Callable[[str], Sequence[Finding]],
        elsewhere: Callable[[Sequence[Path]], Mapping[str, Sequence[Account]]],
    ) -> None:
        self.root = root
        self.check = check
        self.elsewhere = elsewhere
        self.runs: dict[str, dict[int, list[Account]]] = {}
        self.failed: set[str] = set()
        self.said: list[str] = []

    def add(self, account: Account, *, passed: bool) -> None:
        """Take note of a run."""
        runs = self.runs.setdefault(account["page"], {})
        runs.setdefault(account["line"], []).append(account)
        if not passed:
            self.failed.add(account["page"])

    def write(self) -> bool:
        """Write the pages whose programs held still; say whether all did."""
        kept = True
        others = self.run_elsewhere()
        for page, runs in sorted(self.runs.items()):
            there = {name: found.get(page, {}) for name, found in others.items()}
            try:
                self.said += self.write_page(page, runs, there)
            except CannotRecordError as error:
                self.said.append(f"{page}: left as it was: {error}")
                kept = False
        return kept

    def run_elsewhere(self) -> dict[str, dict[str, dict[int, Account]]]:
        """Run the pages in other environments.

        A page on which a program fails is left out: it is not written anyway.

        Returns:
            What was done in each, by page and line.
        """
        pages = [self.root / page for page in sorted(self.runs.keys() - self.failed)]
        results: dict[str, dict[str, dict[int, Account]]] = {}
        for name, accounts in self.elsewhere(pages).items() if pages else ():
            found = results.setdefault(name, {})
            for account in accounts:
                found.setdefault(account["page"], {})[account["line"]] = account
        return results

    def write_page(
        self,
        page: str,
        runs: dict[int, list[Account]],
        elsewhere: dict[str, dict[int, Account]],
    ) -> list[str]:
        """Write a page, and return what is now other than it was."""
        if page in self.failed:
            raise CannotRecordError("a program on it fails.")
        text = (self.root / page).read_text(encoding="utf-8")
        code = {program.line: program.code for program in programs(text)}
        for line, accounts in sorted(runs.items()):
            if any(account["code"] != code.get(line) for account in accounts):
                raise CannotRecordError("it changed while its programs ran.")
            check_steady(line, accounts)
            for name, there in elsewhere.items():
                if line not in there:
                    raise CannotRecordError(
                        f"line {line}: the program must run {name}, too."
                    )
                check_same(line, name, accounts[0], there[line])
        results = {line: accounts[0] for line, accounts in runs.items()}
        new, changes = rewrite(text, results)
        check_read_back(new, [results.get(line) for line in code])
        if found := self.check(new):
            line, sentence = found[0]
            raise CannotRecordError(f"line {line}: {sentence}.")
        try:
            computed = prose_lint.compute(new)
        except ValueError as error:
            raise CannotRecordError(str(error)) from error
        if computed != new:
            shown = difference(new, computed, exact=True)
            changes.append(f" numbers in the prose computed anew\n{shown}")
        if computed != text:
            write(self.root / page, computed)
        return [f"{page}:{change}" for change in changes]


def check_steady(line: int, accounts: Sequence[Account]) -> None:
    """Refuse a program that ran but once, or not always the same."""
    if {account["again"] for account in accounts} != {False, True}:
        raise CannotRecordError(f"line {line}: the program must run a second time.")
    for other in accounts[1:]:
        check_same(line, AGAIN, accounts[0], other)


def check_same(line: int, name: str, first: Account, other: Account) -> None:
    """Refuse a program that does something else when it runs another time."""
    for part in ("output", "error"):
        if wrong := difference(first[part], other[part], exact=True):
            raise CannotRecordError(
                f"line {line}: the program prints something else {name}; "
                f"{ADVICE}:\n{wrong}"
            )


def check_read_back(text: str, results: Sequence[Account | None]) -> None:
    """Refuse an output that a page cannot hold."""
    # As it will be when it is read from its file.
    read = text.replace("\r\n", "\n").replace("\r", "\n")
    for program, result in zip(programs(read), results, strict=True):
        if result is not None:
            check_part(program, "output", program.recorded[0], result)
            check_part(program, "error", program.recorded[1], result)


def check_part(program: Program, part: str, recorded: str, result: Account) -> None:
    """Refuse it in one sentence."""
    if recorded != result[part]:
        raise CannotRecordError(
            f"line {result['line']}: {part} must be whole lines of plain text; "
            f"got {part}={result[part]!r}."
        )
