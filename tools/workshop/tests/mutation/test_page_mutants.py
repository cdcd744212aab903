"""A page can be broken in each way in which it could lie, in one place at a time."""

import difflib
import re
from collections import Counter

import pytest

from pytest_proofread.page.markdown import ERROR, OUTPUT, REFUSES, programs
from workshop.mutation.page_mutants import FENCES, SLIPS, Mutant, mutants

PAGE = f"""\
## First

```python
print(12)
print(34)
```

{OUTPUT}

```text
12
34
```

It prints 12<!--= out[1] --> first.

```python
print("five 5")
```

{OUTPUT}

```text
five 5
```

{REFUSES}

```python
print("none")
1 / 0
```

{OUTPUT}

```text
none
```

{ERROR}

```text
ZeroDivisionError: division by zero
```

```python
x = 1
```
"""


def lost_and_got(page: str, mutant: Mutant) -> tuple[list[str], list[str]]:
    """Return the lines that a mutant has lost, and those that it has got."""
    lines = [*difflib.ndiff(page.splitlines(), mutant.text.splitlines())]
    lost, got = ([line[2:] for line in lines if line[0] == sign] for sign in "-+")
    return lost, got


def of(kind: str, page: str = PAGE) -> list[Mutant]:
    return [mutant for mutant in mutants(page) if mutant.kind == kind]


def test_each_place_is_broken_in_each_way() -> None:
    assert Counter(mutant.kind for mutant in mutants(PAGE)) == {
        "a fence of a program mistyped": 4,
        "the last digit of an output": 2,
        "a digit of an output": 1,
        "a line of an output left out": 4,
        "a letter of an error": 1,
        "a comment above an output mistyped": 4,
        "a comment above an output left out": 4,
        "an output left out": 4,
        "two outputs swapped": 2,
        "a computed number in the prose": 1,
    }


def test_no_two_mutants_are_the_same_and_none_is_the_page() -> None:
    texts = [mutant.text for mutant in mutants(PAGE)]
    assert len({*texts, PAGE}) == len(texts) + 1
    assert texts == [mutant.text for mutant in mutants(PAGE)]


def test_a_choice_is_the_same_each_time() -> None:
    # Not by `hash`, which is another in each process.
    output = "0" * 500
    page = f"```python\np()\n```\n\n{OUTPUT}\n\n```text\n{output}\n```\n"
    [mutant] = of("a digit of an output", page)
    changed = mutant.text.split("\n")[7]
    assert [at for at, digit in enumerate(changed) if digit != "0"] == [268]


# ---- What is recorded --------------------------------------------------------------


def test_a_digit_becomes_another_digit() -> None:
    [first], [last, single] = (
        of("a digit of an output"),
        of("the last digit of an output"),
    )
    for mutant, line, was in (
        (first, 10, "12"),
        (last, 10, "34"),
        (single, 23, "five 5"),
    ):
        [lost], [got] = lost_and_got(PAGE, mutant)
        assert mutant.line == line
        assert len(got) == len(lost)
        assert sum(one != other for one, other in zip(lost, got, strict=True)) == 1
        assert re.sub("[0-9]", "", got) == re.sub("[0-9]", "", lost)
        assert lost == was or mutant is first
    assert lost_and_got(PAGE, last)[1][0][0] == "3"


def test_every_digit_becomes_any_other_digit() -> None:
    found: dict[str, set[str]] = {}
    for text in (f"{'x' * size}{digit}" for size in range(9) for digit in range(10)):
        page = f"```python\np()\n```\n\n{OUTPUT}\n\n```text\n{text}\n```\n"
        [mutant] = of("the last digit of an output", page)
        found.setdefault(text[-1], set()).add(mutant.text.split("\n")[7][-1])
    assert found == {digit: {*"0123456789"} - {digit} for digit in "0123456789"}


