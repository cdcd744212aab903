"""The site as a reader gets it: whole, linked, readable, and from nowhere else."""

import json
import re
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from pytest_proofread.page.markdown import fences
from tests.support.book_nav import chapters, sources
from tests.support.chosen_pages import MOVED
from workshop.folds import programs_by_place
from workshop.markdown_ext.labs import code
from workshop.verify.links import broken_links
from workshop.verify.site_matches_pages import site_problems
from workshop.verify.takeaway_runs import Page, read_site
from workshop.website.paths import include_reader
from workshop.website.takeaway.cells import whole

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TASKS = ROOT / "generated/practice/notebooks"
# Where pages include files from.
INCLUDED = [ROOT / "generated/pictures", ROOT / "generated"]


@pytest.fixture(scope="session")
def programs_shown(site: Path) -> list[Page]:
    """Read what each page shows as its programs, and which files it offers."""
    return read_site(DOCS, site)


def is_local(link: str) -> bool:
    return not urlsplit(link).scheme and not link.startswith("//")


def test_every_source_became_a_page(pages):
    expected = {
        re.sub(
            r"(/?)index/index.html$",
            r"\1index.html",
            f"{Path(file).with_suffix('')}/index.html",
        )
        for file in sources()
    }
    assert set(pages) == expected | {"404.html"}


def test_shapes_stand_in_the_pages_and_nowhere_else(pages, site):
    shown = {page for page, soup in pages.items() if soup.select(".hw-shapes")}
    assert {"index.html", "basics/masks/index.html", "museum/heads/index.html"} <= shown
    row = "attend.heads[0].W_query.weight"
    others = [path for path in site.rglob("*.*") if path.suffix in (".json", ".md")]
    others += [*site.rglob("*.ipynb"), *site.rglob("*.py")]
    assert len(others) > 60
    for path in others:
        text = path.read_text()
        assert "hw-shapes" not in text
        assert row not in text
    assert any(row in str(soup) for soup in pages.values())


def test_a_live_figure_is_taken_away_as_words(pages, site):
    live = [page for page, soup in pages.items() if soup.select("[data-live]")]
    assert len(live) >= 4
    for page in live:
        folder = (site / page).parent
        source = page.replace("/index.html", ".html").replace(".html", ".md")
        made = [site / source, *folder.glob("*.ipynb"), *folder.glob("*.py")]
        assert len(made) == (3 if page.removesuffix("/index.html") in chapters() else 1)
        captions = [
            tag.get_text() for tag in pages[page].select("[data-live] figcaption")
        ]
        for text in (path.read_text() for path in made):
            assert "data-live" not in text
            assert "<figure" not in text
            for caption in captions:
                assert f"A live figure, on the site: {caption}" in text


def test_no_page_loads_anything_from_another_host(pages):
    loaded = []
    for page, soup in pages.items():
        for tag in soup.find_all(True):
            wanted = [
                tag.get("src"),
                tag.get("srcset"),
                tag.get("data"),
                tag.get("poster"),
            ]
            if tag.name in ("link", "use", "image"):
                wanted += [tag.get("href"), tag.get("xlink:href")]
            texts = [tag.get("style")]
            if tag.name in ("style", "script"):
                texts.append(tag.string)
            loaded += [
                (page, str(tag)[:99])
                for url in filter(None, wanted)
                if not is_local(url) and not url.startswith("data:")
            ]
            loaded += [
                (page, str(tag)[:99])
                for text in filter(None, texts)
                if re.search(r"https?:|[\"'(]//", text)
            ]
    assert loaded == []


def test_no_style_sheet_loads_anything_from_another_host(site):
    for sheet in site.rglob("*.css"):
        urls = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import", sheet.read_text())
        assert all(is_local(url) or url.startswith("data:") for url in urls), sheet


def test_every_link_and_every_file_that_a_page_loads_is_there(site):
    assert broken_links(site) == []


def test_no_anchor_stands_twice_on_a_page(pages):
    for page, soup in pages.items():
        ids = Counter(tag["id"] for tag in soup.find_all(id=True))
        assert [name for name, count in ids.items() if count > 1] == [], page


def test_every_page_has_one_title_and_headings_without_gaps(pages):
    for page, soup in pages.items():
        levels = [int(tag.name[1]) for tag in soup.select("article :is(h1,h2,h3,h4)")]
        assert levels[0] == 1, page
        assert levels.count(1) == 1, page
        assert all(b - a <= 1 for a, b in pairwise(levels)), page


def test_every_picture_has_words(pages):
    for page, soup in pages.items():
        for tag in soup.select("article img"):
            assert tag.get("alt"), page
        for tag in soup.select(".hw-figure svg"):
            assert tag.get("aria-label"), page


