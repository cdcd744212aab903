"""Write what the museum shows of all exhibits: `python -m generators.museum [--check]`.

An exhibit is a section of the page of its room, and a record of the same id in the file
in TOML beside it, with its names, its fix, and the ids of the properties that it
breaks. If `check` knows the mistake, its id is that of `check`, and what changes the
equation bears the name that reports give it. Its programs are run as they stand, and
`check` is asked about `attend`, which they make. A room whose programs make something
else, such as a rotation or a cache, begins with functions `ask_...` that put it into
attention and ask `check`, or `check_model`. If it breaks a property of
`properties_beyond_check`, that is asked instead: it is one that `check` cannot ask.
What is reported becomes a fold below each program, and a table and lists in museum.md.
With `--check` nothing is written; the command fails if one of them is not as it would
be written.
"""

import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence

from generators import GENERATED
from generators.museum import properties_beyond_check
from generators.museum.exhibits import PAGES, ROOMS, Exhibit, exhibits
from headway.checks import Report, check
from headway.checks.attention.properties import PROPERTIES
from headway.checks.core.book_sections import Section
from headway.checks.model.properties import PROPERTIES as OF_MODELS
from workshop.generator_support import generate, run_program, significant

FOLDER = GENERATED / "museum"
NAMES = [one.id for one in PROPERTIES]
ASKED = {*NAMES, *(one.id for one in OF_MODELS)}
# How a property looks from outside, when it does not hold.
SYMPTOMS = {
    "equation": ("The result is not what the equation gives for the same weights."),
    "finite": "A row is nan, for ordinary tokens.",
    "leak": "A row changes when a later token changes.",
    "past": "A row stays when a token changes that it may see.",
    "equal-tokens": (
        "All tokens are equal, and the result depends on how many there are."
    ),
    "order": ("The tokens that a row sees change places, and the row changes."),
    "batch": ("A change in one text moves another text of the batch."),
    "other-keys": (
        "With keys and values of another text, rows are not those of that text."
    ),
    "alone": "A text gives a different result alone than in a batch.",
    "earlier-rows": "A text goes on, and its first rows change.",
    "cache": "A text gives a different result in pieces than whole.",
    "sizes": "One text, one token or another length ends in an error.",
    "strides": (
        "The same numbers, in a different order in memory, give a different result."
    ),
    "context-length": "A text that is too long is accepted.",
    "state": ("A call depends on the one before, or changes what it was given."),
    "eval": "In evaluation, the same input gives different results.",
    "training": ("Without dropout, training and evaluation give different results."),
    "dropout": (
        "The mean of many results in training is not the result of evaluation."
    ),
    "masks": ("A mask changes nothing, or hides something else than it should."),
    "padding": ("In a padded batch, real tokens get a different result than alone."),
    "fully-masked": (
        "A fully masked row is not harmless: it is nan, makes gradients nan, or "
        "changes other rows."
    ),
    "gradients": "Some weights get no gradient, and never learn.",
    "gradcheck": ("A small step does not change the result as the gradient says."),
    "large-scores": "Tokens with large numbers give infinity or nan.",
    "half-precision": (
        "Half precision ends in an error, or another type comes out than went in."
    ),
    "facts": "Code does not do what its author declares of it.",
}


def report(one: Exhibit, program: str | None = None) -> Report:
    """Run its program, or another, and ask what it makes for properties."""
    names, _ = run_program(program or one.program)
    if {*one.breaks} & {other.id for other in properties_beyond_check.EVERY}:
        return properties_beyond_check.report(names)
    for kind, ask in asking(one.room).items():
        if kind in names:
            wanted = inspect.signature(ask).parameters
            return ask(**{name: names[name] for name in wanted if name in names})
    attend = names["attend"]
    if not callable(attend):
        raise TypeError("attend must be a function or a module")
    return check(attend)


