import re

import pytest

from pytest_proofread.page.markdown import programs
from workshop.website.takeaway.cells import (
    Cell,
    cells,
    described,
    flat,
    illustrate,
    pictures,
    plain,
    settle,
    whole,
)

SVG = '<svg viewBox="0 0 9 9" aria-label="{}"><path d="M0 0"/></svg>'


def nowhere(target: str) -> str | None:
    """Know no address and no file."""
    return None


def on_the_web(target: str) -> str | None:
    return f"https://example.org/{target}"


PAGE = """---
description: A page.
---

# A page

<!--given: 3: a test-->
It prints 3<!--= next[1] -->, as [the other page](other.md#there) says.

```python
print(3)
```

<!--pytest-codeblocks:expected-output-->

```text
3
```

## An exercise { #own .wide }

??? question "Exercise: `x`"
    Think.

    - A list:

        ```python
        x = '''
            kept
        '''
        ```

        still the list.

    ??? success "A solution"

        ```python
        raise ValueError("no")
        ```

        <!--proofread:error-->

        ```text
        ValueError: no
        ```

The end.
"""


def test_a_page_becomes_cells() -> None:
    found = cells(PAGE, nowhere, nowhere)
    assert [(cell.name, cell.text) for cell in found] == [
        (
            "before-a-page",
            "# A page\n\nIt prints 3, as the other page says.",
        ),
        ("a-page", "print(3)"),
        (
            "before-own",
            "## An exercise\n\n**Exercise: `x`**\n\nThink.\n\n- A list:",
        ),
        ("own", "x = '''\n    kept\n'''"),
        ("before-own-2", "still the list.\n\n**A solution**"),
        ("own-2", 'raise ValueError("no")'),
        ("end", "The end."),
    ]
    recorded = [cell.program.recorded for cell in found if cell.program]
    assert recorded == [("3\n", ""), ("", ""), ("", "ValueError: no")]


def test_programs_are_those_of_the_page() -> None:
    found = [cell.program for cell in cells(PAGE, nowhere, nowhere) if cell.program]
    assert [(p.code, p.recorded) for p in found] == [
        (p.code, p.recorded) for p in programs(PAGE)
    ]


def test_names_of_cells_are_valid_and_differ() -> None:
    title = "Ω " + "very " * 30 + "long"
    text = f"# {title}\n\ntext\n\n```python\n```\n\n```python\n```\n\nend\n"
    text += "## End\n\n```python\n```\n\nmore"
    names = [cell.name for cell in cells(text, nowhere, nowhere)]
    assert len(names) == len({*names}) == 6
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    long = "very-" * 9 + "ver"
    assert names[:3] == [f"before-{long}", long, f"{long}_1"]
    assert names[3:] == ["before-end", "end", "end_1"]


def test_a_program_without_words_around_it_is_a_cell() -> None:
    assert [cell.text for cell in cells("```python\n1\n```\n", nowhere, nowhere)] == [
        "1"
    ]


def test_a_page_without_programs_is_one_cell() -> None:
    assert cells("# Words\n", nowhere, nowhere) == [Cell("end", "# Words")]


# ---- Boxes ----


@pytest.mark.parametrize(
    ("box", "title"),
    [
        ('!!! note "A title"', "**A title**\n\n"),
        ("!!! note", "**Note**\n\n"),
        ('??? question "A "fine" one"', '**A "fine" one**\n\n'),
        ('???+ tip inline end "T"', "**T**\n\n"),
        ('!!! warning ""', ""),
    ],
)
def test_a_box_becomes_its_title(box: str, title: str) -> None:
    text = f"a\n\n{box}\n    inside\n\n    too\n\nb\n"
    assert flat(text) == f"a\n\n{title}inside\n\ntoo\n\nb\n"


def test_boxes_in_boxes_and_in_lists() -> None:
    text = (
        "- item\n\n"
        "    !!! note\n"
        "        inside\n"
        "            code\n\n"
        "        ??? tip\n"
        "            deep\n\n"
        "        shallow\n\n"
        "    item still\n"
    )
    assert flat(text) == (
        "- item\n\n"
        "    **Note**\n\n"
        "    inside\n"
        "        code\n\n"
        "    **Tip**\n\n"
        "    deep\n\n"
        "    shallow\n\n"
        "    item still\n"
    )


