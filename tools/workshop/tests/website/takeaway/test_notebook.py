import ast
import base64
import json
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from pytest_proofread.page.markdown import programs
from workshop.website.takeaway.cells import Cell, cells
from workshop.website.takeaway.notebook import as_code, indented, notebook, program

OUTPUT = "<!--pytest-codeblocks:expected-output-->"
ERROR = "<!--proofread:error-->"


def page(code: str, output: str = "", error: str = "", above: str = "") -> str:
    text = f"{above}\n```python\n{code}```\n"
    if output:
        text += f"\n{OUTPUT}\n\n```text\n{output}```\n"
    if error:
        text += f"\n{ERROR}\n\n```text\n{error}\n```\n"
    return text


def of(text: str) -> list[Cell]:
    return cells(text, lambda target: None, lambda name: None)


REFUSED = page(
    "print(1)\nint('a')\n", "1\n", "ValueError: invalid literal", "<!-- no mark -->"
)
SKIPPED = page("1 / 0\n", above='<!--pytest.mark.skip(reason="a GPU")-->')
WHOLE = (
    "# A title\n\nWords.\n" + page("print(2)\nprint()\n", "2\n\n") + REFUSED + SKIPPED
)


# ---- The notebook ----


def test_the_notebook_is_valid_and_has_what_is_recorded() -> None:
    text = notebook(of(WHOLE))
    whole = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(whole)
    assert (whole.nbformat, whole.nbformat_minor) == (4, 5)
    assert whole.metadata == {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    assert "attachments" not in whole.cells[0]
    assert [(cell.cell_type, cell.source, cell.id) for cell in whole.cells] == [
        ("markdown", "# A title\n\nWords.", "before-a-title"),
        ("code", "print(2)\nprint()", "a-title"),
        ("code", "print(1)\nint('a')", "a-title-2"),
        ("code", "1 / 0", "a-title-3"),
    ]
    code = whole.cells[1:]
    assert [cell.execution_count for cell in code] == [1, 2, 3]
    assert [cell.metadata for cell in code] == [
        {},
        {"tags": ["raises-exception"]},
        {"tags": ["skip-execution"]},
    ]
    assert [cell.outputs for cell in code] == [
        [{"output_type": "stream", "name": "stdout", "text": "2\n\n"}],
        [
            {"output_type": "stream", "name": "stdout", "text": "1\n"},
            {
                "output_type": "error",
                "ename": "ValueError",
                "evalue": "invalid literal",
                "traceback": ["ValueError: invalid literal"],
            },
        ],
        [],
    ]


def test_the_notebook_carries_its_pictures() -> None:
    cell = Cell("a", "![Ö](attachment:a.svg)", pictures={"a.svg": "<svg>Ö</svg>"})
    whole = nbformat.reads(notebook([cell]), as_version=nbformat.NO_CONVERT)
    nbformat.validate(whole)
    stored = whole.cells[0].attachments["a.svg"]["image/svg+xml"]
    assert base64.b64decode(stored).decode() == "<svg>Ö</svg>"


def test_the_notebook_is_the_same_each_time_and_can_be_compared_by_line() -> None:
    text = notebook(of(WHOLE))
    assert text == notebook(of(WHOLE))
    assert json.loads(text)["cells"][0]["source"] == ["# A title\n", "\n", "Words."]
    text = notebook([Cell("a", "Ö")])
    again = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False)
    assert text == again + "\n"


# ---- The program ----


def test_the_program_in_cells() -> None:
    assert (
        program(of(WHOLE))
        == """\
# %% [markdown]
# # A title
#
# Words.

# %%
print(2)
print()

# Output:
# 2
#

# %%
import traceback

# This one ends in an error on purpose.
try:
    print(1)
    int('a')
except Exception as error:
    print(*traceback.format_exception_only(error), sep="", end="")

# Output:
# 1
# ValueError: invalid literal

# %%
# This one is not run here.
# 1 / 0
"""
    )


def test_editors_see_the_same_cells() -> None:
    found = of(WHOLE)
    read = jupytext.reads(program(found), fmt="py:percent")
    ours = nbformat.reads(notebook(found), as_version=4)
    assert [cell.cell_type for cell in read.cells] == [
        cell.cell_type for cell in ours.cells
    ]
    assert read.cells[0].source == ours.cells[0].source
    assert read.cells[1].source.startswith(ours.cells[1].source)


def test_words_stand_in_the_place_of_pictures() -> None:
    cell = Cell("a", "![Two\\[2\\]](attachment:a.svg)", pictures={"a.svg": "<svg/>"})
    assert program([cell]) == "# %% [markdown]\n# Picture: Two[2]\n"


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "page.py").write_text(text)
    return subprocess.run(
        [sys.executable, "page.py"], cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("int('a')\n", "ValueError: invalid literal for int() with base 10: 'a'"),
        ("raise KeyError('k')\n", "KeyError: 'k'"),
        ("raise ValueError\n", "ValueError"),
        ("import json\njson.loads('')\n", "json.decoder.JSONDecodeError: Expecting "
            "value: line 1 column 1 (char 0)"),
        ("class Own(Exception): ...\nraise Own('x')\n", "Own: x"),
        ("raise SystemExit('bye')\n", "SystemExit: bye"),
        ("x = '''\n  a\n'''\nassert x == '\\n  a\\n'\nint(f'''\n{1}b''')\n",
            "ValueError: invalid literal for int() with base 10: '\\n1b'"),
    ],
)  # fmt: skip
def test_a_refusal_is_shown_and_does_not_stop_the_rest(
    code: str, error: str, tmp_path: Path
) -> None:
    text = page(code, error=error) + "\nwords\n" + page("print('after')\n", "after\n")
    done = run(program(of(text)), tmp_path)
    assert (done.stdout, done.stderr) == (f"{error}\nafter\n", "")
    assert f"# {error}\n".replace("\n1b", "\\n1b") in program(of(text))


def test_what_is_no_python_is_not_run(tmp_path: Path) -> None:
    [broken] = programs(page("1 +\n", error="SyntaxError: invalid syntax"))
    assert as_code(broken) == (
        "# This one is not run here.\n# 1 +\n\n"
        "# Output:\n# SyntaxError: invalid syntax\n"
    )


def test_indentation_keeps_every_value() -> None:
    code = (
        'a = """\n x\n\n  y""" + "\\\nz"\n'
        "if a:\n"
        "    b = f'''\n{a}\n  q {\n1}'''\n\n"
        "c = b'''\nx'''\n"
    )
    space: dict[str, object] = {}
    exec(code, space)  # noqa: S102
    moved: dict[str, object] = {}
    exec("if True:\n" + indented(code), moved)  # noqa: S102
    assert {n: moved[n] for n in "abc"} == {n: space[n] for n in "abc"}
    assert indented("a = 1\n\nb = 2\n") == "    a = 1\n\n    b = 2\n"
    ast.parse("try:\n" + indented(code) + "finally: ...")
