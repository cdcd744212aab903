"""Read from a notebook that is made of a page what it shows of each program."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workshop.website.takeaway.notebook import COMMAND


def stored(outputs: Sequence[dict[str, Any]]) -> str:
    """Return what a notebook shows under a cell: what was printed, then an error."""
    text = ""
    for output in outputs:
        if output["output_type"] == "error":
            text = text.rstrip("\n") + f"\n{output['ename']}: {output['evalue']}\n"
        else:
            text += "".join(output["text"])
    return text.strip("\n")


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that are code of its page."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return [cell for cell in code if COMMAND not in cell["metadata"].get("tags", [])]


def texts_of(notebook: Path) -> list[tuple[str, str]]:
    """Return each program of a notebook, with what is stored of it."""
    return [
        ("".join(cell["source"]).strip("\n"), stored(cell["outputs"]))
        for cell in code_cells(notebook)
    ]
