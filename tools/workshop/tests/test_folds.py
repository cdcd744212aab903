"""What a page folds, and what of it the site leaves to the notebook."""

import pytest

from workshop.folds import (
    LEFT_OUT,
    Fold,
    as_shown,
    emptied,
    folds,
    left_out,
    programs_by_place,
)

PAGE = f"""# Title

```python
a = 1
```

??? note "One"
    Text.

    ??? success "In it"
        ```python
        b = 1
        ```

    More.

??? example "{LEFT_OUT}"
    ```python
    c = 1

    d = 2
    ```

    ```text
    ??? note "No fold"
    ```

Below.

???+ note "Open"

    Text.
```python
e = 1
```
"""


def test_a_fold_ends_where_its_indentation_does() -> None:
    assert folds(PAGE) == [
        Fold(7, 15, "One"),
        Fold(10, 13, "In it"),
        Fold(17, 26, LEFT_OUT),
        Fold(30, 32, "Open"),
    ]


@pytest.mark.parametrize(
    "text", ["", "??? note without a title\n    x\n", '```\n??? note "x"\n```\n']
)
def test_what_is_no_fold(text: str) -> None:
    assert folds(text) == []
    assert as_shown(text) == text


def test_one_fold_is_left_out_and_every_line_keeps_its_number() -> None:
    assert [fold.line for fold in left_out(PAGE)] == [17]
    shown = as_shown(PAGE)
    assert len(shown.split("\n")) == len(PAGE.split("\n"))
    kept = PAGE.split("\n")[:16] + PAGE.split("\n")[26:]
    assert [*filter(None, shown.split("\n"))] == [*filter(None, kept)]
    assert emptied(PAGE, []) == PAGE
    other = PAGE.replace(LEFT_OUT, "The program")
    assert as_shown(other) == other


def test_programs_are_shown_or_left_out() -> None:
    shown, others = programs_by_place(PAGE)
    assert [one.code for one in shown] == ["a = 1\n", "b = 1\n", "e = 1\n"]
    assert [one.code for one in others] == ["c = 1\n\nd = 2\n"]
