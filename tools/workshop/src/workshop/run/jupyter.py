"""Run a notebook in Jupyter, in an empty folder."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

# Seconds to start, and to hand over what a cell has printed: by themselves, 60 and 4,
# and what comes later than that is lost.
PATIENCE = 300
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
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as own:
        client = NotebookClient(
            notebook,
            timeout=int(limit),
            startup_timeout=PATIENCE,
            iopub_timeout=PATIENCE,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        # Through files of its own: of two that start at once, one could choose the
        # ports that the other has found free and not taken yet.
        kernel = client.create_kernel_manager()
        kernel.connection_file = str(Path(own, "kernel.json"))
        kernel.transport = "ipc"
        kernel.ip = str(Path(own, "kernel"))
        try:
            asyncio.run(client.async_execute(env=variables))
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            return COLOUR.sub("", str(error)).strip()
    return ""
