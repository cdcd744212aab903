"""The lines that a program adds to the one before it are highlighted, and no others."""

import pytest
from bs4 import BeautifulSoup
from markdown import Markdown

from pytest_proofread.page.lint import check_fences
from pytest_proofread.page.markdown import OUTPUT, REFUSES, programs
from workshop.new_lines import NEW, check_new_lines, new_lines
from workshop.website.llms import page_as_markdown
from workshop.website.takeaway.cells import cells

EXTENSIONS = [
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "workshop.markdown_ext.shapes",
    "workshop.markdown_ext.highlight_new_lines",
]
CONFIGS = {
    "pymdownx.highlight": {"pygments_lang_class": True},
    "workshop.markdown_ext.shapes": {"preview": True},
}
PAGE = f"""# Title

Text.

```python
x = 2
print(x)
```

{OUTPUT}

```text
2
```

??? note "More"
    Text.

    {NEW}
    ```python
    x = 2
    y = 3

    print(x + y)
    ```

    {OUTPUT}

    ```text
    5
    ```

{NEW}
```python
x = 2
y = 3
if y:
    print(x + y)
```

{OUTPUT}

```text
5
```

```python
z = 1
```
"""


def html(text: str) -> BeautifulSoup:
    markdown = Markdown(extensions=EXTENSIONS, extension_configs=CONFIGS)
    return BeautifulSoup(markdown.convert(text), "html.parser")


COMPARED = {
    "nothing": ("a\nb\n", "a\nb\n", []),
    "added": ("a\nc\nb\n", "a\nb\n", [2]),
    "changed": ("a\nc\n", "a\nb\n", [2]),
    "taken away": ("a\n", "a\nb\n", []),
    "empty lines": ("a\n\n  \nb\n", "a\nb\n", []),
    "in another place": ("if a:\n    b\n", "b\n", [1]),
    "all": ("b\n\nc\n", "a\n", [1, 3]),
    "twice": ("a\nb\na\n", "a\nb\n", [3]),
    # difflib takes a line for noise that stands often in a long text, if one lets it.
    "often": ("a\n" * 300 + "b\n", "a\n" * 300, [301]),
}


@pytest.mark.parametrize("what", COMPARED)
def test_what_is_new(what: str) -> None:
    code, before, expected = COMPARED[what]
    assert new_lines(code, before) == expected


def test_new_lines_are_highlighted_in_and_out_of_a_fold() -> None:
    soup = html(PAGE)
    programs = soup.select(".language-python.highlight")
    marked = [[one.get_text() for one in p.select(".hll")] for p in programs]
    assert marked == [
        [],
        ["y = 3\n", "print(x + y)\n"],
        ["if y:\n"],
        [],
    ]
    assert programs[1].parent.name == "details"
    assert NEW not in str(soup)


def test_the_program_stays_as_it_was() -> None:
    plain = html(PAGE.replace(f"{NEW}\n", "\n").replace(f"    {NEW}\n", "\n"))
    found = [one.get_text() for one in html(PAGE).select("pre")]
    assert found == [one.get_text() for one in plain.select("pre")]
    assert html(PAGE).select("details.hw-shapes")
    assert len(html(PAGE).select("details")) == len(plain.select("details"))


def check(text: str) -> list[tuple[int, str]]:
    """Return what is wrong with a page for all who check it."""
    return [*check_fences(text), *check_new_lines(text)]


def test_the_lint_knows_the_comment() -> None:
    assert check(PAGE) == []


def test_a_mark_and_the_comment_stand_together() -> None:
    marked = f"{REFUSES}\n\n{NEW}\n```python\n1 / 0\n```\n\n<!--proofread:error-->\n\n"
    marked += "```text\nZeroDivisionError: division by zero\n```\n"
    page = f"{PAGE}\n{marked}"
    assert check(page) == []
    assert programs(page)[-1].marks == ("pytest.mark.xfail",)


FIRST = "```python\nx = 1\n```\n"
WRONG = {
    "first": (
        f"{NEW}\n{FIRST}",
        (1, "a program with new lines must come after another one"),
    ),
    "nothing new": (
        f"{FIRST}\n{NEW}\n{FIRST}",
        (
            5,
            "a program with new lines must have one that the program before it has not",
        ),
    ),
}
MISPLACED = {
    "above an empty line": f"{FIRST}\n{NEW}\n\n{FIRST}",
    "above a text": f"{FIRST}\n{NEW}\n```text\nx\n```\n",
    "at the end": f"{FIRST}\n{NEW}\n",
}


@pytest.mark.parametrize("what", WRONG)
def test_where_nothing_is_new_there_is_one_sentence(what: str) -> None:
    text, finding = WRONG[what]
    assert check(text) == [finding]
    with pytest.raises(ValueError, match=rf"^{finding[1]}; got top(\[2\])?\.$"):
        html(text)


@pytest.mark.parametrize("where", MISPLACED)
def test_the_comment_stands_right_above_a_program(where: str) -> None:
    (finding,) = check(MISPLACED[where])
    assert finding == (5, f"{NEW} must stand right above a fence of Python")


@pytest.mark.parametrize("typed", ["<!--workshop:nwe-->", "<!-- workshop: new -->"])
def test_a_misspelled_comment_is_found(typed: str) -> None:
    (finding,) = check_new_lines(f"{FIRST}\n{typed}\n{FIRST}")
    assert finding == (5, f"a comment to the workshop must be {NEW}; got {typed}")


def test_a_page_can_show_the_comment() -> None:
    assert check(f"````text\n{NEW}\n```text\nx\n```\n````\n") == []


def test_what_is_taken_away_has_no_comment() -> None:
    found = cells(PAGE, lambda target: target, lambda name: None)
    assert [cell.text for cell in found if cell.program][1].startswith("x = 2\ny = 3")
    assert not any("workshop" in cell.text for cell in found)
    markdown = page_as_markdown(PAGE, lambda name: None, {}, [])
    assert "workshop" not in markdown
    assert markdown.count("```python\n") == 4
