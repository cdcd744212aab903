"""`headway explain` shows what the book says of an id."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.checks import explain
from headway.checks.command.explanations import Explanation, Text, to_json

Output = pytest.CaptureFixture[str]
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen and on"
MARKDOWN = f"""\
{WORDS}.
It goes on with a-long-word-that-has-hyphens.

| a | b |
|---|---|

$$
x = 1
$$

### Below

> Said.

- an item that is long enough to go on in a second line, as the width of a line is 80
  and more
- another

1. one
2. two

It prints:

```text
[1, 2]


3
```

**The fix**

    Lines of a fold.
    They are one.

    ```diff
    - a
    + b
    ```
"""
SHOWN = f"""\
no-mask, a mistake: nothing is hidden

"Both" in "A page"
part/page/#both

{WORDS}.
It goes on with a-long-word-that-has-hyphens.

| a | b |
|---|---|

$$
x = 1
$$

### Below

> Said.

- an item that is long enough to go on in a second line, as the width of a line
  is 80 and more
- another

1. one
2. two

It prints:

    [1, 2]


    3

**The fix**

    Lines of a fold. They are one.

        - a
        + b
"""
BOTH = Text("A page", "Both", MARKDOWN)
OTHER = Text("Another page", "Other", "Other.")
FOUND = {
    "leak": Explanation("property", "no leak", {"part/other/#other": OTHER}),
    "no-mask": Explanation("mistake", "nothing is hidden", {"part/page/#both": BOTH}),
    "other": Explanation("mistake", "it is other", {}),
}


@pytest.fixture(autouse=True)
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(explain, "url_of", lambda address: None)
    file = tmp_path / "explanations.json"
    file.write_text(to_json(FOUND), encoding="utf-8")
    monkeypatch.setattr(explain, "_PACKED", file)
    monkeypatch.setattr(explain, "_BOOK", Path(__file__).parents[2] / "docs")
    explain.explanations.cache_clear()
    yield file
    explain.explanations.cache_clear()


def test_prose_is_filled_and_code_is_indented(capsys: Output) -> None:
    assert explain.main(["no-mask"]) == 0
    assert capsys.readouterr().out == SHOWN


def test_several_are_shown_in_turn_and_each_once(capsys: Output) -> None:
    assert explain.main(["leak", "other", "leak"]) == 0
    assert capsys.readouterr().out == (
        'leak, a property: no leak\n\n"Other" in "Another page"\npart/other/#other\n\n'
        "Other.\n\n\nother, a mistake: it is other\n"
    )


def test_a_published_book_is_named_by_its_address(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr(
        explain, "url_of", lambda address: f"https://a.test/b/{address}"
    )
    assert explain.main(["leak"]) == 0
    assert "\nhttps://a.test/b/part/other/#other\n" in capsys.readouterr().out


def test_without_an_id_all_are_listed(capsys: Output) -> None:
    assert explain.main([]) == 0
    assert capsys.readouterr().out == (
        "Properties\n  leak     no leak\n\n"
        "Mistakes\n  no-mask  nothing is hidden\n  other    it is other\n"
    )


@pytest.mark.parametrize(
    ("one", "hint"), [("no-task", " Did you mean no-mask?"), ("Q", "")]
)
def test_an_unknown_id_is_refused_before_anything_is_shown(
    one: str, hint: str, capsys: Output
) -> None:
    assert explain.main(["leak", one]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "headway explain: ID must be that of a property or a mistake; "
        f"got {one!r}.{hint}\n"
    )


def test_beside_its_source_the_book_itself_is_read(
    packed: Path, capsys: Output
) -> None:
    packed.unlink()
    assert explain.main(["no-scale"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("no-scale, a mistake: scores are not scaled\n")
    assert "/ k.shape[-1] ** 0.5\n" in told