def test_dialogs_and_landmarks_have_names(pages):
    for page, soup in pages.items():
        ids = {tag["id"] for tag in soup.find_all(id=True)}
        for tag in soup.select("[role=dialog], nav"):
            named = tag.get("aria-label") or tag.get("aria-labelledby", "none") in ids
            assert named, (page, str(tag)[:99])


def test_each_page_has_a_policy_for_its_scripts(site, pages):
    for page in pages:
        html = (site / page).read_text("utf-8")
        (policy,) = re.findall(
            r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', html
        )
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert parts["default-src"] == "'self'"
        allowed = parts["script-src"].split()
        assert allowed[0] == "'self'"
        assert all(one.startswith("'sha256-") for one in allowed[1:])
        assert html.index(policy) < html.index("<script")


# ---- Formulas ----


def test_every_formula_is_mathml(pages):
    for page, soup in pages.items():
        assert not soup.select(".arithmatex"), page
        for formula in soup.select(".hw-math"):
            assert [tag.name for tag in formula.find_all(recursive=False)] == ["math"]
        for text in soup.article.find_all(string=True):
            if re.search(r"\$|\\[(\[]|\\begin", text):
                around = ["code", "pre", "script", "style", "math"]
                assert text.find_parent(around), (page, text)


def test_every_link_has_words(pages):
    """A formula alone is no name for those who hear the links of a page."""
    nameless = [
        (page, link["href"])
        for page, soup in pages.items()
        for link in soup.select("article a[href]")
        if not link.get("aria-label")
        and not link.find(["img", "svg"])
        and not any(
            text.strip() and not text.find_parent("math")
            for text in link.find_all(string=True)
        )
    ]
    assert nameless == []


def test_every_column_has_a_name(pages):
    nameless = [
        page
        for page, soup in pages.items()
        for header in soup.find_all("th")
        if not header.get_text(strip=True)
    ]
    assert nameless == []


def test_the_font_has_every_character_of_every_formula(pages):
    have = set((DOCS / "assets/math/characters.txt").read_text()) | {" ", "\u00a0"}
    used = {
        letter: page
        for page, soup in pages.items()
        for formula in soup.find_all("math")
        for letter in formula.get_text()
    }
    assert used, "no formula found"
    assert {k: v for k, v in used.items() if k not in have} == {}


# ---- Reference ----


