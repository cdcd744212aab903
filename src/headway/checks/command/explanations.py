"""What the book says of the ids of a report, for a terminal without the book.

The build of a wheel runs this file by itself, so it imports nothing of the package.
"""

import json
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_PAGE = "reference/ids.md"  # lists all ids, and where each is explained
_MUSEUM = "the museum"  # a link to a program with the mistake
_ROW = re.compile(r"^\| `([\w-]+)`\{ #\S+ \} \| (.*) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./)?([^)#]*)\.md#([^)]*)\)")
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.*?)(?: \{ #(\S+) \})?$", re.MULTILINE)
_FIX = re.compile(r'^( *)--8<-- "exhibits/.*-fix\.md"$', re.MULTILINE)
# What a page has for its site, and how a terminal shows it; code in a line stays.
_FOR_SITE = (
    (r"<!--pytest-codeblocks:expected-output-->", "It prints:"),
    (r"[ \t]*<!--.*?-->", ""),
    (r'^ *--8<-- ".*"$', ""),
    (r'^( *)\?\?\? \w+ "(.*)"$', r"\1**\2**"),
    (r"(`[^`\n]*`)|!?\[([^\]]*)\]\([^)\s]*\)", r"\1\2"),
    (r"(?<=\S)\{ [^}\n]* \}|^\{ [^}\n]* \}$", ""),
    (r"[ \t]+$", ""),
    (r"\n{3,}", "\n\n"),
)


class Text(NamedTuple):
    """A section of the book, or a program of its museum.

    Attributes:
        page: The title of its page.
        title: Its own title.
        markdown: What it says, without what only a site shows.
    """

    page: str
    title: str
    markdown: str


class Explanation(NamedTuple):
    """What the book says of an id.

    Attributes:
        kind: `property` or `mistake`.
        sentence: What holds, or what was done.
        texts: What there is to read, by its address from the first page of the book.
    """

    kind: str
    sentence: str
    texts: Mapping[str, Text]


def read_book(docs: Path) -> dict[str, Explanation]:
    """Read the explanations from the pages of the book.

    Args:
        docs: The folder of the pages.

    Returns:
        An explanation for each id.

    Raises:
        ValueError: If there is no section to which the page of ids refers.
    """
    content = (docs / _PAGE).read_text("utf-8")
    properties, mistakes = content.split("\n## Mistakes in the equation\n")
    return {
        name: Explanation(
            kind,
            _sentence(cells),
            {
                f"{page}/#{anchor}": _text(docs, page, title, anchor)
                for title, page, anchor in _LINK.findall(cells)
            },
        )
        for kind, part in (("property", properties), ("mistake", mistakes))
        for name, cells in _ROW.findall(part)
    }


def to_json(found: Mapping[str, Explanation]) -> str:
    """Write explanations, with each text once."""
    texts = {at: text for each in found.values() for at, text in each.texts.items()}
    ids = {
        name: (kind, sentence, [*places])
        for name, (kind, sentence, places) in found.items()
    }
    return json.dumps({"ids": ids, "texts": texts}, ensure_ascii=False)


def from_json(written: str) -> dict[str, Explanation]:
    """Read what `to_json` has written."""
    content = json.loads(written)
    texts = {at: Text(*parts) for at, parts in content["texts"].items()}
    return {
        name: Explanation(kind, sentence, {at: texts[at] for at in places})
        for name, (kind, sentence, places) in content["ids"].items()
    }


def _sentence(cells: str) -> str:
    """Take the names or what was done from a row of the page, without its links."""
    names = [
        cell.strip()
        for cell in cells.split(" | ")
        if cell.strip() and not cell.startswith("[")
    ]
    names = [re.sub(r" \(\[.*", "", name) for name in names]
    return "; ".join(dict.fromkeys(names))


def _text(docs: Path, page: str, title: str, anchor: str) -> Text:
    """Cut a section out of a page, with what stands below it."""
    content = (docs / f"{page}.md").read_text("utf-8")
    [(_, heading, _), *_] = headings = [*_headings(content)]
    named = [
        (place, words)
        for place, words, given in headings
        if anchor == given or (title == words and title != _MUSEUM)
    ]
    if not named:
        raise ValueError(f"{page}.md must have the section {title!r}; it has none.")
    [(place, name), *_] = named
    ends = (
        later.start()
        for later, *_ in headings
        if later.start() > place.start() and len(later[1]) <= len(place[1])
    )
    section = content[place.end() : next(ends, len(content))]
    if title == _MUSEUM:
        section = _with_fix(section, docs / f"{page}.toml", anchor)
    return Text(heading, name, _plain(section))


def _headings(content: str) -> Iterator[tuple[re.Match[str], str, str | None]]:
    """Yield each heading of a page, its title without dollars, and a given anchor."""
    programs = [range(*fence.span()) for fence in _FENCE.finditer(content)]
    for heading in _HEADING.finditer(content):
        if not any(heading.start() in program for program in programs):
            yield heading, heading[2].replace("$", ""), heading[3]


def diff(edits: Iterable[tuple[str, str]]) -> str:
    """Make the block that shows a fix.

    Args:
        edits: Lines before and after; what stays shows where the rest stands.
    """
    shown = ""
    for old, new in edits:
        if old == new:
            shown += textwrap.indent(old, " ")
        else:
            shown += textwrap.indent(old, "-", lambda line: True)
            shown += textwrap.indent(new, "+", lambda line: True)
    return f"```diff\n{shown}```\n"


def _with_fix(section: str, records: Path, anchor: str) -> str:
    """Put the lines that mend a program where its page shows them."""
    edits = tomllib.loads(records.read_text("utf-8"))[anchor]["fix"]
    shown = diff((edit["old"], edit["new"]) for edit in edits).rstrip("\n")
    return _FIX.sub(lambda found: textwrap.indent(shown, found[1]), section)


def _plain(markdown: str) -> str:
    """Leave out what only a site shows."""
    parts, at = [], 0
    for code in _FENCE.finditer(markdown):
        parts += [_without_site(markdown[at : code.start()]), code[0]]
        at = code.end()
    parts.append(_without_site(markdown[at:]))
    return "".join(parts).strip("\n")


def _without_site(words: str) -> str:
    for old, new in _FOR_SITE:
        words = re.sub(old, new, words, flags=re.MULTILINE)
    return words
