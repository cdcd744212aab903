"""What no reader needs is not published, and nothing else is lost."""

from pathlib import Path

import pytest

from workshop.website.slim_html import slim, slim_site

LUNR = {"ja": "", "fr": "", "multi": "", "stemmer.support": ""}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "assets/javascripts/lunr/min"
    folder.mkdir(parents=True)
    for name in LUNR:
        (folder / f"lunr.{name}.min.js").write_text("x")
    (folder.parent / "tinyseg.js").write_text("x")
    (tmp_path / "a.js").write_text("f();\n//# sourceMappingURL=a.js.map\n")
    (tmp_path / "a.css").write_text("a{b:c}\n/*# sourceMappingURL=a.css.map */")
    (tmp_path / "b.js").write_text('"//#"')
    (tmp_path / "a.js.map").write_text("{}")
    (tmp_path / "index.html").write_text('<pre><span></span><span class="n">x</span>')
    return tmp_path


def names(site: Path) -> set[str]:
    return {path.name for path in site.rglob("*") if path.is_file()}


def test_maps_and_languages_go(site: Path) -> None:
    slim_site(site)
    assert names(site) == {"a.js", "a.css", "b.js", "index.html"}
    assert (site / "a.js").read_text() == "f();\n"
    assert (site / "a.css").read_text() == "a{b:c}"
    assert (site / "b.js").read_text() == '"//#"'
    assert (site / "index.html").read_text() == "<pre>x"


def test_the_languages_of_the_search_stay(site: Path) -> None:
    slim_site(site, ["en", "ja"])
    assert {name for name in names(site) if "lunr" in name} == {
        f"lunr.{name}.min.js" for name in LUNR if name != "fr"
    }
    assert "tinyseg.js" in names(site)


def test_only_marks_that_tell_nothing_are_taken_out() -> None:
    kept = (
        '<span class="k">def</span> <span class="nf">f</span><span class="n"><a>T</a>'
    )
    assert slim(kept) == kept
    assert slim('<span class="w">  </span><span class="n">a</span>') == "  a"
    assert slim('<span class="o">@</span> <span class="p">[]</span>') == "@ []"
    assert slim(kept := '<span class="ow">in</span>') == kept


def test_only_pages_with_docstrings_load_the_style_sheet_of_docstrings() -> None:
    link = '<link rel="stylesheet" href="../assets/_mkdocstrings.css">'
    other = '<link rel="stylesheet" href="../assets/headway.css">'
    assert slim(f"{link}{other}<p class='x'>doc</p>") == f"{other}<p class='x'>doc</p>"
    page = f'{link}{other}<div class="doc doc-object"></div>'
    assert slim(page) == page


def test_empty_lines_are_taken_out_where_space_says_nothing() -> None:
    assert slim("<p>a  b \n\n    c</p>\n  \n<p>") == "<p>a  b\nc</p>\n<p>"
    for kind in ("pre", "code", "script", "style", "textarea"):
        kept = f"<{kind} a='b'>a \n\n    b</{kind}>"
        assert slim(f"\n  \n{kept}\n\n") == f"\n{kept}\n"


def test_comments_are_taken_out_but_for_those_of_the_archive() -> None:
    assert slim("<p>a</p>\n<!-- b\n -->\n<p>c</p>") == "<p>a</p>\n<p>c</p>"
    kept = "a<!-- online -->b<!-- end of online --><pre><!--c--></pre>"
    assert slim(kept) == kept
