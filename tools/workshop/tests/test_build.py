"""A site is built with all that belongs to it, or not at all."""

import json
import zipfile
from pathlib import Path

import pytest

from workshop import build
from workshop.build import LABS, SHAPES
from workshop.markdown_ext.pending import MARK, PENDING

CONFIG = """site_name: A site
strict: true
theme: {name: material, font: false}
plugins: []
markdown_extensions:
  - pymdownx.highlight: {pygments_lang_class: true}
  - pymdownx.superfences
  - pymdownx.snippets: {base_path: [parts]}
"""
TAKEAWAY = "extra: {workshop: {chapters: [walk/], takeaway: {note: A note.}}}\n"


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkdocs.yml").write_text(CONFIG + TAKEAWAY)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.svg").write_text("<svg></svg>")
    (tmp_path / "docs" / "walk").mkdir(parents=True)
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    page = '# A\n\n--8<-- "a.svg"\n\n```python\nprint(3)\n```\n'
    (tmp_path / "docs" / "walk" / "a.md").write_text(page)
    return tmp_path


def test_the_site_and_what_belongs_to_it(
    book: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert build.main([]) == 0
    assert "MkDocs 2" not in capfd.readouterr().err
    folder = book / "site" / "walk" / "a"
    assert {path.name for path in folder.iterdir()} == {
        *("index.html", "a.ipynb", "a.py")
    }
    notebook = json.loads((folder / "a.ipynb").read_text())
    text = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert any("A note." in cell for cell in text)
    assert any("attachment:a.svg" in cell for cell in text)
    assert not [*(book / "site").glob("*.ipynb")]


def test_the_wheel_of_the_project_is_part_of_the_site(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = CONFIG + "site_url: https://example.org/book/\n"
    extra = TAKEAWAY.replace("note:", "project: ., note:")
    (book / "mkdocs.yml").write_text(config + extra)
    assert build.main([]) == 1
    assert "must succeed; it says:" in capsys.readouterr().err
    (book / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "thing"\nversion = "3"\nrequires-python = ">=3"\n'
    )
    (book / "thing.py").write_text("")
    assert build.main([]) == 0
    (wheel,) = (book / "site/dist").iterdir()
    assert wheel.name == "thing-3-py3-none-any.whl"
    program = (book / "site/walk/a/a.py").read_text()
    install = "%pip install --quiet https://example.org/book/dist"
    assert f"# {install}/{wheel.name}\n" in program
    assert "A note." not in program


def test_the_search_keeps_its_languages_and_no_other(book: Path) -> None:
    config = CONFIG.replace("plugins: []", "plugins: [{search: {lang: [en, ja]}}]")
    (book / "mkdocs.yml").write_text(config)
    assert build.main([]) == 0
    lunr = book / "site/assets/javascripts/lunr/min"
    assert {path.name for path in lunr.glob("*.??.*")} == {"lunr.ja.min.js"}
    assert not [*(book / "site").rglob("*.map")]
    (book / "mkdocs.yml").write_text(CONFIG.replace("plugins: []", "plugins: [search]"))
    assert build.main([]) == 0
    assert not lunr.exists()


def test_programs_about_sections_become_notebooks(book: Path) -> None:
    (book / "cells/walk/a").mkdir(parents=True)
    (book / "cells/walk/a/first.py").write_text("# %%\nprint(1)\n")
    extra = TAKEAWAY.replace("A note.", "A note., programs: cells")
    (book / "mkdocs.yml").write_text(CONFIG + extra)
    assert build.main([]) == 0
    notebooks = {path.name for path in (book / "site/walk/a").glob("*.ipynb")}
    assert notebooks == {"a.ipynb", "first.ipynb"}


def test_a_site_without_takeaways(book: Path) -> None:
    (book / "mkdocs.yml").rename(book / "other.yml")
    (book / "other.yml").write_text(CONFIG)
    assert build.main(["--config-file", "other.yml"]) == 0
    assert not [*(book / "site").rglob("*.ipynb")]


def test_each_page_has_the_policy_of_the_site(book: Path) -> None:
    rest = "default-src 'self'"
    extra = TAKEAWAY.replace("}}}", f'}}, policy: "{rest}"}}}}')
    (book / "mkdocs.yml").write_text(CONFIG + extra)
    assert build.main([]) == 0
    for page in ("index.html", "walk/a/index.html"):
        html = (book / "site" / page).read_text()
        assert f"; {rest}" in html.partition("<script")[0]


def test_a_name_that_no_page_explains_fails_with_one_sentence(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nav = "nav: [{Home: index.md}, {1. A: walk/a.md}]\n"
    extra = "extra: {workshop: {reference: reference/}}\n"
    (book / "mkdocs.yml").write_text(CONFIG + nav + extra)
    (book / "docs/reference/walk").mkdir(parents=True)
    entry = '<h2 id="thing.f" class="doc doc-heading">f</h2>'
    (book / "docs/index.md").write_text(f"# Home\n\n::: thing\n\n{entry}\n")
    assert build.main([]) == 1
    assert capsys.readouterr().err == (
        "a chapter must import or name what the reference lists; got none of f.\n"
    )
    with (book / "docs/walk/a.md").open("a") as page:
        page.write("\nThis is `f`.\n")
    assert build.main([]) == 0
    assert "Explained in" in (book / "site/index.html").read_text()


def test_the_archive_holds_all_that_belongs_to_the_site(book: Path) -> None:
    (book / "mkdocs.yml").write_text(
        CONFIG + TAKEAWAY.replace("}}}", "}, archive: a.zip}}")
    )
    assert build.main([]) == 0
    with zipfile.ZipFile(book / "site/a.zip") as archive:
        assert {"a/index.html", "a/walk/a/a.ipynb"} <= {*archive.namelist()}


def test_a_template_can_say_when_and_with_what_it_was_verified(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    config = CONFIG.replace("{name:", "{custom_dir: parts, name:")
    extra = "extra: {workshop: {verified: [pytest]}}\n"
    (book / "mkdocs.yml").write_text(config + extra)
    (book / "docs/walk/a.md").unlink()
    text = "{{ config.extra.workshop.environment }} {{ build_date_utc.year }}"
    (book / "parts/main.html").write_text(text)
    assert build.main([]) == 0
    said = (book / "site/index.html").read_text()
    assert said.startswith("1970-01-02 with pytest ")
    assert said.endswith(" 1970")


def test_a_template_can_say_how_a_chapter_begins(book: Path) -> None:
    config = CONFIG.replace("{name:", "{custom_dir: parts, name:")
    (book / "mkdocs.yml").write_text(config + TAKEAWAY)
    page = book / "docs/walk/a.md"
    page.write_text(f"---\nlearn: Do it.\n---\n{page.read_text()}")
    (book / "parts/main.html").write_text(
        "{% set here = config.extra.workshop.openings['walk/a.md'] %}"
        "{{ here.learn }} {{ here.minutes }}"
    )
    build.main([])
    assert (book / "site/index.html").read_text() == "do it. 5"


def test_a_key_that_is_misspelled_builds_no_site(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "mkdocs.yml").write_text(CONFIG + "extra: {workshop: {polcy: x}}\n")
    assert build.main([]) == 1
    assert capsys.readouterr().err == (
        "extra.workshop must have known keys only, such as policy; "
        "got extra.workshop.polcy='x'.\n"
    )
    assert not (book / "site").exists()


def test_a_preview_computes_nothing_and_is_built_where_one_asks(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "\n  - ".join(["", LABS, SHAPES]).removeprefix("\n")
    (book / "mkdocs.yml").write_text(CONFIG + page + ": {folder: docs}\n")
    (book / "docs/lab.md").write_text("<!--lab: lab.py-->\n")
    (book / "docs/lab.py").write_text("# %% [markdown]\n# # A lab\n\n# %%\n3 + 4\n")
    (book / "docs/shapes.md").write_text("# S\n\n```python\nx = 3\n```\n")
    assert build.main(["--preview", "--site-dir", "other"]) == 0
    for name in ("lab", "shapes", "walk/a"):
        assert (book / f"other/{name}/index.html").read_text().count(PENDING) == 1
    assert not (book / "site").exists()
    assert not (book / ".cache").exists()
    assert build.main([]) == 0
    for html in (book / "site").rglob("*.html"):
        assert MARK not in html.read_text()
    assert build.main(["--preview", "--site-dir", "other"]) == 0
    assert not [p for p in (book / "other").rglob("*.html") if MARK in p.read_text()]


def test_a_preview_has_neither_search_nor_downloads(book: Path) -> None:
    config = CONFIG.replace("plugins: []", "plugins: [search]")
    (book / "mkdocs.yml").write_text(config + TAKEAWAY)
    assert build.main(["--preview", "--site-dir", "other"]) == 0
    assert build.main([]) == 0
    for name in ("search/search_index.json", "walk/a/a.ipynb"):
        assert (book / "site" / name).is_file()
        assert not (book / "other" / name).exists()


def test_only_the_whole_site_is_held_against_its_pages(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "site_problems", lambda *_: ["a page lies."])
    assert build.main(["--preview", "--site-dir", "other"]) == 0
    assert build.main([]) == 1
    assert capsys.readouterr().err == "a page lies.\n"


def test_what_mkdocs_refuses_is_not_built(
    book: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (book / "docs" / "index.md").write_text("[gone](gone.md)\n")
    assert build.main([]) == 1
    assert "gone.md" in capfd.readouterr().err
    assert not [*(book / "site").rglob("*.ipynb")]


def test_a_takeaway_that_cannot_be_made_fails_with_one_sentence(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "docs" / "walk" / "a.md").write_text('--8<-- "gone.svg"\n')
    assert build.main([]) == 1
    page = book / "docs" / "walk" / "a.md"
    sentence = f"{page}: an included file must exist; got gone.svg.\n"
    assert capsys.readouterr().err == sentence


def test_a_site_that_shows_another_program_fails(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "docs" / "index.md").write_text("``` python\nprint(3)\n```\n")
    assert build.main([]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    page = book / "docs" / "index.md"
    assert said == f"{page}, line 1: the site shows another block: in another language"
