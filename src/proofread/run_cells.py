"""Run the code cells of a notebook in their order, in one namespace, without Jupyter.

    python run_cells.py NOTEBOOK

It needs nothing but the standard library. A line END stands after what a cell printed;
a cell with the tag `raises-exception` also prints its error, and the next one runs.
"""

import json
import linecache
import sys
import traceback
import types
from pathlib import Path

END = "\x00 end of cell"


def run_cells(notebook: Path) -> None:
    """Run the cells as `__main__`; stop at an error that is not expected."""
    # A name of this file must not be one of the notebook's.
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        tags = cell["metadata"].get("tags", [])
        if "command" in tags:  # it is for Jupyter
            continue
        if "skip-execution" not in tags:
            source, name = "".join(cell["source"]), f"{notebook.name}, cell {number}"
            lines = source.splitlines(keepends=True)
            linecache.cache[name] = (len(source), None, lines, name)
            try:
                exec(compile(source, name, "exec"), vars(main))  # noqa: S102
            except Exception as error:
                if "raises-exception" not in tags:
                    raise
                print(*traceback.format_exception_only(error), sep="", end="")
        print(END, flush=True)


if __name__ == "__main__":
    run_cells(Path(sys.argv[1]))
