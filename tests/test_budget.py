"""Small enough to be read: a budget for modules, functions and signatures."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
FILES = sorted(SOURCE.rglob("*.py"))
every_file = pytest.mark.parametrize(
    "path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES]
)

# A module of the package is a page of the book; one of the tool is only a tool.
LINES_OF_A_MODULE = {"headway": 200, "proofread": 160}
LINES_OF_A_FUNCTION = 30
PARAMETERS = 7  # positional ones; those with a name cost nobody a thought
GIVEN_BY_TORCH = {"accept_saved_mask"}  # a hook gets what PyTorch hands to it
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> set[int]:
    """Give the numbers of the lines that hold code: no comment, docstring or gap."""
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    return lines


def over_budget(text: str, package: str = "headway") -> list[str]:
    """List what is too long, by name."""
    lines = code_lines(text)
    found = []
    if len(lines) > LINES_OF_A_MODULE[package]:
        found.append(f"the module has {len(lines)} lines")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert):
            found.append(f"line {node.lineno} is an assert")
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        end = node.body[-1].end_lineno or 0
        body = lines & {*range(node.body[0].lineno, end + 1)}
        if len(body) > LINES_OF_A_FUNCTION:
            found.append(f"{node.name} has {len(body)} lines")
        given = node.args
        named = [*given.posonlyargs, *given.args]
        count = len([one for one in named if one.arg not in ("self", "cls")])
        if count > PARAMETERS and node.name not in GIVEN_BY_TORCH:
            found.append(f"{node.name} has {count} positional parameters")
    return found


@every_file
def test_it_is_within_the_budget(path: Path) -> None:
    package = path.relative_to(SOURCE).parts[0]
    assert over_budget(path.read_text(), package) == []


def test_there_is_source_to_look_at() -> None:
    assert len(FILES) >= 12


BODY = "    x = 1\n"
PAGE = '''
"""A docstring
of two lines."""

# A comment.
import math  # counted once


def function(self, a, *b, c=(
    1
)):
    """Another."""

    if a:
        return """text
        of two lines"""
    # The end.
'''


def test_code_is_what_is_neither_docstring_nor_comment_nor_gap() -> None:
    first = PAGE[: PAGE.index("import")].count("\n") + 1
    code = {line - first for line in code_lines(PAGE)}
    assert code == {0, 3, 4, 5, 8, 9, 10}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PAGE, []),
        ("x = 1\n" * 200, []),
        ("x = 1\n" * 201, ["the module has 201 lines"]),
        ("def f():\n" + BODY * 30, []),
        ("def f():\n" + BODY * 31, ["f has 31 lines"]),
        ('def f():\n    """One."""\n' + BODY * 30, []),
        ("def f(self, a, b, c, d, /, e, f, g, *args, h, **more): ...", []),
        ("def f(a, b, c, d, e, f, g, *, h, i): ...", []),
        ("def f(a, b, c, d, e, f, g, h): ...", ["f has 8 positional parameters"]),
        (
            "async def f(a, /, b, c, d, e, f, g, h): ...",
            ["f has 8 positional parameters"],
        ),
        ("x = 1\nassert x", ["line 2 is an assert"]),
    ],
)
def test_the_budget_is_held(text: str, found: list[str]) -> None:
    assert over_budget(text) == found
