"""The start tags of a page of HTML, read without building a tree of the page."""

from html.parser import HTMLParser
from typing import NamedTuple


class StartTag(NamedTuple):
    """A start tag: its name, and its attributes, of which one without value is empty.

    If a tag gives an attribute twice, the last one counts.
    """

    name: str
    attributes: dict[str, str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[StartTag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.found.append(StartTag(tag, attributes))


def start_tags(html: str) -> list[StartTag]:
    """Return the start tags of a page, in its order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found
