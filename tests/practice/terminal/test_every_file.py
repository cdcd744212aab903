"""All files of a folder are judged, and told in three ways."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from headway.practice.judging.verdict import Verdict
from headway.practice.terminal.every_file import (
    Judged,
    as_json,
    judge_all,
    table,
    write_junit,
)
from headway.practice.terminal.folder import Folder
from tests.practice.small import TIMED, Here, small_set
from tests.practice.terminal.test_folder import write


def test_what_is_untouched_is_not_judged(folder: Folder) -> None:
    write(folder, "half", "return x / 2")
    tasks = [*folder.library.values()]
    double, half = judge_all(folder, Here(), tasks, seed=5)
    assert (double.verdict.state, double.verdict.seed) == ("open", 0)
    assert (half.verdict.state, half.verdict.seed) == ("passed", 5)
    assert half.seconds > double.seconds >= 0.0
    assert folder.passed(half.task)


def told(folder: Folder, **changes: object) -> list[Judged]:
    """Give one exercise that failed, and one that is open."""
    double, half = folder.library.values()
    failed = Verdict("double", "failed", "It is wrong. So it is.", seed=3)
    return [
        Judged(double, replace(failed, **changes), 0.25),  # type: ignore[arg-type]
        Judged(half, Verdict("half", "open", "Nothing is written yet."), 0.0),
    ]


def test_the_table_names_the_mistake_or_what_was_seen(tmp_path: Path) -> None:
    library = small_set(tmp_path / "timed", half=TIMED)
    folder = Folder(tmp_path / "practice", library)
    sums = "0 of 2 done; now 0 are right, 1 are not, 1 are open."
    row = "FAILED  double                   min  "
    assert table(folder, told(folder), 79).splitlines() == [
        f"{row}It is wrong.",
        "",
        sums,
    ]
    every = told(folder, mistakes=("it is three times as much", "it is late"))
    assert table(folder, every, 79).splitlines()[0] == f"{row}it is three times as much"
    assert table(folder, every, 59).splitlines()[0] == f"{row}it is three times ..."
    passed = Judged(library["half"], Verdict("half", "passed", "So it is."), 1.0)
    assert table(folder, [passed], 79).splitlines()[0] == (
        "passed  half                   5 min"
    )


def test_the_list_in_json_has_what_a_verdict_has(folder: Folder) -> None:
    double, half = json.loads(as_json(told(folder)))
    assert double["sentence"] == "It is wrong. So it is."
    assert (double["ok"], double["minutes"], double["seconds"]) == (False, 0, 0.25)
    assert (half["name"], half["state"]) == ("half", "open")
    alone = json.loads(told(folder)[0].verdict.to_json())
    assert double == alone | {"minutes": 0, "seconds": 0.25}


def test_the_file_of_junit_can_be_read(folder: Folder, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    write_junit(told(folder, printed="a \x1b[1m bell \x07 <&>"), path)
    suite = ElementTree.fromstring(path.read_bytes())  # noqa: S314 (our own)
    assert suite.attrib == {
        "name": "headway practice",
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "0.250",
    }
    double, half = suite
    assert double.attrib == {"classname": "first", "name": "double", "time": "0.250"}
    [failure] = double
    assert failure.tag == "failure"
    assert failure.get("message") == "It is wrong. So it is."
    assert "a ?[1m bell ? <&>" in str(failure.text)
    assert [one.tag for one in half] == ["skipped"]
    done = Judged(folder.library["half"], Verdict("half", "passed", "So it is."), 1.0)
    write_junit([done], path)
    assert path.read_text("utf-8").count("<") == 4  # no failure, and nothing skipped
