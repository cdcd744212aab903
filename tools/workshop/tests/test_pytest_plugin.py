"""A page is recorded if it prints the same elsewhere; what passed is left out."""

import os

import pytest
import torch

from pytest_proofread.page.markdown import OUTPUT
from workshop.changed_modules import main_branch
from workshop.run.code_paths import BY_THEMSELVES, OLDEST, THREADS

SETTINGS = """
[tool.pytest.ini_options]
addopts = [
    "-p", "pytest_proofread.options", "-p", "workshop.pytest_plugin",
    "-p", "no:cacheprovider",
]
proofread_limit = "3600"
"""
BRANCH = "import os\nprint(os.environ.get('ATEN_CPU_CAPABILITY', 'new'))"
THREADS_OF_TORCH = "import torch\nprint(torch.get_num_threads())"
CAPABILITY = "import torch\nprint(torch.backends.cpu.get_cpu_capability())"


def record(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, code: str
) -> tuple[pytest.RunResult, bool]:
    """Record a page; return what pytest did, and whether the page was written."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(SETTINGS)
    page = pytester.path / "page.md"
    page.write_text(f"# A\n\n```python\n{code}\n```\n", encoding="utf-8")
    result = pytester.runpytest_inprocess("--record")
    return result, OUTPUT in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("branch", [None, "new"])
def test_a_digit_that_moves_on_another_processor_is_not_recorded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, branch: str | None
) -> None:
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    if branch:
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", branch)
    result, written = record(pytester, monkeypatch, BRANCH)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "page.md: left as it was: line 3: the program prints something else on "
            "another processor; round *:",
            "-new",
            "+default",
        ]
    )
    assert not written


def test_from_the_oldest_code_path_a_newer_one_is_tried(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OLDEST.environment({}).items():
        monkeypatch.setenv(name, value)
    result, written = record(pytester, monkeypatch, BRANCH)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["-default", "+new"])
    assert not written


@pytest.mark.parametrize("threads", [None, "1", "2"])
def test_it_has_another_number_of_threads(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, threads: str | None
) -> None:
    environment = {k: v for k, v in os.environ.items() if k != THREADS}
    for name, value in BY_THEMSELVES.environment(environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(THREADS, raising=False)
    if threads:
        monkeypatch.setenv(THREADS, threads)
    result, written = record(pytester, monkeypatch, THREADS_OF_TORCH)
    here = int(threads) if threads else os.cpu_count()
    assert written is (here == 1 and threads is None)
    if not written:
        there = 2 if threads == "1" else 1
        result.stdout.fnmatch_lines([f"-{here}", f"+{there}"])


@pytest.mark.slow
def test_what_pytorch_says_of_the_processor_is_not_recorded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a processor with one code path there is nothing that could move.
    _, written = record(pytester, monkeypatch, CAPABILITY)
    assert written is (torch.backends.cpu.get_cpu_capability() == "DEFAULT")


def test_a_program_that_prints_the_same_is_recorded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, written = record(pytester, monkeypatch, "print(1)")
    assert written
    assert result.ret == 0


PAGE = f"""# One

```python
from ours.first import x
print(x)
```

{OUTPUT}

```text
3
```

# Two

```python
from ours import third
print(third.y)
```

{OUTPUT}

```text
5
```
"""


def test_what_pytest_codeblocks_runs_is_left_out_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(SETTINGS.replace('"-p", "no:cacheprovider",', ""))
    pytester.syspathinsert()
    ours = pytester.mkpydir("ours")
    (ours / "first.py").write_text("from ours.second import x")
    (ours / "second.py").write_text("x = 3\n")
    (ours / "third.py").write_text("y = 5\n")
    page = pytester.path / "page.md"
    page.write_text(PAGE)
    (pytester.path / "other.md").write_text("# Three\n\n```bash\ntrue\n```\n")

    def changed(*more: str) -> tuple[int, ...]:
        """Return how many passed, failed and were left out."""
        found = pytester.runpytest_inprocess("--changed", *more).parseoutcomes()
        return tuple(found.get(name, 0) for name in ("passed", "failed", "deselected"))

    codeblocks = ("-p", "pytest_codeblocks.plugin", "--codeblocks")
    # A shell may do anything, so it runs again; a page may not have it, which fails.
    assert changed() == (5, 1, 0)
    # What one plugin says is nothing to the other.
    assert changed(*codeblocks) == (6, 1, 2)
    assert changed(*codeblocks) == (4, 1, 4)
    (ours / "second.py").write_text("x = 3  # as before\n")
    assert changed(*codeblocks) == (6, 1, 2)
    page.write_text(page.read_text().replace("print(x)", "print(x)  # again"))
    assert changed(*codeblocks) == (6, 1, 2)
    page.write_text(page.read_text().replace("\n5\n", "\n6\n"))
    assert changed(*codeblocks) == (4, 3, 2)
    assert changed(*codeblocks) == (4, 3, 2)


@pytest.mark.parametrize(
    ("differing", "left_out"),
    [
        (set(), 2),
        ({"ours/third.py", "pages/other.md"}, 1),
        ({"ours/second.py"}, 1),
        ({"ours/second.py", "ours/third.py"}, 0),
        ({"pages/page.md"}, 0),
        (None, 0),
    ],
)
def test_what_pytest_codeblocks_has_run_on_the_main_branch_is_left_out(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    differing: set[str] | None,
    left_out: int,
) -> None:
    monkeypatch.setattr(main_branch, "differing", lambda: differing)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(
        SETTINGS.replace('"-p", "no:cacheprovider",', "")
        + 'workshop_tested_on_main = ["pages"]\n'
    )
    pytester.syspathinsert()
    ours = pytester.mkpydir("ours")
    (ours / "first.py").write_text("from ours.second import x")
    (ours / "second.py").write_text("x = 3\n")
    (ours / "third.py").write_text("y = 5\n")
    for folder, code in ("pages", "print("), ("others", "print(0 + "):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "page.md").write_text(PAGE.replace("print(", code))

    def run(*options: str) -> tuple[int, int]:
        codeblocks = ("-p", "pytest_codeblocks.plugin", "--codeblocks")
        found = pytester.runpytest_inprocess(*codeblocks, *options).parseoutcomes()
        return found["passed"], found.get("deselected", 0)

    assert run() == (4, 0)
    assert run("--changed") == (8 + 4 - left_out, left_out)
    # What was left out counts as not run.
    monkeypatch.setattr(main_branch, "differing", lambda: None)
    assert run("--changed")[0] - run("--changed")[0] == left_out
