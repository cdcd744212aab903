"""No block of the book escapes the runner, and no printed line escapes its record.

pytest-codeblocks runs a fence only if it says exactly `python`, and passes over any
other without a word. So this file reads the pages by itself, line by line, and fails
where it and the runner, or it and the site, do not see the same blocks.
"""

import ast
import html
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import markdown
import pytest
from pytest_codeblocks import extract_from_buffer

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)

NOT_RUN = {"text", "console", "toml", "yaml", "bibtex", "html"}
OUTPUT = "<!--pytest-codeblocks:expected-output-->"
WIDTH = 80
PRINTS = {"print", "pprint", "pp", "help", "write", "print_exc"}
Problem = tuple[int, str]


class Fence(NamedTuple):
    """A fenced block, as CommonMark reads it."""

    line: int
    end: int
    indent: str
    marker: str
    info: str
    code: str


def read(text: str) -> tuple[list[Fence], list[Problem]]:
    """Find the fences of a page, and what looks like one and is none."""
    fences, problems = [], []
    lines = text.splitlines()
    hidden = False
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        opening = re.match(r"([ \t]*)(`{3,}|~{3,})(.*)$", line)
        if opening is None:
            if re.match(r"\s*((>|[-*+]|\d+[.)])\s*)+(`{3,}|~{3,})", line):
                problems.append((at, "a fence must stand on a line of its own"))
            # A comment that does not end on its line hides what comes next.
            if "<!--" in line:
                hidden = "-->" not in line.rpartition("<!--")[2]
            elif "-->" in line:
                hidden = False
            continue
        indent, marker, info = opening.groups()
        start = at
        code = []
        closing = re.compile(rf"[ \t]*{marker[0]}{{{len(marker)},}}[ \t]*$")
        while at < len(lines) and not closing.match(lines[at]):
            own = len(lines[at]) - len(lines[at].lstrip(" \t"))
            code.append(lines[at][min(own, len(indent)) :] + "\n")
            at += 1
        if at == len(lines):
            problems.append((start, "a fence must be closed"))
        at += 1
        if hidden:
            problems.append((start, "a fence must be visible to the reader"))
        fences.append(Fence(start, at, indent, marker, info, "".join(code)))
    return fences, problems


def check_kind(fence: Fence) -> Iterator[Problem]:
    if fence.marker[0] == "~":
        yield fence.line, "a fence must be of backticks"
    elif fence.info == "python":
        if fence.marker != "```":
            yield fence.line, "a fence of Python must have three backticks"
    elif fence.info not in NOT_RUN:
        yield fence.line, f"a fence must say python or {sorted(NOT_RUN)}, no more"
    marker = re.compile(rf"\s*{re.escape(fence.marker)}")
    for number, line in enumerate(fence.code.splitlines(), fence.line + 1):
        if marker.match(line):
            yield number, "a line in a fence must not look like its end"


def check_code(fence: Fence, recorded: bool) -> Iterator[Problem]:
    try:
        tree = ast.parse(fence.code)
    except SyntaxError as error:
        yield fence.line + (error.lineno or 0), "a fence of Python must be Python"
        return
    for number, line in enumerate(fence.code.splitlines(), fence.line + 1):
        if len(line) > WIDTH:
            yield number, f"a line of code must have at most {WIDTH} characters"
    called = {
        getattr(node.func, "id", getattr(node.func, "attr", None))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    if called & PRINTS and not recorded:
        yield fence.line, "what a fence prints must be recorded below it"
    if recorded and not called & PRINTS:
        yield fence.line, "a fence with a recorded output must print"


def check_comments(text: str, fences: list[Fence]) -> Iterator[Problem]:
    """Only one comment speaks to the runner, and only in one spelling."""
    inside = {n for fence in fences for n in range(fence.line, fence.end + 1)}
    starts = {fence.line: fence for fence in fences}
    ends = {fence.end: fence for fence in fences}
    lines = dict(enumerate(text.splitlines(), 1))
    talk = r"pytest|code-?\s?block|expect|output|skip|xfail|\bcont\b|raises"
    for number, line in lines.items():
        if number in inside:
            continue
        if "--8<--" in line and not re.search(r'--8<-- "[\w-]+\.svg"', line):
            yield number, "an include must be a picture"
        if line.strip() != OUTPUT:
            if re.search(rf"<!-.*({talk})|({talk}).*->", line, re.IGNORECASE):
                yield number, f"a comment to the runner must be {OUTPUT}"
            continue
        above, below = number - 1, number + 1
        while lines.get(above, "end").strip() == "":
            above -= 1
        while lines.get(below, "end").strip() == "":
            below += 1
        code, output = ends.get(above), starts.get(below)
        if code is None or code.info != "python":
            yield number, "a recorded output must follow a fence of Python"
        elif output is None or output.info != "text":
            yield number, "a recorded output must be a fence of text"
        elif not line.startswith(code.indent + "<!") or output.indent != code.indent:
            yield number, "code and output must be indented alike"


def outputs(text: str, fences: list[Fence]) -> Iterator[tuple[Fence, bool, Fence]]:
    """Find each text that follows directly upon Python, recorded as output or not."""
    lines = text.splitlines()
    for code, below in itertools.pairwise(fences):
        between = [line.strip() for line in lines[code.end : below.line - 1]]
        if code.info == "python" and not {*between} - {"", OUTPUT}:
            yield code, OUTPUT in between, below


def as_run(fence: Fence) -> str:
    """Give the text that the runner has: it drops empty lines where it unindents."""
    lines = fence.code.splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() or not fence.indent)


