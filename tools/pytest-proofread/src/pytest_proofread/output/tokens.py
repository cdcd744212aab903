"""Take a printed output apart: its numbers, its words, its lines."""

import re
from decimal import Decimal
from itertools import accumulate
from typing import NamedTuple

# Commas are counted, so that a long row of numbers without spaces takes no long time.
_DIGITS = r"""(?:
    (?: (?<![\w.)\]}]) [+-]                      # a sign, if nothing stands before it
      | (?<=[\w.]) [+-] (?=[0-9][0-9.]*+(?:e[+-][0-9]++)?j\b)  # or if it is imaginary
    )?+
    (?: (?: [1-9][0-9]{0,2}(?:,[0-9]{3}){1,6}+(?!,?[0-9]) | [0-9]++ )
        (?: \.[0-9]++ | \.(?=[eE][+-]|j\b) | \.(?![\w.]) )?+
      | (?<![\w.]) \.[0-9]++
    )
    (?: [eE][+-][0-9]{1,4}+ )?+
    (?! \w*[\d_] | x[a-f] | \.\w )             # else a word, as 3x4, 0xff and 2.1.0
  | (?: (?<![\w)\]}]) [+-] )?+ (?:nan|inf) (?! \w | [.-][^\W\d] )
)"""
_TOKEN = re.compile(
    rf"""
    (?P<number>
        np\.(?:float|u?int)[0-9]++\({_DIGITS}\)
      | '{_DIGITS}' | "{_DIGITS}" | {_DIGITS}
    )
  | (?<!\w) b? (?: '(?:\\.|[^'\\\n])*+' | "(?:\\.|[^"\\\n])*+" ) (?!\w)
  | grad_fn=<[\w.:]+>
  | \w+ (?: [.-]\w+ )*
  | \.\.\.
  | [^ \t]
    """,
    re.VERBOSE,
)
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


class Word(NamedTuple):
    """What is no number: a word, a string in quotes, a sign, the end of a line."""

    text: str
    start: int


class Number(NamedTuple):
    """A number as it was printed, with what numpy or quotes put around it."""

    text: str
    start: int

    @property
    def digits(self) -> str:
        """The number alone: 0.5 of `np.float64(0.5)` and of `'0.5'`."""
        return self.text.rpartition("(")[2].strip(")'\"")

    @property
    def wrapper(self) -> str:
        """What stands before the number: `np.float64(`, or a quote, or nothing."""
        return self.text.partition(self.digits)[0]

    @property
    def is_float(self) -> bool:
        """Whether it has a point or an exponent; nan and inf have neither."""
        return not {".", "e", "E"}.isdisjoint(self.digits)

    @property
    def value(self) -> Decimal:
        """The number that was printed, to its last digit."""
        return Decimal(self.digits.replace(",", ""))

    @property
    def decimals(self) -> int:
        """How many digits stand behind the point."""
        return len(self.digits.lower().partition("e")[0].partition(".")[2])

    @property
    def place(self) -> int:
        """The power of ten of the last digit."""
        return int(self.value.as_tuple().exponent)


Token = Number | Word


def _depths(found: list[Token]) -> list[int]:
    """Count, for each token, the brackets around it in which a tensor may be wrapped.

    A bracket that is never closed is text, and so are two of different kinds, as in
    `[0, 1)`.
    """
    steps = [0] * (len(found) + 1)
    opened: list[int] = []
    for index, token in enumerate(found):
        if token.text in _CLOSED_BY:
            opened.append(index)
        elif token.text in {")", "]", "}"} and opened:
            start = opened.pop()
            if _CLOSED_BY[found[start].text] == token.text and _wraps(found, start):
                steps[start] += 1
                steps[index] -= 1
    return [*accumulate(steps)]


def _wraps(found: list[Token], index: int) -> bool:
    """Tell whether lines may be broken at will in a bracket: of a list or a tensor."""
    if found[index].text == "[":
        return True
    before = found[index - 1]
    glued = before.start + len(before.text) == found[index].start
    return glued and before.text.lower().endswith(("tensor", "array"))


def tokens(text: str) -> list[Token]:
    r"""Take a printed output apart into numbers and words.

    Spaces and tabs separate tokens and are dropped. The end of a line is the word
    `"\n"`; inside the brackets of a list, a tensor or an array it is dropped too,
    because there it follows from the width of the columns. A string in quotes is one
    word, and so is `grad_fn=<...>`; `numbers` says what a number is.

    Args:
        text: What was printed.

    Returns:
        The tokens in order, each with its place in `text`.
    """
    found = [
        (Number if match.lastgroup else Word)(match.group(), match.start())
        for match in _TOKEN.finditer(text)
    ]
    kept: list[Token] = []
    for token, depth in zip(found, _depths(found), strict=False):
        if depth == 0 and isinstance(token, Number) and token.text.endswith("."):
            # Only tensors and arrays print "5."; elsewhere a sentence ends.
            end = token.start + len(token.text) - 1
            kept += [Number(token.text[:-1], token.start), Word(".", end)]
        elif depth == 0 or token.text != "\n":
            kept.append(token)
    return kept


def numbers(text: str) -> list[str]:
    """List the numbers of a printed output, in order and as printed.

    - A sign belongs to the number unless something stands right before it: `1-2` is 1
      and 2, `1 -2` is 1 and -2. An imaginary part keeps its sign: `1.5+2j` is 1.5
      and +2.
    - `12,288` is one number; `1,2` and `[1, 288]` are two.
    - `1e-05`, `nan`, `inf` and `-inf` are numbers. An exponent has a sign, as Python
      prints it: `1e5` is a word.
    - `1.` is a number in the brackets of a list, a tensor or an array. Elsewhere it is
      a number and a full stop.
    - A unit may follow: `50%`, `0.5s` and `2x` are 50, 0.5 and 2.
    - A digit that belongs to a word is no number: `x1`, `float32`, `layers.0.weight`,
      `GPT-2`, `3x4`, `0x1f`, `1_000`, the version `2.1.0`.
    - Of `np.float64(0.5)` the number is 0.5. So it is of `'0.5'` in quotes; a string
      that holds more than a number has none.

    Args:
        text: What was printed.

    Returns:
        The text of each number.
    """
    return [token.digits for token in tokens(text) if isinstance(token, Number)]
