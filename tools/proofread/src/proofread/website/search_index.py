"""Leave out of the index of a search what nobody looks for.

More than half of an index is programs and what they print, and it is loaded before the
first result. Nobody looks for a number or a bracket in them. What is looked for stays:
the text of a page; each error, in full; and the names that a program has and its page
does not, once.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from html import escape, unescape
from pathlib import Path

PROGRAM = re.compile(r"<pre>.*?</pre>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"\w+")
ERROR = re.compile(r"^\w*(?:Error|Warning)\b.*", re.MULTILINE)
# With an underscore or in CamelCase, or called, or an attribute.
NAME = re.compile(
    r"\b[A-Za-z]\w*_\w+|\b[A-Z]\w*[a-z]\w*[A-Z]\w*"
    r"|\b[A-Za-z]\w+(?=\()|(?<=[a-z]\.)[A-Za-z]\w+"
)


def shorten(site: Path, unsought: Collection[str] = ()) -> None:
    """Shorten the index of a site's search, if it has one.

    Args:
        site: The folder that the site was built into.
        unsought: Expressions for the addresses of sections to leave out.
    """
    path = site / "search" / "search_index.json"
    if not path.is_file():
        return
    index = json.loads(path.read_text(encoding="utf-8"))
    docs = [
        entry
        for entry in index["docs"]
        if not any(re.search(one, entry["location"]) for one in unsought)
    ]
    known: dict[str, set[str]] = defaultdict(set)
    for entry in docs:
        prose = PROGRAM.sub(" ", entry["text"])
        known[page(entry)] |= {*WORD.findall(TAG.sub(" ", f"{entry['title']} {prose}"))}
    for entry in docs:
        entry["text"] = "".join(short(entry["text"], known[page(entry)]))
    text = json.dumps(
        {**index, "docs": docs}, ensure_ascii=False, separators=(",", ":")
    )
    path.write_text(text, encoding="utf-8", newline="\n")


def page(entry: dict[str, str]) -> str:
    """Return the address of the page that a section is on."""
    return entry["location"].partition("#")[0]


def short(text: str, known: set[str]) -> Iterator[str]:
    """Yield what is looked for in a section, and add names to those that are known."""
    yield " ".join(PROGRAM.sub(" ", text).split())
    programs = unescape(TAG.sub("", "\n".join(PROGRAM.findall(text))))
    for error in ERROR.findall(programs):
        yield f"<p>{escape(error, quote=False)}</p>"
    if names := dict.fromkeys(
        name for name in NAME.findall(programs) if name not in known
    ):
        known.update(names)
        yield f"<p>{' '.join(names)}</p>"