def test_what_looks_like_a_box_in_a_fence_is_none() -> None:
    text = "!!! note\n    ```text\n    !!! note\n  left\n    ```\n!!! tip\n"
    assert flat(text) == "**Note**\n\n```text\n!!! note\nleft\n```\n**Tip**\n\n"


# ---- Plain Markdown ----


@pytest.mark.parametrize(
    ("text", "known", "unknown"),
    [
        ("[a `b`](c.md#d)", "[a `b`](https://example.org/c.md#d)", "a `b`"),
        ('[a](c.md "title")', "[a](https://example.org/c.md)", "a"),
        ("[a](c.md 'title'){ .x }", "[a](https://example.org/c.md)", "a"),
        ("[a [b]](c.md)", "[a [b]](https://example.org/c.md)", "a [b]"),
        ("[a](w_(x).md)", "[a](https://example.org/w_(x).md)", "a"),
        ("![a](c.png)", "![a](https://example.org/c.png)", "a"),
        ("[1<!--= x -->](c.md)", "[1](https://example.org/c.md)", "1"),
        ("[a] (b)", "[a] (b)", "[a] (b)"),
    ],
)
def test_a_link_is_made_absolute_or_its_text(
    text: str, known: str, unknown: str
) -> None:
    assert plain(text, on_the_web) == known
    assert plain(text, nowhere) == unknown


@pytest.mark.parametrize(
    "text",
    [
        "`[a](b)`",
        "`` `[a](b) ``",
        "`<!-- c -->`",
        "`{ .a }`",
        "$f[a](b)$",
        "$x_{.a}$",
        "$$\n[a](b)\n$$",
        "```text\n[a](b) <!-- c -->\n\n\n\n{ .a }\n```",
        "    ~~~~text\n    [a](b)\n    ~~~\n    [a](b)\n    ~~~~",
        "{ a: 1 }",
        "a `tick",
    ],
)
def test_code_and_formulas_stay(text: str) -> None:
    assert plain(text, nowhere) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("5<!--= out[1] --> is", "5 is"),
        ("a\n\n<!-- ledger: x -->\n\nb", "a\n\nb"),
        ("a\n\n<!-- one\n\ntwo -->\n   \n\nb", "a\n\nb"),
        ("costs $5 <!-- c --> or $6", "costs $5  or $6"),
        ("a ` tick <!-- c -->\n\nand ` one", "a ` tick \n\nand ` one"),
        ("## Title { #id }", "## Title"),
        ("a{: .b c=d}", "a"),
        ('a{ .b title="c d" }', "a"),
    ],
)
def test_what_only_the_site_reads_goes(text: str, left: str) -> None:
    assert plain(text, nowhere) == left


LIVE = """Before.

<figure class="a" data-live="b">
<table><tr><td>`3`</td></tr></table>
{}
</figure>

After.
"""


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        ("<figcaption>One &lt;\n <b>two</b>.</figcaption>", ": One < two."),
        ("", ""),
    ],
)
def test_a_live_figure_becomes_its_caption(caption: str, shown: str) -> None:
    text = LIVE.format(caption)
    there = f"A live figure, on [the site](https://example.org/){shown}"
    assert plain(text, on_the_web) == f"Before.\n\n{there}\n\nAfter.\n"
    here = f"A live figure, on the site{shown}"
    assert plain(text, nowhere) == f"Before.\n\n{here}\n\nAfter.\n"
    for other in (text.replace(" data-live=", " data-lives="), f"```\n{text}```\n"):
        assert plain(other, nowhere) == other


def test_what_only_gives_a_place_goes() -> None:
    opened, closed = '<div class="b" markdown>\n<div markdown>', "</div>\n  </div>"
    text = f"A.\n\n{opened}\n\nC.\n\n{closed}\n\nD.\n"
    assert plain(text, nowhere) == "A.\n\nC.\n\nD.\n"
    for other in ("A <div>b</div>.\n", "<div>b\n", f"```\n{text}```\n", "<divan>\n"):
        assert plain(other, nowhere) == other


def test_a_list_that_was_cut_off_stands_at_the_margin() -> None:
    assert settle("\n    a\n\n      b\nc\n    d\n") == "a\n\n  b\nc\n    d"
    assert settle("a\n    b") == "a\n    b"


# ---- Pictures ----


