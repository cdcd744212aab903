"""The link check finds what leads nowhere, and nothing else."""

import pytest
from links import broken_links

PAGE = '<p id="here"><a href="{}">x</a></p>'


@pytest.mark.parametrize(
    "url",
    [
        *("#here", "other/", "other/#there", "./other/index.html", "/other/"),
        *("https://example.org/gone", "//example.org", "mailto:a@example.org"),
        *("a%20b.txt", "other/#:~:text=x", ""),
    ],
)
def test_a_link_that_leads_somewhere_is_not_listed(tmp_path, url):
    write_site(tmp_path, url)
    assert broken_links(tmp_path) == []


@pytest.mark.parametrize(
    "url", ["#gone", "gone/", "other", "other/#here", "../index.html", "a%20b.txt#here"]
)
def test_a_link_that_leads_nowhere_is_listed(tmp_path, url):
    write_site(tmp_path, url)
    assert broken_links(tmp_path) == [("index.html", url)]


@pytest.mark.parametrize(
    "tag",
    [
        '<img src="gone.svg">',
        '<script src="gone.js"></script>',
        '<link href="gone.css">',
        '<form action="gone/"></form>',
        '<svg><use xlink:href="gone.svg"/></svg>',
    ],
)
def test_a_file_that_a_page_loads_is_a_link(tmp_path, tag):
    (tmp_path / "index.html").write_text(tag)
    assert len(broken_links(tmp_path)) == 1


def write_site(folder, url):
    (folder / "other").mkdir()
    (folder / "index.html").write_text(PAGE.format(url))
    (folder / "other/index.html").write_text('<p id="there"></p>')
    (folder / "a b.txt").write_text("")
