"""A verdict names sections and rooms, and what opens them here."""

import re
from pathlib import Path
from typing import Any

import pytest

from headway.practice.judging.verdict import Verdict
from headway.practice.judging.where_to_read import (
    CHAPTERS,
    ROOMS,
    to_exhibit,
    to_section,
)
from tests.support.book_nav import chapters, titles

SECTION = ("basics/masks/#two-more-masks", "Two more masks")
EXHIBIT = "museum/triangles/#x"


def test_chapters_and_rooms_have_the_titles_of_the_nav() -> None:
    found = {
        page.removeprefix("museum/").removesuffix(".md"): title
        for page, title in titles().items()
        if page.startswith("museum/")
    }
    assert found == ROOMS
    numbered = {page: titles()[f"{page}.md"] for page in chapters()}
    assert {
        page: re.sub(r"^\d+\.\d+ ", "", title) for page, title in numbered.items()
    } == CHAPTERS


def test_where_nobody_said_more_a_page_is_told_by_its_title(
    built: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built()
    monkeypatch.chdir(tmp_path)
    assert to_section(*SECTION) == 'Read "Two more masks" in "Hiding the future".'
    assert to_section("week-1/#x", "X") == 'Read "X" in "week-1".'
    assert to_exhibit(EXHIBIT) == 'The museum shows it in "Triangles".'


def test_in_a_clone_of_the_book_the_file_of_a_page_is_told(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    built()
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)
    assert to_section(*SECTION) == 'Read "Two more masks": docs/basics/masks.md'
    assert to_exhibit(EXHIBIT) == (
        'The museum shows it in "Triangles": docs/museum/triangles.md'
    )
    assert to_section("week-1/#x", "X") == 'Read "X" in "week-1".'
    monkeypatch.chdir(root / "docs" / "basics")
    assert to_section(*SECTION) == 'Read "Two more masks": masks.md'
    assert to_exhibit(EXHIBIT).endswith(": ../museum/triangles.md")


def test_an_address_is_whole_where_the_build_knew_it(built: Any) -> None:
    built("Documentation, https://a.test/b/")
    assert to_section(*SECTION).endswith(
        ": https://a.test/b/basics/masks/#two-more-masks"
    )
    assert to_exhibit(EXHIBIT).endswith(": https://a.test/b/museum/triangles/#x")


def test_a_page_elsewhere_keeps_its_address(built: Any) -> None:
    built("Documentation, https://a.test/b/")
    assert to_section("https://c.test/3", "Week 3") == 'Read "Week 3": https://c.test/3'


def test_a_room_of_another_set_needs_no_title(built: Any) -> None:
    built()
    assert to_exhibit("museum/attic/#x") == "The museum shows it too."


def test_an_address_is_never_cut(built: Any) -> None:
    built("Documentation, https://a.test/a-long-name-of-a-site/")
    verdict = Verdict("double", "failed", "No.", read=SECTION, exhibits=(EXHIBIT,))
    lines = verdict.text(width=30).splitlines()
    for address in (SECTION[0], EXHIBIT):
        assert f"  https://a.test/a-long-name-of-a-site/{address}" in lines


def test_an_address_is_a_link_in_a_notebook(built: Any) -> None:
    built("Documentation, https://a.test/b/")
    shown = Verdict("double", "failed", "No.", read=SECTION)._repr_html_()
    address = f"https://a.test/b/{SECTION[0]}"
    assert f'<a href="{address}">{address}</a>' in shown
