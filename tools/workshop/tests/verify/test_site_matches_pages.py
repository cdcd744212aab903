import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import programs
from workshop.folds import LEFT_OUT
from workshop.verify.html_code_blocks import Block
from workshop.verify.site_matches_pages import (
    left_to_notebook,
    main,
    of_lab,
    problems,
    shown_programs,
    site_problems,
)
from workshop.website.takeaway.downloads import make

OUTPUT = "<!--pytest-codeblocks:expected-output-->"
TEXT = f"""# A page

```python
print(0.25)
```

{OUTPUT}

```text
0.25
```

## Refused

<!--pytest.mark.xfail-->

```python
print("so far")
int("x")
```

{OUTPUT}

```text
so far
```

<!--proofread:error-->

```text
ValueError: no
```

Words.

```console
$ make
```

```python
x = 1
```
"""
PYTHON = '<div class="language-python highlight"><pre><code>{}\n</code></pre></div>\n'
OTHER = '<div class="language-text highlight"><pre><code>{}\n</code></pre></div>\n'
FIRST = PYTHON.format("print(0.25)") + OUTPUT + OTHER.format("0.25")
REFUSED = (
    PYTHON.format('print("so far")\nint("x")')
    + OTHER.format("so far")
    + OTHER.format("ValueError: no")
)
LAST = PYTHON.format("x = 1")
HTML = (
    f'<article><h1 id="a-page">A page</h1>{FIRST}<h2 id="refused">Refused</h2>'
    f"{REFUSED}<p>Words.</p>{OTHER.format('$ make')}{LAST}</article>"
)


# ---- One page ----


def test_a_page_that_shows_what_it_has() -> None:
    assert problems(TEXT, HTML) == []


