"""The shapes under a program are those of the tensors that it makes, and no others."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from markdown import Markdown
from material.plugins.search.plugin import Parser

from pytest_proofread.page.markdown import OUTPUT
from pytest_proofread.runner import Job, Result
from workshop import caching as keep
from workshop.markdown_ext import shapes
from workshop.markdown_ext.pending import PENDING
from workshop.run import tensor_shapes as tensors
from workshop.verify.takeaway_runs import Reader

# ---- What is listed ----------------------------------------------------------------

LISTED = {
    "in order": ("b = torch.ones(2, 3)\na = b.sum()", {"b": "(2, 3)", "a": "()"}),
    "as at the end": ("a = torch.ones(2)\na = a.repeat(3)", {"a": "(6,)"}),
    "types": (
        "a = torch.ones(2, dtype=torch.float64)\nb = a > 0\nc = torch.arange(3)",
        {"a": "(2,) float64", "b": "(2,) bool", "c": "(3,) int64"},
    ),
    "not what is hidden, deleted, or no tensor": (
        "_a = b = torch.ones(2)\ndef f():\n    c = b\nf()\nd = 3\ne = [b, d]\ndel b",
        {},
    ),
    "nothing in nothing": ("a, b, c, d = [], (), {}, torch.nn.Dropout(0.5)", {}),
    "lists that differ": (
        "a = [torch.ones(2), torch.ones(3)]",
        {"a[0]": "(2,)", "a[1]": "(3,)"},
    ),
    "lists of the same": ("a = 2 * (torch.ones(3),)", {"a": "2 tensors of (3,)"}),
    "a list of one": ("a = [torch.ones(3)]", {"a[0]": "(3,)"}),
    "long lists": (
        "a = [torch.ones(n) for n in range(10)]",
        {**{f"a[{n}]": f"({n},)" for n in range(8)}, "a": "and 2 more"},
    ),
    "dictionaries": (
        "a = {'x': torch.ones(2), 3: torch.ones(2)}",
        {"a['x']": "(2,)", "a[3]": "(2,)"},
    ),
    "long dictionaries": (
        "a = {n: torch.ones(2) for n in range(9)}",
        {"a": "9 tensors of (2,)"},
    ),
    "modules": ("a = torch.nn.Linear(3, 2)", {"a.weight": "(2, 3)"}),
    "a bias that is more than one": (
        "a = torch.nn.Module()\na.bias = torch.nn.Parameter(torch.ones(2, 2))\n"
        "a.register_buffer('mask_bias', torch.ones(3))",
        {"a.bias": "(2, 2)", "a.mask_bias": "(3,)"},
    ),
    "modules in modules": (
        "a = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(5))",
        {
            "a[0].weight": "(2, 3)",
            "a[1].weight": "(5,)",
            "a[1].running_mean": "(5,)",
            "a[1].running_var": "(5,)",
            "a[1].num_batches_tracked": "() int64",
        },
    ),
    "large modules": (
        "a = torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(9))",
        {"a": "9 tensors of (2, 3)"},
    ),
    "lazy modules": (
        "a = torch.nn.LazyConv1d(2, 3, bias=False)",
        {"a.weight": "not known yet"},
    ),
}


@pytest.mark.parametrize("what", LISTED)
def test_what_is_listed(what: str) -> None:
    code, expected = LISTED[what]
    names: dict[str, object] = {}
    exec(f"import torch\n{code}", names)  # noqa: S102
    assert [*tensors.shapes(names)] == [*expected.items()]


def test_without_pytorch_there_is_no_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"a": torch.ones(2)}
    monkeypatch.delitem(sys.modules, "torch")
    assert tensors.shapes(names) == []


# ---- On a page ---------------------------------------------------------------------

PAGE = f"""# Title

```python
import torch

x = torch.ones(2, 3)
print(3 < 4)
```

{OUTPUT}

```text
True
```

Between.

!!! note

    ```python
    import torch

    inside = {{"a<b": torch.arange(2)}}
    ```

    Inside.

<!--pytest.mark.xfail-->

```python
import torch

until = torch.ones(4)
1 / 0
after = torch.ones(5)
```

<!--proofread:error-->

```text
ZeroDivisionError: division by zero
```

<!--pytest.mark.skip(reason="needs a GPU; until 2031-05-07")-->

```python
import torch

there = torch.ones(6).cuda()
```

```python
print()
```

