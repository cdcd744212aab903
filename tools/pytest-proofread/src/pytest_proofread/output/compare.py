"""Compare a recorded output with a printed one: to the letter, or as a reader would."""

import difflib
from collections.abc import Iterator, Sequence

from pytest_proofread.output.tokens import Number, Token, tokens
from pytest_proofread.output.tolerance import distance, equal, shape

# How many lines and sentences say how two outputs differ.
_MOST_LINES = 80
_MOST_NUMBERS = 10


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


def difference(recorded: str, printed: str, *, exact: bool) -> str:
    """Say where an output is not the recorded one.

    Args:
        recorded: The output as it stands in the page.
        printed: The output of now.
        exact: As in `same`.

    Returns:
        Nothing if they are the same. Otherwise a unified diff, in which a number that
        is near enough is spelled as it is recorded, and a sentence for each number that
        is not, unless words have changed too.
    """
    if same(recorded, printed, exact=exact):
        return ""
    left, right = tokens(recorded), tokens(printed)
    spelled = printed if exact else _as_recorded(recorded, printed)
    rows = _diff(recorded, spelled, blanks=recorded.split() == printed.split())
    sentences = [*_sentences(left, right, exact=exact)]
    return "\n".join(
        [*_cut(rows, _MOST_LINES, "... "), *_cut(sentences, _MOST_NUMBERS, "")]
    )


def _as_recorded(recorded: str, printed: str) -> str:
    """Spell and space an output as recorded, wherever the two mean the same.

    Lines of the same structure are paired; a tensor is one line, however it is broken.
    """
    left, right = _lines(recorded), _lines(printed)
    shapes, others = (
        [tuple(shape(token) for _, token in line) for line in lines]
        for lines in (left, right)
    )
    # In a long output difflib passes over lines that stand there often.
    blocks = (
        [(0, 0, len(left))]
        if shapes == others
        else difflib.SequenceMatcher(None, shapes, others).get_matching_blocks()
    )
    for start, other_start, size in blocks:
        for step in range(size):
            pairs = zip(left[start + step], right[other_start + step], strict=True)
            right[other_start + step] = [
                (space, one if equal(one, other) else other)
                for (space, one), (_, other) in pairs
            ]
    return "".join(space + token.text for line in right for space, token in line)


def _lines(text: str) -> list[list[tuple[str, Token]]]:
    """Cut an output behind each line end that counts; give the space before tokens."""
    lines: list[list[tuple[str, Token]]] = [[]]
    end = 0
    for token in tokens(text):
        lines[-1].append((text[end : token.start], token))
        end = token.start + len(token.text)
        if token.text == "\n":
            lines.append([])
    return lines


def _diff(recorded: str, printed: str, *, blanks: bool) -> list[str]:
    """List the lines that differ in the format of `diff -u`.

    Args:
        recorded: A text.
        printed: Another.
        blanks: Whether to show spaces, because nothing else differs.
    """
    before, after = _visible(recorded, blanks), _visible(printed, blanks)
    rows = [*difflib.unified_diff(before, after, "recorded", "printed", lineterm="")]
    return [*rows, "only white space differs"] if blanks else rows


def _visible(text: str, blanks: bool) -> list[str]:
    """Split a text into lines on which a terminal shows all that may differ."""
    text = text.replace(" ", "·") if blanks else text
    *lines, rest = (
        "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)
        for line in text.split("\n")
    )
    return [*lines, f"{rest}<no line end>"] if rest else lines


def _sentences(
    left: Sequence[Token], right: Sequence[Token], *, exact: bool
) -> Iterator[str]:
    """Say which numbers differ, if nothing but numbers does."""
    if [*map(shape, left)] != [*map(shape, right)]:
        return
    pairs = zip(left, right, strict=True)
    count = 0
    for one, other in pairs:
        if isinstance(one, Number) and isinstance(other, Number):
            count += 1
            if one.text != other.text and (exact or not equal(one, other)):
                texts = f"recorded {one.text}, printed {other.text}"
                yield f"number {count}: {texts}{distance(one, other)}"


def _cut(lines: Sequence[str], most: int, dots: str) -> list[str]:
    more = len(lines) - most
    return [*lines[:most], f"{dots}and {more} more"] if more > 0 else [*lines]
