"""Failures that are expected, each with a reason; strict in both directions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import Named, refuse_unknown
from headway.checks.core.report import Row


def refuse(expected: Mapping[str, str] | None, properties: Sequence[Named]) -> None:
    """Refuse an expectation that no property can meet, or that has no reason.

    Args:
        expected: A reason for each property that is expected to fail, by its id.
        properties: All that can be asked.

    Raises:
        ValueError: If an id is of no property, or its reason is empty.
    """
    for one, reason in (expected or {}).items():
        refuse_unknown("expected", one, properties)
        if not isinstance(reason, str) or not reason.strip():
            raise CannotCheckError(
                f"expected must give a reason; got expected={{{one!r}: {reason!r}}}."
            )


def expect(
    rows: Iterable[Row], expected: Mapping[str, str] | None, *, strict: bool = False
) -> list[Row]:
    """Set apart the failures that were expected, and fail what was to fail and did not.

    Args:
        rows: What came out.
        expected: A reason for each property that is expected to fail, by its id.
        strict: Whether a difference that nothing explains is a failure.
    """
    reasons = expected or {}
    if strict:
        rows = [
            replace(row, verdict="failed") if row.unexplained else row for row in rows
        ]
    return [
        _as_expected(row, reasons[row.id]) if row.id in reasons else row for row in rows
    ]


def _as_expected(row: Row, reason: str) -> Row:
    if row.verdict == "failed":
        return replace(row, verdict="expected", reason=reason)
    came = {
        "passed": "it passes",
        "note": "it is a note now",
        "not applicable": "it could not be checked",
    }[row.verdict]
    sentence = (
        f"It was expected to fail ({reason.rstrip('.')}), but {came}: remove it from "
        f"expected. {row.sentence}"
    )
    return replace(row, verdict="failed", sentence=sentence, reason=reason)
