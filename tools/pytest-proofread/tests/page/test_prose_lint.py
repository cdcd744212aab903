"""A number in prose is what a page prints, or is declared; pages that lie are found."""

import re

import pytest

from pytest_proofread.page.markdown import OUTPUT
from pytest_proofread.page.prose_lint import check_prose, compute

GOOD = f"""---
description: 77 things.
---

# A page

Take 3 rows of `88` numbers.

```python
import torch

# 1. Draw them, 3 of them.
x = torch.rand(3, 2)  # the seed is 7
print(x.mean(), len(x))  # twice
```

{OUTPUT}

```text
0.2386 3
```

The mean is 0.2386<!--= out[1] -->, or 24%<!--= out[1]:.0% -->, of 1,024 and $99$.
That is **0.72<!--= out[1] * out[2]:.2f -->** in 3<!--= out[2] --> rows.
So it was in 2017.

<!--given: 1024 2017: the largest, and the year-->
<!--given: 7: nobody sets it-->

```text
<!--= out[9] --> is not computed here, nor `<!--given: 1-->`.
```
"""


# ---- What is found ----


def test_a_good_page_has_no_problem_and_is_up_to_date():
    assert check_prose(GOOD) == []
    assert compute(GOOD) == GOOD


TYPED = (
    "a number in prose must be computed by <!--= EXPRESSION --> or declared by "
    "<!--given: NUMBERS: REASON-->; got {}."
)
SPELLING = (
    "a comment about numbers must be <!--= EXPRESSION --> or "
    "<!--given: NUMBERS: REASON-->; got {}."
)
STALE = "a number must be what its comment computes, {}; got {}."
IN_CODE = "a comment in code must hold no value that nothing checks; got {}."
UNUSED = "a declared number must stand on the page; got {} in {}."
GIVEN = "<!--given: 1024 2017: the largest, and the year-->"
SEVEN = "<!--given: 7: nobody sets it-->"
BROKEN = {
    "a digit of the output": (
        "0.2386 3\n",
        "0.2486 3\n",
        {
            (23, STALE.format("0.2486", "0.2386<!--= out[1] -->")),
            (23, STALE.format("25%", "24%<!--= out[1]:.0% -->")),
            (24, STALE.format("0.75", "0.72<!--= out[1] * out[2]:.2f -->")),
        },
    ),
    "a digit of the prose": (
        "is 0.2386<",
        "is 0.2387<",
        {(23, STALE.format("0.2386", "0.2387<!--= out[1] -->"))},
    ),
    "a number without its comment": (
        "<!--= out[1] -->",
        "",
        {(23, TYPED.format("0.2386"))},
    ),
    "a decimal that is typed": ("of 1,024", "of 0.5", {
        (23, TYPED.format("0.5")),
        (27, UNUSED.format("1024", GIVEN)),
    }),
    "an input that no program has": ("Take 3", "Take 4", {(7, TYPED.format("4"))}),
    "an input with a sign": ("Take 3", "Take -3", {(7, TYPED.format("-3"))}),
    "an input as a share": ("Take 3", "Take 3%", {(7, TYPED.format("3%"))}),
    "a decimal that a program has": (
        "Take 3 rows",
        "Take 3.0 rows",
        {(7, TYPED.format("3.0"))},
    ),
    "an input of another section": (
        "So it was",
        "## 3 rows\n\nSo it was",
        {(25, TYPED.format("3"))},
    ),
    "a number that cannot be computed": (
        "out[1] -->, or",
        "out[3] -->, or",
        {(23, "a computed number must pick one of the 2 numbers of that output, "
              "counted from 1; got out[3].")},
    ),
    "a comment that stands apart": (
        "0.2386<!--= out[1] -->",
        "0.2386 <!--= out[1] -->",
        {
            (23, "a comment that computes must stand right behind a number; "
                 "got <!--= out[1] -->."),
            (23, TYPED.format("0.2386")),
        },
    ),
    "a declared number that is gone": (
        "in 2017",
        "long ago",
        {(27, UNUSED.format("2017", GIVEN))},
    ),
    "a declared number of code that is gone": (
        "  # the seed is 7",
        "",
        {(28, UNUSED.format("7", SEVEN))},
    ),
    "a number that is no longer declared": (
        GIVEN,
        "",
        {(23, TYPED.format("1,024")), (25, TYPED.format("2017"))},
    ),
    "a declaration without a reason": (
        SEVEN,
        "<!--given: 7-->",
        {
            (13, IN_CODE.format("# the seed is 7")),
            (28, SPELLING.format("<!--given: 7-->")),
        },
    ),
    "a declaration with an empty reason": (
        SEVEN,
        "<!--given: 7: -->",
        {
            (13, IN_CODE.format("# the seed is 7")),
            (28, SPELLING.format("<!--given: 7: -->")),
        },
    ),
    "a declaration of nothing": (
        SEVEN,
        SEVEN + "\n<!--given:  : reason-->",
        {(29, SPELLING.format("<!--given:  : reason-->"))},
    ),
    "a declaration of all": (
        SEVEN,
        "<!--given: 7 *: reason-->",
        {
            (28, SPELLING.format("<!--given: 7 *: reason-->")),
            (28, UNUSED.format("*", "<!--given: 7 *: reason-->")),
        },
    ),
    "a value in a comment": (
        "# twice",
        "# 0.2386 3",
        {(14, IN_CODE.format("# 0.2386 3"))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_page_that_is_broken_is_found_out(name):
    old, new, expected = BROKEN[name]
    assert old in GOOD
    assert set(check_prose(GOOD.replace(old, new, 1))) == expected


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- = out[1] -->",
        "<!-= out[1] -->",
        "<!--= out[1] ->",
        "<!---= out[1] -->",
        "<!--=-->",
        "<!--: out[1] -->",
        "<!--out[1]-->",
        "<!-- next[1, 2] -->",
        '<!-- at("cost")[1] -->',
        "<!--given-->",
        "<!-- given: 1: reason -->",
        "<!--Given: 1: reason-->",
        "<!--given 1: reason-->",
        "<!--given: 1 reason-->",
        "<!--given: 1, 2: reason-->",
        "<!--given: one: reason-->",
    ],
)
def test_a_comment_that_misses_is_found_out(comment):
    assert (3, SPELLING.format(comment)) in check_prose(
        f"text\n\nIt is {comment}\n\nend"
    )


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- a note of 3 -->",
        "<!--pytest.mark.skip-->",
        "<!-- look at (this) -->",
        OUTPUT,
    ],
)
def test_other_comments_are_left_alone(comment):
    text = f"text\n\n{comment}\n\nend"
    assert check_prose(text) == []
    assert compute(text) == text


