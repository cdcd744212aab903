"""A verdict names sections and rooms, with the address where the build knew it."""

from typing import Any

from headway.practice.judging.verdict import Verdict
from headway.practice.judging.where_to_read import ROOMS, to_exhibit, to_section
from tests.support.book_nav import titles

SECTION = ("basics/masks/#two-more-masks", "Two more masks")
EXHIBIT = "museum/triangles/#x"


def test_the_rooms_have_the_titles_of_the_nav() -> None:
    found = {
        page.removeprefix("museum/").removesuffix(".md"): title
        for page, title in titles().items()
        if page.startswith("museum/")
    }
    assert found == ROOMS


def test_an_address_is_that_of_a_page_where_nobody_said_more(built: Any) -> None:
    built()
    assert to_section(*SECTION) == 'Read "Two more masks": basics/masks/#two-more-masks'
    assert (
        to_exhibit(EXHIBIT) == 'The museum shows it in "Triangles": museum/triangles/#x'
    )


def test_an_address_is_whole_where_the_build_knew_it(built: Any) -> None:
    built("Documentation, https://a.test/b/")
    assert to_section(*SECTION).endswith(
        ": https://a.test/b/basics/masks/#two-more-masks"
    )
    assert to_exhibit(EXHIBIT).endswith(": https://a.test/b/museum/triangles/#x")


def test_a_page_elsewhere_keeps_its_address(built: Any) -> None:
    built("Documentation, https://a.test/b/")
    assert to_section("https://c.test/3", "Week 3") == 'Read "Week 3": https://c.test/3'


def test_a_room_of_another_set_needs_no_title() -> None:
    assert to_exhibit("museum/attic/#x") == "The museum shows it too: museum/attic/#x"


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
