"""The museum is true: each mistake is found, each property finds one, fixes work."""

import re
import runpy
from pathlib import Path

import pytest

from headway.checks import Report
from headway.checks.properties import PROPERTIES

ROOT = Path(__file__).parents[2]
MUSEUM = runpy.run_path(str(ROOT / "docs" / "museum" / "__main__.py"))
EXHIBITS = [*MUSEUM["exhibits"]()]
# All reports are made at once, for all tests of this file.
pytestmark = pytest.mark.xdist_group("museum")
every_exhibit = pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.title)


@pytest.fixture(scope="module")
def reports() -> dict:
    return {one: MUSEUM["report"](one.program) for one in EXHIBITS}


def test_there_is_enough_to_see() -> None:
    assert len(EXHIBITS) >= 24
    assert len({one.title for one in EXHIBITS}) == len(EXHIBITS)
    assert {one.room for one in EXHIBITS} == set(MUSEUM["ROOMS"])
    pages = {path.stem for path in (ROOT / "docs" / "museum").glob("*.md")}
    assert pages == set(MUSEUM["ROOMS"])


@every_exhibit
def test_a_mistake_is_found(exhibit, reports: dict[object, Report]) -> None:
    assert reports[exhibit].failed


@every_exhibit
def test_a_fix_makes_it_right(exhibit) -> None:
    fixed = MUSEUM["report"](exhibit.fixed())
    assert fixed.ok, str(fixed)


@every_exhibit
def test_a_fix_keeps_what_is_shown(exhibit) -> None:
    """Nothing but the mistake differs, so no shape gives it away."""
    wrong, fixed = exhibit.program.splitlines(), exhibit.fixed().splitlines()
    assert wrong != fixed
    assert wrong[-2:] == fixed[-2:]
    assert wrong[-1] in ('print(*report.failed, sep="\\n")', ")")


def test_every_property_is_broken_by_a_mistake(reports: dict[object, Report]) -> None:
    broken = {row.name for report in reports.values() for row in report.failed}
    assert broken == {one.name for one in PROPERTIES}


def test_the_parts_are_as_a_run_makes_them(reports: dict) -> None:
    folder = ROOT / "generated" / "museum"
    there = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert there == MUSEUM["parts"](reports)
    page = (ROOT / "docs" / "museum.md").read_text("utf-8")
    assert sorted(re.findall(r'^--8<-- "museum/(.+)"$', page, re.M)) == sorted(there)


def test_a_table_shows_what_a_report_says(reports: dict) -> None:
    table = MUSEUM["parts"](reports)["table.md"]
    failed = sum(len(report.failed) for report in reports.values())
    assert table.count("●") == failed
    one = next(iter(reports))
    fewer = {name: made for name, made in reports.items() if name != one}
    assert MUSEUM["parts"](fewer)["table.md"] != table


@pytest.mark.parametrize(
    "fix", ["-    nothing like it\n+    x\n", "-\n+\n"], ids=["absent", "many"]
)
def test_a_fix_that_does_not_apply_is_refused(fix: str) -> None:
    with pytest.raises(ValueError, match=re.escape("its fix must apply once")):
        EXHIBITS[0]._replace(fix=fix).fixed()
