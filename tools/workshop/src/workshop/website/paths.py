"""Where the pages of a site are, in its sources, in the built site and on the web."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

Find = Callable[[str], str | None]
Nav = Sequence[Any]
# What mkdocstrings replaces by the reference of a module.
REFERS = re.compile(r"^::: ", re.MULTILINE)
CANONICAL = re.compile(r'<link rel="canonical" href="([^"]*)"')


def built_page(source: PurePosixPath, site: Path) -> Path | None:
    """Return the HTML that MkDocs made of a page, if it is there."""
    folder = site / source.parent
    plain = folder / f"{source.stem}.html"
    if source.stem in ("index", "README"):
        plain = folder / "index.html"
    places = (folder / source.stem / "index.html", plain)
    return next((place for place in places if place.is_file()), None)


def addresses(source: PurePosixPath, site: Path) -> Find:
    """Return a function from a link of a page to the address on the web that it means.

    It returns None if the site was built without an address, as then no page has one.
    """
    page = built_page(source, site)
    canonical = CANONICAL.search(page.read_text(encoding="utf-8")) if page else None

    def find(target: str) -> str | None:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            return target
        if page is None or canonical is None:
            return None
        url = unescape(canonical[1])
        if not parts.path or parts.path.startswith("/"):
            return urljoin(url, target)
        file = PurePosixPath(normpath(source.parent / parts.path))
        html = built_page(file, site) or site / file
        up = "../" * (len(page.parent.relative_to(site).parts))
        target_path = str(html.relative_to(site)).removesuffix("index.html")
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        return urljoin(url, f"{up}{target_path}") + anchor

    return find


def include_reader(folders: Sequence[Path]) -> Find:
    """Return a function that reads an included file from the first folder with it."""

    def read(name: str) -> str | None:
        files = (folder / name for folder in folders if (folder / name).is_file())
        file = next(files, None)
        return file.read_text(encoding="utf-8") if file else None

    return read


class NavEntry(NamedTuple):
    """A page in the nav: the sections around it, its title and its source."""

    section: str
    title: str
    source: str


def nav_entries(nav: Nav, section: str = "") -> Iterator[NavEntry]:
    """Yield the pages of a nav in their order."""
    for item in nav:
        [(title, value)] = item.items()
        if isinstance(value, str):
            yield NavEntry(section, title, value)
        else:
            inner = f"{section}: {title}" if section else title
            yield from nav_entries(value, inner)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file."""
    old = path.read_text(encoding="utf-8")
    if (new := change(old)) != old:
        path.write_text(new, encoding="utf-8", newline="\n")
