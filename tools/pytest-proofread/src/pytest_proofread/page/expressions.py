"""Compute a number from what a page prints: `out[3]`, `(out[1, 2] - next[4]) / 2:.2f`.

`out` is the output that stands closest above, `next` the closest below, and
`at("heading")` the first one under a heading, `at("heading", 2)` that of its second
program. Numbers are picked by their place in the output, or by line and place in the
line; both count from one. Arithmetic is done in decimals, as on paper.
"""

import decimal
import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, Self

from pytest_proofread.output.tokens import numbers

FORMAT = re.compile(r",?(?:\.\d\d?[f%])?")
# A power that nobody could read would else take all time and memory there is.
LIMITS = decimal.Context(prec=28, Emin=-99, Emax=99)
LIMITS.traps[decimal.Underflow] = True  # besides what cannot be computed
ARITHMETIC = "be arithmetic over out, next, at and round"


class Outputs(NamedTuple):
    """What the names in an expression stand for, at one place of a page."""

    above: str | None
    below: str | None
    under: Mapping[tuple[str, int], str]


class _RefusedError(Exception):
    """Says what a computed number must do."""


class _Printed(Decimal):
    """A number of an output, which knows how it is printed."""

    text: str

    def __new__(cls, text: str) -> Self:
        value = Decimal(text.replace(",", ""))
        # Arithmetic on a signaling nan is an error.
        number = super().__new__(cls, value if value.is_finite() else "sNaN")
        # In a tensor, a point with nothing behind it only says that it holds floats.
        number.text = text.removesuffix(".")
        return number


class _Output:
    """An output of the page, whose numbers are picked by place, or line and place.

    Args:
        text: What is printed; None if there is no such output.
        must: What a number that needs it must do then.
    """

    def __init__(self, text: str | None, must: str) -> None:
        self.text = text
        self.must = must

    def __getitem__(self, place: object) -> Decimal:
        if not self.text:
            raise _RefusedError(self.must)
        if not isinstance(place, tuple):
            return _Printed(_pick(numbers(self.text), place, "numbers of that output"))
        line, place = place
        text = _pick(self.text.splitlines(), line, "lines of that output")
        return _Printed(_pick(numbers(text), place, "numbers of that line"))


def _pick(choice: Sequence[str], place: object, what: str) -> str:
    number = _whole(place)
    if not 1 <= number <= len(choice):
        raise _RefusedError(f"pick one of the {len(choice)} {what}, counted from 1")
    return choice[number - 1]


def _whole(number: object) -> int:
    if not isinstance(number, Decimal) or number != number.to_integral_value():
        raise _RefusedError("count places in whole numbers")
    return int(number)


def evaluate(expression: str, outputs: Outputs) -> str:
    """Compute an expression, and write the result as it asks for.

    Args:
        expression: Arithmetic over numbers of the outputs, then `:` and a format if the
            result is to be rounded or to have commas.
        outputs: The outputs that it may refer to.

    Returns:
        The result. A number that nothing is done to is written as it is printed.

    Raises:
        ValueError: If the expression cannot be computed.
    """
    try:
        with decimal.localcontext(LIMITS):
            return _written(expression, outputs)
    except _RefusedError as refused:
        must = str(refused)
    except (SyntaxError, tokenize.TokenError):
        must = "be an expression"
    except decimal.InvalidOperation:
        must = "have a result"
    except decimal.DivisionByZero:
        must = "not divide by zero"
    except ArithmeticError:
        must = "have a result of less than a hundred digits"
    except (AttributeError, NameError, TypeError, ValueError):
        must = ARITHMETIC
    raise ValueError(f"a computed number must {must}; got {expression}.")


def _written(expression: str, outputs: Outputs) -> str:
    body, colon, form = expression.rpartition(":")
    # A colon in a heading or in an index begins no format.
    if not colon or re.search(r"[\"'\])]", form):
        body, form = expression, ""
    if not FORMAT.fullmatch(form := form.strip()):
        raise _RefusedError("have a format such as :, or :.2f or :,.1f or :.0%")
    result = _computed(body.strip(), outputs)
    if isinstance(result, _Printed) and not form:
        return result.text
    if not isinstance(result, Decimal):
        raise _RefusedError(ARITHMETIC)
    if not result.is_finite():
        raise _RefusedError("be computed from numbers")
    return format(result, form or "f")


def _computed(body: str, outputs: Outputs) -> object:
    """Let Python compute, with nothing but these names."""

    def at(heading: str, number: Decimal = Decimal(1)) -> _Output:
        text = outputs.under.get((heading, _whole(number)))
        return _Output(text, "name a heading, and a program of it that prints")

    names = {
        "decimal": decimal.getcontext().create_decimal,
        "out": _Output(outputs.above, "have an output above it"),
        "next": _Output(outputs.below, "have an output below it"),
        "at": at,
        "round": lambda number, places: round(number, _whole(places)),
    }
    code = compile(_in_decimals(body), "<expression>", "eval")
    # The authors of a page may run any program on it; this only keeps them to numbers.
    if not names.keys() >= {*code.co_names}:
        raise _RefusedError(ARITHMETIC)
    return eval(code, {"__builtins__": {}} | names)  # noqa: S307


def _in_decimals(body: str) -> str:
    """Write the numbers of an expression as decimals, so that 0.1 is 0.1."""
    found = tokenize.generate_tokens(io.StringIO(body).readline)
    return " ".join(
        f"decimal('{token.string}')" if token.type == tokenize.NUMBER else token.string
        for token in found
    ).strip()
