"""Compare a recorded output with a printed one: to the letter, or as a reader would."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from proofread.output import diff as listing
from proofread.output.tokens import Number, Token, Word, numbers, tokens
from proofread.output.tolerance import by_how_much, equal, shape

__all__ = ["Number", "Token", "Word", "difference", "numbers", "same", "tokens"]

_LISTED = 10

_Pair = tuple[Token, Token]


def same(recorded: str, printed: str, *, exact: bool) -> bool:
    """Tell whether an output is the recorded one.

    On the machine where it was recorded nothing else will do (`exact`). Another
    machine, or another version of a library, rounds the last digit otherwise and breaks
    lines elsewhere. There the words and the structure must be equal, and:

    - A number may be off by one unit of its last place: 0.1385 equals 0.1386, -0.0
      equals 0.0. In scientific notation the places can differ, and the coarser
      counts: `1.0000e+00` equals `1.0000`, `9.9990e-05` equals `0.0001`.
    - If one has more decimals, the other left out zeros, as Python and numpy do: it may
      be off by one unit of the finer place, or by a millionth of itself. So 0.3 equals
      0.30000000000000004 and 1.0 equals 0.9999999403953552, but 0.0 is not 0.04.
    - A number without decimals is exact: an integer, and also `1.` and `1e-05`, of
      which nothing was rounded away. So 1. equals 1.0000 but not 2., and a table of
      0. and 1. is held to each. An integer equals only an integer.
    - Two floats below 1e-6 are equal if each is zero or printed with decimals and an
      exponent, as 1.19e-07 and 5.96e-08: an error of zero looks like that after
      rounding. A threshold as `1e-12` does not.
    - `nan`, `inf` and `-inf` equal only themselves, and so does a string in quotes.
    - `np.float64(0.5)` is 0.5, as before numpy 2; the name in `grad_fn=<...>` may
      change.
    - Spaces and tabs count only where they separate; the end of a line counts, unless
      it stands in the brackets of a list, a tensor or an array.

    Args:
        recorded: The output as it stands in the page.
        printed: The output of now.
        exact: Whether every character counts.

    Returns:
        Whether they are the same.
    """
    if exact or recorded == printed:
        return recorded == printed
    left, right = tokens(recorded), tokens(printed)
    return len(left) == len(right) and all(map(equal, left, right))


class _Lines(NamedTuple):
    """Some lines of an output; a tensor is never cut."""

    text: str
    start: int
    tokens: list[Token]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def places(self, marked: Iterable[Token]) -> set[int]:
        """Return where in these lines the characters of some tokens stand."""
        starts = [(token.start - self.start, len(token.text)) for token in marked]
        return {place for start, size in starts for place in range(start, start + size)}


def difference(recorded: str, printed: str, *, exact: bool) -> str:
    """Say where an output is not the recorded one.

    Args:
        recorded: The output as it stands in the page.
        printed: The output of now.
        exact: As in `same`.

    Returns:
        Nothing if they are the same. Otherwise the lines that differ, `-` as recorded
        and `+` as printed, with a few around them and a mark under what differs; then a
        sentence for each number, and for the first word of lines that do not match.
    """
    if same(recorded, printed, exact=exact):
        return ""
    rows: list[listing.Row] = []
    pairs: list[_Pair] = []
    for before, after in _aligned(recorded, printed):
        found = [*_differing(before, after, exact=exact)]
        if found or (exact and before.text != after.text):
            one = before.text, before.places(pair[0] for pair in found)
            other = after.text, after.places(pair[1] for pair in found)
            rows += listing.changed(one, other, exact=exact)
        else:
            rows += listing.unchanged(before.text)
        pairs += found
    sentences = _sentences(pairs, recorded, printed)
    return "\n".join([*listing.listing(rows), *sentences])


def _aligned(recorded: str, printed: str) -> Iterator[tuple[_Lines, _Lines]]:
    """Pair the lines that have the same shape, and what stands between such lines."""
    left, right = (
        _cut(
            _Lines(text, 0, found),
            [token.start + 1 for token in found if token.text == "\n"],
        )
        for text, found in ((recorded, tokens(recorded)), (printed, tokens(printed)))
    )
    for before, after in _paired(left, right, shape):
        if [*map(shape, before.tokens)] == [*map(shape, after.tokens)]:
            yield before, after
        else:
            yield from _paired(_rows(before), _rows(after), attrgetter("text"))


def _paired(
    left: list[_Lines], right: list[_Lines], key: Callable[[Token], str]
) -> Iterator[tuple[_Lines, _Lines]]:
    """Pair the lines whose tokens have the same keys, and what stands between."""
    keys = [[tuple(map(key, one.tokens)) for one in lines] for lines in (left, right)]
    for kind, start, end, other_start, other_end in listing.opcodes(*keys):
        if kind == "equal":
            yield from zip(left[start:end], right[other_start:other_end], strict=True)
        else:
            yield _joined(left, start, end), _joined(right, other_start, other_end)


def _cut(whole: _Lines, ends: Iterable[int]) -> list[_Lines]:
    """Cut lines at some places. There is always a last piece, if only an empty one."""
    pieces: list[_Lines] = []
    start, first = whole.start, 0
    for end in (*ends, whole.end):
        last = bisect_left(whole.tokens, end, key=attrgetter("start"))
        text = whole.text[start - whole.start : end - whole.start]
        pieces.append(_Lines(text, start, whole.tokens[first:last]))
        start, first = end, last
    return pieces


def _rows(lines: _Lines) -> list[_Lines]:
    """Cut lines at every line end."""
    text = lines.text
    ends = [place + 1 for place, one in enumerate(text, lines.start) if one == "\n"]
    return _cut(lines, ends)


def _joined(lines: list[_Lines], start: int, end: int) -> _Lines:
    some = lines[start:end]
    first = lines[start].start if start < len(lines) else lines[-1].end
    text = "".join(one.text for one in some)
    return _Lines(text, first, [token for one in some for token in one.tokens])


def _differing(before: _Lines, after: _Lines, *, exact: bool) -> Iterator[_Pair]:
    """Yield the tokens that differ, up to the first that changes the structure."""
    if bool(before.tokens) is not bool(after.tokens):
        yield _row(before), _row(after)
        return
    # Where one side has no more tokens stands an empty word.
    left = [*before.tokens, Word("", before.end)]
    right = [*after.tokens, Word("", after.end)]
    for one, other in zip(left, right, strict=False):
        if one.text != other.text and (exact or not equal(one, other)):
            yield one, other
        if shape(one) != shape(other):
            return


def _row(lines: _Lines) -> Token:
    """Return the first row of some lines as one word, an empty one if there is none."""
    start = lines.tokens[0].start if lines.tokens else lines.end
    row = lines.text[start - lines.start :].partition("\n")[0].rstrip()
    return Word(row or ("\n" if lines.tokens else ""), start)


def _sentences(pairs: list[_Pair], recorded: str, printed: str) -> Iterator[str]:
    if not pairs:
        yield "only white space differs"
    found = (token.start for token in tokens(recorded) if isinstance(token, Number))
    order = {start: count for count, start in enumerate(found, 1)}
    for one, other in pairs[:_LISTED]:
        if isinstance(one, Number) and isinstance(other, Number):
            texts = f"recorded {one.text}, printed {other.text}"
            yield f"number {order[one.start]}: {texts}{by_how_much(one, other)}"
            continue
        line = recorded.count("\n", 0, one.start) + 1
        left, right = _name(one, recorded), _name(other, printed)
        yield f"line {line}: recorded {left}, printed {right}"
    if len(pairs) > _LISTED:
        yield f"and {len(pairs) - _LISTED} more"


def _name(token: Token, text: str) -> str:
    if not token.text:
        return "nothing" if token.start < len(text) else "no more"
    if token.text != "\n":
        return repr(token.text)
    is_empty = text[: token.start].endswith("\n") or not token.start
    return "an empty line" if is_empty else "the end of the line"
