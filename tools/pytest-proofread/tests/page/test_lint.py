"""Whatever a page shows and nobody checks is found, with its line."""

import datetime

import pytest

from pytest_proofread.page.lint import KINDS, check_fences
from pytest_proofread.page.markdown import ERROR, OUTPUT, REFUSES, fences

TODAY = datetime.date(2027, 3, 5)


def found(text: str) -> set[tuple[int, str]]:
    return {*check_fences(text, width=80, today=TODAY)}


REFUSAL = f"""
{REFUSES}

```python
print("so far")
1 / 0
```

{OUTPUT}

```text
so far
```

{ERROR}

```text
ZeroDivisionError: division by zero
```
"""
SKIPPED = """
<!--pytest.mark.timeout(2.5)-->
<!--pytest.mark.skipif(True, reason="needs a GPU; until 2027-03-05")-->

```python
1 / 0
```
"""
GOOD = f"""
Some text, and `code`.

```python
print("hello")
```

{OUTPUT}

```text
hello
```

??? question "An exercise"
    ```python
    print("hello")
    ```

    {OUTPUT}

    ```text
    hello
    ```

```console
$ make test
```

````text
```python
print("not run, only shown")
```
````

<!-- a comment of ours -->
"""


def test_a_good_page_has_no_problem() -> None:
    assert found(GOOD) == set()
    assert [fence.info for fence in fences(GOOD)] == [
        *("python", "text", "python", "text", "console", "text")
    ]


def test_an_output_in_a_fold_may_have_empty_lines_if_they_are_indented() -> None:
    lines = [
        *('??? note "A"', "    ```python", r'    print("1\n\n2")', "    ```", ""),
        *(f"    {OUTPUT}", "", "    ```text", "    1", "    ", "    2", "    ```", ""),
    ]
    assert found("\n".join(lines)) == set()


