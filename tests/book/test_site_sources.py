"""What can be read off the sources of the site, before it is built."""

import re
from pathlib import Path

import pytest

from tests.support.book_nav import CONFIG, sources
from tests.support.load_module import load_module

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PYTHON_HANDLER = CONFIG["plugins"]["mkdocstrings"]["handlers"]["python"]


def test_every_page_stands_in_the_nav_once():
    pages = [*DOCS.rglob("*.md")]
    # A lab without a page of its own is one.
    labs = DOCS.glob("labs/*.py")
    pages += [lab for lab in labs if not lab.with_suffix(".md").is_file()]
    assert sorted(sources()) == sorted(str(page.relative_to(DOCS)) for page in pages)


@pytest.mark.parametrize(
    "source",
    [*ROOT.glob("overrides/**/*.html"), *DOCS.glob("assets/*.[cj]s*")],
    ids=lambda path: path.name,
)
def test_our_own_styles_scripts_and_templates_name_no_other_host(source):
    assert not re.findall(r"https?:|[\"'(]//", source.read_text())


def test_the_list_of_types_is_what_the_site_links_by():
    made = load_module(DOCS / "assets/make_inventory.py")
    listing = (DOCS / "assets/inventory.txt").read_text()
    assert made.make(listing) == (DOCS / "assets/inventory.inv").read_bytes()
    (inventory,) = PYTHON_HANDLER["inventories"]
    assert inventory == {"url": made.url(listing), "base_url": "https://"}
