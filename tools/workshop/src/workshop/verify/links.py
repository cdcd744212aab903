"""The links of a built site, or of its unpacked archive, that lead nowhere."""

from collections.abc import Mapping
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from workshop.verify.start_tags import StartTag, start_tags

TAGS = {"a", "link", "script", "img", "use", "form"}
ATTRIBUTES = ("href", "src", "xlink:href", "action")


class Link(NamedTuple):
    """A link of a page: the path of the page in its site, and what the link says."""

    page: str
    url: str


def target_of(page: str, path: str) -> str:
    """Return the file of a site that a path on a page means."""
    if not path:
        return page
    start = "" if path.startswith("/") else dirname(page)
    file = normpath(join(start, path.lstrip("/")))
    is_folder = path.endswith("/") or path.rpartition("/")[2] in (".", "..")
    return normpath(join(file, "index.html")) if is_folder else file


def broken_links(site: Path) -> list[Link]:
    """List the links within a site that lead to no file or to no anchor.

    Args:
        site: The folder of the site.
    """
    pages = {
        path.relative_to(site).as_posix(): start_tags(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    anchors = {
        page: {tag.attributes["id"] for tag in tags if "id" in tag.attributes}
        for page, tags in pages.items()
    }
    return [
        Link(page, url)
        for page, tags in pages.items()
        for tag in tags
        if tag.name in TAGS
        for url in urls_of(tag)
        if leads_nowhere(site, page, url, anchors)
    ]


def urls_of(tag: StartTag) -> list[str]:
    """Return the addresses that an element names."""
    given = tag.attributes
    return [given[name] for name in ATTRIBUTES if name in given]


def leads_nowhere(
    site: Path, page: str, url: str, anchors: Mapping[str, set[str]]
) -> bool:
    """Say whether a link within a site leads to no file or to no anchor.

    Args:
        site: The folder of the site.
        page: The path of the page with the link.
        url: What the link says.
        anchors: The anchors of each page.
    """
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return False
    target = target_of(page, unquote(parts.path))
    if not (site / target).is_file():
        return True
    anchor = unquote(parts.fragment)
    # A browser looks for the text after :~: by itself.
    is_anchor = bool(anchor) and not anchor.startswith(":~:")
    return is_anchor and anchor not in anchors.get(target, set())
