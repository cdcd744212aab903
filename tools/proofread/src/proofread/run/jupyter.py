"""Run a notebook in Jupyter, in an empty folder."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def execute(
    notebook: NotebookNode, limit: float, imports_from: Path | None = None
) -> str:
    """Run a notebook; its outputs are put into it.

    Args:
        notebook: What is run.
        limit: Seconds that a cell may take.
        imports_from: A folder of modules that it may import besides.

    Returns:
        What stopped it, or nothing.
    """
    variables = dict(os.environ)
    if imports_from is not None:
        others = filter(None, [variables.get("PYTHONPATH")])
        variables["PYTHONPATH"] = os.pathsep.join(
            [str(imports_from.resolve()), *others]
        )
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=int(limit),
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            asyncio.run(client.async_execute(env=variables))
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            return COLOUR.sub("", str(error)).strip()
    return ""
