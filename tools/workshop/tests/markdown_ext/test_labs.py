"""What a lab shows is never older than the lab, nor than what it imports."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown import Markdown
from nbformat.v4 import new_output

from workshop import caching as keep
from workshop.markdown_ext.labs import code, output_as_markdown
from workshop.markdown_ext.pending import PENDING

LAB = """# %% [markdown]
# # A lab
#
# See [a page](page.md).

# %%
from pathlib import Path

from package import f
import package.module

with open({log!r}, "a") as log:
    log.write("ran ")

%time f

# %%
from IPython.display import HTML, Markdown, display

print("a < b")
display(Markdown("- **three**"))
display(HTML("<figure><svg><text>*4*</text></svg></figure>"))
7
"""


@pytest.fixture
def lab(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_package: Callable[[Path], None],
) -> Path:
    monkeypatch.chdir(tmp_path.parent)
    write_package(tmp_path)
    file = tmp_path / "lab.py"
    file.write_text(LAB.format(log=str(tmp_path / "log")))
    return file


@pytest.fixture
def built(lab: Path) -> Callable[..., str]:
    def build(**options: object) -> str:
        folder = lab.parent
        given = {
            "folder": str(folder),
            "cache": str(folder / "cache" / "labs"),
        }
        extensions = [
            "pymdownx.superfences",
            "md_in_html",
            "workshop.markdown_ext.labs",
        ]
        markdown = Markdown(
            extensions=extensions,
            extension_configs={"workshop.markdown_ext.labs": given | options},
        )
        return markdown.convert("Before.\n\n<!--lab: lab.py-->\n\nAfter.\n")

    return build


def runs(lab: Path) -> int:
    log = lab.parent / "log"
    return log.read_text().count("ran") if log.exists() else 0


def test_a_page_shows_the_cells_and_what_they_showed(
    lab: Path, built: Callable[..., str]
) -> None:
    html = built()
    texts = [
        "<p>Before.</p>",
        "<h1>A lab</h1>",
        '<a href="page.md">',
        "from",
        "pathlib",
        "a &lt; b",
        "<strong>three</strong>",
        "<text>*4*</text>",
        "<code>7\n",
        "<p>After.</p>",
    ]
    assert re.search(".*".join(map(re.escape, texts)), html, re.DOTALL)
    assert html.count("hw-output") == 2
    assert '<div class="hw-output" data-search-exclude><figure>' in html
    assert not re.search(r"<p>\s*<div|<!--lab|\x02", html)


def test_nothing_runs_twice_until_something_has_changed(
    lab: Path, built: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = built()
    assert runs(lab) == 1
    assert built() == first
    assert runs(lab) == 1

    for name in ("other.py", "data.py"):
        (lab.parent / "package" / name).write_text("hint = 2\n")
    built()
    assert runs(lab) == 1

    lab.write_text(lab.read_text() + "\n# %%\nprint('new')\n")
    assert "new" in built()
    assert runs(lab) == 2

    monkeypatch.setattr(keep, "installed", lambda: ["torch==9"])
    built()
    built()
    assert runs(lab) == 3
    # Of each lab only what ran last is kept.
    (one,) = (lab.parent / "cache" / "labs").iterdir()
    assert one.suffix == ".ipynb"


def test_a_cell_that_fails_fails_the_build_and_is_not_kept(
    lab: Path, built: Callable[..., str]
) -> None:
    lab.write_text("# %%\nprint(1)\n\n# %%\n1 / 0\n")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"lab\.py does not:") as error:
            built()
        assert "ZeroDivisionError" in str(error.value)
        assert "\x1b" not in str(error.value)
    assert not [*lab.parent.rglob("*.ipynb")]


def test_a_cell_that_takes_too_long_fails_the_build(
    lab: Path, built: Callable[..., str]
) -> None:
    lab.write_text("# %%\nimport time\ntime.sleep(3600)\n")
    with pytest.raises(ValueError, match=r"lab\.py does not"):
        built(limit=1)


def test_what_a_page_cannot_show_fails_the_build(
    lab: Path, built: Callable[..., str]
) -> None:
    lab.write_text("# %%\nimport sys\nprint('careful', file=sys.stderr)\n")
    with pytest.raises(ValueError, match=r"lab\.py: an output must .*; got careful"):
        built()


def test_a_lab_that_may_not_run_shows_its_code(
    lab: Path, built: Callable[..., str]
) -> None:
    html = built(execute=False)
    assert runs(lab) == 0
    assert "display" in html
    assert "hw-output" not in html
    assert not (lab.parent / "cache").exists()


def test_a_lab_imports_what_stands_beside_it(
    lab: Path, built: Callable[..., str]
) -> None:
    (lab.parent / "beside.py").write_text("number = 41\n")
    lab.write_text("# %%\nimport beside\n\nprint(beside.number + 1)\n")
    assert "42" in built()


def test_a_preview_runs_nothing_and_says_where_something_is_missing(
    lab: Path, built: Callable[..., str]
) -> None:
    html = built(preview=True)
    assert runs(lab) == 0
    assert html.count(PENDING) == 2  # once for each cell of the lab
    assert not (lab.parent / "cache").exists()
    whole = built()
    assert PENDING not in whole
    assert built(preview=True) == whole
    assert runs(lab) == 1


@pytest.mark.parametrize(
    "name",
    [
        "package/__init__.py",
        "package/module.py",
        "package/deep.py",
        "package/given.py",
        "package/data/table.csv",
    ],
)
def test_it_runs_again_when_what_it_reaches_has_changed(
    name: str, lab: Path, built: Callable[..., str]
) -> None:
    built()
    with (lab.parent / name).open("a") as file:
        file.write("# new\n")
    built()
    assert runs(lab) == 2


def test_the_code_of_the_cells() -> None:
    text = "# %% [markdown]\n# Words.\n\n# %%\nx = 1\n\n\n# %%\ndef f():\n    ...\n"
    assert code(text) == ["x = 1", "def f():\n    ..."]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"image/png": "", "text/plain": "<Figure>"}, "image/png, text/plain"),
        ({}, "display_data"),
    ],
)
def test_other_outputs_are_refused(data: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=textwrap.dedent(f"got {said}")):
        output_as_markdown(new_output("display_data", data), str)