KIND = f"a fence must say python or {sorted(KINDS)}, no more"
SEEN = "the runner must see the block as the reader does"
UNREADABLE = (
    "the runner must be able to read the page; it says: "
    "Hit end-of-file prematurely. Syntax error?"
)
COMMENT = f"a comment to the runner must be as {OUTPUT}"
BAD = {
    "attribute": ('```python title="x"\n1\n```', {(1, KIND)}),
    "attribute in braces": ("```{.python}\n1\n```", {(1, KIND)}),
    "space before": ("``` python\n1\n```", {(1, KIND)}),
    "space behind": ("```python \n1\n```", {(1, KIND), (1, SEEN)}),
    "other spelling": ("```py\n1\n```", {(1, KIND)}),
    "no kind": ("```\n1\n```", {(1, KIND)}),
    "a shell, which would be run": ("```bash\nls\n```", {(1, KIND), (1, SEEN)}),
    "tildes": (
        "~~~python\n1\n~~~",
        {(1, "a fence must be of backticks"), (1, SEEN)},
    ),
    "four backticks": (
        "````python\n1\n````",
        {(1, "a fence of Python must have three backticks")},
    ),
    "quoted": (
        "> ```python\n> 1\n> ```",
        {
            (1, "a fence must stand on a line of its own"),
            (3, "a fence must stand on a line of its own"),
        },
    ),
    "behind a list mark": (
        "- ```python\n  1\n  ```",
        {
            (1, "a fence must stand on a line of its own"),
            (3, "a fence must be closed"),
            (3, KIND),
            (1, UNREADABLE),
        },
    ),
    "behind a number": (
        "1. ~~~text\n   1",
        {(1, "a fence must stand on a line of its own")},
    ),
    "not closed": (
        "text\n```python\n1",
        {
            (2, "a fence must be closed"),
            (1, UNREADABLE),
        },
    ),
    "hidden": (
        "<!-- set-up\n```python\n1\n```\n-->",
        {(2, "a fence must be visible to the reader")},
    ),
    "hidden after a comment that ends": (
        "<!-- a --> <!-- b\n```python\n1\n```\n-->",
        {(2, "a fence must be visible to the reader")},
    ),
    "an end that is none": (
        "```text\n```python\n```",
        {(2, "a line in a fence must not look like its end"), (1, UNREADABLE)},
    ),
    "an empty line that the runner drops": (
        '    ```python\n    x = """\n\n    """\n    ```',
        {(1, "the runner must run the program that the reader copies")},
    ),
    "no Python, and an empty line that the runner drops": (
        "    ```python\n    x = (\n\n    ```",
        {
            (2, "a fence of Python must be Python"),
            (1, "the runner must run the program that the reader copies"),
        },
    ),
    "not Python": (
        "```python\n1 +\n```",
        {(2, "a fence of Python must be Python")},
    ),
    "too wide": (
        f"```python\n1\nx = '{'x' * 75}'\n```",
        {(3, "a line of code must have at most 80 characters")},
    ),
    "an output that nobody compares": (
        "```python\nx = 1\n```\n\n```text\n1\n```",
        {(5, "a text that looks like an output must be one")},
    ),
    "a record after prose": (
        f"```python\nprint(1)\n```\n\nIt prints:\n\n{OUTPUT}\n\n```text\n1\n```",
        {
            (1, SEEN),
            (7, "what records an output must follow a fence of Python"),
        },
    ),
    "a record after text": (
        "```python\nx = 1\n```\n\nA picture:\n\n```text\n--->\n```\n\n"
        f"{OUTPUT}\n\n```text\n1\n```",
        {(11, "what records an output must follow a fence of Python")},
    ),
    "a record that is no text": (
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```html\n1\n```",
        {(5, "what records an output must be a fence of text")},
    ),
    "a record and then nothing": (
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n",
        {
            (5, "what records an output must be a fence of text"),
        },
    ),
    "a record outside of its box": (
        f"    ```python\n    print(1)\n    ```\n\n{OUTPUT}\n\n```text\n1\n```",
        {(5, "a program and what records an output must be indented alike")},
    ),
    "a record before any code": (
        f"{OUTPUT}\n\n```text\n1\n```",
        {
            (1, "what records an output must follow a fence of Python"),
            (1, "the runner must be able to read the page; it says: Found "
                "<!--pytest-codeblocks-expected-output--> but no previous code block."),
        },
    ),
    "an include of code": (
        '--8<-- "program.py"',
        {(1, "an include must be a picture, or a part in HTML or Markdown")},
    ),
}  # fmt: skip
WRONG_COMMENTS = [
    "<!--pytest-codeblock:expected-output-->",
    "<!-- pytest-codeblocks:expected-output -->",
    "<!--pytest-codeblocks: expected-output-->",
    "<!--pytest-codeblocks:expected_output-->",
    "<!--pytest-codeblocks:expected-output-ignore-whitespace-->",
    "<!--Pytest-Codeblocks:Expected-Output-->",
    "<!--expected-output-->",
    "<!-pytest-codeblocks:expected-output-->",
    "<!--pytest-codeblocks:expected-output->",
    f"{OUTPUT} now",
    f"See: {OUTPUT}",
    "<!--pytest-codeblocks:cont-->",
    "<!--pytest-codeblocks:skip-->",
    "<!--pytest-codeblocks:skipif(True)-->",
    "<!--pytest-codeblocks:skipfile-->",
    "<!--pytest-codeblocks:importorskip(torch)-->",
    "<!--pytest-codeblocks:expect-error-->",
    "<!--pytest.mark.skip",
    "<!-- pytest.mark.xfail -->",
    "<!--proofread:errors-->",
    "<!-- proofread:error -->",
    "<!--proof-read:error--> raises",
    "<!-- cont -->",
]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_is_found_out(name: str) -> None:
    text, expected = BAD[name]
    assert found(text) == expected


@pytest.mark.parametrize("comment", WRONG_COMMENTS)
def test_a_comment_that_misses_is_found_out(comment: str) -> None:
    text = f"```python\nx = 1\n```\n\n{comment}\n\n```python\nx = 2\n```\n"
    assert (5, COMMENT) in found(text)


def test_a_sentence_about_outputs_may_have_a_computed_number() -> None:
    assert found("The output is 3<!--= out[1] --> and is expected.\n") == set()
    assert found("<!--given: 3: what one expects of the output-->\n") == set()
    assert found("It is 3<!--= out[1] --> <!-- output -->\n") == {(1, COMMENT)}


@pytest.mark.parametrize("text", [REFUSAL, SKIPPED, GOOD + REFUSAL + SKIPPED])
def test_a_page_with_refusals_and_skips_has_no_problem(text: str) -> None:
    assert found(text) == set()


def test_pytest_codeblocks_takes_what_is_good(pytester: pytest.Pytester) -> None:
    (pytester.path / "page.md").write_text(GOOD + REFUSAL + SKIPPED)
    result = pytester.runpytest_inprocess("--codeblocks")
    result.assert_outcomes(passed=2, skipped=1, xfailed=1)


def skipped(reason: str, kind: str = "skipif(True, ") -> str:
    return SKIPPED.replace("skipif(True, ", kind).replace(
        'reason="needs a GPU; until 2027-03-05"', reason
    )


