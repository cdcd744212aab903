"""Find what a page shows and nobody checks: each fence is run, recorded or declared.

pytest-codeblocks runs a fence only if it says exactly `python`, and passes over any
other without a word; an output that it cannot place is never compared. So every fence
and every comment to a runner is accounted for here, and what this module reads is held
against what pytest-codeblocks reads.
"""

import ast
import datetime
import io
import itertools
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence

from pytest_codeblocks import extract_from_buffer

from pytest_proofread.page.markdown import (
    ERROR,
    FOREIGN,
    MARK,
    OUTPUT,
    REFUSES,
    TIMEOUT,
    Fence,
    Finding,
    Program,
    fences,
    lines_of,
    outside,
    programs,
    unindent,
)

KINDS = frozenset({"text", "console", "toml", "yaml", "json", "html", "bibtex"})

TALK = r"pytest|proofread|code-?\s?block|expect|output|skip|xfail|\bcont\b|raises"
MISS = re.compile(rf"<!-.*({TALK})|({TALK}).*->", re.IGNORECASE)
# These speak of numbers, and pytest_proofread.page.prose_lint looks at them.
NUMBERS = re.compile(r"<!--(=|given:).*?-->")
# What is included must hold no program: nobody would run it.
INCLUDE = re.compile(r'--8<-- "[\w/-]+\.(?:svg|html|md)"')
UNTIL = re.compile(r"(\S.*?)[;,]? until (\d{4}-\d{2}-\d{2})\.?")


def check_layout(text: str, found: Sequence[Fence]) -> Iterator[Finding]:
    """Find what looks like a fence and is none, and fences that nobody sees."""
    lines = outside(text, found)
    starts = {fence.line for fence in found}
    hidden = False
    for number in range(1, len(lines_of(text)) + 1):
        if number in starts and hidden:
            yield number, "a fence must be visible to the reader"
        line = lines.get(number, "")
        if re.match(r"\s*((>|[-*+]|\d+[.)])\s*)+(`{3,}|~{3,})", line):
            yield number, "a fence must stand on a line of its own"
        if "--8<--" in line and not re.search(INCLUDE, line):
            yield number, "an include must be a picture, or a part in HTML or Markdown"
        # A comment that does not end on its line hides what comes next.
        if "<!--" in line:
            hidden = "-->" not in line.rpartition("<!--")[2]
        elif "-->" in line:
            hidden = False
    for fence in found:
        if fence.end > len(lines_of(text)):
            yield fence.line, "a fence must be closed"


def check_kind(fence: Fence, kinds: Collection[str]) -> Iterator[Finding]:
    """Find a fence that is neither run nor of a kind that does not run."""
    if fence.marker[0] == "~":
        yield fence.line, "a fence must be of backticks"
    elif fence.info == "python":
        if fence.marker != "```":
            yield fence.line, "a fence of Python must have three backticks"
    elif fence.info not in kinds:
        yield fence.line, f"a fence must say python or {sorted(kinds)}, no more"
    marker = re.compile(rf"\s*{re.escape(fence.marker)}")
    for number, line in enumerate(lines_of(fence.code), fence.line + 1):
        if marker.match(line):
            yield number, "a line in a fence must not look like its end"


def check_code(program: Program, width: int) -> Iterator[Finding]:
    """Find what is not Python, what a page cannot show, what only seems recorded."""
    try:
        ast.parse(program.code)
    except SyntaxError as error:
        if program.error is None:
            line = program.line + (error.lineno or 0)
            yield line, "a fence of Python must be Python"
    for number, text in enumerate(lines_of(program.code), program.line + 1):
        if width and len(text) > width:
            yield number, f"a line of code must have at most {width} characters"
    if (REFUSES[4:-3] in program.marks) != (program.error is not None):
        yield program.line, f"{REFUSES} and a recorded error must come together"


def check_marks(program: Program, today: datetime.date) -> Iterator[Finding]:
    """Find skips that say not why, or not until when, or that have ended."""
    for mark in program.marks:
        if mark == REFUSES[4:-3] or TIMEOUT.fullmatch(mark):
            continue
        if not re.match(r"pytest\.mark\.skip(if)?\b", mark):
            yield program.line, f"a mark must be skip, skipif, xfail or timeout: {mark}"
            continue
        reason = skip_reason(mark)
        if (why := UNTIL.fullmatch(reason)) is None:
            yield (
                program.line,
                "a skip must say why and until when, as in "
                f'reason="needs a GPU; until 2031-05-07"; got reason={reason!r}',
            )
        elif why[2] < today.isoformat():
            yield program.line, f"a skip must not outlive its day: {reason}"


