"""Write what the museum shows of all its exhibits: `python docs/museum [--check]`.

Every program in the rooms is run as it stands, and `check` is asked about `attend`,
which each of them makes. What it reports becomes a fold below each program, and a table
and lists in museum.md. Of positions, caches, shared heads, pieces, processes, most
variants and whole models `check` does not ask yet what must hold: `beyond` does. With
`--check` nothing is written; the command fails if one of them is not as it would be
written.
"""

import contextlib
import io
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import beyond

from headway.checks import Report, check
from headway.checks.book import Section
from headway.checks.properties import PROPERTIES
from proofread.generated import generate, significant

PAGES = Path(__file__).parent
FOLDER = Path(__file__).parents[2] / "generated" / "museum"
ROOMS = (
    "masks",
    "triangles",
    "softmax",
    "heads",
    "dropout",
    "padding",
    "state",
    "positions",
    "caches",
    "groups",
    "pieces",
    "gradients",
    "processes",
    "variants",
    "models",
)
NAMES = [one.name for one in PROPERTIES]
# How a property looks from outside, when it does not hold.
SYMPTOMS = {
    "equals the equation": (
        "The result is not what the equation gives for the same weights."
    ),
    "rows are numbers": "A row is nan, for ordinary tokens.",
    "no leak from the future": "A row changes when a later token changes.",
    "every allowed token counts": "A row stays when a token changes that it may see.",
    "equal tokens, equal rows": (
        "All tokens are equal, and the result depends on how many there are."
    ),
    "the order seen does not matter": (
        "The tokens that a row sees change places, and the row changes."
    ),
    "texts do not move each other": (
        "A change in one text moves another text of the batch."
    ),
    "the same alone as in a batch": "A text gets another result alone than in a batch.",
    "earlier rows stay": "A text goes on, and its first rows change.",
    "any sizes": "One text, one token or another length ends in an error.",
    "longer than the context": "A text that is too long is accepted.",
    "a call leaves nothing behind": (
        "A call depends on the one before, or changes what it was given."
    ),
    "eval is not random": "In evaluation, the same input gives different results.",
    "training computes the same": (
        "Without dropout, training and evaluation give different results."
    ),
    "dropout keeps the mean": (
        "The mean of many results in training is not the result of evaluation."
    ),
    "masks are obeyed": (
        "A mask changes nothing, or hides something else than it should."
    ),
    "padding is not seen": (
        "In a padded batch, real tokens get another result than alone."
    ),
    "fully masked rows harm nobody": (
        "A fully masked row is not harmless: it is nan, makes gradients nan, or "
        "changes other rows."
    ),
    "gradients arrive": "Some weights get no gradient, and never learn.",
    "large scores": "Tokens with large numbers give infinity or nan.",
    "types and half precision": (
        "Half precision ends in an error, or another type comes out than went in."
    ),
}
EXHIBIT = re.compile(
    r"## (?P<heading>(?P<word>\w+) (?P<number>\d+)) \{ #(?P<anchor>[a-z0-9-]+) \}\n\n"
    r"(?P<meant>(?:[^#`\n].*\n)+)\n"
    r"```python\n(?P<program>(?:(?!```).*\n)*)```\n\n"
    r"<!--pytest-codeblocks:expected-output-->\n\n"
    r"```text\n(?P<shown>(?:(?!```).*\n)*)```\n\n"
    r'\?\?\? question "A hint"\n(?P<hint>(?:    .+\n)+)\n'
    r'--8<-- "museum/(?P<report>[\w/-]+)\.md"\n\n'
    r'\?\?\? success "The fix"\n'
    r"    \*\*(?P<name>.+?)\*\*, or \*(?P<nickname>.+?)\*\.\n\n"
    r"(?:(?!    ```)(?:    .+)?\n)+"
    r"    ```diff\n(?P<fix>(?:    [-+ ].*\n)+)    ```\n\n"
    r"(?:(?!    Seen in:)(?:    .+)?\n)*"
    r"    Seen in: .+\n",
    re.MULTILINE,
)


class Exhibit(NamedTuple):
    """One mistake."""

    room: str
    heading: str
    anchor: str
    meant: str
    program: str
    shown: str
    hint: str
    report: str
    name: str
    nickname: str
    fix: str

    @property
    def address(self) -> str:
        """Where it stands, from the hall."""
        return f"museum/{self.room}.md#{self.anchor}"

    def fixed(self) -> str:
        """Apply the fix: each run of lines with a minus becomes those with a plus."""
        program = self.program
        for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", self.fix, re.M):
            old, new = (re.sub(r"^[-+]", "", text, flags=re.M) for text in (old, new))
            if f"\n{program}".count(f"\n{old}") != 1:
                raise ValueError(
                    f"{self.heading}: its fix must apply once; got {old!r}."
                )
            program = f"\n{program}".replace(f"\n{old}", f"\n{new}")[1:]
        return program


