import re
import subprocess
import sys
from pathlib import Path

import pytest
from markdown import Markdown

from workshop.markdown_ext.formulas import to_mathml

EXTENSIONS = [
    "pymdownx.arithmatex",
    "pymdownx.superfences",
    "toc",
    "workshop.markdown_ext.formulas",
]


@pytest.fixture
def markdown() -> Markdown:
    return Markdown(
        extensions=EXTENSIONS,
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )


def test_a_formula_in_a_line(markdown):
    assert markdown.convert("Let $x < y$ hold.") == (
        '<p>Let <span class="hw-math"><math><mi>x</mi><mo>&lt;</mo><mi>y</mi></math>'
        "</span> hold.</p>"
    )


def test_a_formula_on_its_own_can_be_scrolled_to(markdown):
    html = markdown.convert("$$\n\\begin{aligned} a &< b \\end{aligned}\n$$")
    assert html.startswith(
        '<div aria-label="formula" class="hw-math" data-search-exclude="" role="group"'
        ' tabindex="0">'
        '<math display="block">'
    )
    assert "<mi>a</mi>" in html
    assert "<mo>&lt;</mo>" in html
    assert "arithmatex" not in html


def test_a_formula_in_a_heading_leaves_a_readable_anchor(markdown):
    html = markdown.convert("# Why $\\sqrt{d_k}$?")
    assert '<h1 id="why-dk">Why <span class="hw-math"><math><msqrt>' in html
    assert markdown.toc_tokens[0]["name"] == "Why dk?"


@pytest.mark.parametrize(
    "text",
    [
        "`\\(x\\)`",
        "```text\n\\(x\\) and $y$\n```",
        '```html\n<span class="arithmatex">\\(x\\)</span>\n```',
        "five \\$ and six \\$",
    ],
)
def test_what_is_not_a_formula_stays_text(markdown, text):
    html = markdown.convert(text)
    assert "<math>" not in html
    if "\\(" in text:
        assert "\\(x\\)" in html


def test_a_page_that_is_converted_twice_is_the_same(markdown):
    once = markdown.convert("$x$ and $y$")
    assert markdown.reset().convert("$x$ and $y$") == once


def test_a_typo_is_one_sentence():
    sentence = (
        'formula must be valid LaTeX (Unknown command "\\sqr"); '
        "got formula='\\\\sqr{d_k}'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        to_mathml(r"\sqr{d_k}")


def test_a_typo_fails_the_build_and_names_the_page(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# A page\n\n$$\\frac{1$$\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\n"
        "plugins: []\n"
        "markdown_extensions:\n"
        "  - pymdownx.arithmatex: {generic: true}\n"
        "  - workshop.markdown_ext.formulas\n"
    )
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", tmp_path / "mkdocs.yml"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert build.returncode == 1
    assert (
        "Error reading page 'index.md': formula must be valid LaTeX "
        '(Expected closing token "}", but reached end of input); '
        "got formula='\\\\frac{1'."
    ) in build.stderr
