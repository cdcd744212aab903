"""Of a page of HTML, the start tags are read as a browser reads them."""

import pytest
from bs4 import BeautifulSoup

from workshop.verify.start_tags import start_tags

PAGES = [
    '<p id="a">one<br/><img src=x alt></p><A HREF="B">two</A>',
    '<a href="?a=1&amp;b=&#50;&copy=3" href="last">twice</a>',
    '<script>if (a < b) "<p id=no>"</script><style>a > b {}</style><b id=yes>',
    '<!-- <p id="no"> --><![CDATA[<p id="no">]]><?x <p id="no"?><p id="yes">',
    "<b>x<!-- no end <i id=a> <p id=b>",
    "<title>a & b</title><p>1 < 2 & 3 <em title='>'>x</em",
    "<svg viewBox='0 0 1 1'><use xlink:href='#own'/></svg>",
    "<p\nid = there\thidden>&lt;p id=no&gt;</div>",
]


@pytest.mark.parametrize("html", PAGES)
def test_they_are_those_of_the_tree(html: str) -> None:
    tree = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    wanted = [(tag.name, dict(tag.attrs)) for tag in tree.find_all(True)]
    assert [tuple(tag) for tag in start_tags(html)] == wanted
    assert len(wanted) > 0