def test_a_picture_is_attached_and_has_its_words() -> None:
    markup = (
        f"<figure>{SVG.format('A [b] &lt;c&gt;')} <div>{SVG.format('D')}</div>"
        "<figcaption>See\n <code>e</code>.</figcaption></figure>"
    )
    text, found = pictures("in/two.svg", markup)
    assert text == (
        "![A \\[b\\] <c>](attachment:in-two.svg)\n\n"
        "![D](attachment:in-two-2.svg)\n\n"
        "See e."
    )
    assert [*found] == ["in-two.svg", "in-two-2.svg"]
    assert found["in-two.svg"].endswith("</svg>")
    assert found["in-two-2.svg"] == (
        '<svg viewBox="0 0 9 9" aria-label="D" xmlns="http://www.w3.org/2000/svg" '
        'font-family="system-ui, sans-serif" style="background:white;">'
        '<path d="M0 0" /></svg>'
    )


def test_a_picture_without_words_has_its_name() -> None:
    text, found = pictures("a.svg", '<svg style="width:9px"/>')
    assert text == "![a](attachment:a.svg)"
    assert 'style="background:white;width:9px"' in found["a.svg"]


def test_an_include_is_put_in_its_place() -> None:
    files = {"a.svg": SVG.format("A"), "b.md": "words\n\nmore words\n"}
    text = 'one\n\n--8<-- "a.svg"\n\n--8<-- "b.md"\n\n`--8<-- "a.svg"`\n'
    shown, found = illustrate(whole(text, files.get), files.get)
    assert shown == (
        'one\n\n![A](attachment:a.svg)\n\nwords\n\nmore words\n\n`--8<-- "a.svg"`\n'
    )
    assert [*found] == ["a.svg"]


def test_a_part_is_as_far_in_as_its_include() -> None:
    text = '??? note "A"\n    --8<-- "b.md"\n'
    shown = '??? note "A"\n    words\n\n    more words\n'
    assert whole(text, {"b.md": "words\n\nmore words\n"}.get) == shown


def test_what_a_part_says_is_put_plainly_too() -> None:
    files = {
        "b.md": "- [A part](b.md): 3\n",
        "c.html": '<figure data-live="c">\n<td>9</td>\n<figcaption>C</figcaption>\n'
        "</figure>\n",
    }
    text = '--8<-- "b.md"\n\n--8<-- "c.html"\n\n```python\n```\n'
    first, _ = cells(text, "https://a/{}".format, files.get)
    assert first.text == (
        "- [A part](https://a/b.md): 3\n\nA live figure, on [the site](https://a/): C"
    )


def test_a_part_that_is_missing_or_holds_a_program_is_refused() -> None:
    page = '--8<-- "b.md"\n'
    with pytest.raises(ValueError, match=r"an included file must exist; got b\.md\."):
        whole(page, {}.get)
    part = {"b.md": "```python\nprint(1)\n```\n"}
    with pytest.raises(ValueError, match=r"must hold no program; got b\.md\."):
        whole(page, part.get)
    assert whole(f"```text\n{page}```\n", {}.get) == f"```text\n{page}```\n"


def test_a_cell_has_its_pictures() -> None:
    files = {"a.svg": SVG.format("A")}
    text = '--8<-- "a.svg"\n\n```python\n```\n\nwords\n'
    first, program, last = cells(text, nowhere, files.get)
    assert first.text == "![A](attachment:a.svg)"
    assert [*first.pictures] == ["a.svg"]
    assert program.pictures == last.pictures == {}


def test_pictures_that_cannot_be_included() -> None:
    with pytest.raises(
        ValueError, match=r"^an included file must exist; got a\.svg\.$"
    ):
        illustrate('--8<-- "a.svg"\n', nowhere)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        illustrate('--8<-- "a.svg"\n', lambda name: "<svg>")
    assert str(error.value) == (
        "an included picture must be well-formed; got a.svg (mismatched tag: line 1, "
        "column 12)."
    )


def test_where_no_picture_can_be_its_words_stand() -> None:
    text = "a\n\n![A \\[b\\]](attachment:a.svg)\n\n`![c](attachment:c)` ![d](d.png)"
    assert described(text) == (
        "a\n\nPicture: A [b]\n\n`![c](attachment:c)` ![d](d.png)"
    )
