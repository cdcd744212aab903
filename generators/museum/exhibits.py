"""The exhibits of the museum: sections of pages, and the records beside these."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from generators import ROOT
from headway._edits import Edit
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from pytest_proofread.page.markdown import programs

PAGES = ROOT / "docs" / "museum"
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
    "whole_models",
    "running_models",
)
SENTENCES = {one.id: one.sentence for one in KNOWN_MISTAKES}
HEADING = re.compile(r"## (\w+(?: \w+)* (\d+)) \{ #([a-z0-9-]+) \}")


class Exhibit(NamedTuple):
    """One mistake.

    Attributes:
        room: The page that it stands on.
        heading: The title of its section.
        id: What it is called in addresses and by `check`, and the title of its record.
        meant: What its program is meant to do.
        program: What is wrong.
        shown: What that prints.
        hint: What helps to find the mistake.
        name: The mistake.
        nickname: Its name in jest.
        breaks: The ids of properties that fail, as the hint says.
        fix: Changes of the program. One that changes nothing is shown, too.
    """

    room: str
    heading: str
    id: str
    meant: str
    program: str
    shown: str
    hint: str
    name: str
    nickname: str
    breaks: tuple[str, ...]
    fix: tuple[Edit, ...]

    @property
    def address(self) -> str:
        """Where it stands, from the hall."""
        return f"museum/{self.room}.md#{self.id}"

    def fixed(self) -> str:
        """Apply the fix."""
        program = self.program
        for one in self.fix:
            program = one.apply(program, self.heading)
        return program


def exhibits(pages: Path = PAGES) -> Iterator[Exhibit]:
    """Go through the rooms.

    Raises:
        ValueError: If a section of a room is no exhibit, or not the next one, or if
            sections and records do not agree.
    """
    for room in ROOMS:
        records = tomllib.loads((pages / f"{room}.toml").read_text("utf-8"))
        text = (pages / f"{room}.md").read_text("utf-8")
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
        for number, part in enumerate(parts, 1):
            yield _exhibit(room, number, part, records)
        if records:
            raise ValueError(f"{room}.md: it has no section #{', #'.join(records)}.")


def _exhibit(room: str, number: int, part: str, records: dict[str, Any]) -> Exhibit:
    """Read the section of an exhibit, and take its record."""
    title, *lines = part.splitlines()
    found, own = HEADING.fullmatch(title), programs(part)
    heading, place, name = found.groups() if found else ("", "", "")
    verdict = f'--8<-- "museum/{room}/{name}'
    fold = f'    --8<-- "exhibits/{room}/{name}'
    form = [
        '??? question "A hint"',
        f'{verdict}.md"',
        '??? success "The fix"',
        f'{fold}-name.md"',
        f'{fold}-fix.md"',
    ]
    if (
        place != str(number)
        or [line for line in lines if re.search(r"\?\?\? |--8<--", line)] != form
        or "\n    Seen in: " not in part
        or len(own) != 1
        or own[0].output is None
    ):
        raise ValueError(f"{room}.md: {title} is no exhibit.")
    record = records.pop(name, {})
    if said := SENTENCES.get(name):
        word = said.partition(" ")[0]
        record["name"] = said.replace(
            word, word.capitalize(), 1 if word.isalpha() else 0
        )
    if record.keys() != {"name", "nickname", "breaks", "fix"}:
        raise ValueError(
            f"{room}.toml: {name} must have a name, a nickname, what it breaks, and a "
            f"fix; got {record}."
        )
    meant = [
        line
        for line in lines[1 : own[0].fence.line - 3]
        if not line.startswith("{ #")  # an address that it had
    ]
    after = lines.index(form[0]) + 1
    return Exhibit(
        room,
        heading,
        name,
        "\n".join([*meant, ""]),
        own[0].code,
        own[0].output.code,
        "\n".join(lines[after : lines.index("", after)]),
        record["name"],
        record["nickname"],
        tuple(record["breaks"]),
        tuple(Edit.read(one) for one in record["fix"]),
    )
