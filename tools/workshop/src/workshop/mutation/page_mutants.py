"""Break a page on purpose, in each way in which one could come to lie, one at a time.

What checks the pages must catch every one of these mutants; `workshop.mutation.pages`
says whether it does. Where there is a choice it falls the same way each time.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise
from typing import NamedTuple

from pytest_proofread.page.markdown import ERROR, OUTPUT, Fence, Program, programs
from pytest_proofread.page.prose_numbers import Prose

FENCES: Sequence[tuple[str, str]] = (
    ("```py", "```"),
    ("```Python", "```"),
    ('```python title="x"', "```"),
    ("~~~python", "~~~"),
    ("``` python", "```"),
    ("```python3", "```"),
    ("````python", "````"),
    ("```", "```"),
)
# What may become of a comment: each is a slip that a writer can make.
SLIPS: Sequence[Callable[[str], str]] = (
    lambda comment: comment.replace("<!--", "<!-- ").replace("-->", " -->"),
    lambda comment: comment.replace(":", ": "),
    lambda comment: comment.replace("-", "_"),
    lambda comment: comment.replace("-->", "s-->"),
    lambda comment: comment.upper(),
    lambda comment: comment.replace("<!--", "<!-"),
    lambda comment: re.sub("--.*:", "--", comment),
)


class Mutant(NamedTuple):
    """A page that is wrong in one place.

    Attributes:
        kind: What was done to it, in words.
        line: Where in the page, as it was.
        text: The page.
    """

    kind: str
    line: int
    text: str


def mutants(text: str) -> Iterator[Mutant]:
    """Break a page in all ways.

    Args:
        text: A page in Markdown, on which nothing is wrong.

    Yields:
        A page that no reader should get to see, for each place and each way.
    """
    turn = count()
    found = programs(text)
    lines = text.splitlines(keepends=True)
    for program in found:
        yield _fence(lines, program.fence, next(turn))
        for record, comment in ((program.output, OUTPUT), (program.error, ERROR)):
            if record is not None:
                yield from _record(lines, record)
                yield from _comment(lines, record, comment, next(turn))
        if program.error is not None:
            yield from _error(lines, program.error)
    yield from _swapped(lines, found)
    yield from _numbers(text)


# ---- What all of them need ---------------------------------------------------------


def _replaced(lines: Sequence[str], start: int, end: int, new: str) -> str:
    return "".join([*lines[:start], new, *lines[end:]])


def _flipped(text: str, at: int) -> str:
    """Put another digit in the place of one."""
    digit = (int(text[at]) + 1 + at % 9) % 10
    return f"{text[:at]}{digit}{text[at + 1 :]}"


def _digits(text: str) -> list[int]:
    return [match.start() for match in re.finditer("[0-9]", text)]


def _one_of(places: Sequence[int], text: str) -> int:
    """Choose a place: not always the first, and always the same for a text."""
    return places[zlib.crc32(text.encode()) % len(places)]


# ---- What is recorded --------------------------------------------------------------


def _record(lines: Sequence[str], record: Fence) -> Iterator[Mutant]:
    """Change what a page says that a program prints."""
    start, end = record.line, record.end - 1
    body = "".join(lines[start:end])
    if digits := _digits(body):
        wrong = _replaced(lines, start, end, _flipped(body, digits[-1]))
        yield Mutant("the last digit of an output", record.line, wrong)
    if digits[:-1]:
        wrong = _replaced(lines, start, end, _flipped(body, _one_of(digits[:-1], body)))
        yield Mutant("a digit of an output", record.line, wrong)
    if body:
        at = _one_of(range(start, end), body)
        wrong = _replaced(lines, at, at + 1, "")
        yield Mutant("a line of an output left out", record.line, wrong)


def _error(lines: Sequence[str], record: Fence) -> Iterator[Mutant]:
    """Change what a page says that a program ends with."""
    start, end = record.line, record.end - 1
    body = "".join(lines[start:end])
    if letters := [match.start() for match in re.finditer("[A-Za-z]", body)]:
        at = _one_of(letters, body)
        new = body[:at] + body[at].swapcase() + body[at + 1 :]
        wrong = _replaced(lines, start, end, new)
        yield Mutant("a letter of an error", record.line, wrong)


def _comment(
    lines: Sequence[str], record: Fence, comment: str, turn: int
) -> Iterator[Mutant]:
    """Take away what ties an output to its program, or the output too."""
    above = range(record.line - 2, -1, -1)
    at = next(index for index in above if lines[index].strip() == comment)
    slip = SLIPS[turn % len(SLIPS)]
    typed = lines[at].replace(comment, slip(comment))
    wrong = _replaced(lines, at, at + 1, typed)
    yield Mutant("a comment above an output mistyped", at + 1, wrong)
    wrong = _replaced(lines, at, at + 1, "")
    yield Mutant("a comment above an output left out", at + 1, wrong)
    wrong = _replaced(lines, at, record.end, "")
    yield Mutant("an output left out", at + 1, wrong)


def _swapped(lines: Sequence[str], found: Sequence[Program]) -> Iterator[Mutant]:
    """Let neighbouring outputs change places."""
    outputs = [program.output for program in found if program.output is not None]
    for one, other in pairwise(outputs):
        if one.code != other.code:
            upper, lower = (
                lines[one.line : one.end - 1],
                lines[other.line : other.end - 1],
            )
            between = lines[one.end - 1 : other.line]
            new = "".join([*lower, *between, *upper])
            wrong = _replaced(lines, one.line, other.end - 1, new)
            yield Mutant("two outputs swapped", one.line, wrong)


# ---- What is run, and what the prose says ------------------------------------------


def _fence(lines: Sequence[str], fence: Fence, turn: int) -> Mutant:
    """Mistype the fence of a program."""
    opening, closing = (
        f"{fence.indent}{tick}\n" for tick in FENCES[turn % len(FENCES)]
    )
    new = "".join([opening, *lines[fence.line : fence.end - 1], closing])
    wrong = _replaced(lines, fence.line - 1, fence.end, new)
    return Mutant("a fence of a program mistyped", fence.line, wrong)


def _numbers(text: str) -> Iterator[Mutant]:
    """Change a digit of each number in the prose that is computed."""
    for number in Prose(text).numbers():
        shown = text[number.start : number.end]
        if digits := _digits(shown):
            new = _flipped(shown, _one_of(digits, shown))
            wrong = text[: number.start] + new + text[number.end :]
            yield Mutant("a computed number in the prose", number.line, wrong)
