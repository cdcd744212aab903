"""A report for code scanning: one log for all targets, and each result has a place."""

import json
from dataclasses import replace
from typing import Any

import pytest

from headway import __version__
from headway.checks import Report
from headway.checks.command.formats import SourcePlace
from headway.checks.command.sarif import join, to_error_part, to_part
from headway.checks.core import book_sections
from tests.checks.command.test_formats import CAUSE, FOLLOWS, HERE, ROWS

PLACE = SourcePlace("src/a b.py", 7)


def run(*parts: str) -> dict[str, Any]:
    log = json.loads(join(parts))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    [found] = log["runs"]
    return found


def test_failures_and_notes_are_results_of_rules() -> None:
    found = run(to_part(Report("Attend", {}, ROWS), "mine.py:Attend", PLACE))
    driver = found["tool"]["driver"]
    assert driver["semanticVersion"] == __version__
    assert driver["rules"] == [
        {"id": row.id, "shortDescription": {"text": row.name}}
        for row in (ROWS[1], ROWS[3], ROWS[4])
    ]
    failed, note, expected = found["results"]
    assert failed == {
        "ruleId": "large-scores",
        "level": "error",
        "message": {
            "text": f"Attend: {ROWS[1].advice} In a terminal: headway explain "
            "large-scores"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "src/a%20b.py"},
                    "region": {"startLine": 7},
                }
            }
        ],
        "partialFingerprints": {"targetAndProperty/v1": "mine.py:Attend large-scores"},
        "properties": {"mistakes": []},
    }
    assert (note["ruleId"], note["level"]) == ("state", "note")
    assert "suppressions" not in note
    assert (expected["ruleId"], expected["level"]) == ("gradients", "error")
    assert expected["suppressions"] == [{"kind": "external", "justification": "known"}]
    assert found["invocations"] == [{"executionSuccessful": True}]


def test_a_cause_is_one_result() -> None:
    found = run(to_part(Report("f", {}, [*FOLLOWS, CAUSE]), "f", PLACE))
    [result] = found["results"]
    assert result["properties"] == {"mistakes": ["no-mask"]}
    assert result["message"]["text"] == (
        f"f: Nothing is hidden. Read {HERE}. What follows: [leak] [past]. "
        "In a terminal: headway explain no-mask"
    )


def test_all_targets_share_one_run_and_each_rule_stands_once() -> None:
    first = to_part(Report("f", {}, ROWS), "f", PLACE)
    second = to_part(Report("g", {}, [CAUSE, ROWS[3]]), "g", PLACE)
    found = run(first, to_error_part("h.py:H", "It ended Python."), second)
    ids = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert ids == ["large-scores", "state", "gradients", "equation"]
    assert [one["ruleId"] for one in found["results"]][3:] == ["equation", "state"]
    said = {"level": "error", "message": {"text": "h.py:H: It ended Python."}}
    assert found["invocations"] == [
        {"executionSuccessful": False, "toolExecutionNotifications": [said]}
    ]


def test_a_rule_leads_to_the_book_where_its_address_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(book_sections, "url_of", lambda one: f"https://book.org/{one}")
    found = run(to_part(Report("f", {}, [replace(CAUSE)]), "f", PLACE))
    [rule] = found["tool"]["driver"]["rules"]
    assert rule["helpUri"] == f"https://book.org/{HERE.address}"
