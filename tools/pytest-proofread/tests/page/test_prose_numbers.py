"""Prose is told from all else on a page, and numbers in it from names."""

import pytest

from pytest_proofread.page.markdown import OUTPUT
from pytest_proofread.page.prose_numbers import NUMBER, Prose


def typed(text):
    return [number for _, number in Prose(text).typed()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 3 and 0.25 in all.", ["3", "0.25"]),
        ("So it is 3. Then 0.25.", ["3", "0.25"]),
        ("3,145,728 numbers; 50,257 of them", ["3,145,728", "50,257"]),
        ("the numbers 1,2 and 1,2345", ["1", "2", "1", "2345"]),
        ("-0.5, +2, \u22127 and (-1)", ["-0.5", "+2", "\u22127", "-1"]),
        ("10-20 tokens, 3\u20135", ["10", "20", "3", "5"]),
        ("46% or 46 %", ["46%", "46 %"]),
        ("2.1e-09 and 1e5", ["2.1e-09", "1e5"]),
        ("1/6 each, 6 by 6, 3x4", ["1", "6", "6", "6", "3", "4"]),
        ("a 12-head module", ["12"]),
        ("a 2x gain, in 3D", ["2", "3"]),
        ("_4_ and **5** and ~6~", ["4", "5", "6"]),
        ("![3 heads](a.svg)", ["3"]),
        ("## The 7 ways", ["7"]),
        ("- 8 items", ["8"]),
        ("| 9 | 10 |", ["9", "10"]),
        ('!!! note "The 11 ways"', ["11"]),
        ("[^1]: The 12 words", ["12"]),
        ("> quoted 13", ["13"]),
        ("    indented 14", ["14"]),
        ("page\n1990 was a year", ["1990"]),
    ],
)
def test_numbers_in_prose(text, found):
    assert typed(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "1. first\n2) second\n  10. tenth",
        "chapter 3, Chapter 10, section\n4",
        "[Chapter 10](x.md) and [chapter [3]](x.md)",
        "chapters 2, 4 and 5; Chapters [2](a.md), [3](b.md) and [4](c.md)",
        "Exercise 2, equation 1, figure 3, table 4, step 5, version 1.4",
        "Python 3.12",
        "torch 2.13.0",
        "on 2024-08-31, or in 2025-03",
        "GPT-2's, E23, d_2, E06s, v1.2, conv2d, Q3",
        "the 2nd, 3rd, 4th, 21st",
        "64-bit numbers",
    ],
)
def test_numbers_in_names(text):
    assert typed(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`1`, ``2 ` 3``, `4\n5`",
        "$6$, $7 + \n 8$, $$9$$, $$\n10\n\n11\n$$",
        r"\(12\) and \[13\]",
        "<a title='14'>, <img width=15>, </h1 16>, <https://17.org>",
        "[text](https://18.org/19) and [text](a(20).md)",
        "[text]: https://x.org/21\n  [other]: 22",
        "a note[^23]",
        "{ #k24 .x25 } and {: .w height=26 }",
        "http://127.0.0.1:27/28",
        "&#8211; and &frac14;",
        '--8<-- "figure-29.svg"',
        "<!-- 30 -->",
        "<!-- 31\n\n32 -->",
        "<!-- 37 > 38 -->",
        "<!-- <b>\n\n39 -->",
        "---\ndate: 33\n---\ntext",
        "```python\n34\n```",
        "~~~text\n35\n~~~",
        "!!! note\n    ```text\n    36\n    ```",
    ],
)
def test_what_is_no_prose(text):
    assert typed(text) == []
    # The same words between two numbers hide neither.
    if not text.startswith("---"):
        assert typed(f"1001\n\n{text}\n\n1002") == ["1001", "1002"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"five \$1 and \$2", ["1", "2"]),
        ("it costs $1 and\n\nthen $2", ["1", "2"]),
        ("$ 1 $", ["1"]),
        ("$1 $", ["1"]),
        (r"\`1\`", ["1"]),
        ("`1\n\n`2", ["1", "2"]),
        ("``1`", ["1"]),
        ("1 < 2 and 3 > 2", ["1", "2", "3", "2"]),
        ("{1, 2}", ["1", "2"]),
        ("text\n---\n1\n---\n", ["1"]),
        ("`<!--` 1 `-->`", ["1"]),
        ("$5 $<!-- 1 -->", ["5"]),
        ("<!-- ` --> 1 <!-- ` -->", ["1"]),
    ],
)
def test_what_only_looks_as_if_it_were_none(text, found):
    assert typed(text) == found


