"""Run a notebook in Jupyter, as its reader does."""

import asyncio
import copy
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from proofread.trials import Reader, stored

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def kernel_problems(reader: Reader, notebook: Path) -> Iterator[str]:
    """Find in what a kernel prints something else than the notebook has stored."""
    recorded = nbformat.read(notebook, as_version=4)
    now = copy.deepcopy(recorded)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            now,
            timeout=int(reader.limit),
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            asyncio.run(client.async_execute())
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            yield COLOUR.sub("", str(error)).strip()
            return
    pairs = [*zip(recorded.cells, now.cells, strict=True)]
    code = [pair for pair in pairs if pair[0].cell_type == "code"]
    for number, (before, after) in enumerate(code, 1):
        if how := reader.differs(stored(before.outputs), stored(after.outputs)):
            yield f"cell {number}: {how}"
