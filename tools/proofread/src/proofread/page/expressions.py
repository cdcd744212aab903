"""Compute a number from what a page prints: `out[3]`, `(out[1, 2] - next[4]) / 2:.2f`.

`out` is the output that stands closest above, `next` the closest below, and
`at("heading")` the first one under a heading, `at("heading", 2)` that of its second
program. Numbers are picked by their place in the output, or by line and place in the
line; both count from one. Arithmetic is done in decimals, as on paper.
"""

import ast
import operator
import re
from collections.abc import Mapping, Sequence
from decimal import (
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    getcontext,
    localcontext,
)
from typing import NamedTuple, NoReturn

from proofread.output.tokens import numbers

FORMAT = re.compile(r",?(?:\.\d\d?[f%])?")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
# A power that nobody could read would else take all time and memory there is.
LIMITS = Context(
    prec=28,
    Emin=-99,
    Emax=99,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)


class Outputs(NamedTuple):
    """What the names in an expression stand for, at one place of a page."""

    above: str | None
    below: str | None
    under: Mapping[tuple[str, int], str]


class _RefusedError(Exception):
    """Says what a computed number must do."""


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
        with localcontext(LIMITS):
            return _written(expression, outputs)
    except _RefusedError as refused:
        must = str(refused)
    except InvalidOperation:
        must = "have a result"
    except DivisionByZero:
        must = "not divide by zero"
    except DecimalException:
        must = "have a result of less than a hundred digits"
    raise ValueError(f"a computed number must {must}; got {expression}.")


def _written(expression: str, outputs: Outputs) -> str:
    body, colon, form = expression.rpartition(":")
    # A colon in a heading or in an index begins no format.
    if not colon or re.search(r"[\"'\])]", form):
        body, form = expression, ""
    if not FORMAT.fullmatch(form := form.strip()):
        _refuse("have a format such as :, or :.2f or :,.1f or :.0%")
    try:
        node = ast.parse(body.strip(), mode="eval").body
    except SyntaxError:
        _refuse("be an expression")
    if isinstance(node, ast.Subscript) and not form:
        # In a tensor, a point with nothing behind it only says that it holds floats.
        return _printed(node, outputs).removesuffix(".")
    return format(_value(node, outputs), form or "f")


def _refuse(must: str) -> NoReturn:
    raise _RefusedError(must)


def _value(node: ast.expr, outputs: Outputs) -> Decimal:
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            # What is too large for a float is inf; nothing else leads to one here.
            return getcontext().create_decimal(repr(number).replace("inf", "1e999"))
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, outputs)
        case ast.BinOp() if type(node.op) in OPERATORS:
            left, right = _value(node.left, outputs), _value(node.right, outputs)
            return OPERATORS[type(node.op)](left, right)
        case ast.Call(func=ast.Name(id="round"), args=[number, places], keywords=[]):
            return round(_value(number, outputs), _place(places))
        case ast.Subscript():
            printed = _printed(node, outputs)
            value = Decimal(printed.replace(",", ""))
            return value if value.is_finite() else _refuse("be computed from numbers")
    _refuse(f"be arithmetic over out, next, at and round, without {ast.unparse(node)}")


def _place(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    _refuse(f"count places in whole numbers, not by {ast.unparse(node)}")


def _printed(node: ast.Subscript, outputs: Outputs) -> str:
    """Pick the number that a subscript names, as it is printed."""
    output, index = _output(node.value, outputs), node.slice
    what = "numbers of that output"
    if isinstance(index, ast.Tuple) and len(index.elts) == 2:
        line, index = index.elts
        output = _pick(output.splitlines(), line, "lines of that output")
        what = "numbers of that line"
    return _pick(numbers(output), index, what)


def _pick(choice: Sequence[str], node: ast.expr, what: str) -> str:
    place = _place(node)
    if not 1 <= place <= len(choice):
        _refuse(f"pick one of the {len(choice)} {what}, counted from 1")
    return choice[place - 1]


def _output(node: ast.expr, outputs: Outputs) -> str:
    match node:
        case ast.Name(id="out"):
            return outputs.above or _refuse("have an output above it")
        case ast.Name(id="next"):
            return outputs.below or _refuse("have an output below it")
        case ast.Call(
            func=ast.Name(id="at"),
            args=[ast.Constant(value=str() as heading), *which],
            keywords=[],
        ) if len(which) < 2:
            number = _place(which[0]) if which else 1
            output = outputs.under.get((heading, number))
            return output or _refuse("name a heading, and a program of it that prints")
    _refuse(f"pick numbers from out, next or at(heading), not from {ast.unparse(node)}")