def exhibits(pages: Path = PAGES) -> Iterator[Exhibit]:
    """Go through the rooms.

    Raises:
        ValueError: If a section of a room is no exhibit, or not the next one.
    """
    for room in ROOMS:
        text = (pages / f"{room}.md").read_text("utf-8")
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
        for number, part in enumerate(parts, 1):
            found = EXHIBIT.match(part)
            if found is None or found["number"] != str(number):
                raise ValueError(f"{room}.md: {part.splitlines()[0]} is no exhibit.")
            values = found.groupdict()
            values["fix"] = textwrap.dedent(values["fix"])
            yield Exhibit(room, **{name: values[name] for name in Exhibit._fields[1:]})


def report(program: str) -> Report:
    """Run a program, without what it prints, and ask what it makes for properties."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "<exhibit>", "exec"), names)  # noqa: S102
    if beyond.knows(names):
        return beyond.report(names)
    attend = names["attend"]
    if not callable(attend):
        raise TypeError("attend must be a function or a module")
    return check(attend)


def parts(reports: Mapping[Exhibit, Report]) -> dict[str, str]:
    """Make the parts of the pages, by the names of their files."""
    failed = {one: {row.name for row in made.failed} for one, made in reports.items()}
    checked = {one: names for one, names in failed.items() if names <= {*NAMES}}
    return {
        "rooms.md": rooms([*reports]),
        "table.md": table(checked),
        "columns.md": columns(checked),
        "beyond.md": unseen(failed),
        **{f"{one.room}/{one.anchor}.md": fold(made) for one, made in reports.items()},
    }


def fold(made: Report) -> str:
    """Make the fold that shows what `check` says, and links to what it names.

    Raises:
        ValueError: If a figure lies so near a tie that another processor could round it
            the other way.
    """
    for row in made.failed:
        if row.figure is not None:
            significant(row.figure, 3)
    sections = dict.fromkeys(row.section for row in made.failed)
    lines = [
        "```text",
        *(str(row) for row in made.failed),
        "```",
        "",
        f"To read: {', '.join(link(one, '../') for one in sections)}.",
    ]
    body = textwrap.indent("\n".join(lines), "    ")
    asked = {row.name for row in made.rows} <= {*NAMES}
    title = (
        "What `check` says"
        if asked
        else "What does not hold (`check` asks no such thing yet)"
    )
    return f'??? abstract "{title}"\n{body}\n'


def link(section: Section, start: str = "") -> str:
    """Link to a section of the book."""
    words = f"{section.chapter}: {section.title}"
    return f"[{words}]({start}{section.address.replace('/#', '.md#')})"


def rooms(every: Sequence[Exhibit]) -> str:
    """List the rooms and how many exhibits each has."""
    lines = []
    for room in ROOMS:
        page = (PAGES / f"{room}.md").read_text("utf-8")
        title = re.search(r"^# (.+)$", page, re.MULTILINE)
        own = [one for one in every if one.room == room]
        lines.append(f"- [{title[1] if title else room}](museum/{room}.md): {len(own)}")
    return "\n".join(lines) + "\n"


def table(failed: Mapping[Exhibit, set[str]]) -> str:
    """Set a row for each mistake and a column for each property."""
    lines = [
        f"| exhibit | mistake | {' | '.join(str(n) for n, _ in enumerate(NAMES, 1))} |",
        f"| --- | --- |{' :-: |' * len(NAMES)}",
    ]
    for one, broken in failed.items():
        marks = " | ".join("●" if name in broken else " " for name in NAMES)
        lines.append(f"| [{one.heading}]({one.address}) | {one.name} | {marks} |")
    return "\n".join(['<div class="hw-matrix">', "", *lines, "", "</div>", ""])


def columns(failed: Mapping[Exhibit, set[str]]) -> str:
    """Say how each property looks when it does not hold, and who breaks it."""
    lines = []
    for number, one in enumerate(PROPERTIES, 1):
        broken = [exhibit for exhibit, names in failed.items() if one.name in names]
        lines.append(
            f"{number}. {SYMPTOMS[one.name]} **{one.name[0].upper()}{one.name[1:]}**: "
            f"{len(broken)} found; {link(one.section)}."
        )
    return "\n".join(lines) + "\n"


def unseen(failed: Mapping[Exhibit, set[str]]) -> str:
    """List the properties that `check` does not ask for, and how many break each."""
    lines = []
    for one in beyond.EVERY:
        broken = sum(one.name in names for names in failed.values())
        name = one.name[0].upper() + one.name[1:]
        lines.append(f"- **{name}**: {broken} found; {link(one.section)}.")
    return "\n".join(lines) + "\n"


def make() -> dict[str, str]:
    """Run all exhibits, and make the parts of the pages."""
    return parts({one: report(one.program) for one in exhibits()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the parts, or compare them with those that are there."""
    return generate("python docs/museum", make, FOLDER, arguments)


if __name__ == "__main__":
    sys.exit(main())
