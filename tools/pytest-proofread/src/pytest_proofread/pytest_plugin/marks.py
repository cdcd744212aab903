"""Read the marks of a page by their syntax: to collect a page runs nothing of it."""

import ast
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

# What a condition may ask of.
FACTS: Mapping[str, Any] = {
    "sys.platform": sys.platform,
    "sys.version_info": tuple(sys.version_info),
    "sys.implementation.name": sys.implementation.name,
    "sys.maxsize": sys.maxsize,
    "os.name": os.name,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


class MarkError(ValueError):
    """A mark cannot be read."""


def read_mark(text: str) -> pytest.MarkDecorator | None:
    """Read a mark, such as `pytest.mark.timeout(3)`.

    Returns:
        The mark; nothing for `xfail`, which the page's own comparison answers.

    Raises:
        MarkError: If it is another one, or its arguments are no plain values.
    """
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise MarkError(f"a mark must be Python; got {text}.") from None
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    name = ast.unparse(call.func).removeprefix("pytest.mark.")
    if name == "xfail":
        return None
    if name not in ("skip", "skipif", "timeout"):
        raise MarkError(f"a mark must be skip, skipif, xfail or timeout; got {text}.")
    try:
        arguments = [value(one) for one in call.args]
        named = {str(one.arg): value(one.value) for one in call.keywords}
    except (ValueError, TypeError, IndexError):
        raise MarkError(
            "a mark must have plain values, or conditions on "
            f"{', '.join(FACTS)}; got {text}."
        ) from None
    if name == "timeout" and not (len(arguments) == 1 and is_limit(arguments[0])):
        raise MarkError(f"timeout must be a positive number of seconds; got {text}.")
    mark: pytest.MarkDecorator = getattr(pytest.mark, name)
    # Called with keywords alone, it would take a function for what it decorates.
    return mark.with_args(*arguments, **named)


def is_limit(seconds: object) -> bool:
    """Say whether something is a limit that a program can have."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return number and 0 < float(str(seconds)) < math.inf


def value(node: ast.expr) -> Any:
    """Return what an expression says, if it is a plain value or a plain condition.

    Raises:
        ValueError: If it is anything else.
    """
    match node:
        case ast.Constant(value=plain):
            return plain
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(map(value, parts))
        case ast.Attribute() if ast.unparse(node) in FACTS:
            return FACTS[ast.unparse(node)]
        case ast.Subscript(value=whole, slice=ast.Slice(None, upper, None)) if upper:
            return value(whole)[: value(upper)]
        case ast.Subscript(value=whole, slice=index):
            return value(whole)[value(index)]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not value(inner)
        case ast.BoolOp(op=op, values=parts):
            return (all if isinstance(op, ast.And) else any)(map(value, parts))
        case ast.Compare(left=first, ops=ops, comparators=rest):
            sides = [*map(value, [first, *rest])]
            return all(
                COMPARISONS[type(op)](a, b)
                for op, a, b in zip(ops, sides, sides[1:], strict=False)
            )
        case ast.Call(
            func=ast.Attribute(value=whole, attr="startswith"),
            args=[start],
            keywords=[],
        ):
            return str(value(whole)).startswith(value(start))
    raise ValueError(ast.unparse(node))
