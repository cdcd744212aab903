"""Write what the museum shows of all its exhibits: `python docs/museum [--check]`.

Every program in the rooms is run as it stands. What `check` reports becomes the table
in museum.md, between the lines `<!-- museum: NAME -->`
and `<!-- end of museum -->`. With `--check` nothing is written; the command fails if
the page is not as it would be written.
"""

import argparse
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
from proofread.numerals import Page

HALL = Path(__file__).parent.parent / "museum.md"
ROOMS = ("masks", "softmax", "heads", "dropout", "padding", "state")
EXHIBIT = re.compile(
    r"^## (?P<title>.+?)\n.*?^```python\n(?P<program>.*?)^```$"
    r".*?^```diff\n(?P<mend>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Exhibit(NamedTuple):
    """One mistake."""

    room: str
    title: str
    program: str
    mend: str

    def mended(self) -> str:
        """Apply the mend: each run of lines with a minus becomes those with a plus."""
        program = self.program
        for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", self.mend, re.M):
            old, new = (re.sub(r"^[-+]", "", text, flags=re.M) for text in (old, new))
            if f"\n{program}".count(f"\n{old}") != 1:
                raise ValueError(f"{self.title}: its mend must fit once; got {old!r}.")
            program = f"\n{program}".replace(f"\n{old}", f"\n{new}")[1:]
        return program


def exhibits() -> Iterator[Exhibit]:
    """Go through the rooms."""
    for room in ROOMS:
        text = (HALL.parent / "museum" / f"{room}.md").read_text("utf-8")
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
    """Make what stands between the marks."""
    names = [one.name for one in PROPERTIES]
    failed = {one: {row.name for row in made.failed} for one, made in reports.items()}
    return {
        "rooms": rooms([*reports]),
        "table": table(failed, names),
        "columns": columns(failed, names),
    }


def rooms(all_: Sequence[Exhibit]) -> str:
    """List the rooms and what hangs in them."""
    lines = []
    for room in ROOMS:
        page = (HALL.parent / "museum" / f"{room}.md").read_text("utf-8")
        title = re.search(r"^# (.+)$", page, re.MULTILINE)
        own = [one for one in all_ if one.room == room]
        lines.append(f"- [{title[1] if title else room}](museum/{room}.md): {len(own)}")
    return declared("\n".join(lines), f"{len(all_)} exhibits, counted")


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
    note = declared("\n".join(lines), "the columns").replace(
        "\n\n<!--", "\n\n</div>\n\n<!--"
    )
    return f'<div class="hw-matrix" markdown>\n\n{note}'


def columns(failed: dict[Exhibit, set[str]], names: Sequence[str]) -> str:
    """Say what each column asks, how many mistakes break it, and where it is taught."""
    lines = []
    for number, one in enumerate(PROPERTIES, 1):
        count = sum(one.name in broken for broken in failed.values())
        section = one.section
        page = section.address.replace("/#", ".md#")
        where = f"[{section.chapter}: {section.title}]({page})"
        lines.append(f"{number}. **{one.name}**, broken by {count}; {where}")
    return declared("\n".join(lines), "counted by a run")


def declared(part: str, reason: str) -> str:
    """Declare the numbers of a part, which come from a run and not from a block."""
    numbers = sorted({number for _, number in Page(part).typed()}, key=int)
    note = f"<!--given: {' '.join(numbers)}: {reason}-->"
    return f"{part}\n\n{note}" if numbers else part


def written(page: str, made: dict[str, str]) -> str:
    """Put the parts between their marks."""
    for name, part in made.items():
        begin, end = f"<!-- museum: {name} -->", "<!-- end of museum -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"museum.md must have a part {name}.")
        page = f"{before}{begin}\n\n{part}\n\n{end}{after}"
    return page


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser("docs/museum", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    reports = {one: report(one.program) for one in exhibits()}
    page = HALL.read_text("utf-8")
    made = written(page, parts(reports))
    if check and made != page:
        print("docs/museum.md is not as a run makes it: run `make record`.")
        return 1
    if not check:
        HALL.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
