"""The built site and its pages, for all tests of this folder: `make site` runs them."""

import gc
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.support.chosen_pages import all_pages
from tests.support.site_server import SITE


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the site."""
    assert SITE.is_dir(), "`make site` must build it first."
    return SITE


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    """Parse every page, named by its path in the site."""
    # All that is made here is kept to the end: to search it for garbage, again and
    # again, would take a third of the time.
    gc.disable()
    parsed = {
        path.relative_to(site).as_posix(): BeautifulSoup(
            path.read_text("utf-8"), "html.parser"
        )
        for path in (site / page for page in all_pages(site))
    }
    gc.freeze()
    gc.enable()
    return parsed
