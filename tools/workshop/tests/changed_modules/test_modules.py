"""A module of tests is left out if it passed and reaches nothing that has changed."""

import re
from collections.abc import Callable

import pytest

from workshop.changed_modules import main_branch

SETTINGS = """
[tool.pytest.ini_options]
addopts = [
    "-p", "pytest_proofread.options", "-p", "workshop.pytest_plugin",
    "-p", "xdist.plugin",
]
pythonpath = ["."]
workshop_variables = ["HOW"]
"""

FILES = {
    ".gitignore": "/made/\n*.log\nrunpytest-*/\n/stdou?\nstderr\n",
    "src/ours/__init__.py": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from ours._names import *
        else:

            def __getattr__(name):
                from importlib import import_module

                return getattr(import_module("ours._names"), name)
        """,
    "src/ours/_names.py": """
        from ours.one import first
        from ours.two import second
        """,
    "src/ours/one.py": """
        from ours.deep import deep

        def first():
            return deep
        """,
    "src/ours/deep.py": "deep = 1",
    "src/ours/two.py": """
        from pathlib import Path

        TEXT = Path("data/two.txt").read_text()

        def second(): pass
        """,
    "data/two.txt": "",
    "src/found.py": "",
    "data/words.txt": "some words",
    "data/more.txt": "more words",
    "pages/one.txt": "",
    "loads.py": """
        import importlib, inspect
        from functools import cache
        from pathlib import Path

        ROOT = Path(__file__).parent

        @cache
        def words():
            inspect.stack()
            importlib.import_module("fou" + "nd")
            return (ROOT / "data/words.txt").read_text()
        """,
    "conftest.py": "",
    "test_all.py": """
        from loads import ROOT
        import subprocess, sys

        def test_it():
            subprocess.run([sys.executable, "-c", ""], cwd=ROOT, check=True)
        """,
    "test_cached.py": "from loads import words\ndef test_it(): words()",
    "test_caches.py": "from loads import words\ndef test_it(): words()",
    "test_first.py": "from ours import first\ndef test_it(): first()",
    "test_lists.py": """
        import os

        def test_it():
            os.listdir("pages")
        """,
    "test_nothing.py": "def test_it(): pass",
    "test_second.py": "from ours import second\ndef test_it(): second()",
    "test_starts.py": """
        import subprocess, sys

        def test_it():
            subprocess.run([sys.executable, "-c", ""], check=True)
        """,
    "test_thread.py": """
        from concurrent.futures import ThreadPoolExecutor
        from pathlib import Path

        def test_it():
            with ThreadPoolExecutor() as threads:
                list(threads.map(Path.read_text, [Path("data/more.txt")]))
        """,
}
KEPT = ".pytest_cache/v/workshop/modules"
TESTS = {name[5:-3] for name in FILES if name.startswith("test_")}


def write(project: pytest.Pytester, name: str, text: str) -> None:
    path = project.path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("HOW", "plainly")
    # What was compiled in the same second would be taken for what stands there now.
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    pytester.makepyprojecttoml(SETTINGS)
    for name, text in FILES.items():
        write(pytester, name, text.replace("\n        ", "\n").lstrip())
    monkeypatch.syspath_prepend(pytester.path / "src")
    return pytester


@pytest.fixture
def run(project: pytest.Pytester) -> Callable[..., set[str]]:
    """Run the tests, and return which modules ran."""

    def go(*options: str, ret: int = 0) -> set[str]:
        result = project.runpytest_inprocess("--changed", "-v", *options)
        assert result.ret == ret
        return {*re.findall(r"^test_(\w+)\.py::", result.stdout.str(), re.MULTILINE)}

    return go


REACHED = {
    "test_first.py": {"first"},
    "test_cached.py": {"cached"},
    "src/ours/__init__.py": {"first", "second", "starts"},
    "src/ours/_names.py": {"first", "second", "starts"},
    "src/ours/one.py": {"first", "starts"},
    "src/ours/deep.py": {"first", "starts"},
    "src/ours/two.py": {"second", "starts"},
    "src/ours/new.py": {"starts"},
    "src/found.py": {"cached", "caches", "starts"},
    "loads.py": {"cached", "caches"},
    "data/words.txt": {"cached", "caches"},
    "data/two.txt": {"second"},
    "data/more.txt": {"thread"},
    "pages/one.txt": set(),
    "pages/two.txt": {"lists"},
    "pages/below/three.txt": {"lists"},
    "conftest.py": TESTS,
    "pyproject.toml": TESTS,
}


def test_what_reaches_a_change_runs_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    assert run() == TESTS
    assert run() == set()
    kept = project.path / KEPT
    passed = kept.read_text()
    ran = {}
    for name in REACHED:
        path = project.path / name
        old = path.read_text() if path.exists() else None
        write(project, name, f"{old or ''}\n# new\n")
        ran[name] = run()
        assert run() == set()
        path.unlink() if old is None else path.write_text(old)
        kept.write_text(passed)
    # One starts a process inside the project, which may read whatever is there.
    assert ran == {name: modules | {"all"} for name, modules in REACHED.items()}


@pytest.mark.parametrize("name", ["made/page.txt", "a.log", ".git/HEAD"])
def test_what_git_ignores_does_not_count(
    project: pytest.Pytester, run: Callable[..., set[str]], name: str
) -> None:
    run()
    write(project, name, "new")
    assert run() == set()


def test_what_is_left_out_is_counted_and_not_imported(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    run()
    text = "with open('a.log', 'a') as log: log.write('imported ')\n"
    write(project, "test_nothing.py", text + "def test_it(): pass\n")
    assert run() == {"nothing", "all"}
    said = project.runpytest_inprocess("--changed", "test_nothing.py", "test_first.py")
    said.stdout.fnmatch_lines("workshop: 2 modules of tests left out, which passed*")
    assert (project.path / "a.log").read_text() == "imported "
    assert said.ret == 0  # though no test ran


def test_what_failed_runs_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(project, "test_nothing.py", "def test_it(): pass\ndef test_not(): assert 0\n")
    assert run(ret=1) == TESTS
    assert run(ret=1) == {"nothing"}
    write(project, "test_nothing.py", "1 / 0")
    for _ in range(2):
        assert run(ret=2) == set()
        run("--continue-on-collection-errors", ret=1)
    write(project, "test_nothing.py", "def test_it(): pass")
    assert run() == {"nothing", "all"}
    assert run() == set()


def test_what_was_not_reached_before_the_end_runs_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(project, "test_first.py", "def test_it(): assert 0\ndef test_b(): pass\n")
    before = {name for name in TESTS if name < "first"}
    assert run("-x", ret=1) == {*before, "first"}
    assert run(ret=1) == TESTS - before


@pytest.mark.parametrize(
    "options", [["-k", "it"], ["-m", "not slow"], ["test_nothing.py::test_it"]]
)
def test_a_choice_of_tests_does_not_count_for_all(
    run: Callable[..., set[str]], options: list[str]
) -> None:
    run(*options)
    assert "nothing" in run()
    assert "nothing" not in run()


def test_an_interrupted_collection_counts_for_nothing(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(project, "test_thread.py", "raise KeyboardInterrupt")
    assert project.runpytest_subprocess("--changed").ret == 2
    write(project, "test_thread.py", "def test_it(): pass")
    assert run() == TESTS


def test_a_process_may_read_all_if_it_is_told_of_a_file(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    text = FILES["test_starts.py"].replace('""]', '"", "data/more.txt"]')
    write(project, "test_nothing.py", text.replace("\n        ", "\n").lstrip())
    run()
    write(project, "pages/one.txt", "new")
    assert run() == {"nothing", "all"}


def test_failures_chosen_alone_do_not_count(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(project, "test_nothing.py", "def test_it(): pass\ndef test_b(): assert 0\n")
    run(ret=1)
    write(project, "test_nothing.py", "def test_it(): assert 0\ndef test_b(): pass\n")
    assert run("--lf") == {"nothing"}
    assert run("--lf", ret=1) >= {"nothing"}


def test_a_module_of_whose_tests_none_is_chosen_is_not_read_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    text = "with open('a.log', 'a') as log: log.write('imported ')\n"
    write(project, "test_nothing.py", text + "def test_other(): pass\n")
    for _ in range(2):
        project.runpytest_inprocess("--changed", "-k", "test_it")
    assert (project.path / "a.log").read_text() == "imported "
    assert "nothing" in run()


def test_what_comes_from_outside_counts(
    run: Callable[..., set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setenv("HOW", "carefully")
    assert run() == TESTS
    monkeypatch.setenv("HOW", "plainly")
    assert run("--tb=short", "--durations=3", "--maxfail=2") == set()


def test_what_others_see_of_a_module_does_not_make_it_run_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(project, "data/seldom.txt", "seldom read")
    loads = (project.path / "loads.py").read_text()
    seldom = 'def seldom(): (ROOT / "data/seldom.txt").read_text()\n'
    write(project, "loads.py", f"{loads}\n{seldom}")
    write(project, "test_other.py", "from loads import seldom\ndef test_it(): seldom()")
    assert run("--deselect=test_other.py") == TESTS
    assert run("test_other.py") == {"other"}  # other options
    assert run("--deselect=test_other.py") == set()
    write(project, "data/seldom.txt", "changed")
    assert run("--deselect=test_other.py") >= {"cached", "caches"}


def test_what_changes_as_it_runs_runs_again(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(
        project,
        "test_nothing.py",
        "from pathlib import Path\n"
        "def test_it():\n"
        "    path = Path('count.txt')\n"
        "    old = path.read_text() if path.exists() else ''\n"
        "    path.write_text(old + 'x')\n"
        "    path.read_text()\n",
    )
    assert run() == TESTS
    assert run() == {"nothing", "all"}


def test_what_a_file_reads_that_the_settings_name_does_not_count(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    reads = (
        "from pathlib import Path\n[p.read_text() for p in Path('data').iterdir()]\n"
    )
    write(project, "conftest.py", reads)
    assert run() == TESTS
    write(project, "data/two.txt", "2")
    assert run() == TESTS
    unheeded = 'workshop_unheeded = ["conftest.py"]\n'
    write(project, "pyproject.toml", SETTINGS + unheeded)
    assert run("--cache-clear") == TESTS
    write(project, "data/two.txt", "two")
    assert run() == REACHED["data/two.txt"] | {"all"}
    loads = "from importlib import import_module\nimport_module('fou' + 'nd')\n"
    write(project, "conftest.py", reads + loads)
    assert run() == TESTS
    write(project, "src/found.py", "new = 1")  # what it imports still counts
    assert run() == TESTS


def test_what_is_written_or_removed_is_not_read(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    write(
        project,
        "test_nothing.py",
        "import shutil\n"
        "def test_it(tmp_path):\n"
        "    (tmp_path / 'below').mkdir()\n"
        "    shutil.rmtree(tmp_path)\n"
        "    with open('written.txt', 'a') as file: file.write('x')\n",
    )
    assert run() == TESTS
    assert run("--deselect=test_all.py") == TESTS - {"all"}
    assert run("--deselect=test_all.py") == set()
    assert '"below"' not in (project.path / KEPT).read_text()


def test_several_processes(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project.path / "src"), prepend=":")

    def go(*options: str) -> tuple[int, int]:
        result = project.runpytest_subprocess("--changed", *options)
        left_out = re.findall(r"workshop: (\d+) modules", result.stdout.str())
        assert result.ret == 0
        assert "programs ran" not in result.stdout.str()
        return result.parseoutcomes().get("passed", 0), sum(map(int, left_out))

    assert go("-n", "2") == (len(TESTS), 0)
    assert go("-n", "2") == (0, len(TESTS))
    assert go() == (0, len(TESTS))
    # Each process read it once.
    write(project, "data/words.txt", "others")
    assert go("-n", "2") == (3, len(TESTS) - 3)


def test_the_paths_of_a_page_and_of_tests_do_not_meet(
    project: pytest.Pytester, run: Callable[..., set[str]]
) -> None:
    page = "```python\nprint(1)\n```\n\n<!--pytest-codeblocks:expected-output-->\n"
    write(project, "docs/page.md", page + "\n```text\n1\n```\n")
    assert run("docs", ".") == TESTS
    (project.path / "docs/page.md").write_text("Nothing.\n")
    assert run("docs", ".") == {"all"}


def test_the_rest_of_the_tests_is_not_touched(project: pytest.Pytester) -> None:
    plain = project.runpytest_inprocess()
    plain.assert_outcomes(passed=len(TESTS))
    assert "left out" not in plain.stdout.str()
    assert not (project.path / KEPT).exists()


MAIN_HAS = """
workshop_tested_on_main = ["below"]
"""
BELOW = {
    "words": "from loads import words\ndef test_it(): words()",
    "first": "from ours import first\ndef test_it(): first()",
    "beside": "def test_it(): pass",
    "lists": "import os\ndef test_it(): os.listdir('pages')\nSOURCE = 'src'",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (set(), set()),
        ({"loads.py"}, {"words"}),
        ({"src/ours/deep.py"}, {"first"}),
        ({"below/beside/some.bin"}, {"beside"}),
        ({"below/lists/test_lists.py"}, {"lists"}),
        ({"pages/new.txt"}, {"lists"}),  # of which nobody knows that it is read
        ({"data/words.txt"}, {"words"}),
        ({"unnamed/page.md"}, set()),
        ({"src/ours/two.py"}, set()),  # though the name of the folder is in a module
        ({"src/ours/scripts/run.py"}, set()),  # beside a module, and no data
        ({"conftest.py"}, {*BELOW}),
        ({"pyproject.toml"}, {*BELOW}),
        ({"constraints.txt"}, {*BELOW}),
        (None, {*BELOW}),  # git cannot tell
    ],
)
def test_what_the_main_branch_has_is_left_out_before_it_ran_here(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    changed: set[str] | None,
    expected: set[str],
) -> None:
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: changed)
    write(project, "pyproject.toml", SETTINGS + MAIN_HAS)
    for name, text in BELOW.items():
        write(project, f"below/{name}/test_{name}.py", text)
    write(project, "src/ours/deep.py", 'deep = 1\nNAME = "unnamed"')
    write(project, "src/ours/scripts/run.py", "")
    (project.path / "below/beside/some.bin").write_bytes(b'\xff"unnamed')

    def run() -> set[str]:
        result = project.runpytest_inprocess("--changed", "-v", "below")
        assert result.ret == 0
        return {*re.findall(r"^below/(\w+)/.*::", result.stdout.str(), re.MULTILINE)}

    assert run() == expected
    assert run() == set()
    # What was left out counts as not run.
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: None)
    write(project, "pages/three.txt", "")
    assert run() == {*BELOW} - expected | {"lists"}


def test_what_the_main_branch_has_runs_again_where_it_changed_since_it_passed(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "pyproject.toml", SETTINGS + MAIN_HAS)
    write(project, "below/test_lists.py", BELOW["lists"])

    def run(*options: str) -> int:
        result = project.runpytest_inprocess("below", *options)
        return result.parseoutcomes().get("passed", 0)

    monkeypatch.setattr(main_branch, "changed_files", lambda **_: None)
    assert run("--changed") == 1
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: set())
    assert run("--changed") == 0
    write(project, "pages/two.txt", "")  # which was seen to be read
    assert run("--changed") == 1
    assert run() == 1  # all are asked for


def test_what_a_process_may_import_counts_where_the_main_branch_does_not_run_it(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: None)
    write(project, "pyproject.toml", SETTINGS + MAIN_HAS)
    write(
        project,
        "below/test_process.py",
        FILES["test_starts.py"].replace("\n        ", "\n"),
    )
    imports = f"from ours import first\n{FILES['test_starts.py']}"
    write(project, "below/test_imports.py", imports.replace("\n        ", "\n"))

    def run() -> set[str]:
        result = project.runpytest_inprocess(
            "--changed", "-v", "below", "test_starts.py"
        )
        assert result.ret == 0
        return {*re.findall(r"^(\S+)\.py::", result.stdout.str(), re.MULTILINE)}

    assert run() == {"below/test_process", "below/test_imports", "test_starts"}
    write(project, "src/ours/two.py", "second = 2")
    assert run() == {"test_starts"}
    write(project, "src/ours/deep.py", "deep = 2")
    assert run() == {"below/test_imports", "test_starts"}
    write(project, "below/test_process.py", "def test_it(): pass")
    assert run() == {"below/test_process"}


def test_without_a_setting_git_is_not_asked(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., set[str]],
) -> None:
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: set())
    assert run() == TESTS


def test_what_the_package_read_for_others_is_left_to_the_main_branch(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: None)
    write(project, "pyproject.toml", SETTINGS + MAIN_HAS)
    tests = {
        "below/test_imports.py": FILES["test_second.py"],
        "below/test_reads.py": "def test_it(): open('data/two.txt').close()",
        "below/test_process.py": FILES["test_all.py"].replace("\n        ", "\n"),
    }
    for name, text in tests.items():
        write(project, name, text)

    def run() -> set[str]:
        result = project.runpytest_inprocess(
            "--changed", "-v", "test_second.py", "below"
        )
        assert result.ret == 0
        return {*re.findall(r"test_(\w+)\.py::", result.stdout.str())}

    assert run() == {"second", "imports", "reads", "process"}
    write(project, "data/two.txt", "other words")
    assert run() == {"second", "reads"}
    write(project, "src/ours/two.py", "second = print")
    assert run() == {"second", "imports"}