def test_every_type_in_a_signature_is_a_link(pages):
    known = {
        line.split()[0].rpartition(".")[2]
        for line in (DOCS / "assets/inventory.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    # A small name, such as `device`, may be that of an argument.
    types = {name for name in known if name[0].isupper()}
    linked = Counter()
    for page, soup in pages.items():
        for token in soup.select(".doc-signature span"):
            if token.find("span") or token.get_text() not in types:
                continue
            assert token.find("a"), (page, str(token.parent)[:99])
            linked[token.get_text()] += 1
    assert linked["Tensor"] > 20
    assert linked["Float"] > 20
    assert linked["MultiheadAttention"] >= 2


def test_private_names_stay_out_of_the_reference(pages):
    documented = {
        tag["id"]
        for page, soup in pages.items()
        if page.startswith("reference/")
        for tag in soup.select(".doc-heading[id]")
    }
    assert len(documented) > 40
    assert not [name for name in documented if re.search(r"\._(?!_)", name)]


# ---- Code ----


def test_the_site_shows_the_code_of_its_pages_and_no_other(site):
    assert site_problems(DOCS, site, INCLUDED) == []


def test_every_program_of_every_page_can_be_copied(programs_shown):
    assert {page.path for page in programs_shown} == {
        path for path in DOCS.rglob("*.md") if path.parent.name != "labs"
    }
    for page in programs_shown:
        assert [block.text + "\n" for _, block in page.programs] == [
            program.code for program in programs_by_place(page.path.read_text())[0]
        ], page.path
    assert sum(len(page.programs) for page in programs_shown) > 100


def test_chapters_and_notebooks_and_no_other_pages_can_be_taken_away(site, pages):
    offers = {
        name: [a["href"] for a in soup.select(".hw-takeaway a[download]")]
        for name, soup in pages.items()
    }
    paths = [Path(chapter) for chapter in chapters()]
    notebooks = [Path(page).with_suffix("") for page in sources() if page[-3:] == ".py"]
    assert {name: files for name, files in offers.items() if files} == {
        f"{path}/index.html": [f"{path.stem}.ipynb", f"{path.stem}.py"]
        for path in paths
    } | {f"{path}/index.html": [f"{path.stem}.ipynb"] for path in notebooks}
    made = {path.relative_to(site) for path in site.rglob("*.ipynb")}
    tasks = {
        path.relative_to(TASKS).with_suffix(".ipynb") for path in TASKS.rglob("*.py")
    }
    of_pages = {path / f"{path.stem}.ipynb" for path in paths + notebooks}
    assert made == of_pages | tasks
    linked = {
        Path(name).parent / a["href"]
        for name, soup in pages.items()
        if name.startswith("practice/")
        for a in soup.select('a[href$=".ipynb"]')
    }
    assert linked == tasks


def test_what_is_taken_away_is_whole(site):
    for path in sorted(site.rglob("*.ipynb")):
        notebook = nbformat.read(path, nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        page = DOCS / path.parent.relative_to(site).with_suffix(".md")
        program = path if page.is_file() else page
        program = program.with_suffix(".py")  # a notebook's own is in `docs`
        if not program.is_file():  # that of an exercise
            program = TASKS / path.relative_to(site).with_suffix(".py")
        compile(program.read_text(), program.name, "exec")
        words = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
        prose = "\n".join(cell.source for cell in words)
        # Nothing is left of what only the site understands.
        assert not re.search(
            r"<!--|-->|--8<--|\?\?\? |!!! |\]\((?!https:)\S*\.md|\{ ?[.#]", prose
        )
        pictures = sum(len(cell.get("attachments", {})) for cell in words)
        assert pictures == prose.count("(attachment:")
        text = page.read_text() if page.is_file() else ""
        assert (pictures > 0) == ('.svg"\n' in text)


# ---- Labs ----


def test_labs_look_like_the_rest_of_the_book(pages):
    labs = {Path(name).parent.name for name in pages if name.startswith("labs/")}
    assert labs == {path.stem for path in DOCS.glob("labs/*.py")}
    for lab in labs:
        article = pages[f"labs/{lab}/index.html"].article
        shown = article.select(".language-python.highlight > pre > code")
        assert len(shown) == len(code((DOCS / f"labs/{lab}.py").read_text())), lab
        assert not article.select("style, script"), lab


def test_no_program_is_found_twice(site):
    found = json.loads((site / "search/search_index.json").read_text())["docs"]
    texts = "".join(part["text"] for part in found if part["location"][:5] == "labs/")
    names = texts.split()
    assert [names.count(name) for name in ("line_chart", "instead_of")] == [1, 1]


def test_the_search_shows_the_caption_of_a_figure_and_not_its_numbers(site):
    found = json.loads((site / "search/search_index.json").read_text())["docs"]
    texts = " ".join(part["text"] for part in found)
    assert "One query and six keys with random numbers." in texts  # a live figure
    assert "Scores of one query, not yet divided" not in texts  # its table
    assert "many ways to look at once" not in texts  # in a picture


# ---- What is published beside the pages ----


def test_each_page_is_listed_and_published_as_markdown(site):
    listed = re.findall(r"^- \[.*?\]\((.*?)\)", (site / "llms.txt").read_text(), re.M)
    files = [file for file in sources() if file.endswith(".md")]
    assert sorted(listed) == sorted(files)
    for name in listed:
        text = (site / name).read_text()
        assert text.startswith("# "), name
        source = whole((DOCS / name).read_text(), include_reader(INCLUDED))
        if "::: " not in source and "<!--lab:" not in source:
            assert [fence.code for fence in fences(text)] == [
                fence.code for fence in fences(source)
            ], name


@pytest.fixture(scope="session")
def unpacked(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offline")
    with zipfile.ZipFile(site / "headway.zip") as archive:
        archive.extractall(folder)
    return folder / "headway"


def test_the_archive_is_whole(unpacked, pages):
    assert broken_links(unpacked) == []
    # No page is missing, and an address of before leads on there too.
    assert len([*unpacked.rglob("*.html")]) == len(pages) - 1 + len(MOVED)


@pytest.mark.parametrize("page", sorted(MOVED))
def test_an_address_of_before_leads_on(site, page):
    soup = BeautifulSoup((site / page).read_text("utf-8"), "html.parser")
    (leads,) = soup.select("meta[http-equiv=refresh]")
    (link,) = soup.select("a[href]")
    assert leads["content"] == f"0; url={link['href']}"
    path, _, anchor = link["href"].partition("#")
    target = (site / page).parent / path / "index.html"
    assert not anchor or f'id="{anchor}"' in target.read_text("utf-8")


def test_every_link_of_the_markdown_leads_somewhere(site):
    files = [site / "llms.txt", *site.rglob("*.md")]
    broken = []
    for file in files:
        text = re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1", "", file.read_text("utf-8"))
        for url in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(url)
            target = file.parent / unquote(parts.path)
            if not parts.scheme and parts.path and not target.exists():
                broken.append((file.name, url))
    assert broken == []
    assert len(files) > 30
