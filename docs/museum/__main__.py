"""Write what the museum shows of all its exhibits: `python docs/museum [--check]`.

Every program in the rooms is run as it stands. What `check` reports becomes a table and
two lists, which museum.md includes. With `--check` nothing is written; the command
fails if one of them is not as it would be written.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify

from headway.checks import Report
from headway.checks.properties import PROPERTIES
from proofread.generated import generate

PAGES = Path(__file__).parent
FOLDER = Path(__file__).parents[2] / "generated" / "museum"
ROOMS = ("masks", "softmax", "heads", "dropout", "padding", "state")
EXHIBIT = re.compile(
    r"^## (?P<title>.+?)\n.*?^```python\n(?P<program>.*?)^```$"
    r".*?^```diff\n(?P<fix>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Exhibit(NamedTuple):
    """One mistake."""

    room: str
    title: str
    program: str
    fix: str

    def fixed(self) -> str:
        """Apply the fix: each run of lines with a minus becomes those with a plus."""
        program = self.program
        for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", self.fix, re.M):
            old, new = (re.sub(r"^[-+]", "", text, flags=re.M) for text in (old, new))
            if f"\n{program}".count(f"\n{old}") != 1:
                raise ValueError(f"{self.title}: its fix must apply once; got {old!r}.")
            program = f"\n{program}".replace(f"\n{old}", f"\n{new}")[1:]
        return program


def exhibits() -> Iterator[Exhibit]:
    """Go through the rooms."""
    for room in ROOMS:
        text = (PAGES / f"{room}.md").read_text("utf-8")
        for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
            found = EXHIBIT.match(part)
            if found is None:
                raise ValueError(f"{room}.md: {part.splitlines()[0]} is no exhibit.")
            yield Exhibit(room, **found.groupdict())


def report(program: str) -> Report:
    """Run a program, without its words, and give its report."""
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "<exhibit>", "exec"), names)  # noqa: S102
    made = names["report"]
    if not isinstance(made, Report):
        raise TypeError("report must be what check returns")
    return made


def parts(reports: dict[Exhibit, Report]) -> dict[str, str]:
    """Make the parts of the page, by the names of their files."""
    names = [one.name for one in PROPERTIES]
    failed = {one: {row.name for row in made.failed} for one, made in reports.items()}
    return {
        "rooms.md": rooms([*reports]),
        "table.md": table(failed, names),
        "columns.md": columns(failed, names),
    }


def rooms(all_: Sequence[Exhibit]) -> str:
    """List the rooms and what hangs in them."""
    lines = []
    for room in ROOMS:
        page = (PAGES / f"{room}.md").read_text("utf-8")
        title = re.search(r"^# (.+)$", page, re.MULTILINE)
        own = [one for one in all_ if one.room == room]
        lines.append(f"- [{title[1] if title else room}](museum/{room}.md): {len(own)}")
    return "\n".join(lines) + "\n"


def table(failed: dict[Exhibit, set[str]], names: Sequence[str]) -> str:
    """Set a row for each mistake and a column for each property."""
    lines = [
        f"| mistake | {' | '.join(str(n) for n in range(1, len(names) + 1))} |",
        f"| --- |{' :-: |' * len(names)}",
    ]
    for one, broken in failed.items():
        address = f"museum/{one.room}.md#{slugify(one.title, '-')}"
        marks = " | ".join("●" if name in broken else " " for name in names)
        lines.append(f"| [{one.title}]({address}) | {marks} |")
    return "\n".join(['<div class="hw-matrix" markdown>', "", *lines, "", "</div>", ""])


def columns(failed: dict[Exhibit, set[str]], names: Sequence[str]) -> str:
    """Say what each column asks, how many mistakes break it, and where it is taught."""
    lines = []
    for number, one in enumerate(PROPERTIES, 1):
        count = sum(one.name in broken for broken in failed.values())
        section = one.section
        page = section.address.replace("/#", ".md#")
        where = f"[{section.chapter}: {section.title}]({page})"
        lines.append(f"{number}. **{one.name}**, broken by {count}; {where}")
    return "\n".join(lines) + "\n"


def make() -> dict[str, str]:
    """Run all exhibits, and make the parts of the page."""
    return parts({one: report(one.program) for one in exhibits()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the parts, or compare them with those that are there."""
    return generate("python docs/museum", make, FOLDER, arguments)


if __name__ == "__main__":
    sys.exit(main())
