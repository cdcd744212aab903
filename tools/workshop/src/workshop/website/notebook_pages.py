"""Let the pages that mkdocs-jupyter makes look like the others, and run once.

Its template has styles and scripts of its own, which a strict content security policy
refuses. It takes ours instead: cells of prose are read as the pages are, and programs
and outputs have the same elements and classes as there. It keeps what it has made until
the notebook changes; here also until what the notebooks reach through their imports,
or anything installed, has changed.
"""

import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import jupytext
from markdown import Markdown
from mkdocs.config.defaults import MkDocsConfig
from nbformat import NotebookNode

from pytest_proofread.page.markdown import as_fence
from workshop.caching import key
from workshop.markdown_ext.labs import as_program, output_as_markdown
from workshop.reached import from_here

TEMPLATES = Path(__file__).with_name("notebook_templates")
CACHE = Path(".cache/notebooks")
# What runs programs or needs recorded outputs, and a notebook has neither.
ONLY_FOR_PAGES = {
    "workshop.markdown_ext.computed_numbers",
    "workshop.markdown_ext.labs",
    "workshop.markdown_ext.shapes",
}


class CellsAsHtml:
    """Make HTML of the cells of a notebook as the site does of its pages."""

    def __init__(self, config: MkDocsConfig) -> None:
        self.extensions = [
            name for name in config.markdown_extensions if name not in ONLY_FOR_PAGES
        ]
        self.configs = {
            name: options
            for name, options in config.mdx_configs.items()
            if name in self.extensions
        }

    def prose(self, text: str) -> str:
        """Return the HTML of Markdown."""
        markdown = Markdown(extensions=self.extensions, extension_configs=self.configs)
        return markdown.convert(text)

    def program(self, code: str) -> str:
        """Return the HTML of a program."""
        return self.prose(as_fence("python", code))

    def output(self, output: NotebookNode) -> str:
        """Return the HTML of an output.

        Raises:
            ValueError: If a page cannot show it.
        """
        return self.prose(output_as_markdown(output, str))


def reached_by(notebooks: Sequence[Path]) -> list[str | bytes]:
    """Return the names and contents of the files that notebooks reach."""
    reached = from_here(*{path.parent for path in notebooks})
    files: set[Path] = set()
    for path in notebooks:
        files |= reached.of(as_program(jupytext.read(path)))
    return reached.parts(files)


def set_up_notebooks(config: MkDocsConfig, *, preview: bool) -> bool:
    """Set up mkdocs-jupyter, if a site uses it.

    Args:
        config: The configuration of the site.
        preview: Whether a notebook that has not run yet is shown without outputs.

    Returns:
        Whether notebooks are shown without outputs.
    """
    plugin = config.plugins.get("mkdocs-jupyter")
    if plugin is None:
        return False
    import_module("mkdocs_jupyter.config").settings.templates_dir = str(TEMPLATES)
    cells = CellsAsHtml(config)
    exporters: Any = import_module("nbconvert.exporters.templateexporter")
    exporters.default_filters |= {
        "prose": cells.prose,
        "program": cells.program,
        "output": cells.output,
    }
    if not plugin.config["execute"]:
        return False
    templates = "".join(path.read_text() for path in sorted(TEMPLATES.rglob("*.j2")))
    own = [path.read_text() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    files = sorted(Path(config.docs_dir).rglob("*.*"))
    notebooks = [
        path
        for path in files
        if path.suffix in {".py", ".ipynb"}
        and any(path.match(pattern) for pattern in plugin.config["include"])
    ]
    kept = CACHE / key(templates, *own, *reached_by(notebooks))
    if preview and not kept.is_dir():
        plugin.config.update(execute=False, cache=False)
        return True
    for old in CACHE.glob("*"):
        if old != kept:
            shutil.rmtree(old)
    plugin.config.update(cache=True, cache_dir=str(kept))
    return False
