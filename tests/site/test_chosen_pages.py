"""The pages that slow checks try: one of each kind, and every one that changed."""

import pytest

from generators import GENERATED
from generators.built import hashes as now
from tests.support import chosen_pages
from tests.support.book_nav import sources

CHANGES = {
    "docs/index.md": ["index.html"],
    "docs/basics/masks.md": ["basics/masks/index.html"],
    "docs/labs/why_sqrt_dk.py": ["labs/why_sqrt_dk/index.html"],
    "docs/labs/check_in_a_notebook.py": ["labs/check_in_a_notebook/index.html"],
    "docs/sources/index.md": ["sources/index.html"],
    "generated/pictures/leak.svg": ["basics/masks/index.html"],
    "docs/assets/live/leak.js": ["basics/masks/index.html"],
    "generated/live/leak.html": ["basics/masks/index.html"],
    "generated/sources/a-figures.md": ["sources/a/index.html"],
    "src/headway/basics/masks.py": ["reference/basics/masks/index.html"],
    "src/headway/checks/core/report.py": ["reference/checks/index.html"],
    "docs/assets/styles/palette.css": [],
    "overrides/main.html": [],
    "README.md": [],
}
KINDS = ["404.html", "basics", "decoding", "distributed", "index.html", "kernels"]
KINDS += ["labs", "models", "museum", "notebook", "positions", "practice"]
KINDS += ["reference", "single page", "sources", "variants", "ways"]


def page_of(source):
    name = source.rpartition(".")[0]
    return f"{name.removesuffix('index')}/index.html".replace("//", "/").lstrip("/")


PAGES = [page_of(source) for source in sources()]


@pytest.mark.parametrize("file", CHANGES)
def test_a_page_has_changed_if_what_it_shows_has(file):
    found = [page for page in PAGES if chosen_pages.has_changed(page, {file})]
    assert found == CHANGES[file]


def test_one_of_each_kind_is_tried(site, monkeypatch):
    monkeypatch.setattr(chosen_pages, "changed_files", lambda: {*CHANGES})
    built = {"generated/live/clock.html"}
    monkeypatch.setattr(chosen_pages, "changed_built_files", lambda: built)
    monkeypatch.delenv("ALL", raising=False)
    chosen = chosen_pages.chosen_pages(site)
    assert "positions/rotary/index.html" in chosen
    kinds = {chosen_pages.kind(one) for one in chosen}
    assert sorted(kinds) == sorted(KINDS)
    assert {page for pages in CHANGES.values() for page in pages} <= {*chosen}
    assert len(chosen) < len(PAGES)
    assert f"{len(chosen)} of {len(PAGES) + 1} pages" in chosen_pages.describe(
        chosen, site
    )


def test_what_is_built_has_changed_if_its_hash_has(monkeypatch):
    hashes = {
        path.relative_to(GENERATED).as_posix(): one for path, one in now().items()
    }
    before = hashes | {"live/leak.html": "0", "sources/of_before.md": "0"}
    del before["pictures/two-heads.svg"]
    asked = []

    def git(*arguments):
        asked.append(arguments)
        return [f"{one}  {name}" for name, one in before.items()]

    monkeypatch.setattr(chosen_pages, "git", git)
    monkeypatch.setattr(chosen_pages, "starting_point", lambda: "v1.0")
    assert chosen_pages.changed_built_files() == {
        "generated/live/leak.html",
        "generated/pictures/two-heads.svg",
        "generated/sources/of_before.md",
    }
    assert asked == [("show", "v1.0:generated/hashes.txt")]
    before = {}  # the list was not there yet
    assert len(chosen_pages.changed_built_files()) == len(hashes)


@pytest.mark.parametrize("reason", ["asked", "unknown"])
def test_every_page_is_tried_if_asked_or_if_git_cannot_tell(site, monkeypatch, reason):
    monkeypatch.setattr(chosen_pages, "changed_files", lambda: None)
    if reason == "asked":
        monkeypatch.setenv("ALL", "1")
        monkeypatch.setattr(chosen_pages, "changed_files", set)
    assert sorted(chosen_pages.chosen_pages(site)) == sorted([*PAGES, "404.html"])
