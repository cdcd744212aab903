"""What a check found: rows, and the report that holds them."""

import html
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

from headway.checks.core.book_sections import Section

Verdict = Literal["passed", "failed", "expected", "note", "not applicable"]
Origin = Literal["declared", "guessed", "measured", ""]
_WIDTH = 80  # the same everywhere, so that a report can be compared
_MARKS = {
    "passed": "passed",
    "failed": "FAILED",
    "expected": "expected",
    "note": "note",
    "not applicable": "-",
}
_COLOURS = {
    "passed": "32",
    "failed": "1;31",
    "expected": "33",
    "note": "33",
    "not applicable": "2",
}
_ABOVE = "see above"


@dataclass(frozen=True)
class Row:
    """One property, and the result of its check.

    Attributes:
        id: The short name of the property, which stays from version to version.
        name: The property, in a few words.
        verdict: `passed`, `failed`, `expected`, `note` or `not applicable`.
        sentence: What was seen; if it failed, what is probably wrong.
        section: The section of the book that explains the property, or the mistake.
        figure: What was measured, or `None`: how far a row moved, how large an error
            was. A whole number is exact.
        reason: If it was expected to fail, why.
        explains: The ids of the properties that fail of themselves where this one has
            failed so.
        explained_by: The id of the failed property that this one follows from.
        mistakes: The ids of the known mistakes that the sentence names.
        unexplained: Whether it is a note on a difference that nothing known here
            explains, be it a fault or a design; a strict check lets it fail.
    """

    id: str
    name: str
    verdict: Verdict
    sentence: str
    section: Section
    figure: int | float | None = None
    reason: str = ""
    explains: tuple[str, ...] = ()
    explained_by: str | None = None
    mistakes: tuple[str, ...] = ()
    unexplained: bool = False

    @property
    def advice(self) -> str:
        """What was seen and, if the property failed, the section to read."""
        if self.verdict == "expected" and self.explained_by:
            cause = f"[{self.explained_by}], which is expected"
            return f"{self.sentence} Explained by {cause}."
        if self.verdict == "expected":
            return f"{self.sentence} Expected: {self.reason.rstrip('.')}."
        if self.verdict != "failed" or self.reason:  # expected, and it did not come
            return self.sentence
        if self.explained_by:
            return f"{self.sentence} Explained by [{self.explained_by}]."
        return f"{self.sentence} Read {self.section}."

    def __str__(self) -> str:
        """Give the row as a paragraph for a terminal."""
        return "\n".join(self._lines())

    def _lines(self, *, colour: bool = False, below: bool = False) -> list[str]:
        """Give the lines of the row; in one if it stands below what explains it."""
        mark = f"{_MARKS[self.verdict]:6}"
        name = f"{self.name:{40 - len(mark)}}"
        if colour:
            mark = f"\x1b[{_COLOURS[self.verdict]}m{mark}\x1b[0m"
        head = f"{mark}  {name}{short(self.figure):>10}  [{self.id}]"
        if below and self.explained_by:
            return [f"{head} {_ABOVE}"]
        if self.verdict == "passed":
            return [head]
        body = textwrap.wrap(
            self.advice, _WIDTH - 8, break_on_hyphens=False, break_long_words=False
        )
        return [head, *(" " * 8 + line for line in body)]


class Fact(NamedTuple):
    """Something that a check took for granted about the code.

    Attributes:
        value: What was taken for granted.
        origin: How it is known: `declared` by the author of the code or by who asks,
            `guessed` from names and source, or `measured` in calls; empty for what the
            check has chosen itself, such as sizes.
        hint: What a reader should know of it, or an empty string.
    """

    value: str
    origin: Origin = ""
    hint: str = ""

    def __str__(self) -> str:
        """Give the value, and its origin and the hint in brackets."""
        besides = "; ".join(one for one in (self.origin, self.hint) if one)
        return f"{self.value} ({besides})" if besides else self.value


