"""Take from a page of HTML what it shows as code, as a reader sees and copies it."""

import copy
import re
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

from workshop.verify.start_tags import start_tags

# Colours only, and most of what there is to parse.
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')
PYTHON = re.compile(r"(language|hl)-(i?python\d?|py\d?|pyi|pycon3?)")


class Block(NamedTuple):
    """Code that a page shows: the heading above it, and the texts right under it."""

    heading: str
    python: bool
    text: str
    below: tuple[str, ...] = ()


def copied(code: Tag) -> str:
    """Return what the copy button of Material for MkDocs copies of a block.

    That is `data-copy` where it is given, else `innerText`; annotations are hidden
    while it copies, and white space at the end is cut off.
    """
    given = [tag for tag in (code, *code.parents) if tag.has_attr("data-copy")]
    if given:
        return str(given[0]["data-copy"]).rstrip()
    shown = copy.copy(code)
    for hidden in shown.select(".md-annotation, [hidden]"):
        hidden.decompose()
    for line_end in shown.select("br"):
        line_end.replace_with("\n")
    return shown.get_text().rstrip()


def is_python(pre: Tag) -> bool:
    """Say whether a block is shown as Python."""
    around = [pre, *pre.find_all("code", recursive=False), *pre.parents]
    return any(PYTHON.fullmatch(c) for tag in around for c in tag.get("class") or [])


def read(pre: Tag) -> tuple[bool, str]:
    """Return whether a block is Python, and its text without empty lines around it."""
    code = pre.find("code", recursive=False) or pre
    if is_python(pre):
        return True, copied(code).lstrip("\n")
    return False, code.get_text().strip("\n")


def outputs(pre: Tag) -> list[Tag]:
    """Return the texts that follow right upon a block."""
    block = pre
    for parent in pre.parents:
        if "highlight" in (parent.get("class") or []):
            block = parent
    found = []
    for below in block.find_next_siblings():
        texts = [below] if below.name == "pre" else below.select("pre")
        code_only = below.name == "pre" or "highlight" in (below.get("class") or [])
        if not code_only or len(texts) != 1 or is_python(texts[0]):
            break
        found.append(texts[0])
    return found


def blocks(html: str, known: str | None = None) -> list[Block]:
    """Return the blocks of code of a page; an output goes with its program.

    Args:
        html: The page.
        known: A selector of blocks that are left out, for they come from elsewhere.
    """
    # Menus take longer to parse than the page.
    start, end = html.find("<article"), html.rfind("</article>")
    whole = html if start < 0 else html[start:end]
    page = BeautifulSoup(COLOURED.sub(r"\1", whole), "html.parser")
    passed = {
        id(tag) for tag in page.select(", ".join(filter(None, (".linenos pre", known))))
    }
    result = []
    for pre in page.find_all("pre"):
        if id(pre) in passed:
            continue
        python, text = read(pre)
        below = outputs(pre) if python else []
        passed |= {id(tag) for tag in below}
        above = pre.find_previous(re.compile("h[1-6]"), id=True)
        heading = str(above["id"]) if above else "top"
        texts = tuple(read(tag)[1] for tag in below)
        result.append(Block(heading, python, text, texts))
    return result


def offered(html: str) -> list[str]:
    """Return the names of the files that a page offers for download next to it."""
    links = [tag.attributes for tag in start_tags(html) if tag.name == "a"]
    files = [link["href"] for link in links if link.keys() >= {"download", "href"}]
    return [file for file in files if "/" not in file]
