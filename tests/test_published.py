"""Where the book is published, as far as the build of the package was told."""

from importlib import metadata
from typing import Any

import pytest

from headway._published import published_at, url_of

PAGE = "part/page/#a-section"


@pytest.mark.parametrize("site", ["https://a.test/b", "https://a.test/b/"])
def test_a_page_has_its_full_address_where_the_build_knew_it(
    site: str, built: Any
) -> None:
    built("Source, https://a.test/source", f"Documentation, {site}")
    assert published_at() == site
    assert url_of(PAGE) == "https://a.test/b/part/page/#a-section"


def test_no_address_is_made_up(built: Any) -> None:
    built("Source, https://a.test/source")
    assert url_of(PAGE) is None


def test_a_package_that_is_not_installed_knows_no_address(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", missing)
    assert url_of(PAGE) is None
