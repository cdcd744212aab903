"""Failures that are expected, each with a reason; strict in both directions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import Named, refuse_unknown
from headway.checks.core.report import Row, name_causes


class Expectation(NamedTuple):
    """That a property fails.

    Attributes:
        mistakes: The ids of the mistakes that it is to name; none if it may name any.
        reason: Why it is known.
    """

    mistakes: frozenset[str]
    reason: str

    def is_met(self, row: Row) -> bool:
        """Say whether the property fails, and as it was expected to."""
        as_expected = not self.mistakes or self.mistakes == {*row.mistakes}
        return row.verdict == "failed" and as_expected

    def __str__(self) -> str:
        """Give it in words, to stand behind *to*."""
        by = f" by {', '.join(sorted(self.mistakes))}" if self.mistakes else ""
        return f"fail{by} ({self.reason.rstrip('.')})"


def refuse(expected: Mapping[str, str] | None, properties: Sequence[Named]) -> None:
    """Refuse an expectation that no property can meet, or that has no reason.

    Args:
        expected: A reason for each property that is expected to fail, by its id, or by
            its id, a colon and the ids of the mistakes that it names.
        properties: All that can be asked.

    Raises:
        ValueError: If an id is of no property, or stands there twice, or its reason is
            empty.
    """
    seen = set()
    for key, reason in (expected or {}).items():
        name = property_of(key)
        refuse_unknown("expected", name, properties)
        if not isinstance(reason, str) or not reason.strip():
            raise CannotCheckError(
                f"expected must give a reason; got expected={{{key!r}: {reason!r}}}."
            )
        if name in seen:
            raise CannotCheckError(
                f"expected must name a property once; got {name!r} twice."
            )
        seen.add(name)


def property_of(key: str) -> str:
    """Return the id of the property that `equation` or `equation:no-scale` names."""
    return key.partition(":")[0]


def _mistakes_of(key: str) -> frozenset[str]:
    return frozenset(filter(None, key.partition(":")[2].split(",")))


def expect(
    rows: Iterable[Row], expected: Mapping[str, str] | None, *, strict: bool = False
) -> list[Row]:
    """Say which failures explain others, and set apart those that were expected.

    What was to fail and does not is a failure. Where the mistakes are expected, so is
    all that the row explains; where a property alone is, others may stand behind it.

    Args:
        rows: What came out.
        expected: A reason for each property that is expected to fail, by its id, or by
            its id, a colon and the ids of the mistakes that it names.
        strict: Whether a difference that nothing explains is a failure.
    """
    known = {
        property_of(key): Expectation(_mistakes_of(key), reason)
        for key, reason in (expected or {}).items()
    }
    if strict:
        rows = [
            replace(row, verdict="failed") if row.unexplained else row for row in rows
        ]
    rows = name_causes([*rows])
    covering = {
        row.id: known[row.id].reason
        for row in rows
        if row.id in known and known[row.id].mistakes and known[row.id].is_met(row)
    }
    return [
        _as_expected(row, known[row.id])
        if row.id in known
        else _covered(row, covering[row.explained_by])
        if row.explained_by in covering
        else row
        for row in rows
    ]


def _covered(row: Row, reason: str) -> Row:
    return replace(row, verdict="expected", reason=reason)


def _as_expected(row: Row, expectation: Expectation) -> Row:
    if expectation.is_met(row):
        return replace(
            row, verdict="expected", reason=expectation.reason, explained_by=None
        )
    if row.verdict == "failed":
        sentence = f"It was expected to {expectation}, and fails otherwise."
        return replace(row, sentence=f"{sentence} {row.sentence}")
    came = {
        "passed": "it passes",
        "note": "it is a note now",
        "not applicable": "it could not be checked",
    }[row.verdict]
    sentence = (
        f"It was expected to {expectation}, but {came}: remove it from expected. "
        f"{row.sentence}"
    )
    return replace(row, verdict="failed", sentence=sentence, reason=expectation.reason)
