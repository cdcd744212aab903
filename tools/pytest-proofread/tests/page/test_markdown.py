"""A page is read as its reader sees it, and its anchors are those of the site."""

from pathlib import Path

import markdown

from pytest_proofread.page.markdown import (
    ERROR,
    OUTPUT,
    as_fence,
    fences,
    headings,
    outside,
    pages,
    programs,
)

TEXT = f"""# The *first* `title`, [linked](a.md)

```python
x = 1
```

## Same

## Same {{ #own .wide }}

1. An item

    ```python

      print(3)

    ```

    {OUTPUT}

    ```text
    3

      4
    ```

    {ERROR}

    ````text
    E: 5
    ```
    ````

Some ```code``` in a sentence.

## Same

<!-- a comment -->
<!--pytest.mark.xfail-->
<!--pytest.mark.timeout(3)-->

```python
raise Error
```

{ERROR}

```text
Error
```

```python
x = 2
```

~~~text
# no heading
~~~
"""


def test_programs_and_what_is_recorded_of_them() -> None:
    first, second, third, fourth = programs(TEXT)
    assert first.name == "the-first-title-linked"
    assert [first.line, first.code] == [3, "x = 1\n"]
    assert first.recorded == ("", "")
    assert [second.name, second.line] == ["own", 13]
    assert second.code == "\n  print(3)\n\n"
    assert second.recorded == ("3\n\n  4\n", "E: 5\n```")
    assert second.marks == ()
    assert [third.name, third.heading, third.number] == ["same_1", "same_1", 1]
    assert third.marks == ("pytest.mark.xfail", "pytest.mark.timeout(3)")
    assert third.recorded == ("", "Error")
    assert [fourth.name, fourth.number] == ["same_1[2]", 2]
    assert fourth.recorded == ("", "")
    assert fourth.marks == ()


def test_a_program_above_every_heading() -> None:
    text = "```python\n```\n\n```python\n```\n# A\n"
    assert [program.name for program in programs(text)] == ["top", "top[2]"]


def anchors(text: str) -> list[str]:
    return [*headings(outside(text, fences(text))).values()]


def shown(text: str) -> list[str]:
    """Return the anchors that the site has."""
    site = markdown.Markdown(extensions=["toc", "attr_list", "pymdownx.superfences"])
    site.convert(text)
    return [str(token["id"]) for token in flat(site.toc_tokens)]


def flat(tokens: list[dict[str, object]]) -> list[dict[str, object]]:
    found = []
    for token in tokens:
        found += [token, *flat(token["children"])]
    return found


def test_anchors_are_those_of_the_site() -> None:
    assert anchors(TEXT) == shown(TEXT)


def test_a_fence_that_is_never_closed_ends_with_the_page() -> None:
    (fence,) = fences("a\n```python\nx\n")
    assert (fence.line, fence.end, fence.code) == (2, 4, "x\n")


def test_a_fence_is_longer_than_those_in_it() -> None:
    assert as_fence("text", "a\n\n") == "```text\na\n\n```"
    assert as_fence("text", "a\n\n b", "  ") == "  ```text\n  a\n  \n   b\n  ```"
    for text in ("  ````\n", "a\n````python\nb"):
        assert as_fence("text", text) == f"`````text\n{text.rstrip()}\n`````"
    assert as_fence("python", "x = '````'") == "```python\nx = '````'\n```"


def test_pages_are_found_in_folders_in_order(tmp_path: Path) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    for name in ("docs/b.md", "docs/deep/a.md", "docs/a.txt", "README.md", "c.md"):
        (tmp_path / name).touch()
    found = pages([tmp_path / "docs", tmp_path / "README.md"])
    assert [str(page.relative_to(tmp_path)) for page in found] == [
        "docs/b.md",
        "docs/deep/a.md",
        "README.md",
    ]
