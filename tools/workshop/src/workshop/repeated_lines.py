"""Find how much of the top of a program stands in the programs above it on its page.

A program of a page is whole, so it begins with imports, inputs and functions that its
reader has seen. Statements are compared, as they are written; an import repeats what
others import, also where it names less of it.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# What is less is seen at a glance.
FEWEST = 3


class Statement(NamedTuple):
    """Lines of a program that are whole statements: the first, the last, and what.

    Parts are what must be known for them to be: their text, or for an import each name.
    """

    line: int
    end: int
    parts: tuple[str, ...]


def statements(code: str) -> list[Statement]:
    """Return the statements of a program; two that share a line are one.

    Raises:
        SyntaxError: If it is no program.
    """
    lines = code.split("\n")
    found: list[Statement] = []
    for node in ast.parse(code).body:
        first = min([node.lineno, *(one.lineno for one in decorators(node))])
        end = node.end_lineno or first
        shares = bool(found) and first <= found[-1].end
        if shares:
            first = found.pop().line
        text = "\n".join(lines[first - 1 : end])
        names = () if shares else tuple(imported(node))
        found.append(Statement(first, end, names or (text,)))
    return found


def decorators(node: ast.stmt) -> Sequence[ast.expr]:
    """Return what decorates a function or a class."""
    return getattr(node, "decorator_list", [])


def imported(node: ast.stmt) -> Iterator[str]:
    """Yield what a statement imports, each name as a statement of its own."""
    if isinstance(node, ast.Import):
        yield from (f"import {ast.unparse(name)}" for name in node.names)
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from (f"from {module} import {ast.unparse(name)}" for name in node.names)


def known_of(programs: Sequence[str]) -> set[str]:
    """Return all that stands in programs, statement by statement and line by line."""
    known = set()
    for code in programs:
        try:
            found = statements(code)
        except SyntaxError:
            continue
        known |= {part for statement in found for part in statement.parts}
        known |= {line for line in code.split("\n") if line.lstrip()[:1] == "#"}
    return known


def repeated(code: str, above: Sequence[str], new: Sequence[int] = ()) -> int:
    """Return how many lines at the top of a program stand in those above it.

    Args:
        code: The program.
        above: The programs above it.
        new: The numbers of lines that are shown in any case, from 1.

    Returns:
        A number of lines: all of whole statements, with the empty lines under the last
        of them. It is 0 if there are few, and the last statement is never among them.
    """
    try:
        found = statements(code)
    except SyntaxError:
        return 0
    known = known_of(above)
    lines = code.split("\n")
    end = 0
    for statement in found[:-1]:
        comments = [line for line in lines[end : statement.line - 1] if line.strip()]
        at_last = {*new} & {*range(end + 1, statement.end + 1)}
        if at_last or not known.issuperset([*comments, *statement.parts]):
            break
        end = statement.end
    if sum(bool(line.strip()) for line in lines[:end]) < FEWEST:
        return 0
    while not lines[end].strip():
        end += 1
    return end
