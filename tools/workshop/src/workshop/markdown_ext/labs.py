"""Programs in cells become pages with their outputs: a Markdown extension.

A page that measures prints something else each time, so nothing of it is recorded. It
holds a line

    <!--lab: NAME.py-->

and in the place of it come the cells of that program (in the percent format), each
followed by what it showed when it ran. A cell that fails fails the build. What has run
is kept, and runs anew only if the program, what it reaches through its imports, or
anything installed has changed. The program can import modules that stand beside it.

mkdocs-jupyter can make such pages too, but MkDocs neither resolves nor checks the links
in them, and their cells are read by another Markdown.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from nbformat import NotebookNode

from pytest_proofread.page.markdown import as_fence
from workshop.caching import keep, key
from workshop.markdown_ext.pending import PENDING
from workshop.reached import from_here
from workshop.run.jupyter import execute

LAB = re.compile(r"^<!--lab: (?P<name>\S+)-->[ \t]*$", re.MULTILINE)


def read(text: str) -> NotebookNode:
    """Return a program in cells as a notebook that has not run."""
    return jupytext.reads(text, fmt="py:percent")


def as_program(notebook: NotebookNode) -> str:
    """Return a notebook as a program; what Jupyter alone understands is a comment."""
    return jupytext.writes(notebook, fmt="py:percent")


def code(text: str) -> list[str]:
    """Return the code of each cell of a program."""
    cells = read(text).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


# ---- Running a lab -----------------------------------------------------------------


def run(file: Path, limit: float) -> NotebookNode:
    """Return a program as a notebook that has run.

    Raises:
        ValueError: If a cell fails, or takes longer than the limit.
    """
    notebook = read(file.read_text(encoding="utf-8"))
    if stopped := execute(notebook, limit, imports_from=file.parent):
        raise ValueError(f"a lab must run; {file.name} does not:\n{stopped}")
    return notebook


def executed(file: Path, options: dict[str, Any]) -> NotebookNode:
    """Return a program as a notebook that has run, now or before.

    Of one that is not to run now, each cell that would show something is pending.
    """
    text = file.read_text(encoding="utf-8")
    if not options["execute"]:
        return read(text)
    reached = from_here(file.parent)
    modules = reached.parts(reached.of(as_program(read(text))))
    made = Path(options["cache"], f"{file.stem}-{key(text, *modules)}.ipynb")
    if not made.is_file():
        if options["preview"]:
            return pending(read(text))
        keep(made, partial(nbformat.write, run(file, options["limit"])))
    return nbformat.read(made, as_version=4)


def pending(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose programs show that they are being computed."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            data = {"text/html": PENDING}
            cell.outputs = [nbformat.v4.new_output("display_data", data)]
    return notebook


# ---- What a page shows -------------------------------------------------------------


def output_as_markdown(output: NotebookNode, stash: Callable[[str], str]) -> str:
    """Return Markdown for an output of a cell.

    Args:
        output: What the cell showed.
        stash: Puts HTML aside, so that it is not read as Markdown, and returns its
            placeholder.

    Raises:
        ValueError: If a page cannot show it.
    """
    data = output.get("data", {})
    if output.output_type == "stream" and output.name == "stdout":
        return as_fence("text", output.text.rstrip())
    if "text/html" in data:
        # A search would find the numbers along the axes of a drawing.
        return stash(
            f'<div class="hw-output" data-search-exclude>{data["text/html"]}</div>'
        )
    if "text/markdown" in data:
        text = data["text/markdown"].strip()
        return f'<div class="hw-output" markdown="block">\n\n{text}\n\n</div>'
    if {*data} == {"text/plain"}:
        return as_fence("text", data["text/plain"].rstrip())
    raise ValueError(
        "an output must be text, Markdown or HTML; got "
        f"{', '.join(data) or output.get('text', output.output_type)}."
    )


class _Labs(Preprocessor):
    def __init__(self, md: Markdown, options: dict[str, Any]) -> None:
        super().__init__(md)
        self.options = options

    def run(self, lines: list[str]) -> list[str]:
        return LAB.sub(self.cells, "\n".join(lines)).split("\n")

    def cells(self, match: re.Match[str]) -> str:
        file = Path(self.options["folder"], match["name"])
        notebook = executed(file, self.options)
        show = partial(self.cell, file.name)
        return "\n\n".join(show(cell) for cell in notebook.cells)

    def cell(self, name: str, cell: NotebookNode) -> str:
        if cell.cell_type == "markdown":
            return cell.source
        parts = [as_fence("python", cell.source.rstrip())]
        for output in cell.outputs:
            try:
                parts.append(output_as_markdown(output, self.md.htmlStash.store))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return "\n\n".join(parts)


class Labs(Extension):
    """Put programs and what they showed into pages."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "folder": ["docs", "where the programs are"],
            "cache": [".cache/labs", "where what has run is kept"],
            "execute": [True, "whether they run at all"],
            "preview": [False, "whether one that has not run yet is shown without"],
            "limit": [600, "the seconds that a cell may take"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after odd characters are taken out (30) and before fences (25)."""
        md.preprocessors.register(_Labs(md, self.getConfigs()), "labs", 28)


def makeExtension(**options: Any) -> Labs:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return Labs(**options)