BROKEN = {
    "a digit of an output": (
        HTML.replace(">0.25", ">0.26"),
        [
            "line 3: the site shows another output: "
            "its line 1 is '0.26' there and '0.25' here"
        ],
    ),
    "a digit of a program": (
        HTML.replace("print(0.25)", "print(0.26)"),
        [
            "line 3: the site shows another block: "
            "its line 1 is 'print(0.26)' there and 'print(0.25)' here"
        ],
    ),
    "a line that is missing": (
        HTML.replace('\nint("x")', ""),
        [
            "line 17: the site shows another block: "
            """its line 2 is missing there and 'int("x")' here"""
        ],
    ),
    "a line too many": (
        HTML.replace("so far\n<", "so far\nand on\n<"),
        [
            "line 17: the site shows another output: "
            "its line 2 is 'and on' there and missing here"
        ],
    ),
    "an error that is another": (
        HTML.replace("ValueError", "TypeError"),
        [
            "line 17: the site shows another output: its line 1 is "
            "'TypeError: no' there and 'ValueError: no' here"
        ],
    ),
    "a block that is missing": (
        HTML.replace(LAST, ""),
        ["line 40: the site does not show this block"],
    ),
    "a program that is missing, without its output": (
        HTML.replace(PYTHON.format("print(0.25)"), ""),
        [
            "line 3: the site shows another block: "
            "its line 1 is '0.25' there and 'print(0.25)' here",
        ],
    ),
    "an output that is missing": (
        HTML.replace(OTHER.format("0.25"), ""),
        [
            "line 3: the site must show what is recorded, 1 text(s) under this "
            "program; got 0"
        ],
    ),
    "an output that nobody recorded": (
        HTML.replace(LAST, LAST + OTHER.format("1")),
        [
            "line 40: the site must show what is recorded, 0 text(s) under this "
            "program; got 1"
        ],
    ),
    "a block too many": (
        HTML.replace("<p>W", PYTHON.format("y = 2\nz = 3") + "<p>W"),
        ["#refused: the site shows a block that the page has not: 'y = 2'"],
    ),
    "blocks in another order": (
        HTML.replace(FIRST, "").replace(LAST, LAST + FIRST),
        [
            "line 3: the site does not show this block",
            "#refused: the site shows a block that the page has not: 'print(0.25)'",
        ],
    ),
    "outputs that are swapped": (
        HTML.replace("so far\n<", "0.25\n<").replace(">0.25\n", ">so far\n", 1),
        [
            "line 3: the site shows another output: "
            "its line 1 is 'so far' there and '0.25' here",
            "line 17: the site shows another output: "
            "its line 1 is '0.25' there and 'so far' here",
        ],
    ),
    "a program in another language": (
        HTML.replace(LAST, LAST.replace("python", "text")),
        ["line 40: the site shows another block: in another language"],
    ),
    "a text that became Python": (
        HTML.replace(OTHER.format("$ make"), PYTHON.format("$ make")),
        ["line 36: the site shows another block: in another language"],
    ),
    "a text that is another": (
        HTML.replace("$ make", "$ cake"),
        [
            "line 36: the site shows another block: "
            "its line 1 is '$ cake' there and '$ make' here"
        ],
    ),
    "nothing at all": (
        "",
        [
            f"line {line}: the site does not show this block"
            for line in (3, 17, 36, 40)
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_page_that_shows_something_else_is_found(name: str) -> None:
    html, sentences = BROKEN[name]
    assert html != HTML
    assert [f"{where}: {what}" for where, what in problems(TEXT, html)] == sentences


def test_every_changed_character_of_a_program_is_found() -> None:
    start = HTML.index('print("so')
    for at in range(start, start + len('print("so far")\nint("x")')):
        html = HTML[:at] + "~" + HTML[at + 1 :]
        [(where, sentence)] = problems(TEXT, html)
        assert where == "line 17"
        assert sentence.startswith("the site shows another block: its line ")


REFERENCE = """<article><h1 id="m">m</h1><div class="doc doc-object doc-module">
<div class="language-python doc-signature highlight"><pre><code>f()</code></pre></div>
<div class="language-pycon highlight"><pre><code>&gt;&gt;&gt; f()</code></pre></div>
<details class="mkdocstrings-source"><div class="language-python highlight">
<pre><code>def f(): ...</code></pre></div></details>{}</div>{}</article>"""


def test_what_mkdocstrings_shows_is_known_and_nothing_else() -> None:
    text = "# m\n\n::: m\n"
    assert problems(text, REFERENCE.format("", "")) == []
    found = [("#m", "the site shows a block that the page has not: 'y = 1'")]
    block = PYTHON.format("y = 1")
    assert problems(text, REFERENCE.format(block, "")) == found
    assert problems(text, REFERENCE.format("", block)) == found
    details = f'<details class="quote">{block}</details>'
    assert problems(text, REFERENCE.format(details, "")) == found
    outside = f'<details class="mkdocstrings-source">{block}</details>'
    assert problems(text, REFERENCE.format("", outside)) == found
    session = block.replace("python", "pycon")
    assert problems(text, REFERENCE.format("", session)) == found


def test_what_looks_like_a_reference_on_another_page_is_not_one() -> None:
    assert problems("# m\n", REFERENCE.format("", "")) == [
        ("#m", f"the site shows a block that the page has not: {begins!r}")
        for begins in ("f()", ">>> f()", "def f(): ...")
    ]


def test_the_cells_of_a_lab_are_known_and_nothing_else() -> None:
    one, two = PYTHON.format("x\n"), PYTHON.format("y")
    assert of_lab(["x", "y"], one + OTHER.format("7") + "<p>7</p>" + two) == []
    assert of_lab(["x"], one + two) == [
        ("#top", "the site shows Python that is no cell of the lab")
    ]
    assert of_lab(["x", "y"], two) == [("lab", "the site does not show the cell 'x'")]
    [(where, sentence)] = of_lab(["x = 1"], PYTHON.format("x = 2"))
    assert where == "#top"
    assert sentence.endswith("its line 1 is 'x = 2' there and 'x = 1' here")


def test_programs_come_with_what_is_shown_of_them() -> None:
    assert shown_programs(TEXT, HTML) == [*zip(
        programs(TEXT),
        [
            Block("a-page", True, "print(0.25)", ("0.25",)),
            Block("refused", True, 'print("so far")\nint("x")',
                  ("so far", "ValueError: no")),
            Block("refused", True, "x = 1"),
        ],
        strict=True,
    )]  # fmt: skip
    text = "::: m\n\n```python\ny = 1\n```\n"
    html = REFERENCE.format("", PYTHON.format("y = 1"))
    [(_, block)] = shown_programs(text, html)
    assert block.text == "y = 1"


UNSEEN = f'''
??? example "{LEFT_OUT}"
    ```python
    y = 2
    ```

    {OUTPUT}

    ```text
    hidden
    ```

    ```console
    $ unseen
    ```
'''


def test_what_is_left_to_the_notebook_is_not_on_the_site() -> None:
    text = TEXT + UNSEEN
    assert problems(text, HTML) == []
    assert [one.code for one, _ in shown_programs(text, HTML)] == [
        one.code for one in programs(TEXT)
    ]
    ((program, block),) = left_to_notebook(text)
    assert program.code == "y = 2\n"
    assert block == Block("refused", True, "y = 2", ("hidden",))
    for shown in ("y = 2", "print(1)"):
        html = HTML.replace(LAST, LAST + PYTHON.format(shown))
        begins = f"the site shows a block that the page has not: {shown!r}"
        assert problems(text, html) == [("#refused", begins)]
    html = HTML.replace(LAST, LAST + OTHER.format("hidden"))
    assert len(problems(text, html)) == 1


# ---- All pages ----


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Two pages, a lab, a notebook, a file that stays as it is, and their site."""
    docs, site = tmp_path / "docs", tmp_path / "site"
    folders = ("page", "labs/look", "labs/notebook", "assets")
    for folder in (docs / "labs", *(site / name for name in folders)):
        folder.mkdir(parents=True)
    (docs / "assets").mkdir()
    (docs / "index.md").write_text("# Home\n")
    (docs / "page.md").write_text(TEXT)
    (docs / "page.py").write_text("a program that is no page")
    (docs / "other.py").write_text("another")
    (docs / "labs/look.py").write_text("# %%\nx\n")
    (docs / "labs/notebook.py").write_text("# %%\ny\n")
    (docs / "labs/look.md").write_text("<!--lab: look.py-->\n")
    (docs / "assets/as-it-is.html").write_text(PYTHON)
    (site / "404.html").write_text(PYTHON)
    (site / "index.html").write_text("<article></article>")
    (site / "page/index.html").write_text(HTML)
    (site / "labs/look/index.html").write_text(PYTHON.format("x"))
    (site / "labs/notebook/index.html").write_text(PYTHON.format("y"))
    (site / "assets/as-it-is.html").write_text(PYTHON)
    return tmp_path


def test_what_a_page_includes_belongs_to_it(book: Path) -> None:
    parts, page = book / "parts", book / "docs/page.md"
    parts.mkdir()
    include = '\n--8<-- "part.md"\n'
    page.write_text(f"{TEXT}\nMore.\n{include}")
    (book / "site/page/index.html").write_text(
        HTML.replace("</article>", f"<p>More.</p>{OTHER.format(3)}</article>")
    )

    def found(part: str) -> list[str]:
        (parts / "part.md").write_text(part)
        return site_problems(book / "docs", book / "site", [parts])

    assert found("```text\n3\n```\n") == []
    assert len(found("```text\n4\n```\n")) == 1
    refused = f"{page}, an include: an included file must hold no program; got part.md."
    assert found("```python\n3\n```\n") == [refused]


def test_a_whole_site(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(book / "docs"), str(book / "site")]
    assert site_problems(book / "docs", book / "site") == []
    assert main(arguments) == 0
    (book / "docs/new.md").write_text("")
    (book / "site/old.html").write_text("")
    (book / "site/index.html").write_text(PYTHON.format("x"))
    (book / "site/page/index.html").write_text(HTML.replace(">0.25", ">0.26"))
    (book / "site/labs/look/index.html").write_text(2 * PYTHON.format("x"))
    (book / "site/labs/notebook/index.html").write_text(PYTHON.format("z"))
    assert main(arguments) == 1
    docs, site = book / "docs", book / "site"
    assert capsys.readouterr().out.splitlines() == [
        f"{docs}/index.md, #top: the site shows a block that the page has not: 'x'",
        f"{docs}/labs/look.md, #top: the site shows Python that is no cell of the lab",
        f"{docs}/new.md: the site must have this page",
        f"{docs}/page.md, line 3: the site shows another output: "
        "its line 1 is '0.26' there and '0.25' here",
        f"{docs}/labs/notebook.py, #top: the site shows another block: "
        "its line 1 is 'z' there and 'y' here",
        f"{site}/old.html: a page of the site must come from a page of {docs}",
    ]


def test_what_is_left_to_the_notebook_must_stand_there(book: Path) -> None:
    page, file = book / "docs/page.md", book / "site/page/page.ipynb"
    page.write_text(TEXT + UNSEEN)

    def found() -> list[str]:
        return site_problems(book / "docs", book / "site")

    line = 1 + page.read_text().split("\n").index("    ```python")
    lost = [
        f"{page}, line {line}: the site leaves out this program, so page.ipynb must "
        "hold it with its output"
    ]
    assert found() == lost
    make(book / "docs", book / "site", ["page.md"])
    assert found() == []
    whole = file.read_text()
    for old, new in (("y = 2", "y = 3"), ("hidden", "seen")):
        file.write_text(whole.replace(old, new))
        assert found() == lost


def test_without_a_site_there_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workshop", "site", "docs", "site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    sentence = "site must be a built site; got site=site. Run `make site` first.\n"
    assert done.stderr == sentence
    with pytest.raises(SystemExit) as exit_:
        main(["docs", str(tmp_path)])
    assert exit_.value.code == sentence.replace("=site.", f"={tmp_path}.").rstrip()


# ---- A site that MkDocs built ----

EXERCISE = f"""# Exercises

Some `code`, and a [link](index.md).

```python
print("a < b", '&amp;')
```

{OUTPUT}

```text
a < b &amp;
```

??? question "An exercise"
    Think.

    ```python
    def f(x):

        return x


    print(f(1))
    ```

    {OUTPUT}

    ```text
    1
    ```

    ??? success "A solution"
        ```python
        print("deep")
        ```

        {OUTPUT}

        ```text
        deep
        ```

??? example "{LEFT_OUT}"
    ```python
    print("unseen")
    ```

    {OUTPUT}

    ```text
    unseen
    ```

- A list:

    ```python
    x = 1
    ```

````text
```python
not run
```
````
"""
CONFIG = """site_name: A site
strict: true
theme: {name: material, font: false, features: [content.code.copy]}
plugins: []
extra: {workshop: {chapters: [walk/], takeaway: {}}}
markdown_extensions:
  - admonition
  - attr_list
  - pymdownx.details
  - pymdownx.highlight: {pygments_lang_class: true}
  - pymdownx.superfences
  - workshop.markdown_ext.leave_out
  - workshop.markdown_ext.fold_repeated
"""


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("material")
    (folder / "mkdocs.yml").write_text(CONFIG)
    (folder / "docs/walk").mkdir(parents=True)
    (folder / "docs/index.md").write_text("# Home\n\n```python\nx = 1\n```\n")
    (folder / "docs/walk/a.md").write_text(EXERCISE.replace("index.md", "../index.md"))
    done = subprocess.run(
        [sys.executable, "-m", "workshop", "build"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_a_built_site_shows_what_its_pages_have(material: Path) -> None:
    assert site_problems(material / "docs", material / "site") == []
    page = (material / "docs/walk/a.md").read_text()
    html = (material / "site/walk/a/index.html").read_text()
    shown = shown_programs(page, html)
    assert len(shown) == 4
    for program, block in shown:
        assert block.text + "\n" == program.code
        assert tuple(f"{text}\n" for text in block.below) == tuple(
            filter(None, program.recorded)
        )
    assert "unseen" not in html
    assert "unseen" in (material / "site/walk/a/a.ipynb").read_text()
    assert "unseen" in (material / "site/walk/a/a.py").read_text()
    assert not [*(material / "site").glob("*.ipynb")]


def drop(pattern: str) -> Callable[[str], str]:
    return lambda html: re.sub(pattern, "", html, count=1, flags=re.DOTALL)


BLOCK = r'<div class="language-python highlight">.*?</div>'
BREAKS: dict[str, Callable[[str], str]] = {
    "a digit": lambda html: html.replace("<code>1\n", "<code>2\n"),
    "a block dropped": drop(BLOCK),
    "an output dropped": drop(r'<div class="language-text highlight">.*?</div>'),
    "a block doubled": lambda html: re.sub(
        f"({BLOCK})", r"\1<p></p>\1", html, count=1, flags=re.DOTALL
    ),
    "a name": lambda html: html.replace(">return<", ">yield<"),
    "white space": lambda html: html.replace("a &lt; b", "a  &lt; b"),
    "an entity": lambda html: html.replace("&amp;amp;", "&amp;"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_built_page_that_was_changed_is_found(material: Path, name: str) -> None:
    page = (material / "docs/walk/a.md").read_text()
    html = (material / "site/walk/a/index.html").read_text()
    broken = BREAKS[name](html)
    assert broken != html
    assert problems(page, broken) != []
