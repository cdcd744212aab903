"""The numbers of a page are computed when the site is built, and no comment is left."""

from pathlib import Path

import pytest
from markdown import Markdown
from mkdocs.commands.build import build
from mkdocs.config import load_config

from pytest_proofread.page.markdown import OUTPUT

EXTENSIONS = [
    "workshop.markdown_ext.computed_numbers",
    "pymdownx.superfences",
    "tables",
    "toc",
]


@pytest.fixture
def markdown() -> Markdown:
    return Markdown(extensions=EXTENSIONS)


PAGE = f"""```python
print(x.mean(), len(x))
```

{OUTPUT}

```text
0.5 12
```

The mean is 0.2386<!--= out[1] -->, or 24%<!--= out[1]:.0% -->, of 1,024.
That is **0.72<!--= out[1] * out[2]:.2f -->** in 3<!--= out[2] --> rows.

<!--given: 1024: the largest-->

```text
<!--= out[9] --> is not computed here, nor `<!--given: 1-->`.
```
"""


def test_the_built_page_has_numbers_and_no_comments(markdown: Markdown) -> None:
    html = markdown.convert(PAGE)
    assert "<p>The mean is 0.5, or 50%, of 1,024.\n" in html
    assert "<strong>6.00</strong> in 12 rows" in html
    # What stands in code is shown as it is.
    assert html.count("&lt;!--") == 2
    assert html.replace(OUTPUT, "").count("<!--") == 0


def test_a_comment_leaves_no_gap(markdown: Markdown) -> None:
    text = "one\n<!--given: 3: reason-->\ntwo\n\n- 3\n  <!--given: 4: reason-->\n- 4\n"
    assert markdown.convert(text) == (
        "<p>one\ntwo</p>\n<ul>\n<li>3</li>\n<li>4</li>\n</ul>"
    )


def test_numbers_in_headings_and_tables(markdown: Markdown) -> None:
    text = (
        f"```python\nprint(7)\n```\n\n{OUTPUT}\n\n```text\n7\n```\n\n"
        "## The 7<!--= out[1] --> ways\n\n"
        'a | b\n--|--\n7<!--= at("top")[1] --> | 9<!--= out[1] -->\n'
    )
    html = markdown.convert(text)
    assert '<h2 id="the-7-ways">The 7 ways</h2>' in html
    assert html.count("<td>7</td>") == 2


def test_a_page_without_comments_is_left_as_it_is(markdown: Markdown) -> None:
    assert markdown.convert("3 < 4\n\n    code") == (
        "<p>3 &lt; 4</p>\n<pre><code>code\n</code></pre>"
    )


def test_a_page_that_is_converted_twice_is_the_same(markdown: Markdown) -> None:
    once = markdown.convert("It is 2<!--= 1 + 1 -->.")
    assert once == "<p>It is 2.</p>"
    assert markdown.reset().convert("It is 2<!--= 1 + 1 -->.") == once


def test_what_cannot_be_computed_fails_the_build_and_names_the_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# A page\n\nIt is 3<!--= out[1] -->.\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\nplugins: []\n"
        "markdown_extensions: [workshop.markdown_ext.computed_numbers]\n"
    )
    with pytest.raises(ValueError, match="must have an output above it"):
        build(load_config(str(tmp_path / "mkdocs.yml")))
    assert (
        "Error reading page 'index.md': "
        "a computed number must have an output above it; got out[1]."
    ) in caplog.messages
