"""A report as text, as JSON, or as what GitHub shows in a pull request."""

import json
from typing import NamedTuple

from headway.checks.core.report import Report, Row

FORMATS = ("text", "json", "github")
_COMMANDS = {"failed": "error", "note": "notice"}


class SourcePlace(NamedTuple):
    """Where code begins.

    Attributes:
        file: Its file, from the root of the repository.
        line: The line of its class, or of the function.
    """

    file: str
    line: int


def to_github(report: Report, place: SourcePlace | None) -> str:
    """Write a line for each failure and each note, which GitHub shows at the code.

    Args:
        report: What was found.
        place: Where the code stands.
    """
    lines = [
        _annotation(row, report.subject, place)
        for row in report.rows
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


def _annotation(row: Row, subject: str, place: SourcePlace | None) -> str:
    at = {} if place is None else {"file": place.file, "line": str(place.line)}
    properties = at | {"title": f"{subject}: {row.name} [{row.id}]"}
    shown = ",".join(f"{key}={_escape(one, ':,')}" for key, one in properties.items())
    return f"::{_COMMANDS[row.verdict]} {shown}::{_escape(row.advice)}"


def _escape(text: str, further: str = "") -> str:
    """Write signs that end a line or a property by their numbers."""
    for sign in f"%\r\n{further}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
