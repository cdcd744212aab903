"""Pages are broken and run, and what nobody catches is reported."""

from pathlib import Path

import pytest

from pytest_proofread.page.markdown import OUTPUT
from workshop.mutation import pages

SETTINGS = '[tool.pytest.ini_options]\naddopts = ["-p", "pytest_proofread.options"]\n'
FIRST = f"```python\nprint(12)\n```\n\n{OUTPUT}\n\n```text\n12\n```\n"
COUNTED = FIRST.replace(
    "print(12)", "with open({!r}, 'a') as file:\n    file.write('.')\nprint(12)"
)
SECOND = "It prints 12<!--= next[1] --> twice.\n\n" + COUNTED
SKIP = '<!--pytest.mark.skip(reason="needs a GPU; until 2999-01-01")-->\n\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(FIRST, encoding="utf-8")
    text = SECOND.format(str(tmp_path / "runs"))
    (tmp_path / "b.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # Plugins of others have no part in this, and cost time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return tmp_path


def test_all_are_caught_and_each_program_runs_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*.*")}
    assert pages.main(["docs", "b.md"]) == 0
    assert capsys.readouterr().out == (
        "mutants of the pages                  number  caught\n"
        "a comment above an output left out         2       2\n"
        "a comment above an output mistyped         2       2\n"
        "a computed number in the prose             1       1\n"
        "a digit of an output                       2       2\n"
        "a fence of a program mistyped              2       2\n"
        "a line of an output left out               2       2\n"
        "an output left out                         2       2\n"
        "the last digit of an output                2       2\n"
        "all                                       15      15\n"
    )
    assert {path: path.read_bytes() for path in project.rglob("*.*")} == before
    assert (project / "runs").read_text(encoding="utf-8") == "."


def test_some_are_drawn_at_random_and_again_by_their_seed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pages.main(["docs", "--sample", "3", "--seed", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"{'all':36}{3:8}{3:8}\n")
    every = pages.break_pages([project / "docs/a.md", project / "b.md"])
    some = [[*pages.drawn(every, 5, seed)] for seed in (0, 1, 2)]
    assert [*pages.drawn(every, 5, 1)] == some[1]
    assert len({*map(tuple, some)}) == 3
    for names in some:
        assert names == [name for name in every if name in names]
    assert pages.drawn(every, 100, 0) == every


def test_a_survivor_is_reported_with_its_place(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # What a program prints that does not run is not compared.
    (project / "b.md").write_text(SKIP + FIRST, encoding="utf-8")
    assert pages.main(["b.md"]) == 1
    out = capsys.readouterr().out
    assert "b.md:9: not caught: a digit of an output\n" in out
    assert "b.md:7: not caught: an output left out\n" in out
    assert "a fence of a program mistyped              1       1\n" in out
    assert "the last digit of an output                1       0\n" in out


def test_pages_that_fail_as_they_are_prove_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "b.md").write_text(FIRST.replace("12\n`", "13\n`"), encoding="utf-8")
    assert pages.main(["docs", "b.md"]) == 1
    assert capsys.readouterr().err == "pages must pass as they are; got b.md.\n"


def test_a_run_that_does_not_end_proves_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pages.main(["b.md", "--no-such-option"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("pytest must come to its end; got status 4:\n")
    assert "--no-such-option" in error


def test_a_page_that_cannot_be_collected_fails(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="broken.0.md" name="[prose]" />'
        '<testcase classname="broken.1.md" name="a"><failure /></testcase>'
        '<testcase classname="broken.2.md" name="a"><error /></testcase>'
        '<testcase classname="" name="broken.3.md"><error /></testcase>'
        "</testsuite></testsuites>",
        encoding="utf-8",
    )
    assert pages.failed(report) == {"broken.1.md", "broken.2.md", "broken.3.md"}
