"""Failures that are expected, each with a reason; strict in both directions."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from headway.checks.cannot_check import CannotCheckError
from headway.checks.report import Row


def refuse_unknown(expected: Mapping[str, str] | None, names: Iterable[str]) -> None:
    """Refuse an expectation that no property can meet, or that has no reason.

    Args:
        expected: A reason for each property that is expected to fail.
        names: The properties that are asked.

    Raises:
        ValueError: If a name is no property, or its reason is empty.
    """
    known = [*names]
    for name, reason in (expected or {}).items():
        if name not in known:
            raise CannotCheckError(
                f"expected must name a property, {nearest(name, known)}; "
                f"got expected={{{name!r}: ...}}."
            )
        if not isinstance(reason, str) or not reason.strip():
            raise CannotCheckError(
                f"expected must give a reason; got expected={{{name!r}: {reason!r}}}."
            )


def nearest(name: str, known: Sequence[str]) -> str:
    """Say what may be meant: the names near to one, or all if none is near."""
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=2, cutoff=0.5)
    if near:
        return f"such as {' or '.join(repr(lower[one]) for one in near)}"
    return f"one of {', '.join(map(repr, known))}"


def expect(rows: Iterable[Row], expected: Mapping[str, str] | None) -> list[Row]:
    """Set apart the failures that were expected, and fail what was to fail and did not.

    Args:
        rows: What came out.
        expected: A reason for each property that is expected to fail.
    """
    reasons = expected or {}
    return [
        _as_expected(row, reasons[row.name]) if row.name in reasons else row
        for row in rows
    ]


def _as_expected(row: Row, reason: str) -> Row:
    if row.verdict == "failed":
        return replace(row, verdict="expected", reason=reason)
    came = {
        "passed": "it passes",
        "note": "it is a note now",
        "not applicable": "it could not be asked",
    }[row.verdict]
    sentence = (
        f"It was expected to fail ({reason.rstrip('.')}), and {came}: take it out of "
        f"expected. {row.sentence}"
    )
    return replace(row, verdict="failed", sentence=sentence, reason=reason)
