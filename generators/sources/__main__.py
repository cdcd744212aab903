"""Write what follows from ledger.toml: `python -m generators.sources [--check]`.

Pages include it, by a line such as `--8<-- "sources/a-figures.md"`; all else on them is
written by hand. With `--check` nothing is written; the command fails if a file is not
as it would be written.
"""

import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify

from generators import GENERATED, HASHES, ROOT
from workshop.generator_support import generate

LEDGER = Path(__file__).parent / "ledger.toml"
COMMAND = "python -m generators.sources"
FOLDER = GENERATED / "sources"
NAV = ROOT / "mkdocs.yml"
CHAPTER = re.compile(r"\d+\.\d+")  # how the titles of chapters begin
Entry = dict[str, Any]

# What a column of the overview is called, and what stands under a figure.
VERDICTS = {
    "reproduces": ("reproduced", "Reproduced: {}."),
    "only with the fault": ("with the fault", "Only with the fault repeated: {}."),
    "refuted": ("refuted", "Not reproduced; ours stands in {}."),
    "depends on the platform": ("random", "Random, so not compared: see {}."),
}
CODE = re.compile(
    r"""\w+\ @\ [\w.]+(?:\([^()]*\))?        # a product
    | [\w.]+\((?:[^()]|\([^()]*\))*\)        # a call
    | \w*\.[A-Za-z]\w*                       # a name with dots
    | \w+_\w+ | [A-Z][a-z]+[A-Z]\w+          # a name of ours or theirs
    """,
    re.VERBOSE,
)


def shown(text: str) -> str:
    """Begin a text with a capital, and set names and calls within it as code."""
    text = CODE.sub(lambda match: f"`{match[0]}`", text)
    return text[0].upper() + text[1:]


def anchor(heading: str) -> str:
    """Give the anchor that the site gives a heading; a formula loses its signs."""
    plain = re.sub(r"\$(.*?)\$", lambda match: match[1].replace("_", ""), heading)
    return slugify(plain, "-")


def titles() -> dict[str, str]:
    """Give the title of each page, as the nav has it."""
    lines = re.findall(r"^ +- (.+): (\S+\.(?:md|py))$", NAV.read_text("utf-8"), re.M)
    return {page: title for title, page in lines}


def link(entry: Entry, page: str, label: str = "") -> str:
    """Link from a page to the heading under which an entry is settled."""
    path = os.path.relpath(entry["page"], Path(page).parent).replace(os.sep, "/")
    if not label:
        title = titles()[entry["page"]]
        if chapter := CHAPTER.match(title):
            place = f"chapter {chapter[0]}"
        elif entry["page"].startswith("labs/"):
            place = f"the lab {title}"
        else:
            place = title.lower()
        label = f"{place}, *{entry['heading']}*"
    return f"[{label}]({path}#{anchor(entry['heading'])})"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], align: str) -> str:
    """Set a table in Markdown; `align` has an `l` or an `r` for each column."""
    rule = ["---" if one == "l" else "--:" for one in align]
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def overview(ledger: Entry) -> str:
    """Count the verdicts of each source."""
    rows = []
    for letter, source in ledger["source"].items():
        own = [one for one in ledger["figure"] if one["source"] == letter]
        name = f"[{letter}]({letter.lower()}.md): {source['title']}"
        rows.append([name, *counts(own)])
    rows.append(["**together**", *counts(ledger["figure"])])
    columns = [name for name, _ in VERDICTS.values()]
    return table(["source", "figures", *columns], rows, "lrrrrr")


def counts(figures: Sequence[Entry]) -> list[int]:
    """Count figures, then each verdict."""
    found = Counter(one["verdict"] for one in figures)
    return [len(figures), *(found[verdict] for verdict in VERDICTS)]


def citation(source: Entry) -> str:
    """Say what a source is called and what it is."""
    date = f", {source['date']}" if "date" in source else ""
    author = f"{source['author']}, " if "author" in source else ""
    return f"> {author}*{source['title']}*{date}.\n> {source['kind'].capitalize()}."


def figures(own: Sequence[Entry], page: str) -> str:
    """Show each figure of a source, its verdict and where ours stands."""
    return "\n\n".join(
        f"### {one['id']}\n\n{shown(one['what'])}\n\n"
        f"```text\n{one['value'].strip()}\n```\n\n"
        + VERDICTS[one["verdict"]][1].format(link(one, page))
        for one in own
    )


def programs(own: Sequence[Entry], page: str) -> str:
    """Say where the program of each figure of a source stands."""
    rows = [[f"[{one['id']}](#{one['id'].lower()})", link(one, page)] for one in own]
    return table(["figure", "program"], rows, "ll")


def claims(ledger: Entry, page: str) -> str:
    """List the claims, who makes them, and what became of them."""
    rows = []
    for one in ledger["claim"]:
        name = f"**{one['id']}**{{ #{one['id'].lower()} }}"
        made = ", ".join(f"[{by}]({by.lower()}.md)" for by in one["sources"])
        settled = f"**{one['verdict']}**: {link(one, page)}"
        rows.append([f"{name} {shown(one['claim'])}", settled, made])
    return table(["claim", "verdict", "made by"], rows, "lll")


def make() -> dict[str, str]:
    """Make all that follows from the ledger, by the names of the files."""
    ledger = tomllib.loads(LEDGER.read_text("utf-8"))
    made = {
        "overview.md": overview(ledger),
        "claims.md": claims(ledger, "sources/claims.md"),
    }
    for letter, source in ledger["source"].items():
        name = letter.lower()
        page = f"sources/{name}.md"
        own = [one for one in ledger["figure"] if one["source"] == letter]
        made[f"{name}-citation.md"] = citation(source)
        made[f"{name}-figures.md"] = figures(own, page)
        if letter == "E":  # most of its programs are missing in the copy at hand
            made[f"{name}-programs.md"] = programs(own, page)
    return {name: f"{text}\n" for name, text in made.items() if text}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all files, or compare them with those that are there."""
    return generate(COMMAND, make, FOLDER, arguments, hashes=HASHES)


if __name__ == "__main__":
    sys.exit(main())
