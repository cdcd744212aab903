"""The strictly built site and its pages, for all tests of this folder."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from built_site import built_site

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what reads the site together: one process builds and parses it."""
    for item in items:
        if HERE in item.path.parents and "site" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("site"))


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the site, built strictly and without labs."""
    return built_site()


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    """Parse every page, named by its path in the site."""
    return {
        path.relative_to(site).as_posix(): BeautifulSoup(
            path.read_text("utf-8"), "html.parser"
        )
        for path in sorted(site.rglob("*.html"))
    }
