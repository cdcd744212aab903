"""Publish the Markdown of each page next to its HTML, and a list of all: llms.txt.

What only the site understands is put into plain Markdown: boxes become titles, pictures
become words, comments go, a lab shows what it printed, and a page that refers to a
module shows the source of it. The file stands where its source does, so that the links
between pages stay as they are; those to a notebook lead to the file of it.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from mkdocs.utils.meta import get_data

from pytest_proofread.page.markdown import as_fence
from workshop.markdown_ext.labs import LAB, Labs, executed, output_as_markdown
from workshop.website.paths import REFERS, include_reader, nav_entries
from workshop.website.takeaway.cells import (
    FRONT_MATTER,
    described,
    flat,
    illustrate,
    plain,
    whole,
)

MODULE = re.compile(REFERS.pattern + r"(?P<name>[\w.]+)[^\n]*(?:\n {4}[^\n]*)*", re.M)
Nav = Sequence[Any]


def listing(name: str, about: str, url: str, nav: Nav, texts: Mapping[str, str]) -> str:
    """Return the list of all pages.

    Args:
        name: The name of the site.
        about: What it is about.
        url: Its address, or nothing.
        nav: The order of its pages.
        texts: Their text, by source.
    """
    sections: dict[str, list[str]] = {}
    for section, title, source in nav_entries(nav):
        if source not in texts:  # a notebook has no Markdown
            continue
        description = get_data(texts[source])[1].get("description")
        line = f"- [{title}]({url}{source})"
        line += f": {description}" if description else ""
        sections.setdefault(section, []).append(line)
    parts = [f"# {name}", *([f"> {about}"] if about else [])]
    for section, lines in sections.items():
        parts.append(f"## {section or 'Pages'}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


# ---- The Markdown of a page --------------------------------------------------------


def in_words(markup: str) -> str:
    """Return what HTML that a program shows says in words."""
    soup = BeautifulSoup(markup, "html.parser")
    words = []
    for svg in soup.find_all("svg"):
        words.append(f"Picture: {svg.get('aria-label', 'without words')}")
        svg.decompose()
    text = " ".join(soup.get_text().split())
    return "\n\n".join([*words, text] if text else words)


def lab_as_markdown(file: Path, options: dict[str, Any]) -> str:
    """Return a program in cells and what it showed."""
    parts: list[str] = []
    for cell in executed(file, options).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(as_fence("python", cell.source.rstrip()))
        parts += [output_as_markdown(output, in_words) for output in cell.outputs]
    return re.sub(r"</?div[^>]*>\n*", "", "\n\n".join(parts))


def module_as_markdown(name: str, paths: Sequence[str]) -> str:
    """Return the source of a module; for a package, also of what it imports from."""
    for root in paths:
        place = Path(root, *name.split("."))
        package = place / "__init__.py"
        found = [place.with_suffix(".py"), package]
        if package.is_file():
            nodes = ast.parse(package.read_text(encoding="utf-8")).body
            sources = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
            found += [Path(root, *s.split(".")).with_suffix(".py") for s in sources]
        if found := [path for path in found if path.is_file()]:
            texts = (path.read_text(encoding="utf-8") for path in found)
            return "\n\n".join(as_fence("python", text.rstrip()) for text in texts)
    raise ValueError(f"a page must refer to a module; got {name}.")


def to_notebook(target: str) -> str:
    """Lead from a notebook's source, which is no part of the site, to what is."""
    path = PurePosixPath(urlsplit(target).path)
    if path.suffix != ".py" or urlsplit(target).scheme:
        return target
    return str(path.with_suffix("") / f"{path.stem}.ipynb")


def page_as_markdown(
    text: str,
    read: Callable[[str], str | None],
    labs: dict[str, Any],
    modules: Sequence[str],
) -> str:
    """Return the plain Markdown of a page.

    Args:
        text: Its source.
        read: Gives the text of a file that it includes, or None.
        labs: The options of `workshop.markdown_ext.labs`.
        modules: The folders in which modules are found.
    """

    def lab(match: re.Match[str]) -> str:
        return lab_as_markdown(Path(labs["folder"], match["name"]), labs)

    text = LAB.sub(lab, whole(FRONT_MATTER.sub("", text), read))
    text = MODULE.sub(lambda match: module_as_markdown(match["name"], modules), text)
    text = plain(flat(text), to_notebook)
    return described(illustrate(text, read)[0]).strip() + "\n"


def publish(docs: Path, site: Path, config: Mapping[str, Any]) -> None:
    """Write the Markdown of each page, and the list of them, into a site.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        config: The configuration of MkDocs.
    """
    texts = {
        path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(docs.rglob("*.md"))
    }
    options, plugin = config["mdx_configs"], config["plugins"].get("mkdocstrings")
    snippets = options.get("pymdownx.snippets", {}).get("base_path", ["."])
    read = include_reader([*map(Path, snippets)])
    python = plugin.config["handlers"].get("python", {}) if plugin else {}
    labs = Labs(**options.get("workshop.markdown_ext.labs", {})).getConfigs()
    for source, text in texts.items():
        markdown = page_as_markdown(text, read, labs, python.get("paths", []))
        (site / source).parent.mkdir(parents=True, exist_ok=True)
        (site / source).write_text(markdown, encoding="utf-8", newline="\n")
    url, name = config["site_url"] or "", config["site_name"]
    about = config["site_description"] or ""
    pages = listing(name, about, url, config["nav"] or [], texts)
    (site / "llms.txt").write_text(pages, encoding="utf-8", newline="\n")
