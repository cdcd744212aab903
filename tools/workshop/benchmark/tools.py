"""The tools that are compared: what each makes of a page, and how it is called."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pytest_proofread.page.markdown import programs
from workshop.mutation.page_mutants import FENCES, Mutant
from workshop.website.takeaway.cells import Cell
from workshop.website.takeaway.notebook import notebook

SYBIL = """\
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil([PythonCodeBlockParser()], patterns=["*.md"]).pytest()
"""
EXAMPLES = """\
import pytest
from pytest_examples import find_examples


@pytest.mark.parametrize("example", find_examples("."), ids=str)
def test_example(example, eval_example):
    update = eval_example.update_examples
    run = eval_example.run_print_update if update else eval_example.run_print_check
    said = ""
    try:
        run(example)
    except Exception as error:  # no traceback: its own one stops all of pytest
        said = repr(error)
    if said:
        pytest.fail(said, pytrace=False)
"""


@dataclass(frozen=True)
class Tool:
    """A tool.

    Args:
        name: Its name, as PyPI has it.
        options: What tells pytest to use it.
        files: What it needs besides the pages.
        made: What it reads in the place of a page.
        suffix: How the name of that ends.
    """

    name: str
    options: Sequence[str]
    files: Mapping[str, str] = field(default_factory=dict)
    made: Callable[[str], str] = str
    suffix: str = ".md"


def as_notebook(text: str) -> str:
    """Return the programs of a page as a notebook with their outputs."""
    found = enumerate(programs(text))
    return notebook([Cell(f"cell-{n}", p.code.rstrip("\n"), p) for n, p in found])


def new_cells(whole: str, broken: Mapping[str, str]) -> tuple[str, list[set[str]]]:
    """Put the cells that only mutants have into one notebook: each starts a kernel.

    Args:
        whole: A notebook.
        broken: Its mutants, by name.

    Returns:
        That notebook, and for each of its cells the mutants that it is from.
    """
    result = json.loads(whole)
    known = {repr((c["source"], c["outputs"])) for c in result["cells"]}
    cells: dict[str, Any] = {}
    owners: dict[str, set[str]] = {}
    for name, text in broken.items():
        for cell in json.loads(text)["cells"]:
            key = repr((cell["source"], cell["outputs"]))
            if key not in known:
                cells.setdefault(key, cell | {"id": f"new-{len(cells)}"})
                owners.setdefault(key, set()).add(name)
    result["cells"] = [cells[key] for key in owners]
    return json.dumps(result), [*owners.values()]


TOOLS = (
    Tool("pytest-codeblocks", ["-p", "pytest_codeblocks.plugin", "--codeblocks"]),
    Tool("pytest-examples", ["-p", "pytest_examples"], {"test_pages.py": EXAMPLES}),
    Tool("sybil", [], {"conftest.py": SYBIL}),
    Tool(
        "nbval",
        ["-p", "nbval.plugin", "--nbval"],
        made=as_notebook,
        suffix=".ipynb",
    ),
)


# ---- Pages as pytest-examples has them ---------------------------------------------


def without_outputs(text: str) -> str:
    """Take the recorded outputs out of a page."""
    lines = text.splitlines(keepends=True)
    for program in programs(text)[::-1]:
        for record in (program.error, program.output):
            if record is not None:
                at = record.line - 1
                while not lines[at].lstrip().startswith("<!--"):
                    at -= 1
                del lines[at : record.end]
    return "".join(lines)


def shown(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield where a program shows what it prints, and whether only as a frame."""
    inside = False
    for at in range(start, end):
        if lines[at].strip() == '"""':
            inside = not inside
            yield at, True
        elif inside or lines[at].lstrip().startswith("#> "):
            yield at, False


def unmarked(source: str) -> str:
    """Return what a program does, whatever it shows."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        for name, body in ast.iter_fields(node):
            if name in ("body", "orelse") and isinstance(body, list):
                body[:] = [one for one in body if not is_text(one)]
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    """Say whether a statement is nothing but a string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def flipped(line: str, which: int) -> str:
    """Put another digit in the place of one."""
    at = [match.start() for match in re.finditer("[0-9]", line)][which]
    return f"{line[:at]}{(int(line[at]) + 3) % 10}{line[at + 1 :]}"


def mutants(text: str) -> Iterator[Mutant]:
    """Break a page of pytest-examples in the ways of `workshop.mutation`."""
    lines = text.splitlines(keepends=True)
    first: list[tuple[int, str]] = []
    for turn, program in enumerate(programs(text)):
        start, end = program.line, program.fence.end - 1

        def put(new: Mapping[int, str]) -> str:
            return "".join(new.get(n, line) for n, line in enumerate(lines))

        opening, closing = FENCES[turn % len(FENCES)]
        wrong = put({start - 1: f"{opening}\n", end: f"{closing}\n"})
        yield Mutant("a fence of a program mistyped", start, wrong)
        found = [*shown(lines, start, end)]
        output = [at for at, frame in found if not frame]
        if not output:
            continue
        first.append((output[0], lines[output[0]]))
        digits = [at for at in output if re.search("[0-9]", lines[at])]
        if digits:
            wrong = put({digits[-1]: flipped(lines[digits[-1]], -1)})
            yield Mutant("the last digit of an output", start, wrong)
            at = digits[len(digits) // 2 - 1]
            yield Mutant(
                "a digit of an output", start, put({at: flipped(lines[at], 0)})
            )
        wrong = put({output[len(output) // 2]: ""})
        yield Mutant("a line of an output left out", start, wrong)
        yield Mutant("an output left out", start, put({at: "" for at, _ in found}))
        bare = {at: re.sub(r"^( *)(#> )?", r"\1# ", lines[at]) for at in output}
        wrong = put({at: "" for at, _ in found} | bare)
        yield Mutant("a comment above an output left out", start, wrong)
        at = found[0][0]
        slip = ("# > ", "#>", "#: ", "# ")[turn % 4]
        typed = lines[at].replace("#> ", slip).replace('"""', '"""#>')
        yield Mutant("a comment above an output mistyped", start, put({at: typed}))
    yield from swapped(lines, first)


def swapped(lines: list[str], first: list[tuple[int, str]]) -> Iterator[Mutant]:
    """Swap the first lines of every two outputs that follow each other."""
    for (one, upper), (other, lower) in pairwise(first):
        if upper.strip() != lower.strip():
            new = {
                one: upper.replace(upper.strip(), lower.strip()),
                other: lower.replace(lower.strip(), upper.strip()),
            }
            wrong = "".join(new.get(n, line) for n, line in enumerate(lines))
            yield Mutant("two outputs swapped", one, wrong)
