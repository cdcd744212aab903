"""Names of the reference lead to the chapters that explain them, and back."""

from pathlib import Path

import pytest

from workshop.folds import LEFT_OUT
from workshop.website.crosslinks import explain

NAV = [
    {"Home": "index.md"},
    {"The walk": [{"1. One": "walk/one.md"}, {"2. Two": "walk/two.md"}]},
    {"Reference": [{"two": "reference/two.md"}]},
    {"Gone": "gone.md"},
]
HEADING = '<h{0} id="{1}">{2}<a class="headerlink" href="#{1}">#</a></h{0}>\n'
ENTRY = '<h2 id="{0}" class="doc doc-heading">\n<span>{1}</span>\n</h2>\n'


def entries(*anchors: str) -> str:
    return "".join(ENTRY.format(one, one.rpartition(".")[2]) for one in anchors)


def program(*lines: str) -> str:
    return "\n```python\n" + "\n".join(lines) + "\n```\n"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book with two chapters and a reference, before its links are made."""
    pages = {
        "index": ("# Home\n", "<p>It has <code>f(x, y)</code> and <code>f</code>.</p>"),
        "walk/one": (
            "# One\n"
            + program("from .pack import early", "from other import f", "import pack")
            + program("this is no Python"),
            HEADING.format(1, "one", "One")
            + "<p>Of <code>1 + 1</code>, <code>early()</code>.</p>\n",
        ),
        "walk/two": (
            "# Two\n## A\n## B, *b*\n"
            + program("from pack.two import f, unlisted", "from pack import g"),
            HEADING.format(1, "two", "Two <code>early</code>")
            + HEADING.format(2, "a", "A")
            + '<p><a href="/"><code>g</code></a> and <code class="x">g</code>\n'
            + '<code><a href="/">g</a></code>\n'
            + "<code>g</code></p>\n"
            + HEADING.format(2, "b-b", "B, <em>b</em>"),
        ),
        "reference/two": (
            "# two\n\n::: pack.two\n",
            entries("pack.two.early", "pack.two.f", "pack.two.C", "pack.two.C.g")
            + entries("pack.two.g"),
        ),
    }
    for name, (text, html) in pages.items():
        source = tmp_path / "docs" / f"{name}.md"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        folder = tmp_path / "site" / ("" if name == "index" else name)
        folder.mkdir(parents=True, exist_ok=True)
        whole = f"<nav><code>f</code></nav><article>\n{html}</article><p>end"
        (folder / "index.html").write_text(whole)
    with (tmp_path / "docs/walk/two.md").open("a") as page:
        page.write("\n```python\nfrom pack import C\n```\n")
    return tmp_path


def read(book: Path, address: str) -> str:
    explain(book / "docs", book / "site", NAV, "reference", ["walk/"])
    return (book / "site" / address / "index.html").read_text()


def test_an_entry_says_where_it_is_explained(book: Path) -> None:
    html = read(book, "reference/two")
    for anchor, target, title in (
        ("early", "one/#one", "1. One"),
        ("f", "two/#b-b", "2. Two: B, <em>b</em>"),
        ("C", "two/#b-b", "2. Two: B, <em>b</em>"),
        ("g", "two/#a", "2. Two: A"),
    ):
        assert (
            f"<span>{anchor}</span>\n</h2>\n"
            f'\n<p class="hw-explained">Explained in <a href="../../walk/{target}">'
            f"{title}</a></p>"
        ) in html.replace("</h2>\n<p", "</h2>\n\n<p")
    # The method belongs to its class, which says it.
    assert entries("pack.two.C.g") + entries("pack.two.g").rstrip() in html


def test_a_chapter_ends_with_what_it_explains(book: Path) -> None:
    line = (
        '<p class="hw-explained">In the reference: '
        '<a href="../../reference/two/#pack.two.f"><code>f</code></a>, '
        '<a href="../../reference/two/#pack.two.C"><code>C</code></a>, '
        '<a href="../../reference/two/#pack.two.g"><code>g</code></a></p>\n'
        "</article><p>end"
    )
    assert read(book, "walk/two").endswith(line)


def test_a_page_that_explains_nothing_says_nothing(book: Path) -> None:
    (book / "docs/walk/one.md").write_text("# One\n")
    (book / "site/walk/one/index.html").write_text("<article></article>")
    (book / "docs/walk/two.md").write_text(program("from pack import f, g, C, early"))
    assert read(book, "walk/one") == "<article></article>"
    reference = (book / "site/reference/two/index.html").read_text()
    assert reference.count('href="../../walk/two/#top">2. Two</a>') == 4


def page_beside(book: Path, *lines: str) -> list[object]:
    """Add a page that is no chapter, and has the path of a page of the reference."""
    (book / "docs/two.md").write_text(program(*lines))
    (book / "site/two").mkdir()
    (book / "site/two/index.html").write_text("<article></article>")
    return [{"Beside": "two.md"}, *NAV]


def test_a_page_beside_the_reference_explains_what_its_namesake_lists(
    book: Path,
) -> None:
    nav = page_beside(book, "from pack import f")
    explain(book / "docs", book / "site", nav, "reference", ["walk/"])
    reference = (book / "site/reference/two/index.html").read_text()
    assert reference.count('<a href="../../two/#top">Beside</a>') == 1
    beside = (book / "site/two/index.html").read_text()
    assert '<a href="../reference/two/#pack.two.f"><code>f</code></a></p>' in beside


def more(book: Path, *anchors: str) -> dict[str, str]:
    """Add a page to the reference."""
    (book / "docs/reference/more.md").write_text("::: pack.more\n")
    (book / "site/reference/more").mkdir()
    html = f"<article>{entries(*anchors)}</article>"
    (book / "site/reference/more/index.html").write_text(html)
    return {"more": "reference/more.md"}


def test_a_method_may_have_the_name_of_an_entry_of_another_page(book: Path) -> None:
    (book / "docs/walk/one.md").write_text(program("from pack import early, D"))
    nav = [*NAV, more(book, "pack.more.D", "pack.more.D.g")]
    explain(book / "docs", book / "site", nav, "reference", ["walk/"])
    html = (book / "site/reference/more/index.html").read_text()
    assert html.count("Explained in") == 1
    assert entries("pack.more.D.g") in html


def test_a_page_beside_the_reference_explains_nothing_else(book: Path) -> None:
    nav = page_beside(book, "from pack import elsewhere")
    nav += [more(book, "pack.more.elsewhere")]
    with pytest.raises(ValueError, match=r"got none of elsewhere\."):
        explain(book / "docs", book / "site", nav, "reference", ["walk/"])


def test_the_first_mention_on_a_page_leads_to_the_entry(book: Path) -> None:
    link = '<a href="{}reference/two/#pack.two.{}"><code>{}</code></a>'
    assert f"It has {link.format('', 'f', 'f(x, y)')} and <code>f</code>." in read(
        book, "."
    )
    chapter = (book / "site/walk/two/index.html").read_text()
    assert chapter.startswith("<nav><code>f</code></nav>")
    assert "Two <code>early</code>" in chapter
    assert (
        '<p><a href="/"><code>g</code></a> and <code class="x">g</code>\n'
        '<code><a href="/">g</a></code>\n'
        f"{link.format('../../', 'g', 'g')}</p>"
    ) in chapter


def test_a_mention_on_the_page_of_its_entry_stays_there(book: Path) -> None:
    page = book / "site/reference/two/index.html"
    page.write_text(page.read_text().replace("</article>", "<code>f</code></article>"))
    assert '<a href="#pack.two.f"><code>f</code></a>' in read(book, "reference/two")


def test_code_that_leads_somewhere_already_is_left_alone(book: Path) -> None:
    page = book / "site/index.html"
    own = '<code><a href="/">f</a></code>'
    page.write_text(page.read_text().replace("<p>It", f"<p>{own} It"))
    assert f"<p>{own} It has <a " in read(book, ".")


def test_a_name_that_no_chapter_knows_is_an_error(book: Path) -> None:
    page = book / "site/reference/two/index.html"
    more = entries("pack.two.h", "pack.two.unknown")
    page.write_text(page.read_text().replace("</article>", more + "</article>"))
    with pytest.raises(ValueError, match="got") as raised:
        read(book, ".")
    assert str(raised.value) == (
        "a chapter must import or name what the reference lists; got none of h, "
        "unknown."
    )


def test_two_entries_of_one_name_are_an_error(book: Path) -> None:
    page = book / "site/reference/two/index.html"
    page.write_text(page.read_text() + entries("pack.three.f"))
    with pytest.raises(ValueError, match="got") as raised:
        read(book, ".")
    assert str(raised.value) == "a name must be listed once; got name=f."


@pytest.mark.parametrize("title", ["Seen", LEFT_OUT])
def test_a_program_that_the_site_leaves_out_explains_nothing(
    book: Path, title: str
) -> None:
    page = book / "site/reference/two/index.html"
    page.write_text(page.read_text().replace("</article>", entries("pack.two.h")))
    fold = program("from pack import h").replace("\n", "\n    ")
    with (book / "docs/walk/two.md").open("a") as text:
        text.write(f'\n??? example "{title}"\n{fold}\n')
    if title == "Seen":
        assert "#b-b" in read(book, "reference/two").partition("pack.two.h")[2]
    else:
        with pytest.raises(ValueError, match=r"got none of h\."):
            read(book, ".")
