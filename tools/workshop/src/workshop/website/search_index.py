"""Leave out of the index of a search what nobody searches for.

More than half of an index is programs and their outputs, and a browser loads all of it
before the first result. Nobody searches for a number or a bracket in them. What stays
is the text of a page, each error in full, and once each name that a program has and the
prose of its page does not.
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


def shorten(
    site: Path, exclude: Collection[str] = (), last: Collection[str] = ()
) -> None:
    """Shorten the index of a site's search, if it has one.

    Args:
        site: The folder that the site was built into.
        exclude: Expressions for the addresses of sections to leave out.
        last: Expressions for those that come after others that say the same.
    """
    path = site / "search" / "search_index.json"
    if not path.is_file():
        return
    index = json.loads(path.read_text(encoding="utf-8"))
    docs = [
        entry
        for entry in index["docs"]
        if not any(re.search(pattern, entry["location"]) for pattern in exclude)
    ]
    known: dict[str, set[str]] = defaultdict(set)
    for entry in docs:
        prose = PROGRAM.sub(" ", entry["text"])
        known[page_of(entry)] |= {
            *WORD.findall(TAG.sub(" ", f"{entry['title']} {prose}"))
        }
    for entry in docs:
        entry["text"] = "".join(short(entry["text"], known[page_of(entry)]))
        if any(re.search(pattern, entry["location"]) for pattern in last):
            entry["boost"] = 0.4
    text = json.dumps(
        {**index, "docs": docs}, ensure_ascii=False, separators=(",", ":")
    )
    path.write_text(text, encoding="utf-8", newline="\n")


def page_of(entry: dict[str, str]) -> str:
    """Return the address of the page that a section is on."""
    return entry["location"].partition("#")[0]


def short(text: str, known: set[str]) -> Iterator[str]:
    """Yield what the index keeps of a section.

    Args:
        text: The HTML of the section.
        known: The words that the index has of its page; new names are added.
    """
    yield " ".join(PROGRAM.sub(" ", text).split())
    programs = unescape(TAG.sub("", "\n".join(PROGRAM.findall(text))))
    for error in ERROR.findall(programs):
        yield f"<p>{escape(error, quote=False)}</p>"
    if names := dict.fromkeys(
        name for name in NAME.findall(programs) if name not in known
    ):
        known.update(names)
        yield f"<p>{' '.join(names)}</p>"
