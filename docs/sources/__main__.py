"""Write what follows from ledger.toml into the pages: `python docs/sources [--check]`.

It stands between the lines `<!-- ledger: NAME -->` and `<!-- end of ledger -->`; all
else is written by hand. With `--check` nothing is written; the command fails if a page
is not as it would be written.
"""

import argparse
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify

from proofread.page.prose_numbers import Prose

DOCS = Path(__file__).parent.parent
NAV = DOCS.parent / "mkdocs.yml"
CLAIM = ("claim ", "claims")
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
        number, _, _ = title.partition(". ")
        kind = Path(entry["page"]).parts[0]
        places = {"walk": f"chapter {number}", "labs": f"the lab {title}"}
        label = f"{places.get(kind, title.lower())}, *{entry['heading']}*"
    return f"[{label}]({path}#{anchor(entry['heading'])})"


def code(entry: Entry) -> str:
    """Link from a chapter to a figure or a claim."""
    kind, page = ("", entry["source"].lower()) if "value" in entry else CLAIM
    plain = "" if entry["verdict"] == "reproduces" else f" ({entry['verdict']})"
    return f"{kind}[{entry['id']}](../sources/{page}.md#{entry['id'].lower()}){plain}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], align: str) -> str:
    """Set a table in Markdown; `align` has an `l` or an `r` for each column."""
    rule = ["---" if one == "l" else "--:" for one in align]
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def declared(part: str) -> str:
    """Declare the numbers of a part, which the page takes from the ledger."""
    numbers = sorted(
        {number for _, number in Prose(part).typed()}, key=lambda one: (len(one), one)
    )
    note = f"<!--given: {' '.join(numbers)}: as the ledger has it-->"
    return f"{part}\n\n{note}" if numbers else part


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
    return f"> *{source['title']}*{date}.\n> {source['kind'].capitalize()}."


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


def reproduced(ledger: Entry, page: str, text: str) -> str:
    """List what of the sources a chapter prints and settles, by its headings."""
    items = []
    for heading in re.findall(r"^##+ (.+)$", text, re.M):
        place = {"page": page, "heading": heading}
        here = [
            one
            for one in [*ledger["figure"], *ledger["claim"]]
            if place.items() <= one.items()
        ]
        if here:
            codes = ", ".join(map(code, here))
            items.append(f"- {link(place, page, heading)}: {codes}")
    return "\n".join(items)


def parts(ledger: Entry, docs: Path) -> dict[tuple[str, str], str]:
    """Make all that follows from the ledger, by page and name."""
    made = {
        ("sources/index.md", "overview"): declared(overview(ledger)),
        ("sources/claims.md", "claims"): claims(ledger, "sources/claims.md"),
    }
    for letter, source in ledger["source"].items():
        page = f"sources/{letter.lower()}.md"
        own = [one for one in ledger["figure"] if one["source"] == letter]
        made[page, "citation"] = citation(source)
        made[page, "figures"] = declared(figures(own, page))
        if letter == "E":  # most of its programs are missing in the copy at hand
            made[page, "programs"] = programs(own, page)
    for path in sorted(docs.glob("basics/*.md")):
        page = f"basics/{path.name}"
        made[page, "reproduced"] = reproduced(ledger, page, path.read_text("utf-8"))
    return made


def fill(text: str, name: str, part: str) -> str:
    """Put a part between its two lines."""
    start, end = f"<!-- ledger: {name} -->", "<!-- end of ledger -->"
    place = re.compile(rf"^{start}\n.*?^{end}$", re.M | re.S)
    if len(place.findall(text)) != 1:
        raise ValueError(f"a page must have the lines {start} and {end} once.")
    return place.sub(lambda _: f"{start}\n\n{part}\n\n{end}", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all parts, or compare them with those that are there."""
    parser = argparse.ArgumentParser(description="Write what follows from the ledger.")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    options = parser.parse_args(arguments)
    docs: Path = options.docs
    ledger = tomllib.loads((docs / "sources" / "ledger.toml").read_text("utf-8"))
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    for (page, name), part in parts(ledger, docs).items():
        if page not in old:
            old[page] = new[page] = (docs / page).read_text("utf-8")
        try:
            new[page] = fill(new[page], name, part)
        except ValueError as error:
            print(f"{docs / page}: {error}")
            return 1
    wrong = [page for page in old if old[page] != new[page]]
    for page in wrong:
        if options.check:
            print(f"{docs / page} must be as the ledger says; run python docs/sources.")
        else:
            (docs / page).write_text(new[page], encoding="utf-8", newline="\n")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
