"""A reader sorts the table of all variants by a column."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.browsing import Visit

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDE, SMALL = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
KEPT = 4


def column(page: "Page", index: int) -> list[str]:
    """Return the texts of a column in all rows that are seen."""
    rows = page.locator(".hw-sorts tbody tr:visible")
    texts = rows.evaluate_all(
        "(rows, i) => rows.map(r => r.cells[i].textContent)", index
    )
    return [text.strip() for text in texts]


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_click_sorts_and_the_third_gives_back_the_order(
    opened: Callable[..., Visit], size: dict[str, int]
) -> None:
    seen = opened("all_variants/", viewport=size)
    page = seen.page
    before = column(page, 0)
    button = page.get_by_role("button", name="Kept")
    header = page.locator(".hw-sorts th").nth(KEPT)

    button.click()
    # An empty cell is as in the first row, which has 512.0.
    amounts = [float(text.split()[0].rstrip(",")) for text in numbers(page)]
    assert amounts == sorted(amounts)
    assert amounts[0] == 2.0
    assert header.get_attribute("aria-sort") == "ascending"
    # The headings of the groups are gone while groups mix.
    assert len(column(page, 0)) == len(before) - 6
    assert "Who looks at whom" not in column(page, 0)

    button.click()
    assert numbers(page)[0] == "516.0"
    assert header.get_attribute("aria-sort") == "descending"

    page.get_by_role("button", name="Variant").click()
    names = column(page, 0)
    assert names == sorted(names, key=str.casefold)
    assert header.get_attribute("aria-sort") == "none"

    for _ in range(2):
        page.get_by_role("button", name="Variant").click()
    assert column(page, 0) == before
    assert seen.messages == []


def numbers(page: "Page") -> list[str]:
    """Return the cells of *Kept*, where words count as in the first row."""
    texts = column(page, KEPT)
    return [text if text[:1].isdigit() else "512.0" for text in texts]
