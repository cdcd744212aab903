"""A baseline holds what failed at first, and only gets shorter."""

import json
from pathlib import Path
from typing import Any

import pytest

from headway.checks import Report, Row
from headway.checks.command.baseline import expected, failing, name_in, read, update
from headway.checks.core.book_sections import Section
from tests.checks.support.asking import refused

HERE = Section("A chapter", "A section", "part/page/#a-section")


def row(name: str, verdict: str = "failed", **rest: Any) -> Row:
    return Row(name, name, verdict, "It was seen.", HERE, **rest)  # type: ignore[arg-type]


def reports(**failures: str) -> dict[str, Any]:
    """Make a report for each target; what did not fail in it passed."""
    return {
        target.replace("_", "."): json.loads(
            Report(
                "f",
                {},
                [
                    row(
                        one.partition(":")[0],
                        mistakes=tuple(filter(None, one.partition(":")[2].split(","))),
                    )
                    for one in words.split()
                ]
                + [
                    row(one, "passed")
                    for one in ("equation", "leak", "past", "sizes", "finite")
                    if one not in words
                ],
            ).to_json()
        )
        for target, words in failures.items()
    }


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "known").mkdir()
    monkeypatch.chdir(tmp_path)
    return Path("known/base.json")


def test_a_failure_is_named_with_its_mistakes_and_without_what_they_explain() -> None:
    rows = [
        row("equation", mistakes=("no-scale", "no-mask")),
        row("leak", explained_by="equation"),
        row("finite"),
        row("past", explained_by="finite"),
        row("sizes", reason="it was so"),
        row("state", "note"),
        row("masks", "expected", reason="known"),
    ]
    report = json.loads(Report("f", {}, rows).to_json())
    assert failing(report) == ["equation:no-mask,no-scale", "finite", "past"]


def test_the_first_baseline_holds_all_and_a_later_one_what_is_left(file: Path) -> None:
    kept, rest = update(file, reports(b_py="leak past", torch_nn="finite", a_py=""))
    assert kept == {"../b.py": ["leak", "past"], "torch.nn": ["finite"]}
    assert rest == {}
    assert read(file) == kept
    assert file.read_text(encoding="utf-8").endswith("]\n}\n")

    kept, rest = update(file, reports(b_py="past sizes", a_py="leak"))
    assert kept == {"../b.py": ["past"], "torch.nn": ["finite"]}
    assert rest == {"../b.py": ["sizes"], "../a.py": ["leak"]}
    assert read(file) == kept
    assert [one.name for one in file.parent.iterdir()] == ["base.json"]


def test_another_mistake_is_another_failure(file: Path) -> None:
    update(file, reports(a_py="equation:no-mask"))
    kept, rest = update(file, reports(a_py="equation:no-scale"))
    assert kept == {}
    assert rest == {"../a.py": ["equation:no-scale"]}


def test_a_property_that_was_not_asked_stays_in_it(file: Path) -> None:
    update(file, reports(a_py="equation:no-mask leak past"))
    asked = reports(a_py="past")
    rows = asked["a.py"]["rows"]
    asked["a.py"]["rows"] = [one for one in rows if one["id"] in {"leak", "past"}]
    kept, rest = update(file, asked)
    assert kept == {"../a.py": ["equation:no-mask", "past"]}
    assert rest == {}


def test_a_target_is_named_from_the_folder_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path.cwd()
    assert name_in(file, "src/a.py:A") == "../src/a.py:A"
    assert name_in(file, "torch.nn:Linear") == "torch.nn:Linear"
    monkeypatch.chdir(root / "known")
    assert name_in(root / file, "../src/a.py:A") == "../src/a.py:A"
    assert name_in(Path("base.json"), str(root / "src" / "a.py")) == "../src/a.py"


def test_what_it_holds_is_expected_with_the_file_for_a_reason(file: Path) -> None:
    failures = {"../a.py:A": ["equation:no-mask", "finite"]}
    reason = "it is in known/base.json, which --update-baseline renews"
    assert expected(failures, file, "a.py:A") == {
        "equation:no-mask": reason,
        "finite": reason,
    }
    assert expected(failures, file, "a.py:B") == {}


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "baseline must hold a list of ids for each target; {} does not."),
        (
            '{"a.py": "leak"}',
            "baseline must hold a list of ids for each target; {} does not.",
        ),
        (
            '{"a.py": [1]}',
            "baseline must hold a list of ids for each target; {} does not.",
        ),
        (
            "{",
            "baseline must be JSON; {}: Expecting property name enclosed in double "
            "quotes: line 1 column 2 (char 1).",
        ),
    ],
)
def test_what_is_no_baseline_is_refused_and_stays(
    text: str, sentence: str, file: Path
) -> None:
    file.write_text(text, encoding="utf-8")
    for use in (read, lambda file: update(file, reports(a_py=""))):
        with refused(sentence.format(file)):
            use(file)
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.refusal
def test_a_baseline_that_is_not_there_is_refused(file: Path) -> None:
    with refused(
        f"baseline must be a file, which --update-baseline writes; got {file}."
    ):
        read(file)


@pytest.mark.refusal
def test_a_folder_that_is_not_there_is_told(file: Path) -> None:
    gone = file.with_name("gone") / file.name
    with refused(
        f"baseline must be a file that can be written; {gone}: No such file or "
        "directory."
    ):
        update(gone, reports(a_py="leak"))
