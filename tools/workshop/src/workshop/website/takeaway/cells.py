"""Take a Markdown page apart into cells, prose and programs, as a notebook has them.

What only the site understands is put into plain Markdown: boxes become titles, links
become addresses that work anywhere, comments and what only gives a place go, pictures
become attachments, and a figure that lives on the site becomes its caption.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from textwrap import indent
from xml.etree import ElementTree

from markdown.extensions.toc import unique

from pytest_proofread.page.markdown import Program, fences, last, programs, unindent

Find = Callable[[str], str | None]

FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
BOX = re.compile(r'(?:!!!|\?\?\?\+?) +([\w-]+)[^"]*(?:"(.*)")?\s*$')
# What stays as it is: a fence, code in a sentence, a formula.
KEPT = (
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n[\s\S]*?^[ \t]*(?P=fence)[`~]*[ \t]*$"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])+?(?<!`)(?P=ticks)(?!`)"
    r"|\$\$[\s\S]+?\$\$|(?<![\\$])\$(?![\s$])[^$\n]*?(?<![\\\s])\$"
)
COMMENT = r"<!--[\s\S]*?-->"
INCLUDE = r'^(?P<indent>[ \t]*)-+8<-+ +"(?P<file>[^"\n]+)"[ \t]*$'
ATTRIBUTE = r'(?:[#.][\w-]+|[\w-]+=(?:"[^"\n]*"|[^\s"{}]+))'
ATTRIBUTES = rf"[ \t]*\{{:?[ \t]*{ATTRIBUTE}(?:[ \t]+{ATTRIBUTE})*[ \t]*\}}"
LINK = (
    r"(?P<image>!?)\[(?P<text>(?:[^][]|\[[^][]*\])*)\]"
    r"\((?P<target>[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)"
)
LIVE = r"^[ \t]*<figure\b[^>]*\bdata-live\b[\s\S]*?</figure>"
PLACE = r"^[ \t]*</?div\b[^>]*>[ \t]*$"
EMPTY_LINES = r"\n(?:[ \t]*\n){2,}"


@dataclass(frozen=True)
class Cell:
    """A piece of a page: prose, or a program with what is recorded of it.

    A command is for the notebook alone; it belongs to no page.
    """

    name: str
    text: str
    program: Program | None = None
    pictures: dict[str, str] = field(default_factory=dict)
    command: bool = False


# ---- Plain Markdown ----------------------------------------------------------------


def flat(text: str) -> str:
    """Return a page whose notes and exercises stand outside of their boxes."""
    found = fences(text)
    starts = {fence.line for fence in found}
    inside = {n for fence in found for n in range(fence.line, fence.end + 1)}
    depths: list[int] = []
    result: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        own = len(line) - len(line.lstrip(" "))
        if line.strip() and (number not in inside or number in starts):
            while depths and own < depths[-1]:
                depths.pop()
        bare = unindent(line, " " * 4 * len(depths))
        box = BOX.match(line[own:]) if number not in inside else None
        if box is None:
            result.append(bare)
            continue
        depths.append(own + 4)
        title = box[1].capitalize() if box[2] is None else box[2]
        margin = bare[: len(bare) - len(bare.lstrip(" "))]
        result += [f"{margin}**{title}**", ""] if title else []
    return "\n".join(result) + "\n"


def outside_code(
    pattern: str, replace: Callable[[re.Match[str]], str], text: str
) -> str:
    """Replace what a pattern finds outside of code and formulas."""
    either = re.compile(f"{KEPT}|(?P<found>{pattern})", re.MULTILINE)

    def choose(match: re.Match[str]) -> str:
        return match[0] if match["found"] is None else replace(match)

    return either.sub(choose, text)


def plain(text: str, address: Find) -> str:
    """Return prose that any reader of Markdown shows as the site does.

    Args:
        text: Markdown of the site.
        address: Gives the address that a target means, or None if it has none; such
            a link becomes its text. An empty target means the page.
    """

    def link(match: re.Match[str]) -> str:
        url = address(match["target"])
        return f"{match['image']}[{match['text']}]({url})" if url else match["text"]

    def live(match: re.Match[str]) -> str:
        url = address("")
        site = f"[the site]({url})" if url else "the site"
        caption = re.search(r"<figcaption>([\s\S]*?)</figcaption>", match[0])
        words = unescape(re.sub(r"<[^>]+>", "", caption[1])) if caption else ""
        return f"A live figure, on {site}: {' '.join(words.split())}".rstrip(": ")

    text = outside_code(COMMENT, lambda match: "", text)
    text = outside_code(ATTRIBUTES, lambda match: "", text)
    text = outside_code(LINK, link, text)
    text = outside_code(LIVE, live, text)
    text = outside_code(PLACE, lambda match: "", text)
    return outside_code(EMPTY_LINES, lambda match: "\n\n", text)


def settle(text: str) -> str:
    """Give the left margin to lines that a program has cut off from their list."""
    lines = text.strip("\n").split("\n")
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    for at, line in enumerate(lines):
        if line.strip() and not line.startswith(indent):
            break
        lines[at] = line.removeprefix(indent)
    return "\n".join(lines)


# ---- What a page includes ----------------------------------------------------------


def whole(text: str, read: Find) -> str:
    """Return a page with the parts that it includes; its pictures stay includes.

    Args:
        text: The page.
        read: Gives the text of an included file, or None if there is none.

    Raises:
        ValueError: If there is no such file, or if a program stands in it: nobody would
            run that.
    """

    def include(match: re.Match[str]) -> str:
        name = match["file"]
        if name.endswith(".svg"):
            return match[0]
        if (part := read(name)) is None:
            raise ValueError(f"an included file must exist; got {name}.")
        if programs(part):
            raise ValueError(f"an included file must hold no program; got {name}.")
        return indent(part.removesuffix("\n"), match["indent"])

    return outside_code(INCLUDE, include, text)


# ---- Pictures ----------------------------------------------------------------------


def pictures(name: str, markup: str) -> tuple[str, dict[str, str]]:
    """Return Markdown that shows the SVG in some markup, and the SVG by name.

    Raises:
        ValueError: If the markup is not well-formed.
    """
    try:
        root = ElementTree.fromstring(f"<div>{markup}</div>")  # noqa: S314 (our own)
    except ElementTree.ParseError as error:
        raise ValueError(
            f"an included picture must be well-formed; got {name} ({error})."
        ) from None
    stem = name.removesuffix(".svg").replace("/", "-")
    found: dict[str, str] = {}
    lines: list[str] = []
    for number, svg in enumerate(root.iter("svg"), 1):
        own = f"{stem}.svg" if number == 1 else f"{stem}-{number}.svg"
        alt = re.sub(r"[][]", r"\\\g<0>", svg.get("aria-label", stem))
        lines.append(f"![{alt}](attachment:{own})")
        # Outside of the site it has neither its style nor its background.
        svg.set("xmlns", "http://www.w3.org/2000/svg")
        svg.set("font-family", "system-ui, sans-serif")
        svg.set("style", f"background:white;{svg.get('style', '')}")
        svg.tail = None
        found[own] = ElementTree.tostring(svg, encoding="unicode")
    for caption in root.iter("figcaption"):
        lines.append(" ".join("".join(caption.itertext()).split()))
    return "\n\n".join(lines), found


def illustrate(text: str, read: Find) -> tuple[str, dict[str, str]]:
    """Put the pictures that prose includes into it; return them too, by name.

    Args:
        text: Markdown with lines such as `--8<-- "name.svg"`.
        read: Gives the text of an included file, or None if there is none.
    """
    found: dict[str, str] = {}

    def include(match: re.Match[str]) -> str:
        name = match["file"]
        if (markup := read(name)) is None:
            raise ValueError(f"an included file must exist; got {name}.")
        shown, images = pictures(name, markup)
        found.update(images)
        return shown

    return outside_code(INCLUDE, include, text), found


def described(text: str) -> str:
    """Return prose with the words for a picture in the place of an attached one."""
    words = r"!\[(?P<alt>(?:\\.|[^]\\])*)\]\(attachment:[^)]*\)"

    def describe(match: re.Match[str]) -> str:
        return "Picture: " + re.sub(r"\\([][])", r"\1", match["alt"])

    return outside_code(words, describe, text)


# ---- Cells -------------------------------------------------------------------------


def cells(text: str, address: Find, read: Find) -> list[Cell]:
    """Return the cells of a page in their order.

    Args:
        text: The page.
        address: Gives the address that the target of a link means, or None.
        read: Gives the text of a file that the page includes, or None.
    """
    text = flat(whole(FRONT_MATTER.sub("", text), read))
    lines = text.splitlines()
    taken: set[str] = set()
    result: list[Cell] = []

    def add(start: int, end: int, name: str) -> None:
        prose = plain("\n".join(lines[start:end]) + "\n", address)
        prose, images = illustrate(settle(prose), read)
        if prose.strip():
            result.append(Cell(unique(name, taken), prose.strip(), pictures=images))

    at = 0
    for program in programs(text):
        # A notebook wants plain letters, and at most 64 of them.
        name = re.sub(r"[^A-Za-z0-9]+", "-", program.name)[:48].strip("-")
        add(at, program.line - 1, f"before-{name}")
        result.append(Cell(unique(name, taken), program.code.rstrip("\n"), program))
        at = last(program).end
    add(at, len(lines), "end")
    return result
