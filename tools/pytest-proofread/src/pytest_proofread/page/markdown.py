"""Read a Markdown page: its fences, its programs, and what is recorded of each.

A page is read twice, here and by pytest-codeblocks; `pytest_proofread.page.lint` holds
the two readings against each other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify, unique

OUTPUT = "<!--pytest-codeblocks:expected-output-->"
ERROR = "<!--proofread:error-->"
REFUSES = "<!--pytest.mark.xfail-->"
MARK = re.compile(r"<!--(pytest\.mark\.\w+(?:\(.*\))?)-->")
# What a fence is marked with that may run for so many seconds.
TIMEOUT = re.compile(r"pytest\.mark\.timeout\(((?!0*\.?0*\))\d+(?:\.\d+)?)\)")
# A comment to another tool, which may stand between these and the program.
FOREIGN = re.compile(r"<!--(?!pytest|proofread)[\w-]+:[\w-]+-->")
# What is wrong on a page: the line, and a sentence.
Finding = tuple[int, str]
HEADING = re.compile(r"#{1,6} +(.+?)(?: *\{ *(?:#(\S+))?.*\})? *#* *$")


class Fence(NamedTuple):
    """A fenced block, as CommonMark reads it; lines count from 1."""

    line: int
    end: int
    indent: str
    marker: str
    info: str
    code: str


@dataclass(frozen=True)
class Program:
    """A fence of Python, and the outputs that belong to it."""

    fence: Fence
    heading: str
    number: int
    marks: tuple[str, ...]
    output: Fence | None
    error: Fence | None

    @property
    def name(self) -> str:
        """The heading above, and which of its programs this is, from the second on."""
        return self.heading + (f"[{self.number}]" if self.number > 1 else "")

    @property
    def line(self) -> int:
        """The line of the opening fence."""
        return self.fence.line

    @property
    def code(self) -> str:
        """The program, without the indentation of its fence."""
        return self.fence.code

    @property
    def recorded(self) -> tuple[str, str]:
        """What it must print, and with which error it must end; empty for none."""
        output = self.output.code if self.output else ""
        error = self.error.code.removesuffix("\n") if self.error else ""
        return output, error


def pages(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the Markdown files that paths name or hold."""
    for path in paths:
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path]


def lines_of(text: str) -> list[str]:
    """Return the lines of a page, which end nowhere but where the reader's do."""
    return text.removesuffix("\n").split("\n")


def closing_line(lines: Sequence[str], start: int, marker: str) -> int | None:
    """Return the index of the line that closes a fence, if there is one."""
    closing = re.compile(rf"[ \t]*{marker[0]}{{{len(marker)},}}[ \t]*$")
    rest = range(start, len(lines))
    return next((i for i in rest if closing.match(lines[i])), None)


def unindent(line: str, indent: str) -> str:
    """Take away at most as much white space as indent is long."""
    own = len(line) - len(line.lstrip(" \t"))
    return line[min(own, len(indent)) :]


# A page is read by several checks.
@lru_cache(maxsize=32)
def fences(text: str) -> tuple[Fence, ...]:
    """Return the fences of a page; one that is never closed ends with the page."""
    found = []
    lines = lines_of(text)
    at = 0
    while at < len(lines):
        opening = re.match(r"([ \t]*)(`{3,}|~{3,})(.*)$", lines[at])
        at += 1
        # Backticks behind the opening ones make it code in a sentence.
        if opening is None or (opening[2][0] == "`" and "`" in opening[3]):
            continue
        indent, marker, info = opening.groups()
        closing = closing_line(lines, at, marker)
        end = len(lines) if closing is None else closing
        code = "".join(unindent(line, indent) + "\n" for line in lines[at:end])
        found.append(Fence(at, end + 1, indent, marker, info, code))
        at = end + 1
    return tuple(found)


def outside(text: str, found: Sequence[Fence]) -> dict[int, str]:
    """Return the lines of a page that stand in no fence, by number."""
    inside = {n for fence in found for n in range(fence.line, fence.end + 1)}
    lines = enumerate(lines_of(text), 1)
    return {number: line for number, line in lines if number not in inside}


def headings(lines: dict[int, str]) -> dict[int, str]:
    """Return the anchor of each heading, as Python-Markdown makes it, by line."""
    taken: set[str] = set()
    found = {}
    for number, line in lines.items():
        if title := HEADING.match(line):
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[*`]", r"\1", title[1])
            found[number] = title[2] or unique(slugify(plain, "-"), taken)
            taken.add(found[number])
    return found


@lru_cache(maxsize=32)
def programs(text: str) -> tuple[Program, ...]:
    """Return the programs of a page in their order."""
    found = fences(text)
    lines = outside(text, found)
    titles = headings(lines)
    following = {fence.line: fence for fence in found}

    def below(line: int, comment: str) -> Fence | None:
        """Return the fence under this comment, if it is what comes next."""
        while lines.get(line := line + 1, "-").strip() == "":
            pass
        if lines.get(line, "").strip() != comment:
            return None
        while lines.get(line := line + 1, "-").strip() == "":
            pass
        return following.get(line)

    def marks_above(line: int) -> tuple[str, ...]:
        marks: list[str] = []
        while (above := lines.get(line := line - 1)) is not None:
            if mark := MARK.fullmatch(above.strip()):
                marks.insert(0, mark[1])
            elif above.strip() and not FOREIGN.fullmatch(above.strip()):
                break
        return tuple(marks)

    result: list[Program] = []
    for fence in (fence for fence in found if fence.info == "python"):
        heading = next((titles[n] for n in [*titles][::-1] if n < fence.line), "top")
        number = 1 + sum(program.heading == heading for program in result)
        output = below(fence.end, OUTPUT)
        error = below(output.end if output else fence.end, ERROR)
        marks = marks_above(fence.line)
        result.append(Program(fence, heading, number, marks, output, error))
    return tuple(result)


def last(program: Program) -> Fence:
    """Return the last of the fences that belong to a program."""
    return program.error or program.output or program.fence


def skipped(program: Program) -> bool:
    """Say whether a program may not run everywhere."""
    return any(mark.startswith("pytest.mark.skip") for mark in program.marks)


def as_fence(kind: str, text: str, indent: str = "") -> str:
    """Write text as a fence, longer than any line of it that looks like one."""
    inner = re.findall(r"^[ \t]*(`{3,})", text, re.MULTILINE)
    ticks = "`" * max([3, *(len(run) + 1 for run in inner)])
    lines = (f"{ticks}{kind}", *text.removesuffix("\n").split("\n"), ticks)
    # An empty line is indented too: pytest-codeblocks loses one that is not.
    return "\n".join(indent + line for line in lines)
