"""A link that leads nowhere is found, and no other."""

from pathlib import Path

import pytest

from workshop.verify.links import Link, broken_links


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "style.css").write_text("")
    (tmp_path / "a/index.html").write_text('<p id="here"></p><p id="ö"></p>')
    (tmp_path / "b/index.html").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "link",
    [
        '<a href="a/">',
        '<a href="a/index.html">',
        '<a href="./a/#here">',
        '<a href="a/#%C3%B6">',
        '<a href="/a/#here">',
        '<a href="a/#:~:text=word">',
        '<a href=".">',
        '<a href="#own"><b id="own">',
        '<a href="">',
        '<a href="https://example.org/gone">',
        '<a href="//example.org/gone">',
        '<a href="mailto:a@example.org">',
        '<a name="no-link">',
        '<link href="style.css?v=1">',
        '<form action="b/">',
        '<svg><use xlink:href="#own"></use></svg><b id="own">',
    ],
)
def test_a_link_that_leads_somewhere(site: Path, link: str) -> None:
    (site / "index.html").write_text(link)
    assert broken_links(site) == []


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ('<a href="gone/">', "gone/"),
        ('<a href="a">', "a"),
        ('<a href="a/#gone">', "a/#gone"),
        ('<a href="#gone">', "#gone"),
        ('<a href="style.css#gone">', "style.css#gone"),
        ('<a href="../a/">', "../a/"),
        ('<img src="gone.png">', "gone.png"),
        ('<script src="gone.js">', "gone.js"),
        ('<link href="gone.css">', "gone.css"),
        ('<form action="gone/">', "gone/"),
        ('<svg><use xlink:href="#gone"></use></svg>', "#gone"),
    ],
)
def test_a_link_that_leads_nowhere(site: Path, link: str, url: str) -> None:
    (site / "index.html").write_text(link)
    assert broken_links(site) == [Link("index.html", url)]


def test_a_link_is_read_from_its_page(site: Path) -> None:
    (site / "b/index.html").write_text('<a href="../a/#here"><a href="a/">')
    assert broken_links(site) == [Link("b/index.html", "a/")]
