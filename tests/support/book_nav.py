"""The order of the book, as the nav of mkdocs.yml states it."""

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
