"""Find on a page the names of a package: in its programs, and in its sentences."""

import ast
import re
from collections.abc import Container, Iterator
from html.parser import HTMLParser
from itertools import accumulate
from typing import NamedTuple

from pytest_proofread.page.markdown import programs

NAME = re.compile(r"(?:\w+\.)*(\w+)(?:\(.*\))?", re.S)
# The elements in which a link would be in the way, or in another link.
NO_LINKS_IN = {
    "a",
    "button",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "label",
    "pre",
    "summary",
}
NO_LINKS_IN |= {"math", "nav", "svg"}
START, END, CODE_END = "<article", "</article>", "</code>"


class Mention(NamedTuple):
    """Code in a sentence: its text, where it stands, and the heading above."""

    text: str
    start: int
    end: int
    heading: str


class Sentences(HTMLParser):
    """Find the code in the sentences of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        lines = accumulate(map(len, html.splitlines(keepends=True)))
        self.lines = [0, *lines]
        self.depth, self.heading, self.start, self.text = 0, "", -1, ""
        self.found: list[Mention] = []
        self.feed(html)

    def position(self) -> int:
        """Return where the tag begins that is being read."""
        line, column = self.getpos()
        return self.lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin code, or an element without links."""
        self.depth += tag in NO_LINKS_IN
        if self.depth:  # code with a link in it leads somewhere already
            self.start = -1
        if re.fullmatch("h[1-6]", tag):
            self.heading = dict(attrs).get("id") or self.heading
        if tag == "code" and not (attrs or self.depth):
            self.start, self.text = self.position(), ""

    def handle_data(self, data: str) -> None:
        """Read what code says."""
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        """End code, or an element without links."""
        self.depth -= tag in NO_LINKS_IN
        if tag == "code" and self.start >= 0:
            end = self.position() + len(CODE_END)
            self.found.append(Mention(self.text, self.start, end, self.heading))
            self.start = -1


def mentions(html: str, names: Container[str]) -> Iterator[tuple[str, Mention]]:
    """Yield each name that a page has as code in a sentence."""
    start = html.find(START)
    for found in Sentences(html[start : html.rfind(END)]).found:
        if (name := NAME.fullmatch(found.text)) and name[1] in names:
            first, end = found.start + start, found.end + start
            yield name[1], found._replace(start=first, end=end)


def imports(text: str, packages: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what the programs of a page import from packages, and under which heading.

    Args:
        text: The Markdown of the page.
        packages: Their names.
    """
    for program in programs(text):
        try:
            nodes = [*ast.walk(ast.parse(program.code))]
        except SyntaxError:
            continue
        for node in nodes:
            if not isinstance(node, ast.ImportFrom):
                continue
            if str(node.module).partition(".")[0] in packages:
                yield from ((alias.name, program.heading) for alias in node.names)
