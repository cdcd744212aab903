"""What needs the address of the repository stands where that is known."""

import pytest
from markdown import Markdown

from workshop.markdown_ext.repository import RepositoryExtension

TEXT = "Get a copy<!--repository:, from [its\nrepository](REPOSITORY/x)-->. <!--a-->"


@pytest.mark.parametrize("url", ["https://a.test/b", "https://a.test/b/"])
def test_where_it_is_known_it_is_told(url: str) -> None:
    html = Markdown(extensions=[RepositoryExtension(url=url)]).convert(TEXT)
    assert html == (
        '<p>Get a copy, from <a href="https://a.test/b/x">its\nrepository</a>. '
        "<!--a--></p>"
    )


@pytest.mark.parametrize("url", ["", None])
def test_where_it_is_not_known_no_link_leads_nowhere(url: str | None) -> None:
    html = Markdown(extensions=[RepositoryExtension(url=url)]).convert(TEXT)
    assert html == "<p>Get a copy. <!--a--></p>"
