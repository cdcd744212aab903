"""The museum is true: each mistake is found, each property finds one, fixes work."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from generators.museum import __main__ as museum
from generators.museum import names_and_fixes, properties_beyond_check
from headway._edits import Edit
from headway.checks import Report
from headway.checks.attention.properties import PROPERTIES
from headway.checks.model.properties import PROPERTIES as OF_MODELS
from headway.practice.task.library import book
from tests.support.mistakes import MUSEUM_ONLY
from workshop.changed_modules.kept import Kept
from workshop.generator_support import run_program

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXHIBITS = [*museum.exhibits()]
ASKED = {one.id for one in PROPERTIES}
OF_A_MODEL = {one.id for one in OF_MODELS}
OTHERS = {one.id for one in properties_beyond_check.EVERY}
IDS = {
    one.name: one.id
    for one in (*PROPERTIES, *OF_MODELS, *properties_beyond_check.EVERY)
}
# All reports are made at once, for all tests of this file.
pytestmark = pytest.mark.xdist_group("museum")
# Exhibits that are one case of a mistake, of which a report names the id.
CASES = {
    "masked-fill-without-assignment": "no-mask",
    "boolean-mask-inverted": "mask-inverted",
    "is-causal-only-in-training": "no-mask",
    "causal-mask-missing-on-one-path": "mask-hangs-on-mode",
    "scores-multiplied-by-the-mask": "mask-fills-zero",
    "mask-cut-from-the-wrong-corner": "no-mask",
    "dropout-p-in-eval": "dropout-in-eval",
    "dropout-made-in-forward": "dropout-in-eval",
    "key-padding-mask-inverted": "mask-inverted",
    "repeat-instead-of-repeat-interleave": "mask-of-another-text",
    "multiheadattention-without-batch-first": "texts-and-tokens-swapped",
    "counted-from-zero": "cache-positions-from-zero",
    "kept-for-one-offset": "cache-positions-from-zero",
    "cache-kept-between-texts": "cache-shared-by-calls",
    "a-cache-for-everybody": "cache-shared-by-calls",
    "tiled-heads": "groups-tiled",
    "groups-inside-out": "groups-tiled",
    "a-sink-in-every-score": "sink-left-out",
    "the-sink-s-share-handed-back": "sink-left-out",
    "a-coin-in-every-call": "dropout-in-eval",
}
every_exhibit = pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)


class Verdict(NamedTuple):
    """What came of an exhibit: its report, and what its fix prints and breaks."""

    report: Report
    prints: str
    fixed: Report


def verdict(one: Any) -> Verdict:
    fixed = one.fixed()
    shown = run_program(fixed)[1]
    return Verdict(museum.report(one), shown, museum.report(one, fixed))


@pytest.fixture(scope="module")
def verdicts(kept: Kept) -> dict[Any, Verdict]:
    """Judge each exhibit, or take its verdict from before."""
    here = Path(__file__).read_text("utf-8")
    return {
        one: kept(
            f"exhibit-{one.id}",
            lambda one=one: verdict(one),
            programs=[*museum.programs_before(one.room), one.program, one.fixed()],
            files=[Path(museum.__file__)],
            parts=[repr(one), here],
        )
        for one in EXHIBITS
    }


@pytest.fixture(scope="module")
def reports(verdicts: dict[Any, Verdict]) -> dict[Any, Report]:
    return {one: found.report for one, found in verdicts.items()}


def named(hint: str) -> set[str]:
    """List the properties that a hint says to fail."""
    said = [words.lower() for words in re.findall(r"\*(.+?)\*", hint)]
    return {IDS[words] for words in said if words in IDS}


# ---- The game ----


def test_there_is_enough_to_see() -> None:
    hall = (DOCS / "museum.md").read_text("utf-8")
    assert {*re.findall(r"\b\d+\b(?= programs| exhibits)", hall)} == {
        str(len(EXHIBITS))
    }
    assert {one.room for one in EXHIBITS} == set(museum.ROOMS)
    pages = {path.stem for path in (DOCS / "museum").glob("*.md")}
    assert pages == set(museum.ROOMS)


@pytest.mark.parametrize("names", ["heading", "id", "name", "nickname", "meant"])
def test_no_name_is_there_twice(names: str) -> None:
    found = [getattr(one, names).lower() for one in EXHIBITS]
    if names == "meant":  # two may be meant to do the same, in different words of code
        found = [f"{one.meant} {one.program}" for one in EXHIBITS]
    assert len(set(found)) == len(found)


def test_a_nickname_is_no_plain_name() -> None:
    plain = {one.name.lower() for one in EXHIBITS}
    assert not plain & {one.nickname.lower() for one in EXHIBITS}


@every_exhibit
def test_nothing_names_the_mistake_before_it_is_asked_for(exhibit) -> None:
    """What stands open: the heading, what is meant, the program, what it prints."""
    open_text = f"{exhibit.heading} {exhibit.meant} {exhibit.shown}".lower()
    assert exhibit.name.lower() not in open_text
    assert exhibit.nickname.lower() not in open_text
    assert exhibit.meant.count("\n") <= 2
    shown = f"{exhibit.program} {exhibit.shown}"
    assert "headway" not in shown
    assert "FAILED" not in shown
    assert "#" not in exhibit.program  # a comment would say too much, or lie
    assert exhibit.shown.strip()


@every_exhibit
def test_a_program_still_prints_that_when_it_is_fixed(
    exhibit: Any, verdicts: dict[Any, Verdict]
) -> None:
    """Nothing but the mistake differs, so no shape gives it away."""
    assert exhibit.fixed() != exhibit.program
    assert shapes(verdicts[exhibit].prints) == shapes(exhibit.shown)


def shapes(text: str) -> list[str]:
    """List what a program prints of shapes and of what holds."""
    return re.findall(r"torch\.Size\(.*?\)|\bTrue\b|\bFalse\b", text)


# ---- The truth ----


@every_exhibit
def test_a_mistake_is_found_and_breaks_what_its_hint_says(
    exhibit, reports: dict[object, Report]
) -> None:
    said = named(exhibit.hint)
    assert said
    assert said == {*exhibit.breaks}
    assert said <= {row.id for row in reports[exhibit].failed}
    if "nothing else does" in exhibit.hint:
        assert len(reports[exhibit].failed) == 1


@every_exhibit
def test_a_fix_makes_it_right(exhibit: Any, verdicts: dict[Any, Verdict]) -> None:
    fixed = verdicts[exhibit].fixed
    assert fixed.ok, str(fixed)


def test_every_property_is_broken_by_a_mistake(reports: dict[object, Report]) -> None:
    broken = {row.id for report in reports.values() for row in report.failed}
    assert broken >= ASKED | OF_A_MODEL | OTHERS
    assert set(museum.SYMPTOMS) == ASKED


def test_what_check_does_not_see_is_in_the_list_of_mistakes(reports: dict) -> None:
    found = {
        one.id: {row.id for row in made.failed}
        for one, made in reports.items()
        if {row.id for row in made.rows} & OTHERS
    }
    assert found.keys() == MUSEUM_ONLY.keys()
    for exhibit, name in MUSEUM_ONLY.items():
        assert name in found[exhibit]


def test_no_property_has_the_id_of_one_that_check_asks() -> None:
    assert not OTHERS & (ASKED | OF_A_MODEL)
    assert len(OTHERS) == len(properties_beyond_check.EVERY)


def test_a_mistake_that_a_report_names_has_its_id(reports: dict) -> None:
    found = {}
    for one, made in reports.items():
        ids = [name for row in made.failed for name in row.mistakes]
        if ids and one.id not in ids:
            found[one.id] = ids[0]
    assert found == CASES


def test_an_exhibit_leads_to_each_exercise_that_knows_it() -> None:
    files = names_and_fixes.make()
    shown = set()
    for task in book().values():
        part = task.chapter.partition("/")[0]
        for exhibit in {one.exhibit for one in task.exercise.wrong if one.exhibit}:
            name = exhibit.replace("/#", "/") + "-name.md"
            assert f"(../practice/{part}.md#{task.name})" in files[name]
            shown.add(name)
    assert {name for name, text in files.items() if "../practice/" in text} == shown


def test_models_are_asked_by_check_model(reports: dict) -> None:
    asked = [one for one, made in reports.items() if museum.is_model(made)]
    assert asked
    assert {one.room for one in asked} == {"whole_models", "running_models"}
    listed = museum.parts(reports)["models.md"]
    for one in asked:
        assert f"[{one.heading}]({one.address})" in listed
        assert all(
            f"**{row.name[0].upper()}{row.name[1:]}**" in listed
            for row in reports[one].failed
        )


@pytest.mark.parametrize("one", properties_beyond_check.EVERY, ids=lambda one: one.id)
def test_a_property_links_to_a_chapter(one) -> None:
    page, anchor = one.section.address.split("/#")
    text = (DOCS / f"{page}.md").read_text("utf-8")
    assert f"# {one.section.chapter}\n" in text
    assert f"## {one.section.title}\n" in text
    assert anchor == one.section.title.lower().replace(" ", "-")


def test_the_parts_are_as_a_run_makes_them(reports: dict) -> None:
    folder = ROOT / "generated" / "museum"
    there = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.md")
    }
    made = museum.parts(reports)
    assert sorted(there) == sorted(made)
    assert {name: made[name] for name in made if made[name] != there[name]} == {}
    hall = (DOCS / "museum.md").read_text("utf-8")
    of_hall = [name for name in there if "/" not in name]
    assert sorted(re.findall(r'--8<-- "museum/(.+)"', hall)) == sorted(of_hall)


def test_a_table_shows_what_a_report_says(reports: dict) -> None:
    table = museum.parts(reports)["table.md"]
    checked = [
        one
        for one, made in reports.items()
        if one.id not in MUSEUM_ONLY and not museum.is_model(made)
    ]
    numbers = re.findall(r"\b\d+(?=, | \|$)", table, re.MULTILINE)
    assert len(numbers) == sum(len(reports[one].failed) for one in checked)
    one = next(iter(reports))
    fewer = {name: made for name, made in reports.items() if name != one}
    assert museum.parts(fewer)["table.md"] != table


# ---- What is no exhibit ----


@pytest.mark.parametrize("old", ["    nothing like it\n", "\n"], ids=["absent", "many"])
def test_a_fix_that_does_not_apply_is_refused(old: str) -> None:
    fix = (Edit(old, "    x\n"),)
    with pytest.raises(ValueError, match="must stand once in Masks 1"):
        EXHIBITS[0]._replace(fix=fix).fixed()


def room_with(folder: Path, ending: str, old: str, new: str) -> Path:
    """Copy a room, with a change in its page or in its records."""
    for one in (".md", ".toml"):
        text = (DOCS / "museum" / f"masks{one}").read_text("utf-8")
        if one == ending:
            assert old in text
            text = text.replace(old, new, 1)
        (folder / f"masks{one}").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' "A hint"', ' "No hint"'),
        ('\n--8<-- "museum/', '\n--8<-- "nothing/'),
        ('assignment.md"', 'another.md"'),
        ("-name.md", ".md"),
        ("-fix.md", ".md"),
        ("Masks 1 ", "Masks 2 "),
        ("Seen in:", "Nowhere:"),
        ("expected-output", "expected-nothing"),
    ],
)
def test_a_section_that_is_no_exhibit_is_refused(
    tmp_path: Path, old: str, new: str
) -> None:
    with pytest.raises(ValueError, match="is no exhibit"):
        [*museum.exhibits(room_with(tmp_path, ".md", old, new))]


@pytest.mark.parametrize("part", ["name = ", "nickname = ", "breaks = ", "fix]]"])
def test_a_record_that_lacks_something_is_refused(tmp_path: Path, part: str) -> None:
    found = room_with(tmp_path, ".toml", part, part.replace(part[:3], "not"))
    with pytest.raises(ValueError, match="must have a name, a nickname"):
        [*museum.exhibits(found)]


def test_a_record_without_a_section_is_refused(tmp_path: Path) -> None:
    found = room_with(tmp_path, ".toml", "[", "[of-nothing]\nname = 'no'\n\n[")
    with pytest.raises(ValueError, match="it has no section #of-nothing"):
        list(museum.exhibits(found))
