import json
import sys
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import programs
from workshop.folds import LEFT_OUT
from workshop.verify.html_code_blocks import Block
from workshop.verify.site_matches_pages import left_to_notebook
from workshop.verify.takeaway_runs import (
    Page,
    Reader,
    block_problems,
    file_problems,
    jupyter_problems,
    read_notebooks,
    read_site,
)
from workshop.website.takeaway.cells import cells
from workshop.website.takeaway.notebook import notebook, program

OUTPUT = "<!--pytest-codeblocks:expected-output-->"
ERROR = "<!--proofread:error-->"
READER = Reader(Path(sys.executable), exact=True)
TEXT = f"""# A page

```python
x = 0.5
print(x)
```

{OUTPUT}

```text
0.5
```

```python
x = 1
```

```python
print("so far")
int("a")
```

{OUTPUT}

```text
so far
```

{ERROR}

```text
ValueError: invalid literal for int() with base 10: 'a'
```

<!--pytest.mark.skip(reason="a GPU; until 2999-01-01")-->
```python
1 / 0
```
"""


def page(text: str = TEXT, path: str = "docs/a.md") -> Page:
    """A page of which the site shows what it has."""
    shown = [
        (p, Block(p.heading, True, p.code.rstrip(), tuple(filter(None, said))))
        for p in programs(text)
        for said in [[part.strip("\n") for part in p.recorded]]
    ]
    return Page(Path(path), shown, [])


def one(code: str, printed: str = "", error: str = "") -> Page:
    text = f"# P\n\n```python\n{code}\n```\n"
    if printed:
        text += f"\n{OUTPUT}\n\n```text\n{printed}\n```\n"
    if error:
        text += f"\n{ERROR}\n\n```text\n{error}\n```\n"
    return page(text)


def files(folder: Path, text: str = TEXT) -> tuple[Path, Path]:
    found = cells(text, lambda target: None, lambda name: None)
    (folder / "a.ipynb").write_text(notebook(found), encoding="utf-8")
    (folder / "a.py").write_text(program(found), encoding="utf-8")
    return folder / "a.ipynb", folder / "a.py"


def test_what_prints_what_its_page_shows_is_right(tmp_path: Path) -> None:
    assert block_problems(READER, [page()]) == []
    for file in files(tmp_path):
        assert file_problems(READER, page(), file) == []


# ---- What the site leaves to the notebook ----

UNSEEN = f'''??? example "{LEFT_OUT}"
    ```python
    print(x + 1)
    ```

    {OUTPUT}

    ```text
    2
    ```

'''
BETWEEN = "```python\nprint("


def unseen(text: str) -> Page:
    """A page of which the site leaves out what it should."""
    whole = page(text)
    shown = [pair for pair in whole.programs if "x + 1" not in pair[0].code]
    return Page(whole.path, shown, [], left_to_notebook(text))


def test_what_the_site_leaves_out_runs_in_the_notebook(tmp_path: Path) -> None:
    text = TEXT.replace(BETWEEN, f"{UNSEEN}{BETWEEN}")
    whole = unseen(text)
    assert len(whole.programs) == 4
    assert [one.code for one, _ in whole.all_programs][2] == "print(x + 1)\n"
    for file in files(tmp_path, text):
        assert file_problems(READER, whole, file) == []
    [problem] = block_problems(READER, [whole])  # each is alone
    assert "NameError: name 'x' is not defined" in problem
    for file in files(tmp_path, text.replace("    2\n", "    3\n")):
        assert len(file_problems(READER, whole, file)) == 1 - (file.suffix == ".py")
    for file in files(tmp_path, text.replace("x + 1", "x + 2")):
        assert len(file_problems(READER, whole, file)) == 1
    for file in files(tmp_path):  # it is in no file
        assert len(file_problems(READER, whole, file)) == 1


# ---- The reader ----


def test_the_reader_has_an_empty_folder_and_no_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.setenv("OTHER", "kept")
    monkeypatch.setenv("LC_ALL", "C")
    code = (
        "import os, sys; print(os.listdir(), 'PYTHONPATH' in os.environ, "
        "os.environ['OTHER'], os.environ['OMP_WAIT_POLICY'], sys.stdout.encoding, 'ö')"
    )
    done = READER.run("-c", code)
    assert done.stdout == "[] False kept PASSIVE utf-8 ö\n"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert READER.run("-c", code).stdout == "[] False kept ACTIVE utf-8 ö\n"