def skip_reason(mark: str) -> str:
    """Return the reason that a mark gives, or nothing."""
    try:
        call = ast.parse(mark, mode="eval").body
    except SyntaxError:
        return ""
    for keyword in call.keywords if isinstance(call, ast.Call) else []:
        if keyword.arg == "reason" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return ""


def check_comments(text: str, found: Sequence[Fence]) -> Iterator[Finding]:
    """Only a few comments speak to the runner, in one spelling, at one place."""
    lines = outside(text, found)
    fence_at = {fence.line: fence for fence in found}
    bound = {
        fence.line: program
        for program in programs(text)
        for fence in (program.output, program.error)
        if fence is not None
    }
    for number, line in lines.items():
        comment, below = line.strip(), next_line(lines, number)
        fence = fence_at.get(below)
        if MARK.fullmatch(comment):
            if fence is None or fence.info != "python":
                yield number, "a mark must stand above a fence of Python"
        elif comment in (OUTPUT, ERROR):
            what = "an output" if comment == OUTPUT else "an error"
            indent = line.partition("<")[0]
            if fence is None or fence.info != "text":
                yield number, f"what records {what} must be a fence of text"
            elif below not in bound:
                yield number, f"what records {what} must follow a fence of Python"
            elif not indent == fence.indent == bound[below].fence.indent:
                yield (
                    number,
                    f"a program and what records {what} must be indented alike",
                )
        elif MISS.search(NUMBERS.sub("", line)):
            yield number, f"a comment to the runner must be as {OUTPUT}"


def next_line(lines: Mapping[int, str], number: int) -> int:
    """Return the line below that is neither empty, a mark nor to another tool."""
    number += 1
    while not (text := lines.get(number, "end").strip()) or (
        MARK.fullmatch(text) or FOREIGN.fullmatch(text)
    ):
        number += 1
    return number


def check_orphans(text: str, found: Sequence[Fence]) -> Iterator[Finding]:
    """Find a text right under a program that looks like its output and is not."""
    lines = outside(text, found)
    recorded = {p.output.line for p in programs(text) if p.output is not None}
    for above, below in itertools.pairwise(found):
        between = range(above.end + 1, below.line)
        if (
            (above.info, below.info) == ("python", "text")
            and below.line not in recorded
            and not any(lines[number].strip() for number in between)
        ):
            yield below.line, "a text that looks like an output must be one"


# ---- What pytest-codeblocks would run ---------------------------------------------


def as_run(fence: Fence, lines: Sequence[str]) -> str:
    """Return what pytest-codeblocks has: it loses empty lines shorter than the indent.

    Args:
        fence: The block.
        lines: All lines of the page.
    """
    kept = (
        line
        for line in lines[fence.line : fence.end - 1]
        if line.strip() or len(line) >= len(fence.indent)
    )
    return "".join(unindent(line, fence.indent) + "\n" for line in kept)


def same_program(one: str, other: str) -> bool:
    """Say whether two texts are one program, whatever its empty lines."""
    if one == other:
        return True
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False


def check_runner(text: str) -> Iterator[Finding]:
    """Ask pytest-codeblocks what it would run, and compare with."""
    lines = lines_of(text)
    expected = [
        (p.line, as_run(p.fence, lines), as_run(p.output, lines) if p.output else None)
        for p in programs(text)
    ]
    for program in programs(text):
        if not same_program(program.code, as_run(program.fence, lines)):
            yield program.line, "the runner must run the program that the reader copies"
    try:
        with warnings.catch_warnings():  # of words that it no longer wants
            warnings.simplefilter("ignore")
            blocks = extract_from_buffer(io.StringIO(text))
    except RuntimeError as error:
        yield 1, f"the runner must be able to read the page; it says: {error}"
        return
    run = [
        (block.lineno, block.code, block.expected_output)
        for block in blocks
        if block.syntax in ("python", "sh", "bash")
    ]
    for block in {*run} ^ {*expected}:
        yield block[0], "the runner must see the block as the reader does"


# ---- All of it ---------------------------------------------------------------------


def check_fences(
    text: str,
    *,
    kinds: Collection[str] = KINDS,
    width: int = 0,
    today: datetime.date | None = None,
) -> list[Finding]:
    """List what is wrong with a page, by line.

    Args:
        text: The page.
        kinds: What a fence may say that does not run.
        width: The longest line of a program, in characters; 0 for any.
        today: The day on which skips are judged.
    """
    found = fences(text)
    today = today or datetime.date.today()
    wrong = [*check_layout(text, found)]
    for fence in found:
        wrong += check_kind(fence, kinds)
    for program in programs(text):
        wrong += [*check_code(program, width), *check_marks(program, today)]
    wrong += [*check_comments(text, found), *check_orphans(text, found)]
    wrong += check_runner(text)
    return sorted(set(wrong))
