"""A report for a terminal, as JSON, or as what GitHub shows in a pull request."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.checks.core.report import Report, Row, in_a_terminal, read_on

_COMMANDS = {"failed": "error", "note": "notice"}
_IDS = 3  # so many fit into a line


class SourcePlace(NamedTuple):
    """Where code begins.

    Attributes:
        file: Its file, from the root of the repository.
        line: The line of its class, or of the function.
    """

    file: str
    line: int


def to_text(report: Report, *, colour: bool) -> str:
    """Write the table of a report, and how to read on if something failed.

    Args:
        report: What was found.
        colour: Whether to mark the verdicts by ANSI colours.
    """
    table = report.table(colour=colour)
    failed = [row for row, _ in causes(report) if row.verdict == "failed"]
    ids = dict.fromkeys(name for row in failed for name in read_on(row))
    if not ids:
        return table
    return f"{table}\nRead on: headway explain {' '.join([*ids][:_IDS])}"


def to_github(report: Report, place: SourcePlace | None) -> str:
    """Write a line for each cause and each note, which GitHub shows at the code.

    Args:
        report: What was found.
        place: Where the code stands.
    """
    lines = [
        _annotation(row, advice, report.subject, place)
        for row, advice in causes(report)
        if row.verdict in _COMMANDS
    ]
    return "\n".join([*lines, f"{report.subject}: {report.count()}"])


def to_github_error(sentence: str) -> str:
    """Write a line for what could not be checked at all."""
    return f"::error::{_escape(sentence)}"


def to_json_error(target: str, sentence: str) -> str:
    """Write an object for what could not be checked at all, in place of its report."""
    content = {"ok": False, "subject": target, "error": sentence}
    return json.dumps(content, indent=2)


def causes(report: Report) -> Iterator[tuple[Row, str]]:
    """Yield each row that another does not explain, with what there is to say of it.

    That ends with the ids of the properties that fail because of it.
    """
    rows = {row.id: row for row in report.rows}
    follow: dict[str, list[str]] = {}
    for row in report.rows:
        cause = rows.get(row.explained_by or "")
        if cause is not None and cause.verdict == row.verdict:
            follow.setdefault(cause.id, []).append(row.id)
    folded = {one for ids in follow.values() for one in ids}
    for row in report.rows:
        if row.id not in folded:
            ids = " ".join(f"[{one}]" for one in follow.get(row.id, ()))
            advice = f"{row.advice} What follows: {ids}." if ids else row.advice
            yield row, f"{advice}{in_a_terminal(row)}"


def join_json(reports: Sequence[str], *, alone: bool) -> str:
    """Give the object of a target that is checked alone, and else a list of them."""
    return reports[0] if alone and reports else f"[{', '.join(reports)}]"


def _annotation(row: Row, advice: str, subject: str, place: SourcePlace | None) -> str:
    at = {} if place is None else {"file": place.file, "line": str(place.line)}
    properties = at | {"title": f"{subject}: {row.name} [{row.id}]"}
    shown = ",".join(f"{key}={_escape(one, ':,')}" for key, one in properties.items())
    return f"::{_COMMANDS[row.verdict]} {shown}::{_escape(advice)}"


def _escape(text: str, further: str = "") -> str:
    """Write signs that end a line or a property by their numbers."""
    for sign in f"%\r\n{further}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
