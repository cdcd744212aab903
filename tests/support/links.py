"""The links of a built site, or of its unpacked archive, that lead nowhere."""

from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

TAGS = ["a", "link", "script", "img", "use", "form"]
ATTRIBUTES = ("href", "src", "xlink:href", "action")


def target_of(page: str, path: str) -> str:
    """Return the file of a site that a path on a page means."""
    if not path:
        return page
    start = "" if path.startswith("/") else dirname(page)
    file = normpath(join(start, path.lstrip("/")))
    is_folder = path.endswith("/") or path.rpartition("/")[2] in (".", "..")
    return normpath(join(file, "index.html")) if is_folder else file


def broken_links(
    site: Path, pages: dict[str, BeautifulSoup] | None = None
) -> list[tuple[str, str]]:
    """List the links within a site that lead to no file or to no anchor.

    Args:
        site: The folder of the site.
        pages: Its pages by their paths in it, if they are parsed already.
    """
    if pages is None:
        pages = {
            path.relative_to(site).as_posix(): BeautifulSoup(
                path.read_text("utf-8"), "html.parser"
            )
            for path in site.rglob("*.html")
        }
    anchors = {
        page: {tag["id"] for tag in soup.find_all(id=True)}
        for page, soup in pages.items()
    }
    broken = []
    for page, soup in pages.items():
        for tag in soup.find_all(TAGS):
            for url in filter(None, map(tag.get, ATTRIBUTES)):
                parts = urlsplit(url)
                if parts.scheme or parts.netloc:
                    continue
                target = target_of(page, unquote(parts.path))
                anchor = unquote(parts.fragment)
                is_there = not anchor or anchor.startswith(":~:")
                is_there = is_there or anchor in anchors.get(target, set())
                if not (site / target).is_file() or not is_there:
                    broken.append((page, str(url)))
    return broken
