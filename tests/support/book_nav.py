"""The order of the book, as the nav of mkdocs.yml states it."""

import itertools
import re
from pathlib import Path
from typing import Any

from mkdocs.utils.yaml import yaml_load

ROOT = Path(__file__).parents[2]
CONFIG = yaml_load((ROOT / "mkdocs.yml").read_text("utf-8"))
NAV: list[dict[str, Any]] = CONFIG["nav"]


def sources(items: list[dict[str, Any]] = NAV) -> list[str]:
    """List the sources of the pages of a nav, in their order."""
    found = []
    for item in items:
        (value,) = item.values()
        found += sources(value) if isinstance(value, list) else [str(value)]
    return found


def chapters() -> list[str]:
    """List the chapters, by their paths without suffix, in their order.

    They are the numbered pages and what stands in the same folders: a chapter that is
    read outside of the book's order has no number.
    """
    folders = {one.partition("/")[0] for one in numbered_chapters()}
    return [
        source.removesuffix(".md")
        for source in sources()
        if source.partition("/")[0] in folders
    ]


def numbered_chapters() -> list[str]:
    """List those chapters that are read in an order: "1.3 Queries, keys and values"."""
    named = titles()
    return [
        source.removesuffix(".md")
        for source in sources()
        if re.match(r"\d+\.\d+ ", named[source])
    ]


def next_chapter(chapter: str) -> str | None:
    """Return the chapter that is read after one, with a number or without."""
    numbered = numbered_chapters()
    own = [one for one in chapters() if (one in numbered) == (chapter in numbered)]
    return dict(itertools.pairwise(own)).get(chapter)


def titles(items: list[dict[str, Any]] = NAV) -> dict[str, str]:
    """Return the title of each page in the nav, by its source."""
    found = {}
    for item in items:
        [(title, value)] = item.items()
        found |= titles(value) if isinstance(value, list) else {str(value): title}
    return found


def sections_of(
    source: str, items: list[dict[str, Any]] = NAV
) -> list[tuple[str, list[dict[str, Any]]]]:
    """List the sections around a page with their items, the outermost first."""
    for item in items:
        [(title, value)] = item.items()
        if isinstance(value, list) and source in sources(value):
            return [(title, value), *sections_of(source, value)]
    return []


def title_of(source: str, items: list[dict[str, Any]] = NAV) -> str:
    """Return the title that the nav gives a page."""
    sections = sections_of(source, items)
    inside = sections[-1][1] if sections else items
    (title,) = (title for item in inside for title in item if item[title] == source)
    return title
