"""Which two mistakes may have been made together."""

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headway.practice.task.definition import Wrong
from headway.practice.task.source import EXAMPLE

TURNS = 10_000  # of all loops in one run
# An edit of one of these is one of the expression that it is a part of.
_PART = (ast.Attribute, ast.Constant, ast.Name, ast.Starred, ast.UnaryOp)


class EndlessError(BaseException):
    """Not an `Exception`, which a program might catch."""


@dataclass(frozen=True)
class _Reach:
    """What an edit touches.

    Attributes:
        statements: Which statements of the solution it changes, by their numbers.
        made: The names that these statements assign.
        called: What is called in the piece of text that it changes.
        around: The smallest expression around that piece, as its beginning and end, or
            `None` if the edit changes more than one expression.
    """

    statements: frozenset[int]
    made: frozenset[str]
    called: frozenset[str]
    around: tuple[int, int] | None

    def contradicts(self, other: "_Reach", *, in_one_statement: bool) -> bool:
        """Ask whether two sentences could speak of one statement, or one call."""
        together = self.statements & other.statements
        if in_one_statement:
            apart = self.around and other.around and self.around != other.around
            return not (together and apart)
        return bool(together or self.made & other.called or other.made & self.called)


def pairs(
    solution: str, mistakes: Sequence[Wrong], *, in_one_statement: bool = False
) -> Iterator[tuple[tuple[Wrong, Wrong], str]]:
    """Give the pairs of mistakes that do not contradict each other.

    An edit of a call makes no pair with one of what is called, nor do two edits of one
    expression: then each sentence may deny what the other says.

    Args:
        solution: The right program.
        mistakes: Edits of it, the likeliest first.
        in_one_statement: Whether to give the pairs that change one statement, in two
            expressions of it, and not those that change two statements.

    Yields:
        Two mistakes, and the program with both; first those that come early.
    """
    reach = [(one, _reach(solution, one)) for one in mistakes if not one.alone]
    numbered = [(n, one, at) for n, (one, at) in enumerate(reach) if at is not None]
    both = itertools.combinations(numbered, 2)
    for (_, a, at), (_, b, bt) in sorted(both, key=lambda two: two[0][0] + two[1][0]):
        if at.contradicts(bt, in_one_statement=in_one_statement):
            continue
        try:
            yield (a, b), b.apply(a.apply(solution, "the solution"), "the solution")
        except ValueError:  # one edit changes what the other looks for
            continue


def _reach(solution: str, edit: Wrong) -> _Reach | None:
    """Say what an edit touches, or `None` if it does not apply."""
    if solution.count(edit.old) != 1:
        return None
    same = _same(edit.old, edit.new)
    end = _same(edit.old[same:][::-1], edit.new[same:][::-1])
    begin = solution.index(edit.old) + same
    until = begin + len(edit.old) - same - end
    first = solution[:begin].count("\n") + 1
    last = solution[: max(begin, until - 1)].count("\n") + 1
    touched = [
        (number, node)
        for number, node, top, bottom in _statements(solution)
        if top <= last and first <= bottom
    ]
    starts = [0, *itertools.accumulate(map(len, solution.splitlines(keepends=True)))]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    called = [
        ast.unparse(call.func)
        for _, node in touched
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and place(call.lineno, call.col_offset) <= until
        and begin <= place(call.end_lineno or 0, call.end_col_offset or 0)
    ]
    made = [
        ast.unparse(target)
        for _, node in touched
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    around = [
        span
        for _, statement in touched
        for one in ast.walk(statement)
        if isinstance(one, ast.expr) and not isinstance(one, _PART)
        for span in [
            (
                place(one.lineno, one.col_offset),
                place(one.end_lineno or 0, one.end_col_offset or 0),
            )
        ]
        if span[0] <= begin and until <= span[1]
    ]
    return _Reach(
        frozenset(number for number, _ in touched),
        frozenset(made),
        frozenset(called),
        min(around, key=lambda span: span[1] - span[0], default=None),
    )


def _same(one: str, other: str) -> int:
    """Count the characters at the beginning of two texts that are the same."""
    both = zip(one, other, strict=False)
    return next(
        (n for n, (a, b) in enumerate(both) if a != b), min(len(one), len(other))
    )


def _statements(program: str) -> Iterator[tuple[int, ast.stmt, int, int]]:
    """Give the statements with their first and last lines; of a block, its head."""
    nodes = (one for one in ast.walk(ast.parse(program)) if isinstance(one, ast.stmt))
    for number, node in enumerate(nodes):
        bottom = node.end_lineno or node.lineno
        if body := getattr(node, "body", None):
            bottom = max(node.lineno, body[0].lineno - 1)
        yield number, node, node.lineno, bottom


@lru_cache(maxsize=1024)
def bounded(program: str) -> str:
    """Let a program end after many turns of its loops, so that none goes on for ever.

    Two mistakes together may never end, where each of them does. The program calls
    `_turn` in each turn of a `while`.
    """
    program, _, _ = program.partition(EXAMPLE)
    if "while" not in program:
        return program
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            node.body.insert(0, ast.parse("_turn()").body[0])
    return ast.unparse(tree)


class Turns:
    """Counts turns of loops, and ends them when there are too many."""

    def __init__(self) -> None:
        self.left = TURNS

    def __call__(self) -> None:
        """Count one.

        Raises:
            EndlessError: If there were too many.
        """
        self.left -= 1
        if self.left < 0:
            raise EndlessError
