"""Publish the Markdown of each page next to its HTML, and a list of all: llms.txt.

What only the site understands is put into plain Markdown: boxes become titles, pictures
become words, comments go, a lab shows what it printed, and a page that refers to a
module shows the source of it. The file stands where its source does, so that the links
between pages stay as they are.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from mkdocs.utils.meta import get_data

from proofread.markdown_ext.labs import Labs, kept, shown
from proofread.page.markdown import LAB, REFERS, as_fence
from proofread.website.paths import entries, files
from proofread.website.takeaway.cells import (
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
    for section, title, source in entries(nav):
        if source not in texts:  # a notebook has no Markdown
            continue
        told = get_data(texts[source])[1].get("description")
        line = f"- [{title}]({url}{source})" + (f": {told}" if told else "")
        sections.setdefault(section, []).append(line)
    parts = [f"# {name}", *([f"> {about}"] if about else [])]
    for section, lines in sections.items():
        parts.append(f"## {section or 'Pages'}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


# ---- The Markdown of a page --------------------------------------------------------


def in_words(markup: str) -> str:
    """Return what HTML that a program shows says in words."""
    soup = BeautifulSoup(markup, "html.parser")
    told = []
    for svg in soup.find_all("svg"):
        told.append(f"Picture: {svg.get('aria-label', 'without words')}")
        svg.decompose()
    text = " ".join(soup.get_text().split())
    return "\n\n".join([*told, text] if text else told)


def of_lab(file: Path, options: dict[str, Any]) -> str:
    """Return a program in cells and what it showed."""
    parts: list[str] = []
    for cell in kept(file, options).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(as_fence("python", cell.source))
        parts += [shown(output, in_words) for output in cell.outputs]
    return re.sub(r"</?div[^>]*>\n*", "", "\n\n".join(parts))


def of_module(name: str, paths: Sequence[str]) -> str:
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
            return "\n\n".join(as_fence("python", text) for text in texts)
    raise ValueError(f"a page must refer to a module; got {name}.")


def page(
    text: str,
    read: Callable[[str], str | None],
    labs: dict[str, Any],
    modules: Sequence[str],
) -> str:
    """Return the plain Markdown of a page.

    Args:
        text: Its source.
        read: Gives the text of a file that it includes, or None.
        labs: The options of `proofread.markdown_ext.labs`.
        modules: The folders in which modules are found.
    """
    text = whole(FRONT_MATTER.sub("", text), read)
    text = LAB.sub(lambda m: of_lab(Path(labs["folder"], m["name"]), labs), text)
    text = MODULE.sub(lambda match: of_module(match["name"], modules), text)
    text = plain(flat(text), lambda target: target)
    return described(illustrate(text, read)[0]).strip() + "\n"


def publish(docs: Path, site: Path, about: Mapping[str, Any]) -> None:
    """Write the Markdown of each page, and the list of them, into a site.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        about: The options of MkDocs.
    """
    texts = {
        path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(docs.rglob("*.md"))
    }
    configs, plugin = about["mdx_configs"], about["plugins"].get("mkdocstrings")
    snippets = configs.get("pymdownx.snippets", {}).get("base_path", ["."])
    python = plugin.config["handlers"].get("python", {}) if plugin else {}
    labs = Labs(**configs.get("proofread.markdown_ext.labs", {})).getConfigs()
    for source, text in texts.items():
        made = page(text, files([*map(Path, snippets)]), labs, python.get("paths", []))
        (site / source).parent.mkdir(parents=True, exist_ok=True)
        (site / source).write_text(made, encoding="utf-8", newline="\n")
    url, name = about["site_url"] or "", about["site_name"]
    found = listing(name, about["site_description"] or "", url, about["nav"], texts)
    (site / "llms.txt").write_text(found, encoding="utf-8", newline="\n")
