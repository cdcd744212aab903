"""Write cells as a notebook, and as a program in cells.

Both show what each program prints; the notebook as its stored output, the program in
comments. A program that ends in an error on purpose does not stop what follows.
"""

import ast
import base64
import json
from collections.abc import Sequence
from typing import Any

from proofread.page.markdown import Program, skipped
from proofread.website.takeaway.cells import Cell, described

COMMAND = "command"  # the tag of a cell that prepares where the others run
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def is_python(code: str) -> bool:
    """Say whether a program can be read at all."""
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def lines(text: str) -> list[str]:
    """Return text in the way that a notebook stores it."""
    return text.splitlines(keepends=True)


def as_notebook_cell(cell: Cell, count: int) -> dict[str, Any]:
    """Return a cell in the format of notebooks, version 4.5."""
    base: dict[str, Any] = {"id": cell.name, "metadata": {}, "source": lines(cell.text)}
    if cell.command:
        base["metadata"] = {"tags": [COMMAND]}
        return base | {"cell_type": "code", "execution_count": None, "outputs": []}
    if cell.program is None:
        base["cell_type"] = "markdown"
        if cell.pictures:
            base["attachments"] = {
                name: {"image/svg+xml": base64.b64encode(svg.encode()).decode()}
                for name, svg in cell.pictures.items()
            }
        return base
    output, error = cell.program.recorded
    outputs: list[dict[str, Any]] = []
    if output:
        stream = {"output_type": "stream", "name": "stdout", "text": lines(output)}
        outputs.append(stream)
    if error:
        name, _, value = error.partition(": ")
        about = {"ename": name, "evalue": value, "traceback": lines(error)}
        outputs.append({"output_type": "error", **about})
    tags = ["raises-exception"] if error else []
    tags += ["skip-execution"] if skipped(cell.program) else []
    base["metadata"] = {"tags": tags} if tags else {}
    return base | {"cell_type": "code", "execution_count": count, "outputs": outputs}


def notebook(found: Sequence[Cell]) -> str:
    """Return cells as a notebook."""
    result: list[dict[str, Any]] = []
    for cell in found:
        count = 1 + sum(c["cell_type"] == "code" for c in result)
        result.append(as_notebook_cell(cell, count))
    about = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    whole = {"cells": result, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


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
        for number, line in enumerate(lines(code), 1)
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


def program(found: Sequence[Cell]) -> str:
    """Return cells as a program in the percent format, which editors know."""
    parts = []
    for cell in found:
        if cell.command:
            parts.append(f"# %%\n{comment(cell.text)}")
        elif cell.program is None:
            parts.append(f"# %% [markdown]\n{comment(described(cell.text))}")
        else:
            parts.append(f"# %%\n{as_code(cell.program)}")
    return "\n".join(parts)