@pytest.mark.parametrize(
    "comment",
    [
        "# 0.1385",
        "# -3",
        "# (2, 6, 3)",
        "# [0.5, 0.25]",
        "# True",
        "# None",
        "# 'text'",
        "# tensor([0.5, 2.])",
        "# torch.Size([2, 3])",
        "# -> (2, 6, 3)",
        "# => 2",
        "# = 2",
        "# \u2192 True",
        "# >>> 2",
        "# prints 2",
        "# Prints: None",
        "# returns tensor([2])",
        "# gives 'a'",
        "# shape: [2]",
        "# result = 2",
        "# output 2",
        "# about 0.5 of it",
        "# a table of 50,000",
        "# 1. of 17",
        "## 17 rows",
        "# 4 percent of it",
        "# 50% of it",
    ],
)
def test_a_comment_in_code_that_holds_a_value(comment):
    code = f"x = 2, 6, 3, -1.5\ny = 1 / 7  {comment}"
    text = f"text\n\n```python\n{code}\n```\n"
    assert check_prose(text) == [(5, IN_CODE.format(comment))]


@pytest.mark.parametrize(
    "comment",
    [
        "#",
        "# 1. Draw, then look.",
        "# 2)",
        "# 5.",
        "# step 3: mix",
        "# chapter 12 has more",
        "# A18, and E31",
        "# noqa: E501",
        "# type: ignore[arg-type]",
        "# nine columns in a line",
        "# 6 of these, 1/7 each, -1.5 apart",
        "# 7% is no literal, 7 is",
        "# the mask",
        "# mask",
        "# query @ key",
        "# attend(x)",
        "# draw()",
        "# x + 6",
        "# returns the mask",
        "# -> the row of the query",
        "# shape (B, T, D)",
        "# --- 2nd part ---",
        "# of the year 2017",
        "# 64-bit floats",
    ],
)
def test_a_comment_in_code_that_holds_none(comment):
    code = f"x = 2, 6, 3, -1.5\ny = 1 / 7  {comment}"
    text = f"In 2017.\n\n```python\n{code}\n```\n\n<!--given: 2017: a year-->\n"
    assert check_prose(text) == []