def test_what_only_begins_like_a_tag_hides_nothing():
    text = "It is <0.001, and 9.99 > 3 or <b>5</b>."
    assert [number for _, number in Prose(text).typed()] == ["0.001", "9.99", "3", "5"]


def test_the_lines_of_numbers():
    text = "---\na: 1\n---\n2\n```text\n3\n```\n4\x0c5 6\n7"
    assert [*Prose(text).typed()] == [(4, "2"), (8, "4"), (8, "5"), (8, "6"), (9, "7")]


def test_prose_keeps_its_place():
    text = "A `code` $x$ 3<!-- 4 -->\n```text\n5\n```\nend"
    prose = Prose(text).prose
    assert len(prose) == len(text)
    assert prose.split() == ["A", "3", "end"]
    assert [prose.index(word) for word in ("A", "3", "end")] == [
        text.index(word) for word in ("A", "3", "end")
    ]


def program(code, output):
    return f"```python\n{code}\n```\n\n{OUTPUT}\n\n```text\n{output}\n```\n"


OUTPUTS = f"""1<!--= next[1] -->
{program("print(1)", "1")}
## The <!--given: 9: reason-->cost {{ #cost }}
2<!--= out[1] -->
{program("x = 1", "")}
{program("print(3)", "3")}
## The <!--given: 9: reason-->way
3<!--= out[1] -->
{program("print(4)", "4")}
{program("print(5)", "5")}
    ```python
    print(6)
    ```
4<!--= out[1] -->
"""


def test_outputs_above_and_below_and_under_a_heading():
    numbers = [*Prose(OUTPUTS).numbers()]
    assert [number.line for number in numbers] == [1, 13, 35, 59]
    assert [number.outputs[:2] for number in numbers] == [
        (None, "1\n"),
        ("1\n", "\n"),
        ("3\n", "4\n"),
        ("5\n", None),
    ]
    under = {
        ("top", 1): "1\n",
        ("cost", 1): "\n",
        ("cost", 2): "3\n",
        ("the-way", 1): "4\n",
        ("the-way", 2): "5\n",
    }
    assert all(number.outputs.under == under for number in numbers)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("0.25<!--= 1 -->", "0.25"),
        ("3 4<!--= 1 -->", "4"),
        ("**-1,024<!--= 1 -->**", "-1,024"),
        ("_4<!--= 1 -->_", "4"),
        ("(46 %<!--= 1 -->)", "46 %"),
        ("10-20<!--= 1 -->", "20"),
        ("-nan<!--= 1 -->", "-nan"),
        ("is inf<!--= 1 -->", "inf"),
        ("2.1e-09<!--= 1 -->", "2.1e-09"),
        ("chapter 3<!--= 1 -->", "3"),
        ("3 <!--= 1 -->", ""),
        ("<!--= 1 -->3", ""),
        ("3\n<!--= 1 -->", ""),
        ("`3`<!--= 1 -->", ""),
        ("$3$<!--= 1 -->", ""),
        ("three<!--= 1 -->", ""),
        ("E23<!--= 1 -->", ""),
        ("1.2.3<!--= 1 -->", ""),
        ("banan<!--= 1 -->", ""),
    ],
)
def test_a_comment_computes_the_number_right_before_it(line, shown):
    (number,) = Prose(line).numbers()
    assert line[number.start : number.end] == shown
    assert line[number.end :].startswith(number.comment)
    if not shown:
        with pytest.raises(ValueError, match=r"right behind a number; got <!--= 1 -->"):
            number.computed()


def test_computed_numbers_are_not_typed():
    assert typed("1 2<!--= 1 --> 3, 4<!--= 1 -->") == ["1", "3"]


def test_comments_are_taken_out_of_prose_alone():
    text = (
        "1<!--= 1 --> `2<!--= 2 -->`\n<!--given: 3: reason-->\n<!-- other -->\n"
        "```text\n4<!--= 4 -->\n```\n"
    )
    assert Prose(text).without_notes() == (
        "1 `2<!--= 2 -->`\n\n<!-- other -->\n```text\n4<!--= 4 -->\n```\n"
    )


def test_a_number_is_one_pattern():
    for number in ("1", "-1.5", "1,024", "46%", "1e-05", "\u22122"):
        assert NUMBER.fullmatch(number)
    for other in ("", "1,", "1,02", ",5", "a", "1.", "--1", "1,0245"):
        assert not NUMBER.fullmatch(other)