@functools.cache
def asking(room: str) -> dict[str, Callable[..., Report]]:
    """Run what a room begins with; give its functions by what they ask about."""
    names, _ = run_program("\n".join(programs_before(room)), "museum")
    return {
        name.removeprefix("ask_"): made
        for name, made in names.items()
        if name.startswith("ask_")
    }


def programs_before(room: str) -> list[str]:
    """Read the programs that a room begins with."""
    intro, *_ = re.split(r"^## ", (PAGES / f"{room}.md").read_text("utf-8"), flags=re.M)
    return re.findall(r"^```python\n(.*?)^```", intro, re.DOTALL | re.MULTILINE)


def parts(reports: Mapping[Exhibit, Report]) -> dict[str, str]:
    """Make the parts of the pages, by the names of their files."""
    failed = {one: {row.id for row in made.failed} for one, made in reports.items()}
    of_models = {one: names for one, names in failed.items() if is_model(reports[one])}
    checked = {
        one: names
        for one, names in failed.items()
        if names <= {*NAMES} and one not in of_models
    }
    return {
        "rooms.md": rooms([*reports]),
        "table.md": table(checked),
        "columns.md": columns(checked),
        "models.md": columns_of_models(of_models),
        "beyond.md": unseen(failed),
        **{f"{one.room}/{one.id}.md": fold(made) for one, made in reports.items()},
    }


def is_model(made: Report) -> bool:
    """Say whether `check_model` made a report."""
    return [row.id for row in made.rows] == [one.id for one in OF_MODELS]


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
    title = (
        "What `check_model` says"
        if is_model(made)
        else "What `check` says"
        if {row.id for row in made.rows} <= ASKED
        else "What does not hold (`check` asks no such thing)"
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
    """Set a row for each mistake, with the numbers of the properties that it breaks."""
    lines = ["| exhibit | mistake | breaks |", "| --- | --- | --- |"]
    for one, broken in failed.items():
        numbers = [str(n) for n, name in enumerate(NAMES, 1) if name in broken]
        row = f"[{one.heading}]({one.address}) | {one.name} | {', '.join(numbers)}"
        lines.append(f"| {row} |")
    return "\n".join(lines) + "\n"


def columns(failed: Mapping[Exhibit, set[str]]) -> str:
    """Say how each property looks when it does not hold, and who breaks it."""
    lines = []
    for number, one in enumerate(PROPERTIES, 1):
        broken = [exhibit for exhibit, names in failed.items() if one.id in names]
        lines.append(
            f"{number}. {SYMPTOMS[one.id]} **{one.name[0].upper()}{one.name[1:]}**: "
            f"{len(broken)} found; {link(one.section)}."
        )
    return "\n".join(lines) + "\n"


def columns_of_models(failed: Mapping[Exhibit, set[str]]) -> str:
    """List the properties of whole models that exhibits break, and which do."""
    lines = []
    for one in OF_MODELS:
        broken = [exhibit for exhibit, names in failed.items() if one.id in names]
        links = ", ".join(f"[{each.heading}]({each.address})" for each in broken)
        if broken:
            name = one.name[0].upper() + one.name[1:]
            lines.append(f"- **{name}**: {links}; {link(one.section)}.")
    return "\n".join(lines) + "\n"


def unseen(failed: Mapping[Exhibit, set[str]]) -> str:
    """List the properties that `check` does not ask for, and how many break each."""
    lines = []
    for one in properties_beyond_check.EVERY:
        broken = sum(one.id in names for names in failed.values())
        name = one.name[0].upper() + one.name[1:]
        lines.append(f"- **{name}**: {broken} found; {link(one.section)}.")
    return "\n".join(lines) + "\n"


def make() -> dict[str, str]:
    """Run all exhibits, and make the parts of the pages."""
    return parts({one: report(one) for one in exhibits()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the parts, or compare them with those that are there."""
    return generate("python -m generators.museum", make, FOLDER, arguments)


if __name__ == "__main__":
    sys.exit(main())