def test_known_warnings_are_left_out() -> None:
    code = "import warnings; warnings.warn('Known: 1'); warnings.warn('Other')"
    reader = Reader(Path(sys.executable), ignore=["Known"])
    said = reader.run("-c", code).stderr
    assert "Known: 1" not in said
    assert "Other" in said


def test_empty_lines_around_an_output_are_not_seen() -> None:
    assert READER.differs("a\n\nb", "\n\na\n\nb\n\n") == ""
    assert READER.differs("", "\n") == ""
    assert "a" in READER.differs("", "a\n")
    assert READER.differs("a\n\nb", "a\nb\n") != ""


def test_digits_count_only_where_they_are_exact() -> None:
    other = Reader(Path(sys.executable))
    assert other.differs("0.5000", "0.5001\n") == ""
    assert "0.5001" in READER.differs("0.5000", "0.5001\n")
    assert other.differs("0.5000", "0.5002\n") != ""


# ---- Blocks ----


@pytest.mark.parametrize(
    ("code", "printed", "error", "said"),
    [
        ("print(1)", "2", "", "number 1: recorded 2, printed 1"),
        ("print(1)", "", "", "\n+1"),
        ("pass", "1", "", "\n-1"),
        ("1 / 0", "", "", 'File "docs/a.md", line 4, in <module>'),
        ("1 / 0", "", "ValueError: x", "ZeroDivisionError: division by zero"),
        ("pass", "", "ValueError: x",
            "it must end in the error that the page shows, ValueError: x"),
        ("import sys; sys.stderr.write('oh')", "", "", "wrote to stderr:\noh"),
        ("import warnings; warnings.warn('oh')", "", "",
            "warned, from line 4: UserWarning: oh"),
        ("import os; os.kill(os.getpid(), 9)", "", "",
            "the program must not end Python; it ended by SIGKILL"),
    ],
)  # fmt: skip
def test_a_block_that_does_something_else_is_found(
    code: str, printed: str, error: str, said: str
) -> None:
    [problem] = block_problems(READER, [one(code, printed, error)])
    assert problem.startswith("docs/a.md, p: ")
    assert said in problem


def test_each_block_is_alone() -> None:
    text = "# P\n\n```python\nimport json\njson.x = y = 1\n```\n"
    assert block_problems(READER, [page(text)]) == []
    text += "\n```python\nprint(y)\n```\n"
    [problem] = block_problems(READER, [page(text)])
    assert "docs/a.md, p[2]: " in problem
    assert "NameError: name 'y' is not defined" in problem


def test_a_file_that_does_not_end_is_found(tmp_path: Path) -> None:
    text = "# P\n\n```python\nwhile True: pass\n```\n"
    reader = Reader(Path(sys.executable), limit=1.0)
    notebook, script = files(tmp_path, text)
    [problem] = file_problems(reader, page(text), notebook)
    assert problem.startswith(f"{notebook}: A cell timed out")
    assert file_problems(reader, page(text), script) == [
        f"{script}: it must end without an error; got status 1\n"
        "it did not end within 1 s"
    ]


def test_all_pages_are_run() -> None:
    pages = [one("print(1)", "1"), page("# P\n\nWords.\n"), one("print(2)", "1")]
    [problem] = block_problems(READER, pages)
    assert "number 1: recorded 1, printed 2" in problem
    assert block_problems(READER, []) == []


def test_what_is_copied_is_what_runs() -> None:
    [(program, block)] = one("print(1)", "1").programs
    changed = block._replace(text="print(2)")
    [problem] = block_problems(READER, [Page(Path("a.md"), [(program, changed)], [])])
    assert "number 1: recorded 1, printed 2" in problem


# ---- Files ----


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    assert file_problems(READER, page(), file) == [
        f"docs/a.md: the file that it offers must exist; got {file}"
    ]