def same_program(one: str, other: str) -> bool:
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return one == other


def check_runner(text: str, fences: list[Fence]) -> Iterator[Problem]:
    """Ask the runner itself what it would run."""
    recorded = {
        code.line: as_run(below) for code, yes, below in outputs(text, fences) if yes
    }
    expected = [
        (fence.line, as_run(fence), recorded.get(fence.line))
        for fence in fences
        if fence.info == "python"
    ]
    for fence in fences:
        if fence.info == "python" and not same_program(fence.code, as_run(fence)):
            yield fence.line, "the runner must run the program that the reader copies"
    try:
        blocks = extract_from_buffer(io.StringIO(text))
    except RuntimeError as error:
        yield 1, f"the runner must be able to read the page; it says: {error}"
        return
    run = [
        (block.lineno, block.code, block.expected_output)
        for block in blocks
        if block.syntax in ("python", "sh", "bash")
    ]
    for block in {*run} ^ {*expected}:
        yield block[0], "the runner must see the block as the reader does"
    for block in blocks:
        if block.marks or block.importorskip or block.expected_output_ignore_whitespace:
            yield block.lineno, "the runner must run the block as it stands"


def problems(text: str) -> list[Problem]:
    """List what is wrong with a page, by line."""
    fences, found = read(text)
    following = [*outputs(text, fences)]
    recorded = {code.line for code, yes, _ in following if yes}
    for fence in fences:
        found += check_kind(fence)
        if fence.info == "python":
            found += check_code(fence, fence.line in recorded)
    for _, yes, below in following:
        if not yes and below.info == "text":
            found.append((below.line, "a text that looks like an output must be one"))
    found += check_comments(text, fences)
    found += check_runner(text, fences)
    return sorted(set(found))


@every_page
def test_every_block_is_run_and_every_output_compared(page: Path) -> None:
    found = problems(page.read_text())
    assert not found, "\n".join(f"{page}:{line}: {what}" for line, what in found)


@every_page
def test_the_site_shows_the_same_blocks(page: Path) -> None:
    """Code that is only indented, or stands in HTML, is shown too, and not run."""
    text = page.read_text()
    shown = markdown.markdown(
        re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL),
        extensions=[
            "admonition",
            "attr_list",
            "def_list",
            "footnotes",
            "md_in_html",
            "tables",
            "pymdownx.details",
            "pymdownx.highlight",
            "pymdownx.superfences",
        ],
        extension_configs={"pymdownx.highlight": {"use_pygments": False}},
    )
    blocks = re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code></pre>", shown, re.DOTALL)
    assert len(blocks) == shown.count("<pre")
    fences, _ = read(text)
    assert [html.unescape(block).rstrip() for block in blocks] == [
        fence.code.rstrip() for fence in fences
    ]