@dataclass(frozen=True)
class Report:
    """What a check found out about a piece of attention code.

    `str()` of it is a table for a terminal; in a notebook it shows itself as one. A row
    that explains others stands above all, and what follows from it takes one line.

    Attributes:
        subject: What was checked.
        facts: What was declared, guessed or measured: how it is called, whether it is
            causal, how many heads, which mask.
        rows: One for each property.
    """

    subject: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    rows: Sequence[Row] = ()

    @property
    def failed(self) -> list[Row]:
        """The rows of the properties that do not hold."""
        return [row for row in self.rows if row.verdict == "failed"]

    @property
    def notes(self) -> list[Row]:
        """The rows that report something worth knowing that is not a fault."""
        return [row for row in self.rows if row.verdict == "note"]

    @property
    def ok(self) -> bool:
        """Whether at least one property passed and none failed; notes do not count."""
        return not self.failed and any(row.verdict == "passed" for row in self.rows)

    def assert_ok(self) -> None:
        """Raise an error that shows what failed, for a test suite.

        Raises:
            AssertionError: If a property failed.
        """
        __tracebackhide__ = True  # pytest then shows the test, and not this
        if not self.ok:
            lines = [f"{self.subject}: {self.count()}"]
            for row in _causes_first(self.failed):
                lines += row._lines(below=True)
            for row in _causes_first(self.failed)[:1]:
                lines.append(f"Read on: headway explain {read_on(row)[0]}")
            raise AssertionError("\n".join(lines))

    def to_json(self) -> str:
        """Return the whole report as a JSON object, with all rows in full."""
        facts = {name: fact._asdict() for name, fact in self.facts.items()}
        content = {"ok": self.ok, "subject": self.subject, "facts": facts}
        rows = [_to_dict(row) for row in self.rows]
        return json.dumps(content | {"rows": rows}, indent=2, allow_nan=False)

    def __str__(self) -> str:
        """Give a table for a terminal."""
        return self.table()

    def table(self, *, colour: bool = False) -> str:
        """Return a table for a terminal, in colour if wanted.

        Args:
            colour: Whether to mark the verdicts by ANSI colours.

        Returns:
            The lines of the table.
        """
        lines = [f"Checked {self.subject}"]
        width = max([8, *map(len, self.facts)])
        lines += [f"  {name:{width}}  {fact}" for name, fact in self.facts.items()]
        lines.append("")
        for row in _causes_first(self.rows):
            lines += row._lines(colour=colour, below=True)
        return "\n".join([*lines, "", self.count()])

    def count(self) -> str:
        """Return how many rows have each verdict, in words."""
        counts = dict.fromkeys(_MARKS, 0)
        for row in self.rows:
            counts[row.verdict] += 1
        always = ("passed", "failed", "not applicable")
        words = {"expected": "expected to fail"}
        if counts["note"] > 1:
            words["note"] = "notes"
        if unexplained := sum(row.unexplained for row in self.notes):
            words["note"] = f"{words.get('note', 'note')} ({unexplained} unexplained)"
        return ", ".join(
            f"{count} {words.get(verdict, verdict)}"
            for verdict, count in counts.items()
            if count or verdict in always
        )

    def _repr_html_(self) -> str:
        rows = _causes_first(self.rows)
        cells = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
        facts = "; ".join(f"{name}: {fact}" for name, fact in self.facts.items())
        caption = html.escape(f"{self.subject}: {self.count()}. {facts}".rstrip(". "))
        head = "".join(
            f"<th>{name}</th>"
            for name in ("property", "verdict", "figure", "what was seen")
        )
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{cells}</tbody></table>"
        )


def read_on(row: Row) -> Sequence[str]:
    """Give the ids by which `headway explain` tells of a failure."""
    return row.mistakes or (row.id,)


def in_a_terminal(row: Row) -> str:
    """Say what shows the section to read, where no address of it is known."""
    known = row.section.url is not None
    if row.verdict != "failed" or row.reason or row.explained_by or known:
        return ""
    return f" In a terminal: headway explain {read_on(row)[0]}"


def name_causes(rows: Sequence[Row]) -> list[Row]:
    """Say of each failed row which other failed row explains it, if one does.

    A row explains what it declares to explain, what that explains in turn, and nothing
    else. Of several that do, the first counts, and what no other explains goes before
    the rest.
    """
    explained: dict[str, str] = {}
    causes: list[str] = []
    explaining = [row for row in rows if row.verdict == "failed" and row.explains]
    follows = {one for row in explaining for one in row.explains if one != row.id}
    for row in sorted(explaining, key=lambda row: row.id in follows):
        cause = explained.get(row.id, row.id)
        causes.append(row.id)
        for one in row.explains:
            if one not in causes:
                explained.setdefault(one, cause)
    return [
        replace(row, explained_by=explained[row.id])
        if row.verdict == "failed" and row.id in explained
        else row
        for row in rows
    ]


def _causes_first(rows: Sequence[Row]) -> list[Row]:
    """Put what explains other rows above all of them."""
    causes = {row.explained_by for row in rows}
    return sorted(rows, key=lambda row: row.id not in causes)


def _to_dict(row: Row) -> dict[str, Any]:
    """Give a row as JSON has it, with the full address of its section if one is known.

    What it would explain says nothing beside what others are explained by.
    """
    content = asdict(row)
    del content["explains"]
    content["section"]["url"] = row.section.url
    return content


def _cells(row: Row) -> str:
    """Give the cells of a row in HTML; what failed stands out."""
    advice = "explained by the above" if row.explained_by else row.advice
    texts = (f"{row.name} [{row.id}]", row.verdict, short(row.figure), advice)
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