WANTED = (
    "a skip must say why and until when, as in "
    'reason="needs a GPU; until 2031-05-07"; got reason='
)
ENDED = "a skip must not outlive its day: no GPU until 2027-03-04"
MARKS = {
    "no reason": (skipped(""), (5, WANTED + "''")),
    "no brackets": (skipped("", "skip").replace("skip)", "skip"), (5, WANTED + "''")),
    "no day": (skipped('reason="needs a GPU"'), (5, WANTED + "'needs a GPU'")),
    "no cause": (
        skipped('reason="until 2027-03-05"'),
        (5, WANTED + "'until 2027-03-05'"),
    ),
    "a computed reason": (skipped("reason=sys.platform"), (5, WANTED + "''")),
    "no Python": (skipped("reason=(a b"), (5, WANTED + "''")),
    "another argument": (
        skipped('condition="no GPU until 2027-03-05"'),
        (5, WANTED + "''"),
    ),
    "ended": (skipped('reason="no GPU until 2027-03-04"'), (5, ENDED)),
    "ended, always": (skipped('reason="no GPU until 2027-03-04"', "skip("), (5, ENDED)),
    "unknown mark": (
        skipped("", "slow("),
        (5, "a mark must be skip, skipif, xfail or timeout: pytest.mark.slow()"),
    ),
    "no limit": (
        SKIPPED.replace("2.5", "never"),
        (
            5,
            "a mark must be skip, skipif, xfail or timeout: pytest.mark.timeout(never)",
        ),
    ),
    "no time": (
        SKIPPED.replace("2.5", "0.0"),
        (5, "a mark must be skip, skipif, xfail or timeout: pytest.mark.timeout(0.0)"),
    ),
    "a mark over nothing": (
        "<!--pytest.mark.timeout(3)-->\n\nwords\n\n```python\nx = 1\n```",
        (1, "a mark must stand above a fence of Python"),
    ),
    "a mark over text": (
        "<!--pytest.mark.timeout(3)-->\n\n```text\nx = 1\n```",
        (1, "a mark must stand above a fence of Python"),
    ),
    "a mark at the end": (
        "<!--pytest.mark.timeout(3)-->",
        (1, "a mark must stand above a fence of Python"),
    ),
    "a refusal that the runner does not expect": (
        REFUSAL.replace(REFUSES, ""),
        (4, f"{REFUSES} and a recorded error must come together"),
    ),
    "a refusal that is not recorded": (
        REFUSAL.partition(ERROR)[0],
        (4, f"{REFUSES} and a recorded error must come together"),
    ),
    "an error before the output": (
        f"{REFUSES}\n```python\n1 / 0\n```\n{ERROR}\n```text\na\n```\n"
        f"{OUTPUT}\n```text\nb\n```",
        (9, "what records an output must follow a fence of Python"),
    ),
    "an error of another kind": (
        f"{REFUSES}\n```python\n1 / 0\n```\n{ERROR}\n```toml\na = 1\n```",
        (5, "what records an error must be a fence of text"),
    ),
    "an error that is nobody's": (
        f"{ERROR}\n```text\na\n```",
        (1, "what records an error must follow a fence of Python"),
    ),
    "an error indented": (
        f"{REFUSES}\n```python\n1 / 0\n```\n  {ERROR}\n  ```text\n  a\n  ```",
        (5, "a program and what records an error must be indented alike"),
    ),
}


@pytest.mark.parametrize(("text", "problem"), MARKS.values(), ids=MARKS)
def test_a_mark_or_an_error_out_of_place_is_found_out(
    text: str, problem: tuple[int, str]
) -> None:
    assert problem in found(text)


def test_a_program_that_is_no_python_may_be_refused() -> None:
    text = REFUSAL.replace('print("so far")\n1 / 0', "1 +")
    assert found(text) == set()


def test_the_kinds_and_the_width_are_settings() -> None:
    text = f"```cobol\n1\n```\n\n```python\n{'1' * 100}\n```\n"
    assert check_fences(text, kinds={"cobol"}) == []
    assert check_fences(text, kinds={"cobol"}, width=100) == []
    assert check_fences(text, kinds={"cobol"}, width=99) == [
        (6, "a line of code must have at most 99 characters")
    ]
    assert [line for line, _ in check_fences(text)] == [1]


def test_a_skip_is_judged_by_the_day() -> None:
    ended = skipped('reason="no GPU until 2001-03-04"')
    lasting = skipped('reason="no GPU until 9999-03-04"')
    assert [line for line, _ in check_fences(ended)] == [5]
    assert check_fences(lasting) == []