def test_a_file_of_another_kind_is_only_offered(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 / 0")
    assert file_problems(READER, page(), tmp_path / "a.txt") == []


@pytest.mark.parametrize(
    ("old", "new"), [("print(x)", "print(y)"), ("0.5\\n", "0.6\\n"), ("base 10", "8")]
)
def test_a_notebook_that_holds_something_else(
    tmp_path: Path, old: str, new: str
) -> None:
    file, _ = files(tmp_path)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    assert file_problems(READER, page(), file) == [
        f"{file}: it must hold the programs and outputs of its page; build the site "
        "anew"
    ]


STATE = f"""# P

```python
import random
random.seed(1)
x = 1
```

```python
print("x" in dir())
```

{OUTPUT}

```text
False
```
"""


def test_cells_that_disturb_each_other_are_found(tmp_path: Path) -> None:
    assert block_problems(READER, [page(STATE)]) == []
    notebook, script = files(tmp_path, STATE)
    [problem] = file_problems(READER, page(STATE), notebook)
    assert problem.startswith(f"{notebook}: cell 2: ")
    assert "-False\n+True" in problem
    [problem] = file_problems(READER, page(STATE), script)
    assert problem.startswith(f"{script}: ")
    assert "-False\n+True" in problem


def test_files_that_fail_or_complain(tmp_path: Path) -> None:
    text = "# P\n\n```python\n1 / 0\n```\n"
    for file in files(tmp_path, text):
        [problem] = file_problems(READER, page(text), file)
        assert problem.startswith(f"{file}: ")
        assert problem.endswith("ZeroDivisionError: division by zero")
    text = "# P\n\n```python\nimport sys; print('oh', file=sys.stderr)\n```\n"
    for file in files(tmp_path, text):
        [problem] = file_problems(READER, page(text), file)
        assert problem.startswith(f"{file}: ")
        assert "oh" in problem


def test_a_program_runs_alone_in_its_folder(tmp_path: Path) -> None:
    text = (
        "# P\n\n```python\nimport os\nprint(os.listdir())\n"
        f"import near\n```\n\n{OUTPUT}\n\n```text\n[]\n```\n"
    )
    (tmp_path / "near.py").write_text("")
    _, script = files(tmp_path, text)
    [problem] = file_problems(READER, page(text), script)
    assert problem.endswith("ModuleNotFoundError: No module named 'near'")


# ---- In Jupyter ----


def test_a_notebook_runs_in_jupyter(tmp_path: Path) -> None:
    file, _ = files(tmp_path)
    assert [*jupyter_problems(READER, file)] == []
    file.write_text(file.read_text().replace('"0.5\\n"', '"0.6\\n"'))
    [problem] = jupyter_problems(READER, file)
    assert problem.startswith("cell 1: ")
    assert "number 1: recorded 0.6, printed 0.5" in problem
    broken = json.loads(file.read_text().replace('"raises-exception"', ""))
    file.write_text(json.dumps(broken))
    [problem] = jupyter_problems(READER, file)
    assert "ValueError: invalid literal for int() with base 10: 'a'" in problem


def test_a_page_that_is_a_notebook_must_run_to_its_end(tmp_path: Path) -> None:
    file, _ = files(tmp_path)
    own = Page(Path("docs/labs/a.py"), [], [file])
    assert file_problems(READER, own, file) == []
    file.write_text(file.read_text().replace('"0.5\\n"', '"0.6\\n"'))
    assert file_problems(READER, own, file) == []  # its numbers are not recorded
    broken = json.loads(file.read_text().replace('"raises-exception"', ""))
    file.write_text(json.dumps(broken))
    [problem] = file_problems(READER, own, file)
    assert "ValueError: invalid literal for int() with base 10: 'a'" in problem


# ---- The site ----


def test_the_notebooks_of_a_site(tmp_path: Path) -> None:
    docs, site = tmp_path / "docs", tmp_path / "site"
    docs.mkdir()
    for name in ("a.py", "b.py", "b.md", "tool.py"):
        (docs / name).write_text("")
    for name in "ab":
        (site / name).mkdir(parents=True)
        (site / name / "index.html").write_text('<a href="a.ipynb" download></a>')
    assert read_notebooks(docs, site) == [Page(docs / "a.py", [], [site / "a/a.ipynb"])]


def test_the_pages_of_a_site(tmp_path: Path) -> None:
    docs, site = tmp_path / "docs", tmp_path / "site"
    (docs / "b").mkdir(parents=True)
    (docs / "b/a.md").write_text("# A\n\n```python\n1\n```\n")
    (docs / "absent.md").write_text("")
    (docs / "index.md").write_text("# Home\n")
    (site / "b/a").mkdir(parents=True)
    (site / "index.html").write_text("")
    (site / "b/a/index.html").write_text(
        '<a href="a.py" download></a><pre class="language-python"><code>1</code></pre>'
    )
    first, second = read_site(docs, site)
    assert first.path == docs / "b/a.md"
    assert [block.text for _, block in first.programs] == ["1"]
    assert first.files == [site / "b/a/a.py"]
    assert second == Page(docs / "index.md", [], [])
