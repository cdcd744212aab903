"""Hold a notebook against what Jupyter prints, as its reader runs it."""

import copy
from collections.abc import Iterator
from pathlib import Path

import nbformat

from proofread.run.jupyter import execute
from proofread.verify.trials import Reader, stored
from proofread.website.takeaway.notebook import COMMAND


def kernel_problems(reader: Reader, notebook: Path) -> Iterator[str]:
    """Find in what a kernel prints something else than the notebook has stored."""
    recorded = nbformat.read(notebook, as_version=4)
    # What it would install is installed.
    recorded.cells = [
        cell for cell in recorded.cells if COMMAND not in cell.metadata.get("tags", [])
    ]
    now = copy.deepcopy(recorded)
    if stopped := execute(now, reader.limit):
        yield stopped
        return
    pairs = [*zip(recorded.cells, now.cells, strict=True)]
    code = [pair for pair in pairs if pair[0].cell_type == "code"]
    for number, (before, after) in enumerate(code, 1):
        if how := reader.differs(stored(before.outputs), stored(after.outputs)):
            yield f"cell {number}: {how}"
