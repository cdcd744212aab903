"""What explains an id is cut out of the pages, and reads well without their site."""

import re
from pathlib import Path

import pytest

from headway.checks.command.explanations import (
    Explanation,
    Text,
    from_json,
    read_book,
    to_json,
)

DOCS = Path(__file__).parents[3] / "docs"
BOOK = read_book(DOCS)
TEXTS = {at: text for one in BOOK.values() for at, text in one.texts.items()}
OF_SITE = r"\]\(|<!--|--8<--|\?\?\?|\{ "

IDS = """\
# Ids

## Properties

| id | of attention | of a whole model | to read |
| --- | --- | --- | --- |
| `leak`{ #leak } | no leak | no leak | [How to D](../part/page.md#how-to-d) |
| `eval`{ #eval } | eval is not random |  | BOTH |
| `cache`{ #cache } |  | cached (is) the same | BOTH |
| `padding`{ #padding } | is not seen | is obeyed | BELOW |

## Mistakes in the equation

| id | what was done | to read |
| --- | --- | --- |
| `no-mask`{ #mistake-no-mask } | nothing (a|b) | BOTH, MUSEUM |

## Other mistakes

| id | what was done | to read |
| --- | --- | --- |
| `wraps-round`{ #mistake-wraps } | it wraps | [The last](../part/page.md#the-last) |
"""
IDS = IDS.replace("BOTH", "[Both](../part/page.md#both)")
IDS = IDS.replace("BELOW", "[Below it](../part/page.md#below-it)")
IDS = IDS.replace("MUSEUM", "[the museum](../museum/room.md#no-mask)")
PAGE = """\
---
description: A page.
---

# A $d_k$ page

First.

## How to $D$

See [a *page*](other.md#place), `x[0](y)`{ .code }, and 3<!--= next[1] -->.
<!--given: 3: seen-->

```python
## Both
print("[a](b) <!-- kept -->")


print(1)
```

<!--pytest-codeblocks:expected-output-->

```text
[a](b) <!-- kept -->
```

--8<-- "picture.svg"

### Below it

More.

## Both

Both.
## The last
Last.
"""
ROOM = """\
# A room

## Room 1 { #no-mask }

A program.
{ #an-earlier-name }

??? question "A hint"
    Look.

--8<-- "museum/room/no-mask.md"

??? success "The fix"
    --8<-- "exhibits/room/no-mask-name.md"

    Why.

    --8<-- "exhibits/room/no-mask-fix.md"

## Room 2 { #other }

Another.
"""
RECORD = """\
[[no-mask.fix]]
old = '''
    a

'''
new = '''
    b
'''

[[no-mask.fix]]
old = '''
    return a
'''
new = '''
    return a
'''
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in (
        ("reference/ids.md", IDS),
        ("part/page.md", PAGE),
        ("museum/room.md", ROOM),
        ("museum/room.toml", RECORD),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_section_ends_where_the_next_of_its_level_begins(docs: Path) -> None:
    found = read_book(docs)
    both = Text("A d_k page", "Both", "Both.")
    last = Text("A d_k page", "The last", "Last.")
    assert found["cache"] == Explanation(
        "property", "cached (is) the same", {"part/page/#both": both}
    )
    assert found["eval"].sentence == "eval is not random"
    assert found["padding"] == Explanation(
        "property",
        "is not seen; is obeyed",
        {"part/page/#below-it": Text("A d_k page", "Below it", "More.")},
    )
    assert found["wraps-round"] == Explanation(
        "mistake", "it wraps", {"part/page/#the-last": last}
    )


def test_what_only_a_site_shows_is_left_out_but_not_of_code(docs: Path) -> None:
    leak = read_book(docs)["leak"]
    [(address, text)] = leak.texts.items()
    assert (leak.kind, leak.sentence, address) == (
        "property",
        "no leak",
        "part/page/#how-to-d",
    )
    assert text == Text(
        "A d_k page",
        "How to D",
        """\
See a *page*, `x[0](y)`, and 3.

```python
## Both
print("[a](b) <!-- kept -->")


print(1)
```

It prints:

```text
[a](b) <!-- kept -->
```

### Below it

More.""",
    )


def test_a_program_of_the_museum_comes_with_its_fix(docs: Path) -> None:
    found = read_book(docs)["no-mask"]
    assert found.sentence == "nothing (a|b)"
    assert [*found.texts] == ["part/page/#both", "museum/room/#no-mask"]
    assert found.texts["museum/room/#no-mask"] == Text(
        "A room",
        "Room 1",
        """\
A program.

**A hint**
    Look.

**The fix**

    Why.

    ```diff
    -    a
    -
    +    b
         return a
    ```""",
    )


def test_a_section_that_is_not_there_is_refused(docs: Path) -> None:
    page = docs / "part/page.md"
    page.write_text(PAGE.replace("## The last", "## The end"), encoding="utf-8")
    message = r"^part/page\.md must have the section 'The last'; it has none\.$"
    with pytest.raises(ValueError, match=message):
        read_book(docs)


def test_all_of_it_is_kept_in_one_file() -> None:
    assert from_json(to_json(BOOK)) == BOOK


def test_every_text_of_the_book_reads_without_its_site() -> None:
    assert len(TEXTS) > 60
    for at, text in TEXTS.items():
        words = re.sub(r"```.*?```|`[^`\n]*`", "", text.markdown, flags=re.DOTALL)
        assert re.findall(f".*(?:{OF_SITE}).*", words) == [], at
        assert len(text.markdown) > 100, at


def test_every_id_has_something_to_read() -> None:
    assert [one for one, found in BOOK.items() if not found.texts] == []
    assert all(found.sentence for found in BOOK.values())
