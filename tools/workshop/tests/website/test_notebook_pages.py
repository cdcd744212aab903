"""A page of mkdocs-jupyter looks like the others, and runs when it must."""

from pathlib import Path

import pytest

from workshop import build
from workshop.markdown_ext.pending import MARK
from workshop.website.notebook_pages import reached_by

CONFIG = """site_name: A site
strict: true
theme: {name: material, custom_dir: parts, font: false}
plugins:
  - mkdocs-jupyter: {include: [lab.py], execute: true, allow_errors: false}
markdown_extensions:
  - admonition
  - md_in_html
  - pymdownx.highlight: {pygments_lang_class: true}
  - pymdownx.superfences
  - workshop.markdown_ext.labs: {folder: docs}
  - workshop.markdown_ext.shapes
"""
MAIN = """{% extends "base.html" %}
{% block content %}{{ super() }}
{{ config.extra.workshop.notebooks_pending }}{% endblock %}
"""
LAB = """# %% [markdown]
# # A lab
#
# !!! note
#     In a box.

# %%
from IPython.display import HTML, Markdown, display

import sys
sys.path.insert(0, {folder!r})
import package.module

with open({log!r}, "a") as log:
    _ = log.write("ran ")
print("a < b")
display(HTML("<table><tr><td>*4*</td></tr></table>"))
display(Markdown("- **three**"))
5 + 2
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("docs", "package", "parts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "parts/main.html").write_text(MAIN)
    (tmp_path / "docs/index.md").write_text("# Home\n")
    (tmp_path / "docs/lab.py").write_text(
        LAB.format(log=str(tmp_path / "log"), folder=str(tmp_path))
    )
    (tmp_path / "package/module.py").write_text("import package.deep\n")
    (tmp_path / "package/deep.py").write_text("x = 1\n")
    return tmp_path


def page(book: Path) -> str:
    html = (book / "site/lab/index.html").read_text()
    return html.partition("<article")[2].partition("</article>")[0]


def test_it_looks_like_the_others_and_runs_once(book: Path) -> None:
    assert build.main(["--preview"]) == 0
    assert MARK in page(book)
    assert not (book / "log").exists()
    for _ in range(2):
        assert build.main([]) == 0
        html = page(book)
        assert (book / "log").read_text() == "ran "
    for text in (
        '<div class="admonition note">',
        '<div class="language-python highlight"><pre><code>',
        "<code>a &lt; b\n</code>",
        '<div class="hw-output" data-search-exclude=""><table>',
        "<td>*4*</td>",
        "<strong>three</strong>",
        "<code>7\n</code>",
    ):
        assert text in html
    assert MARK not in html
    assert "<script" not in html
    assert "<style" not in html

    (book / "package/other.py").write_text("x = 1\n")
    assert build.main([]) == 0
    assert (book / "log").read_text() == "ran "
    (book / "package/deep.py").write_text("x = 2\n")
    assert build.main([]) == 0
    assert (book / "log").read_text() == "ran ran "
    assert len([*(book / ".cache/notebooks").iterdir()]) == 1


def test_a_notebook_reaches_what_stands_beside_it(book: Path) -> None:
    (book / "docs/beside.py").write_text("x = 1\n")
    notebook = book / "docs/lab.py"
    notebook.write_text("# %%\nimport beside\n")
    assert reached_by([notebook])[:2] == ["docs/beside.py", b"x = 1\n"]


def test_what_a_page_cannot_show_fails_the_build(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "docs/lab.py").write_text("# %%\nimport sys\nprint(1, file=sys.stderr)\n")
    assert build.main([]) == 1
    assert "an output must be text, Markdown or HTML; got 1" in capsys.readouterr().err
