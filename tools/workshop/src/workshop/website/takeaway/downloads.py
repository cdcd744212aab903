"""Make a notebook and a program of each chapter, for the reader to take away.

    workshop takeaway --pages 'guide/*.md' docs site

Both are written next to the page in the site: STEM.ipynb with the recorded outputs,
and STEM.py in cells, with the outputs as comments. `workshop build` does the same
after MkDocs has built the site.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin

from workshop.website.paths import addresses, built_page, include_reader
from workshop.website.takeaway.cells import Cell, cells
from workshop.website.takeaway.notebook import from_percent, notebook, program


def make(
    docs: Path,
    site: Path,
    patterns: Sequence[str],
    *,
    folders: Sequence[Path] = (),
    note: str = "",
    wheel: str = "",
) -> list[Path]:
    """Write the notebook and the program of each page next to its HTML.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        patterns: Which pages, relative to docs.
        folders: Where the files are that pages include.
        note: Markdown that the reader sees first, if the site has no wheel.
        wheel: The wheel that the pages need, as a path within the site.

    Raises:
        ValueError: If no page fits, if the site has not one of them, or if a picture
            cannot be included.
    """
    written: list[Path] = []
    for path in sorted({path for one in patterns for path in docs.glob(one)}):
        source = PurePosixPath(path.relative_to(docs).as_posix())
        html = built_page(source, site)
        if html is None:
            raise ValueError(f"{site} must have each page of {docs}; got no {source}.")
        find = addresses(source, site)
        text = path.read_text(encoding="utf-8")
        try:
            of_page = cells(text, find, include_reader(folders))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        up = PurePosixPath(*[".."] * len(source.parent.parts))
        wheel_url = find(str(up / wheel)) if wheel else None
        whole = first_cells(find(""), wheel_url, note) + of_page
        for suffix, content in ((".ipynb", notebook(whole)), (".py", program(whole))):
            written.append(html.parent / (path.stem + suffix))
            written[-1].write_text(content, encoding="utf-8", newline="\n")
    if not written:
        raise ValueError(f"pages must name a page in {docs}; got pages={patterns!r}.")
    return written


def make_from_notebooks(
    docs: Path,
    site: Path,
    patterns: Sequence[str],
    *,
    note: str = "",
    wheel: str = "",
) -> list[Path]:
    """Write a notebook next to the HTML of each page that mkdocs-jupyter has made.

    It holds no outputs: what such a page shows is computed when the site is built.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        patterns: Which programs in cells, relative to docs.
        note: Markdown that the reader sees first, if the site has no wheel.
        wheel: The wheel that they need, as a path within the site.
    """
    written: list[Path] = []
    for path in sorted({path for one in patterns for path in docs.glob(one)}):
        source = PurePosixPath(path.relative_to(docs).as_posix())
        html = built_page(source, site)
        if html is None:
            raise ValueError(f"{site} must have each page of {docs}; got no {source}.")
        find = addresses(source, site)
        page = find("")

        # Links of such a page are those of its HTML.
        def address(target: str, page: str | None = page) -> str | None:
            return urljoin(page, target) if page else None

        up = PurePosixPath(*[".."] * len(source.parent.parts))
        wheel_url = find(str(up / wheel)) if wheel else None
        first = first_cells(page, wheel_url, note)
        whole = from_percent(first, path.read_text(encoding="utf-8"), address)
        written.append(html.parent / f"{path.stem}.ipynb")
        written[-1].write_text(whole, encoding="utf-8", newline="\n")
    return written


def make_from_programs(
    folder: Path, site: Path, *, note: str = "", wheel: str = ""
) -> list[Path]:
    """Write a notebook of each program in cells of a folder that is laid out like docs.

    `guide/walk/first.py` is about the section `first` of the page `guide/walk.md`, and
    its notebook stands beside the HTML of that page. It holds no outputs.

    Args:
        folder: The folder of the programs.
        site: The folder that the site was built into.
        note: Markdown that the reader sees first, if the site has no wheel.
        wheel: The wheel that they need, as a path within the site.

    Raises:
        ValueError: If there is no program, or no page for one.
    """
    written: list[Path] = []
    for path in sorted(folder.rglob("*.py")):
        of_page = path.parent.relative_to(folder).as_posix()
        source = PurePosixPath(f"{of_page}.md")
        html = built_page(source, site)
        if html is None:
            raise ValueError(f"{path} must be about a page of {site}; got no {source}.")
        find = addresses(source, site)
        up = PurePosixPath(*[".."] * len(source.parent.parts))
        wheel_url = find(str(up / wheel)) if wheel else None
        first = first_cells(find(f"#{path.stem}"), wheel_url, note)
        whole = from_percent(first, path.read_text(encoding="utf-8"), find)
        written.append(html.parent / f"{path.stem}.ipynb")
        written[-1].write_text(whole, encoding="utf-8", newline="\n")
    if not written:
        raise ValueError(f"programs must be a folder of programs; got {folder}.")
    return written


def first_cells(url: str | None, wheel: str | None, note: str) -> list[Cell]:
    """Return cells that say where all this comes from, and install what it needs.

    Args:
        url: The address of the page, if it is known.
        wheel: The address of what is to be installed, if there is one.
        note: What to say if there is none.
    """
    sentences = [f"This was made from the page <{url}>."] if url else []
    sentences += [note] if note and not wheel else []
    result = [Cell("about", "\n".join(sentences))] if sentences else []
    if wheel:
        result.append(Cell("install", f"%pip install --quiet {wheel}", command=True))
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the take-aways of the pages; return 1 if that cannot be."""
    parser = argparse.ArgumentParser(prog="workshop takeaway")
    parser.add_argument("docs", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pages", default="**/*.md", help="a pattern within docs")
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--note", default="", help="what the reader sees first")
    options = parser.parse_args(arguments)
    try:
        make(
            options.docs,
            options.site,
            [options.pages],
            folders=options.include,
            note=options.note,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