def test_one_line_is_left_out() -> None:
    for mutant in of("a line of an output left out"):
        lost, got = lost_and_got(PAGE, mutant)
        assert (len(lost), got) == (1, [])
    assert lost_and_got(PAGE, mutant) == (["ZeroDivisionError: division by zero"], [])


def test_one_letter_of_an_error_changes_its_case() -> None:
    [mutant] = of("a letter of an error")
    [lost], [got] = lost_and_got(PAGE, mutant)
    assert lost.lower() == got.lower()
    assert mutant.line == PAGE.splitlines().index("ZeroDivisionError: division by zero")


def test_an_output_that_is_empty_has_nothing_to_lose() -> None:
    page = (
        f"{REFUSES}\n```python\nx\n```\n\n{OUTPUT}\n\n```text\n```\n\n"
        f"{ERROR}\n\n```text\n```\n"
    )
    kinds = {mutant.kind for mutant in mutants(page)}
    assert not kinds & {"a line of an output left out", "a letter of an error"}


def test_a_comment_is_mistyped_in_turn() -> None:
    lines = [lost_and_got(PAGE, m) for m in of("a comment above an output mistyped")]
    assert [lost for lost, _ in lines] == [[OUTPUT], [OUTPUT], [OUTPUT], [ERROR]]
    assert len({got for _, [got] in lines}) == 4


@pytest.mark.parametrize("comment", [OUTPUT, ERROR])
def test_each_slip_changes_each_comment(comment: str) -> None:
    slips = {slip(comment) for slip in SLIPS}
    assert len(slips) == len(SLIPS)
    assert comment not in slips


def test_a_comment_goes_alone_or_with_its_output() -> None:
    comments = of("a comment above an output left out")
    assert [lost_and_got(PAGE, m) for m in comments[:2]] == [([OUTPUT], [])] * 2
    assert lost_and_got(PAGE, comments[3]) == ([ERROR], [])
    assert lost_and_got(PAGE, of("an output left out")[1]) == (
        [OUTPUT, "", "```text", "five 5", "```"],
        [],
    )


def test_neighbours_swap_their_outputs_and_nothing_else() -> None:
    one, other = of("two outputs swapped")
    assert [p.recorded[0] for p in programs(one.text)] == [
        "five 5\n",
        "12\n34\n",
        "none\n",
        "",
    ]
    assert [p.recorded[0] for p in programs(other.text)] == [
        "12\n34\n",
        "none\n",
        "five 5\n",
        "",
    ]
    assert [p.code for p in programs(one.text)] == [p.code for p in programs(PAGE)]


def test_equal_neighbours_are_not_swapped() -> None:
    program = f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```\n\n"
    assert not of("two outputs swapped", program * 2)


# ---- What is run, and what is told -------------------------------------------------


def test_fences_are_mistyped_in_turn() -> None:
    program = "  ```python\n  x = 1\n  ```\n\n"
    found = of("a fence of a program mistyped", program * len(FENCES))
    pieces = [m.text.split("\n\n")[turn] for turn, m in enumerate(found)]
    assert pieces == [f"  {one}\n  x = 1\n  {other}" for one, other in FENCES]
    assert [mutant.line for mutant in found] == [*range(1, 4 * len(FENCES), 4)]


def test_a_number_in_prose_loses_a_digit_and_keeps_its_comment() -> None:
    [mutant] = of("a computed number in the prose")
    [lost], [got] = lost_and_got(PAGE, mutant)
    assert lost == "It prints 12<!--= out[1] --> first."
    assert re.fullmatch(r"It prints \d\d<!--= out\[1\] --> first\.", got)
    assert mutant.line == PAGE.splitlines().index(lost) + 1


def test_a_number_without_a_digit_is_left_alone() -> None:
    page = (
        f"```python\np()\n```\n\n{OUTPUT}\n\n```text\nnan\n```\n\nnan<!--= out[1] -->\n"
    )
    assert not of("a computed number in the prose", page)
