"""Write cells as a notebook, and as a program in cells.

Both show what each program prints; the notebook as its stored output, the program in
comments. A program that ends in an error on purpose does not stop what follows.
"""

import ast
import base64
from collections.abc import Sequence

import jupytext
import nbformat
from nbformat import NotebookNode, v4

from pytest_proofread.page.markdown import Program, skipped
from workshop.website.paths import Find
from workshop.website.takeaway.cells import Cell, described, plain

COMMAND = "command"  # the tag of a cell that prepares where the others run
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def is_python(code: str) -> bool:
    """Say whether a program can be read at all."""
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


# ---- As a notebook -----------------------------------------------------------------


def prose_cell(cell: Cell) -> NotebookNode:
    """Return a cell of prose with its pictures."""
    made = v4.new_markdown_cell(cell.text, id=cell.name)
    if cell.pictures:
        made["attachments"] = {
            name: {"image/svg+xml": base64.b64encode(svg.encode()).decode()}
            for name, svg in cell.pictures.items()
        }
    return made


def program_cell(cell: Cell, program: Program, count: int) -> NotebookNode:
    """Return a cell with a program and its recorded output."""
    output, error = program.recorded
    outputs = []
    if output:
        outputs.append(v4.new_output("stream", name="stdout", text=output))
    if error:
        kind, _, value = error.partition(": ")
        outputs.append(
            v4.new_output(
                "error", ename=kind, evalue=value, traceback=error.splitlines(True)
            )
        )
    tags = ["raises-exception"] if error else []
    tags += ["skip-execution"] if skipped(program) else []
    return v4.new_code_cell(
        cell.text,
        id=cell.name,
        execution_count=count,
        metadata={"tags": tags} if tags else {},
        outputs=outputs,
    )


def notebook(cells: Sequence[Cell]) -> str:
    """Return cells as a notebook."""
    made: list[NotebookNode] = []
    for cell in cells:
        count = 1 + sum(one.cell_type == "code" for one in made)
        if cell.command:
            tags = {"tags": [COMMAND]}
            made.append(v4.new_code_cell(cell.text, id=cell.name, metadata=tags))
        elif cell.program is None:
            made.append(prose_cell(cell))
        else:
            made.append(program_cell(cell, cell.program, count))
    whole = v4.new_notebook(cells=made, metadata=METADATA, nbformat_minor=5)
    return str(nbformat.writes(whole)) + "\n"


def from_percent(first: Sequence[Cell], text: str, address: Find) -> str:
    """Return a program in cells as a notebook, behind the cells that come first.

    Args:
        first: The cells that say where it comes from.
        text: The program, in the percent format.
        address: Gives the address that the target of a link means, or None.
    """
    whole = nbformat.reads(notebook(first), as_version=4)
    for number, cell in enumerate(jupytext.reads(text, fmt="py:percent").cells):
        name = f"cell-{number}"
        if cell.cell_type == "code":
            whole.cells.append(v4.new_code_cell(cell.source, id=name))
        else:
            prose = plain(cell.source, address)
            whole.cells.append(v4.new_markdown_cell(prose, id=name))
    return str(nbformat.writes(whole)) + "\n"


# ---- As a program ------------------------------------------------------------------


def comment(text: str) -> str:
    """Return text as comments of Python."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def indented(code: str) -> str:
    """Return a program four columns further in; its long strings stay as they are."""
    inside = {
        number
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for number in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    return "".join(
        line if number in inside or not line.strip() else f"    {line}"
        for number, line in enumerate(code.splitlines(keepends=True), 1)
    )


def as_code(program: Program) -> str:
    """Return a program that does not stop what stands below it, with its output."""
    output, error = program.recorded
    code = program.code.strip("\n") + "\n"
    if skipped(program) or not is_python(code):
        code = "# This one is not run here.\n" + comment(code)
    elif error:
        kind = "SystemExit" if error.startswith("SystemExit") else "Exception"
        code = (
            "import traceback\n\n# This one ends in an error on purpose.\n"
            f"try:\n{indented(code)}except {kind} as error:\n"
            '    print(*traceback.format_exception_only(error), sep="", end="")\n'
        )
    printed = output + error
    return f"{code}\n# Output:\n{comment(printed)}" if printed else code


def as_script_cell(cell: Cell) -> NotebookNode:
    """Return a cell as a program in cells has it."""
    if cell.command:
        return v4.new_code_cell(comment(cell.text).strip())
    if cell.program is None:
        return v4.new_markdown_cell(described(cell.text))
    return v4.new_code_cell(as_code(cell.program).strip("\n"))


def program(cells: Sequence[Cell]) -> str:
    """Return cells as a program in the percent format, which editors know."""
    whole = v4.new_notebook(cells=[*map(as_script_cell, cells)])
    # Nothing but the cells: without a header, and without magic that is commented out.
    options = {"comment_magics": False, "notebook_metadata_filter": "-all"}
    whole.metadata["jupytext"] = options | {"cell_metadata_filter": "-all"}
    return str(jupytext.writes(whole, fmt="py:percent"))
