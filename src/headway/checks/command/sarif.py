"""A report as SARIF 2.1.0, which GitHub and other services of code scanning read.

A property is a rule, and a failure or a note is a result. What an expected failure
leaves is a result that is suppressed, with the reason.
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from headway import __version__
from headway.checks.command.formats import SourcePlace, causes
from headway.checks.core.report import Report, Row

_LEVELS = {"failed": "error", "expected": "error", "note": "note"}
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


def to_part(report: Report, target: str, place: SourcePlace) -> str:
    """Write what one target adds to a log: rules and results.

    Args:
        report: What was found.
        target: The target, as it was named.
        place: Where the code stands, or is named; without one, GitHub takes no result.
    """
    shown = [(row, advice) for row, advice in causes(report) if row.verdict in _LEVELS]
    results = [
        _result(row, f"{report.subject}: {advice}", target, place)
        for row, advice in shown
    ]
    rules = {row.id: _rule(row) for row, _ in shown}
    return json.dumps({"rules": rules, "results": results})


def to_error_part(target: str, sentence: str) -> str:
    """Write what a target adds to a log that could not be checked at all."""
    said = {"level": "error", "message": {"text": f"{target}: {sentence}"}}
    return json.dumps({"rules": {}, "results": [], "error": said})


def join(parts: Sequence[str]) -> str:
    """Make one log of all targets: GitHub takes one run of a tool, and no more."""
    read = [json.loads(part) for part in parts]
    rules: dict[str, Any] = {}
    for part in read:
        rules |= part["rules"]
    errors = [part["error"] for part in read if "error" in part]
    driver = {
        "name": "headway check",
        "semanticVersion": __version__,
        "rules": [*rules.values()],
    }
    invocation: dict[str, Any] = {"executionSuccessful": not errors}
    if errors:
        invocation["toolExecutionNotifications"] = errors
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [result for part in read for result in part["results"]],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(row: Row) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": row.id, "shortDescription": {"text": row.name}}
    if row.section.url:
        rule["helpUri"] = row.section.url
    return rule


def _result(row: Row, text: str, target: str, place: SourcePlace) -> dict[str, Any]:
    location = {
        "artifactLocation": {"uri": quote(place.file)},
        "region": {"startLine": place.line},
    }
    result: dict[str, Any] = {
        "ruleId": row.id,
        "level": _LEVELS[row.verdict],
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        # The same failure of the same code, wherever its line moves to.
        "partialFingerprints": {"targetAndProperty/v1": f"{target} {row.id}"},
        "properties": {"mistakes": [*row.mistakes]},
    }
    if row.verdict == "expected":
        suppression = {"kind": "external", "justification": row.reason}
        result["suppressions"] = [suppression]
    return result
