"""Run a notebook in Jupyter, in an empty folder."""

import asyncio
import re
import tempfile

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def execute(notebook: NotebookNode, limit: float) -> str:
    """Run a notebook; its outputs are put into it.

    Args:
        notebook: What is run.
        limit: Seconds that a cell may take.

    Returns:
        What stopped it, or nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=int(limit),
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            asyncio.run(client.async_execute())
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            return COLOUR.sub("", str(error)).strip()
    return ""