def test_a_value_in_a_comment_can_be_declared():
    page = "```python\nx = 2\ny = 6  # -> (2, 6)\n```\n"
    assert check_prose(page) == [(3, IN_CODE.format("# -> (2, 6)"))]
    assert check_prose(page + "\n<!--given: 2 6: a shape-->\n") == []
    assert len(check_prose(page + "\n<!--given: 6: a shape-->\n")) == 2
    # What has no number cannot be.
    page = page.replace("(2, 6)", "True")
    assert check_prose(page) == [(3, IN_CODE.format("# -> True"))]


def test_a_declaration_may_be_written_otherwise():
    text = "Here \u22122, 1024 and 46 %.\n\n<!--given: -2 1,024 46%: reason-->\n"
    assert check_prose(text) == []


def test_what_is_no_python_is_left_to_others():
    for code in ("x = (  # 17", "x = $ # 17", "  x\n y"):
        assert check_prose(f"```python\n{code}\n```\n\n5\n") in (
            [(len(code.splitlines()) + 4, TYPED.format("5"))],
            [(2, IN_CODE.format("# 17")), (5, TYPED.format("5"))],
        )


def test_a_hash_in_a_text_is_no_comment():
    assert check_prose('```python\nx = "# 0.1385"\n```\n') == []


# ---- What is computed ----


def test_numbers_are_brought_up_to_date():
    stale = GOOD.replace("0.2386 3\n", "-1.5000 12,345\n")
    fresh = compute(stale)
    assert "mean is -1.5000<!--= out[1] -->, or -150%<!--= out[1]:.0% -->, of" in fresh
    assert "**-18517.50<!--= out[1] * out[2]:.2f -->** in 12,345<!--= out[2] -->" in (
        fresh
    )
    assert check_prose(fresh) == []
    assert compute(fresh) == fresh
    # Nothing else has changed.
    back = fresh.replace("-1.5000", "0.2386").replace("-150%", "24%")
    back = back.replace("-18517.50", "0.72").replace("0.2386 12,345\n", "0.2386 3\n")
    assert back.replace("12,345", "3") == GOOD


@pytest.mark.parametrize(
    ("printed", "shown"),
    [("nan", "nan"), ("-inf", "-inf"), ("[7.]", "7"), ("-2.1e-09", "-2.1e-09")],
)
def test_what_is_computed_once_is_computed_again(printed, shown):
    text = f"```python\nprint()\n```\n\n{OUTPUT}\n\n```text\n{printed}\n```\n\n"
    once = compute(f"{text}It is 0<!--= out[1] -->.")
    assert once == f"{text}It is {shown}<!--= out[1] -->."
    assert compute(once) == once
    assert compute(once.replace(f"\n{printed}\n", "\n5\n")).endswith(
        "5<!--= out[1] -->."
    )


def test_a_page_that_cannot_be_computed_is_refused():
    sentence = "a computed number must have an output above it; got out[1]."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        compute("It is 1<!--= out[1] -->.")


# ---- The pages of this book ----
