"""Find what a program has that the one before it on its page does not have.

A page often repeats a program with a few more lines. The comment

    <!--workshop:new-->

right above a fence of Python asks that the reader sees which ones they are.
"""

import difflib
import itertools
import re
from collections.abc import Iterator

from pytest_proofread.page.markdown import (
    Finding,
    Program,
    fences,
    lines_of,
    outside,
    programs,
)

NEW = "<!--workshop:new-->"
ALMOST = re.compile(r"<!-+ *workshop\b.*")


def new_lines(code: str, before: str) -> list[int]:
    """Return the lines of a program that another one does not have.

    Args:
        code: The program.
        before: The other one.

    Returns:
        The numbers of its lines, from 1; empty lines are never new, and a line that is
        only indented in another way is not.
    """
    ours, theirs = ([line.strip() for line in lines_of(one)] for one in (code, before))
    matcher = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
    return [
        at + 1
        for what, _, _, start, end in matcher.get_opcodes()
        if what in ("insert", "replace")
        for at in range(start, end)
        if ours[at]
    ]


def asking(text: str) -> Iterator[tuple[Program, Program | None]]:
    """Yield the programs under the comment, each with the one before it on the page."""
    lines = lines_of(text)
    for before, program in itertools.pairwise([None, *programs(text)]):
        if program and program.line > 1 and lines[program.line - 2].strip() == NEW:
            yield program, before


def shown(program: Program, before: Program | None) -> list[int]:
    """Return the new lines of a program.

    Raises:
        ValueError: If there is none.
    """
    if before is None:
        raise ValueError("a program with new lines must come after another one")
    if not (found := new_lines(program.code, before.code)):
        raise ValueError(
            "a program with new lines must have one that the program before it has not"
        )
    return found


def check_new_lines(text: str) -> Iterator[Finding]:
    """Find a comment that asks for new lines where there is none to show."""
    placed = set()
    for program, before in asking(text):
        placed.add(program.line - 1)
        try:
            shown(program, before)
        except ValueError as error:
            yield program.line - 1, str(error)
    for number, line in outside(text, fences(text)).items():
        comment = line.strip()
        if comment == NEW and number not in placed:
            yield number, f"{NEW} must stand right above a fence of Python"
        elif comment != NEW and ALMOST.match(comment):
            yield number, f"a comment to the workshop must be {NEW}; got {comment}"
