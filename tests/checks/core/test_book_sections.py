"""What a row refers to is a section that the book has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown.extensions.toc import slugify

from headway.checks import Report, Row
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from headway.checks.attention.properties import PROPERTIES
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section
from headway.checks.model.properties import PROPERTIES as OF_MODELS

DOCS = Path(__file__).parents[3] / "docs"
SECTIONS = [one for one in vars(book).values() if isinstance(one, Section)]


def headings(page: Path) -> list[tuple[int, str, str]]:
    """Give the level, text and anchor of each heading, but of no comment in code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    found = re.findall(r"^(#+) (.+)$", text, re.MULTILINE)
    return [
        (len(marks), title.replace("$", ""), anchor(title)) for marks, title in found
    ]


def anchor(title: str) -> str:
    """Make the anchor as the site does, which leaves the signs of formulas out."""
    return slugify(re.sub(r"\$.*?\$", lambda m: m[0].replace("_", ""), title), "-")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.address)
def test_every_section_is_in_the_book(section: Section) -> None:
    page, _, place = section.address.partition("/#")
    (level, chapter, _), *rest = headings(DOCS / f"{page}.md")
    assert (level, chapter) == (1, section.chapter)
    assert [at for _, title, at in rest if title == section.title] == [place]


def test_every_section_is_referred_to() -> None:
    used = {one.section for one in (*PROPERTIES, *OF_MODELS, *KNOWN_MISTAKES)}
    assert used == {*SECTIONS}


def test_an_address_fits_into_a_line_of_a_report() -> None:
    assert max(len(f"({one.address}).") for one in SECTIONS) <= 72


SECTION = Section("A chapter", "A section", "part/page/#a-section")


def test_a_section_says_where_it_is(built: Any) -> None:
    built()
    assert SECTION.url is None
    assert str(SECTION) == '"A section" in "A chapter" (part/page/#a-section)'


@pytest.mark.parametrize("site", ["https://a.test/b", "https://a.test/b/"])
def test_a_section_says_its_full_address_where_the_build_knew_it(
    site: str, built: Any
) -> None:
    built("Source, https://a.test/source", f"Documentation, {site}")
    assert SECTION.url == "https://a.test/b/part/page/#a-section"
    assert str(SECTION) == f'"A section" in "A chapter" ({SECTION.url})'
    row = Row("sizes", "any sizes", "failed", "It raised.", SECTION)
    content = json.loads(Report("f", {}, [row]).to_json())
    assert content["rows"][0]["section"]["address"] == SECTION.address
    assert content["rows"][0]["section"]["url"] == SECTION.url
