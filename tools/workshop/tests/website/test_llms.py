"""The Markdown that is published says what the page shows, and no more."""

from pathlib import Path

import pytest

from workshop import build
from workshop.website.llms import (
    in_words,
    listing,
    module_as_markdown,
    page_as_markdown,
)

CONFIG = """site_name: A site
site_description: About it.
site_url: https://example.org/
strict: true
theme: {name: material, font: false}
plugins:
  - mkdocstrings: {handlers: {python: {paths: [source]}}}
markdown_extensions:
  - admonition
  - md_in_html
  - pymdownx.highlight: {pygments_lang_class: true}
  - pymdownx.superfences
  - pymdownx.snippets: {base_path: [parts]}
  - workshop.markdown_ext.computed_numbers
  - workshop.markdown_ext.labs: {folder: docs/labs}
nav:
  - Home: index.md
  - Part:
      - A: a.md
      - Deep: [{Lab: labs/lab.md}]
      - Module: module.md
extra: {workshop: {llms: true}}
"""
HOME = "---\ndescription: The first page.\n---\n\n# Home\n\nSee [a](a.md#x).\n"
PAGE = """# A

--8<-- "a.svg"

!!! note "Look"
    A box with 7<!--= next[1] -->.

    ```python
    print(7)  # <!-- kept -->
    ```

    <!--pytest-codeblocks:expected-output-->

    ```text
    7
    ```
"""
SVG = '<figure><svg aria-label="A line"></svg><figcaption>Drawn.</figcaption></figure>'
LAB = f"""# %% [markdown]
# # A lab

# %%
from IPython.display import HTML, Markdown, display

display(Markdown("- three"))
display(HTML({SVG!r}))
print("four")
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("docs/labs", "parts", "source/package"):
        Path(folder).mkdir(parents=True)
    Path("mkdocs.yml").write_text(CONFIG)
    Path("parts/a.svg").write_text(SVG)
    Path("docs/index.md").write_text(HOME)
    Path("docs/a.md").write_text(PAGE)
    Path("docs/labs/lab.md").write_text("<!--lab: lab.py-->\n")
    Path("docs/labs/lab.py").write_text(LAB)
    options = "    options:\n      heading_level: 2\n"
    Path("docs/module.md").write_text(f"# M\n\n::: package.one\n{options}\nWords.\n")
    Path("source/package/__init__.py").write_text(
        '"""P."""\n\nfrom package.one import x\nfrom os import sep\nimport re\n'
    )
    Path("source/package/one.py").write_text('"""One."""\n\nx = 1\n')
    return tmp_path


def test_each_page_is_published_as_markdown_and_listed(book: Path) -> None:
    Path("docs/index.md").write_text(HOME.replace("#x", ""))
    assert build.main([]) == 0
    site = book / "site"
    assert (site / "llms.txt").read_text() == (
        "# A site\n\n> About it.\n\n"
        "## Pages\n\n- [Home](https://example.org/index.md): The first page.\n\n"
        "## Part\n\n- [A](https://example.org/a.md)\n"
        "- [Module](https://example.org/module.md)\n\n"
        "## Part: Deep\n\n- [Lab](https://example.org/labs/lab.md)\n"
    )
    assert (site / "index.md").read_text() == "# Home\n\nSee [a](a.md).\n"
    assert (site / "a.md").read_text() == (
        "# A\n\nPicture: A line\n\nDrawn.\n\n**Look**\n\nA box with 7.\n\n"
        "```python\nprint(7)  # <!-- kept -->\n```\n\n```text\n7\n```\n"
    )
    lab = (site / "labs/lab.md").read_text()
    assert lab.startswith("# A lab\n\n```python\nfrom IPython")
    assert lab.endswith(
        "\n- three\n\nPicture: A line\n\nDrawn.\n\n```text\nfour\n```\n"
    )
    assert (site / "module.md").read_text() == (
        '# M\n\n```python\n"""One."""\n\nx = 1\n```\n\nWords.\n'
    )


def test_html_that_a_lab_shows_is_put_into_words() -> None:
    assert in_words("<p>2 &times; 3</p>") == "2 \u00d7 3"
    assert in_words('<svg aria-label="A"></svg><svg><text>4</text></svg>') == (
        "Picture: A\n\nPicture: without words"
    )


def test_a_package_comes_with_what_it_imports_from(book: Path) -> None:
    made = module_as_markdown("package", ["elsewhere", "source"])
    assert made.index('"""P."""') < made.index('"""One."""')
    assert made.count("```python") == 2
    with pytest.raises(ValueError, match=r"refer to a module; got package\.two\."):
        module_as_markdown("package.two", ["source"])


def test_what_cannot_be_published_fails_the_build(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = CONFIG.replace(
        "  - mkdocstrings: {handlers: {python: {paths: [source]}}}", ""
    )
    Path("mkdocs.yml").write_text(config.replace("plugins:", "plugins: []"))
    assert build.main([]) == 1
    said = capsys.readouterr().err
    assert said == "a page must refer to a module; got package.one.\n"


def test_a_site_without_an_address_has_links_within_it(book: Path) -> None:
    lines = CONFIG.replace("site_url: https://example.org/\n", "")
    Path("mkdocs.yml").write_text(lines.replace("site_description: About it.\n", ""))
    assert build.main([]) == 0
    listed = Path("site/llms.txt").read_text()
    assert listed.startswith("# A site\n\n## Pages\n\n- [Home](index.md): The")


def test_a_page_of_nothing_special_stays_as_it_is() -> None:
    text = "# A\n\n[b](b.md)\n"
    assert page_as_markdown(text, lambda name: None, {}, []) == text


def test_a_link_to_a_notebook_leads_to_its_file() -> None:
    text = "[a](../labs/a.py#top) [b](https://example.org/b.py) [c](c.md#d)\n"
    assert page_as_markdown(text, lambda name: None, {}, []) == (
        "[a](../labs/a/a.ipynb) [b](https://example.org/b.py) [c](c.md#d)\n"
    )


def test_a_page_that_has_no_markdown_is_not_listed() -> None:
    nav = [{"A": "a.md"}, {"A notebook": "b.py"}]
    assert listing("N", "", "", nav, {"a.md": "# A"}) == (
        "# N\n\n## Pages\n\n- [A](a.md)\n"
    )
