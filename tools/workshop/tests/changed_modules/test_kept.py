"""What a test has computed is kept until something changes that it depends on."""

from pathlib import Path

import pytest

from workshop.changed_modules import main_branch
from workshop.changed_modules.kept import CACHE, Kept

FILES = {
    "src/judge.py": "from weights import GRAM\n",
    "src/weights.py": "GRAM = 1\n",
    "src/answers/one.py": "import helper\n",
    "src/answers/two.py": "",
    "src/helper.py": "x = 3\n",
    "src/elsewhere.py": "",
}
PROGRAM = "from helper import x\nprint(x)"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return tmp_path


def made(
    project: Path,
    program: str = PROGRAM,
    part: str = "as now",
    name: str = "first",
    *,
    active: bool = True,
) -> bool:
    """Say whether it was computed, and not taken from before."""
    ran = []
    kept = Kept(project, [project / "src"], active=active)
    found = kept(
        name,
        lambda: ran.append(1) or {"sum": 4},
        programs=[program],
        files=[project / "src/judge.py"],
        parts=[part],
    )
    assert found == {"sum": 4}
    return bool(ran)


def test_nothing_is_computed_twice(project: Path) -> None:
    assert [made(project) for _ in range(3)] == [True, False, False]


def test_without_changed_all_is_computed(project: Path) -> None:
    assert [made(project, active=False) for _ in range(2)] == [True, True]
    assert not (project / CACHE).exists()


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("src/judge.py", True),
        ("src/weights.py", True),
        ("src/helper.py", True),
        ("src/answers/one.py", False),
        ("src/elsewhere.py", False),
    ],
)
def test_a_dependency_that_changes_throws_it_away(
    project: Path, name: str, again: bool
) -> None:
    made(project)
    (project / name).write_text(FILES[name] + "# new\n")
    assert made(project) == again


def test_each_result_has_its_own_program_and_parts(project: Path) -> None:
    made(project)
    assert made(project, part="as then")
    assert made(project, program="print(4)")
    assert made(project, name="second")
    # Of each name, what was computed last.
    names = [path.name.split("-")[0] for path in (project / CACHE).iterdir()]
    assert sorted(names) == ["first", "second"]


def test_with_changed_tests_share_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\n"
        'addopts = ["-p", "pytest_proofread.options", "-p", "workshop.pytest_plugin"]\n'
    )
    pytester.makepyfile(
        helper="x = 3\n",
        test_it="""
        def test_it(kept):
            ran = []
            kept("it", lambda: ran.append(1), programs=["import helper"])
            print("computed", len(ran))
            assert 0
        """,
    )
    for options, times in (["--changed"], 1), (["--changed"], 0), ([], 1):
        result = pytester.runpytest_subprocess(*options)
        result.stdout.fnmatch_lines(f"computed {times}")
    (pytester.path / "helper.py").write_text("x = 4\n")
    pytester.runpytest_subprocess("--changed").stdout.fnmatch_lines("computed 1")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (set(), True),
        ({"src/elsewhere.py", "pages/one.md"}, True),
        ({"src/answers/one.py"}, True),
        ({"src/judge.py"}, False),
        ({"src/weights.py"}, False),  # which the judge imports
        ({"src/helper.py"}, False),  # which the program imports
        ({"src/answers/two.py"}, False),  # named as a text
        ({"pyproject.toml"}, False),
        ({"constraints.txt"}, False),
        (None, False),  # git cannot tell
    ],
)
def test_the_main_branch_ran_what_reaches_no_change(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: set[str] | None,
    expected: bool,
) -> None:
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: changed)

    def passed(*, active: bool) -> bool:
        return Kept(project, [project / "src"], active=active).passed_on_main(
            programs=[PROGRAM],
            files=[project / "src/judge.py"],
            texts=[project / "src/answers/two.py"],
        )

    assert passed(active=True) == expected
    assert not passed(active=False)


@pytest.mark.parametrize(("name", "expected"), [("src", False), ("pages", True)])
def test_what_lies_beside_a_module_counts_there_too(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: bool
) -> None:
    (project / "src/grams.toml").write_text("")
    changed = {f"{name}/grams.toml"}
    monkeypatch.setattr(main_branch, "changed_files", lambda **_: changed)
    kept = Kept(project, [project / "src"], active=True)
    assert kept.passed_on_main(files=[project / "src/judge.py"]) == expected