def test_there_are_pages_and_blocks_to_look_at() -> None:
    counts = {
        page.relative_to(ROOT).as_posix(): sum(
            fence.info == "python" for fence in read(page.read_text())[0]
        )
        for page in PAGES
    }
    assert counts["README.md"] >= 1
    assert counts["docs/index.md"] >= 1
    chapters = [n for page, n in counts.items() if page.startswith("docs/walk/")]
    assert len(chapters) >= 10
    assert min(chapters) >= 3


# The checker is itself checked, on pages that are wrong.


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
    assert problems(GOOD) == []
    assert [fence.info for fence in read(GOOD)[0]] == [
        *("python", "text", "python", "text", "console", "text")
    ]


KIND = f"a fence must say python or {sorted(NOT_RUN)}, no more"
SEEN = "the runner must see the block as the reader does"
UNREADABLE = (
    "the runner must be able to read the page; it says: "
    "Hit end-of-file prematurely. Syntax error?"
)
COMMENT = f"a comment to the runner must be {OUTPUT}"
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
    "not Python": (
        "```python\n1 +\n```",
        {(2, "a fence of Python must be Python")},
    ),
    "too wide": (
        f"```python\n1\nx = '{'x' * 75}'\n```",
        {(3, "a line of code must have at most 80 characters")},
    ),
    "prints without a record": (
        "```python\nprint(1)\n```",
        {(1, "what a fence prints must be recorded below it")},
    ),
    "a record of nothing": (
        f"```python\nx = 1\n```\n\n{OUTPUT}\n\n```text\n1\n```",
        {(1, "a fence with a recorded output must print")},
    ),
    "an output that nobody compares": (
        "```python\nx = 1\n```\n\n```text\n1\n```",
        {(5, "a text that looks like an output must be one")},
    ),
    "a record after prose": (
        f"```python\nprint(1)\n```\n\nIt prints:\n\n{OUTPUT}\n\n```text\n1\n```",
        {
            (1, "what a fence prints must be recorded below it"),
            (1, SEEN),
            (7, "a recorded output must follow a fence of Python"),
        },
    ),
    "a record after text": (
        "```python\nx = 1\n```\n\nA picture:\n\n```text\n--->\n```\n\n"
        f"{OUTPUT}\n\n```text\n1\n```",
        {(11, "a recorded output must follow a fence of Python")},
    ),
    "a record that is no text": (
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```html\n1\n```",
        {(5, "a recorded output must be a fence of text")},
    ),
    "a record and then nothing": (
        f"```python\nprint(1)\n```\n\n{OUTPUT}\n",
        {
            (1, "what a fence prints must be recorded below it"),
            (5, "a recorded output must be a fence of text"),
        },
    ),
    "a record outside of its box": (
        f"    ```python\n    print(1)\n    ```\n\n{OUTPUT}\n\n```text\n1\n```",
        {(5, "code and output must be indented alike")},
    ),
    "a record before any code": (
        f"{OUTPUT}\n\n```text\n1\n```",
        {
            (1, "a recorded output must follow a fence of Python"),
            (1, "the runner must be able to read the page; it says: Found "
                "<!--pytest-codeblocks-expected-output--> but no previous code block."),
        },
    ),
    "an include of code": (
        '--8<-- "program.py"',
        {(1, "an include must be a picture")},
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
    "<!--pytest.mark.skip-->",
    "<!--pytest.mark.xfail-->",
    "<!-- cont -->",
]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_is_found_out(name: str) -> None:
    text, expected = BAD[name]
    assert set(problems(text)) == expected


@pytest.mark.filterwarnings("ignore:pytest-codeblocks:DeprecationWarning")
@pytest.mark.parametrize("comment", WRONG_COMMENTS)
def test_a_comment_that_misses_is_found_out(comment: str) -> None:
    text = f"```python\nx = 1\n```\n\n{comment}\n\n```python\nx = 2\n```\n"
    assert (5, COMMENT) in problems(text)


def test_what_stands_in_a_fence_is_no_comment() -> None:
    assert problems(f"```html\n{WRONG_COMMENTS[0]}\n```\n") == []


@pytest.mark.parametrize(
    "text",
    ["A list:\n\n    print(1)\n", "<pre><code>print(1)</code></pre>\n"],
    ids=["indented", "HTML"],
)
def test_the_site_would_show_code_without_a_fence(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(AssertionError):
        test_the_site_shows_the_same_blocks(page)
    page.write_text(GOOD)
    test_the_site_shows_the_same_blocks(page)
