"""Where the pages of a site are, in its sources, in the built site and on the web."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import urljoin, urlsplit

Find = Callable[[str], str | None]
Nav = Sequence[Any]
CANONICAL = re.compile(r'<link rel="canonical" href="([^"]*)"')


def built(source: PurePosixPath, site: Path) -> Path | None:
    """Return the HTML that MkDocs made of a page, if it is there."""
    folder = site / source.parent
    plain = folder / f"{source.stem}.html"
    if source.stem in ("index", "README"):
        plain = folder / "index.html"
    places = (folder / source.stem / "index.html", plain)
    return next((place for place in places if place.is_file()), None)


def addresses(source: PurePosixPath, site: Path) -> Find:
    """Return what finds the address on the web that a link of a page means.

    A site that was built without knowing its address has none, nor have links to it.
    """
    page = built(source, site)
    known = CANONICAL.search(page.read_text(encoding="utf-8")) if page else None

    def find(target: str) -> str | None:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            return target
        if page is None or known is None:
            return None
        url = unescape(known[1])
        if not parts.path or parts.path.startswith("/"):
            return urljoin(url, target)
        file = PurePosixPath(normpath(source.parent / parts.path))
        html = built(file, site) or site / file
        up = "../" * (len(page.parent.relative_to(site).parts))
        there = str(html.relative_to(site)).removesuffix("index.html")
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        return urljoin(url, f"{up}{there}") + anchor

    return find


def files(folders: Sequence[Path]) -> Find:
    """Return what reads a file that a page includes, from the first folder with it."""

    def read(name: str) -> str | None:
        found = (folder / name for folder in folders if (folder / name).is_file())
        file = next(found, None)
        return file.read_text(encoding="utf-8") if file else None

    return read


def entries(nav: Nav, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the section, the title and the source of each page of a nav."""
    for item in nav:
        [(title, value)] = item.items()
        if isinstance(value, str):
            yield section, title, value
        else:
            yield from entries(value, section or title)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file."""
    old = path.read_text(encoding="utf-8")
    if (new := change(old)) != old:
        path.write_text(new, encoding="utf-8", newline="\n")