The end.
"""
START = (
    '<details class="hw-shapes" data-search-exclude><summary>Shapes</summary><dl><dt>'
)


@pytest.fixture
def built(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_package: Callable[[Path], None],
) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    write_package(tmp_path)

    def build(text: str = PAGE, *, preview: bool = False) -> str:
        names = ["admonition", "pymdownx.superfences", "workshop.markdown_ext.shapes"]
        given = {"preview": preview}
        options = {"workshop.markdown_ext.shapes": given}
        return Markdown(extensions=names, extension_configs=options).convert(text)

    return build


def test_they_stand_under_the_output_of_each_program(
    built: Callable[..., str],
) -> None:
    soup = BeautifulSoup(built(), "html.parser")
    found = soup.select("details.hw-shapes")
    assert [one.get_text("|") for one in found] == [
        "Shapes|x|(2, 3)",
        "Shapes|inside['a<b']|(2,) int64",
        "Shapes|until|(4,)",
    ]
    above = [one.find_previous_sibling(class_="highlight").get_text() for one in found]
    assert [text.strip().split("\n")[-1] for text in above] == [
        "True",
        'inside = {"a<b": torch.arange(2)}',
        "ZeroDivisionError: division by zero",
    ]
    below = [one.find_next_sibling("p") for one in found[:2]]
    assert [one.get_text() for one in below] == ["Between.", "Inside."]
    assert found[1].parent["class"] == ["admonition", "note"]


def test_the_markup_is_small_and_alone(built: Callable[..., str]) -> None:
    html = built()
    assert f"{START}x</dt><dd>(2, 3)</dd></dl></details>" in html
    assert f"{START}inside['a&lt;b']</dt><dd>(2,) int64</dd>" in html
    assert "<p><details" not in html
    assert "\x02" not in html


def test_what_a_function_binds_stands_below_under_a_title(
    built: Callable[..., str],
) -> None:
    text = (
        "import torch\n\n\ndef f(x):\n    y = x.sum(0)\n    return y > 0\n\n\n"
        "def outer(x):\n    return f(x)\n\n\n"
    )
    inside = (
        "<p>inside outer</p><dl><dt>x</dt><dd>(2, 3)</dd></dl>"
        "<p>inside f</p><dl><dt>x</dt><dd>(2, 3)</dd><dt>y</dt><dd>(3,)</dd></dl>"
        "</details>"
    )
    html = built(page(f"{text}a = outer(torch.ones(2, 3))"))
    assert f"<dl><dt>a</dt><dd>(3,) bool</dd></dl>{inside}" in html
    assert f"<summary>Shapes</summary>{inside}" in built(
        page(f"{text}outer(torch.ones(2, 3))")
    )


def test_no_search_looks_into_them(built: Callable[..., str]) -> None:
    parser = Parser()
    parser.feed(built())
    parser.close()
    text = "".join(part for section in parser.data for part in section.text)
    assert "until = torch" in text
    assert "The end." in text
    assert "Shapes" not in text
    assert "(2, 3)</" not in text


def test_a_page_without_programs_is_left_as_it_is(
    built: Callable[..., str], tmp_path: Path
) -> None:
    text = "# Title\n\n```text\n3\n```\n"
    assert built(text) == Markdown(extensions=["pymdownx.superfences"]).convert(text)
    assert not (tmp_path / ".cache").exists()


# ---- What has run ------------------------------------------------------------------


def page(code: str, below: str = "") -> str:
    return f"```python\n{code}\n```\n{below}"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """List the programs that run, by their first line, once for each process."""
    started: list[list[str]] = []

    def run_jobs(reader: Reader, jobs: list[Job], at_once: int) -> list[Result]:
        started.append([job.code.partition("\n")[0] for job in jobs])
        return real(reader, jobs, at_once)

    real = shapes.run_jobs
    monkeypatch.setattr(shapes, "run_jobs", run_jobs)
    return started


def test_nothing_runs_twice_until_something_has_changed(
    built: Callable[..., str],
    ran: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = built(page("a = 1"))
    assert built(page("a = 1")) == first
    assert ran == [["a = 1"]]
    built(page("a = 2"))
    assert ran[1:] == [["a = 2"]]

    def kept() -> int:
        (one,) = (tmp_path / ".cache/shapes").iterdir()
        return len(json.loads(one.read_text()))

    # What no page can ask for any more is gone.
    assert kept() == 1
    monkeypatch.setattr(keep, "installed", lambda: ["torch==9"])
    built(page("a = 2"))
    built(page("a = 2"))
    assert ran[2:] == [["a = 2"]]
    assert kept() == 1


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("package/__init__.py", ["a = 1", "b = 1"]),
        ("package/module.py", ["a = 1"]),
        ("package/deep.py", ["a = 1"]),
        ("package/given.py", ["b = 1"]),
        ("package/data/table.csv", ["a = 1", "b = 1"]),
        ("package/other.py", []),
    ],
)
def test_those_run_again_that_reach_what_has_changed(
    name: str,
    again: list[str],
    built: Callable[..., str],
    ran: list[list[str]],
    tmp_path: Path,
) -> None:
    path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    text = "".join(
        [
            page(f"a = 1\n{path}import package.module"),
            page(f"b = 1\n{path}from package import f"),
            page("c = 1"),
        ]
    )
    (tmp_path / "docs/page.md").write_text(text)
    built(text)
    with (tmp_path / name).open("a") as file:
        file.write("# new\n")
    built(text)
    assert ran == [["a = 1", "b = 1", "c = 1"], *([again] if again else [])]


def test_a_preview_runs_nothing_and_says_where_something_is_missing(
    built: Callable[..., str], ran: list[list[str]], tmp_path: Path
) -> None:
    html = built(preview=True)
    # Nobody knows yet which of the programs make a tensor.
    assert html.count(f"<summary>Shapes</summary>{PENDING}</details>") == 4
    assert (ran, (tmp_path / ".cache").exists()) == ([], False)
    whole = built()
    assert PENDING not in whole
    assert built(preview=True) == whole
    assert len(ran) == 1


def test_what_all_pages_miss_runs_in_one_process(
    built: Callable[..., str], ran: list[list[str]], tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / f"docs/{name}.md").write_text(page(f"{name} = 1"))
    for name in "bacabc":
        built(page(f"{name} = 1"))
    assert ran == [["b = 1", "a = 1"], ["c = 1"]]


WRONG = {
    "fails": (page("1 / 0"), r"Traceback[\s\S]*ZeroDivisionError: division by zero$"),
    "does not fail": (
        page("print()", "\n<!--proofread:error-->\n\n```text\nError\n```\n"),
        "it ends without its error$",
    ),
    "ends the interpreter": (
        page("import os\nos.kill(os.getpid(), 9)"),
        "the program must not end Python; it ended by SIGKILL$",
    ),
}


@pytest.mark.parametrize("how", WRONG)
def test_a_program_that_does_not_end_as_its_page_says(
    how: str, built: Callable[..., str], tmp_path: Path
) -> None:
    text, said = WRONG[how]
    sentence = "a program must end as its page says, to show its shapes; "
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"^{sentence}this page, top does not:"):
            built(text)
    (tmp_path / "docs/wrong.md").write_text(text)
    place = "docs/wrong.md, top does not:\n"
    with pytest.raises(ValueError, match=f"^{sentence}{place}{said}"):
        built(page("a = 1"))


def test_who_builds_a_page_does_not_load_pytorch(
    built: Callable[..., str], tmp_path: Path
) -> None:
    html = built()
    program = (
        "import json, sys\nfrom markdown import Markdown\n"
        "names = ['admonition', 'pymdownx.superfences']\n"
        "names += ['workshop.markdown_ext.shapes']\n"
        "md = Markdown(extensions=names)\n"
        "print(json.dumps([md.convert(sys.stdin.read()), 'torch' in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=PAGE,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(done.stdout) == [html, False]


def test_what_the_tests_of_a_page_have_run_does_not_run_again(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ran: list[list[str]]
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\n"
        'addopts = ["-p", "pytest_proofread.options", "-p", "workshop.pytest_plugin"]\n'
        'proofread_limit = "3600"\n'
    )
    text = page("import torch\na = torch.ones(2, 3)") + page("b = 1")
    wrong = page("c = 1\nprint(c)", f"\n{OUTPUT}\n\n```text\n2\n```\n")
    pytester.mkdir("docs").joinpath("page.md").write_text(text + wrong)
    pytester.runpytest_inprocess("--proofread", "docs").assert_outcomes(
        passed=4, failed=1
    )
    names = ["pymdownx.superfences", "workshop.markdown_ext.shapes"]
    html = Markdown(extensions=names).convert(text)
    assert "<dt>a</dt><dd>(2, 3)</dd>" in html
    assert ran == []
    Markdown(extensions=names).convert(text + wrong)
    assert ran == [["c = 1"]]
