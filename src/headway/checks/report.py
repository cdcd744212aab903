"""What a check found: rows, and the report that holds them."""

import html
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from headway.checks.book import Section

Verdict = Literal["passed", "failed", "note", "not applicable"]
_WIDTH = 80  # the same everywhere, so that a report can be compared
_MARKS = {"passed": "passed", "failed": "FAILED", "note": "note", "not applicable": "-"}
_COLOURS = {"passed": "32", "failed": "1;31", "note": "33", "not applicable": "2"}


@dataclass(frozen=True)
class Row:
    """One property, and what came out.

    Attributes:
        name: The property, in a few words.
        verdict: `passed`, `failed`, `note` or `not applicable`.
        sentence: What was seen; if it failed, what is probably wrong.
        section: The section of the book that explains the property, or the mistake.
        figure: What was measured, or `None`: how far a row moved, how large an error
            was. A whole number is exact.
    """

    name: str
    verdict: Verdict
    sentence: str
    section: Section
    figure: int | float | None = None

    @property
    def advice(self) -> str:
        """What was seen and, if the property failed, the section to read."""
        if self.verdict != "failed":
            return self.sentence
        return f"{self.sentence} Read {self.section}."

    def __str__(self) -> str:
        """Give the row as a paragraph for a terminal."""
        return "\n".join(self._lines())

    def _lines(self, *, colour: bool = False) -> list[str]:
        mark = f"{_MARKS[self.verdict]:6}"
        if colour:
            mark = f"\x1b[{_COLOURS[self.verdict]}m{mark}\x1b[0m"
        head = f"{mark}  {self.name:34}{short(self.figure):>10}"
        if self.verdict == "passed":
            return [head.rstrip()]
        body = textwrap.wrap(
            self.advice, _WIDTH - 8, break_on_hyphens=False, break_long_words=False
        )
        return [head.rstrip(), *(" " * 8 + line for line in body)]


@dataclass(frozen=True)
class Report:
    """What a check found out about a piece of attention code.

    `str()` of it is a table for a terminal; in a notebook it shows itself as one.

    Attributes:
        subject: What was checked.
        facts: What was given or found out: how it is called, whether it is causal,
            how many heads, which mask.
        rows: One for each property.
    """

    subject: str
    facts: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[Row] = ()

    @property
    def failed(self) -> list[Row]:
        """The rows of the properties that do not hold."""
        return [row for row in self.rows if row.verdict == "failed"]

    @property
    def ok(self) -> bool:
        """Whether some property was looked at and none failed."""
        return not self.failed and any(row.verdict == "passed" for row in self.rows)

    def assert_ok(self) -> None:
        """Raise an error that shows what failed; for a test suite.

        Raises:
            AssertionError: If a property failed.
        """
        if not self.ok:
            found = [f"{self.subject}: {self._count()}", *map(str, self.failed)]
            raise AssertionError("\n".join(found))

    def to_json(self) -> str:
        """Give the whole report as a JSON object."""
        content = {"ok": self.ok, "subject": self.subject, "facts": dict(self.facts)}
        rows = [asdict(row) for row in self.rows]
        return json.dumps(content | {"rows": rows}, indent=2, allow_nan=False)

    def __str__(self) -> str:
        """Give a table for a terminal."""
        return self.table()

    def table(self, *, colour: bool = False) -> str:
        """Give a table for a terminal, with colours if they are wanted.

        Args:
            colour: Whether to mark the verdicts by ANSI colours.

        Returns:
            The lines of the table.
        """
        lines = [f"Checked {self.subject}"]
        lines += [f"  {name:8}  {fact}" for name, fact in self.facts.items()]
        lines.append("")
        for row in self.rows:
            lines += row._lines(colour=colour)
        return "\n".join([*lines, "", self._count()])

    def _count(self) -> str:
        counts = dict.fromkeys(_MARKS, 0)
        for row in self.rows:
            counts[row.verdict] += 1
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        facts = "; ".join(f"{name}: {fact}" for name, fact in self.facts.items())
        caption = html.escape(f"{self.subject}: {self._count()}. {facts}".rstrip(". "))
        head = "".join(
            f"<th>{name}</th>"
            for name in ("property", "verdict", "figure", "what was seen")
        )
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{cells}</tbody></table>"
        )


def _cells(row: Row) -> str:
    """Give the cells of a row in HTML; what failed stands out."""
    texts = (row.name, row.verdict, short(row.figure), row.advice)
    cells = [f"<td>{html.escape(text)}</td>" for text in texts]
    if row.verdict == "failed":
        cells[1] = f"<td><strong>{row.verdict}</strong></td>"
    return "".join(cells)


def short(figure: int | float | None) -> str:
    """Write a figure in at most three digits; roundings differ between machines."""
    if figure is None:
        return ""
    if isinstance(figure, int):
        return str(figure)
    return "<1e-9" if figure < 1e-9 else f"{figure:.3g}"
