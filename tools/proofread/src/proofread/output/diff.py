"""List the lines in which two texts differ, with marks under the characters."""

import difflib
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import NamedTuple

_AROUND = 3
_AT_MOST = 80
_QUADRATIC = 1_000_000


class Row(NamedTuple):
    """A row of a listing: ` `, `-`, `+` or `?`, and what stands behind it."""

    sign: str
    text: str


class _Line(NamedTuple):
    text: str
    marks: list[bool]


def opcodes(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> list[tuple[str, int, int, int, int]]:
    """Align two sequences as difflib does, and in time if they are long."""
    quick = len(before) * len(after) > _QUADRATIC
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=quick)
    return [*matcher.get_opcodes()]


def unchanged(text: str) -> list[Row]:
    """List the lines of a text of which nothing needs to be said."""
    return [Row(" ", _visible(line)[0]) for line in _lines(text, ())]


def changed(
    before: tuple[str, Collection[int]],
    after: tuple[str, Collection[int]],
    *,
    exact: bool,
) -> Iterator[Row]:
    """List two texts that differ, line by line if they have as many.

    Args:
        before: A text, and where in it the characters to be marked are.
        after: Another.
        exact: Whether a line without a mark is listed twice if it differs.

    Yields:
        The rows. In lines without any mark white space is made visible.
    """
    left, right = _lines(*before), _lines(*after)
    if len(left) == len(right):
        for one, other in zip(left, right, strict=True):
            marked = any(one.marks + other.marks)
            if marked or (exact and one.text != other.text):
                yield from _rows("-", one, dots=not marked)
                yield from _rows("+", other, dots=not marked)
            else:
                yield Row(" ", _visible(one)[0])
        return
    dots = not before[1] and not after[1]
    texts = [line.text for line in left], [line.text for line in right]
    for kind, start, end, other_start, other_end in opcodes(*texts):
        if kind == "equal":
            yield from (Row(" ", _visible(line)[0]) for line in left[start:end])
            continue
        for line in left[start:end]:
            yield from _rows("-", line, dots=dots)
        for line in right[other_start:other_end]:
            yield from _rows("+", line, dots=dots)


def listing(rows: Sequence[Row]) -> list[str]:
    """Write the rows that differ, with a few around them."""
    near = {
        index
        for changed, row in enumerate(rows)
        if row.sign != " "
        for index in range(changed - _AROUND, changed + _AROUND + 1)
    }
    written: list[str] = []
    line = 1
    for index, (sign, text) in enumerate(rows):
        if index in near:
            if index and index - 1 not in near:
                written.append(f"@@ line {line} @@")
            written.append(f"{sign} {text}".rstrip())
        line += sign in " -"
    more = len(written) - _AT_MOST
    return [*written[:_AT_MOST], f"... and {more} more"] if more > 0 else written


def _lines(text: str, marks: Collection[int]) -> list[_Line]:
    """Split a text after each line end, and its marks with it."""
    lines: list[_Line] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        places = range(start, end)
        lines.append(_Line(text[start:end], [place in marks for place in places]))
        start = end
    return lines


def _rows(sign: str, line: _Line, *, dots: bool) -> Iterator[Row]:
    text, carets = _visible(line, dots=dots)
    if not line.text.endswith("\n"):
        text += "<no line end>"
    yield Row(sign, text)
    if carets.strip():
        yield Row("?", carets)


def _visible(line: _Line, *, dots: bool = False) -> tuple[str, str]:
    """Write a line without its end so that a terminal shows it, and the marks."""
    text = carets = ""
    for character, mark in zip(line.text.removesuffix("\n"), line.marks, strict=False):
        shown = character if character.isprintable() else repr(character)[1:-1]
        text += "·" if dots and shown == " " else shown
        carets += ("^" if mark else " ") * len(shown)
    return text, carets
