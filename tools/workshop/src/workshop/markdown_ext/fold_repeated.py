"""Mark the lines at the top of a program that repeat those above: a Markdown extension.

On the site a script folds them into one line, and nothing else is changed: the text of
the program stays whole, for who copies it, prints it, listens to it or runs no scripts.
Which lines these are, `workshop.repeated_lines` computes from the programs.
"""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

from pytest_proofread.page.markdown import fences
from workshop.repeated_lines import repeated

PROGRAM = re.compile(r'python(?P<options>| hl_lines="(?P<new>[\d ]+)")')
MARK = "data-above"
MARKED = re.compile(
    rf'(?P<start><div class="[^"]*") {MARK}="(?P<count>\d+)"'
    r"(?P<rest>><pre><span></span><code>)(?P<code>.*?)(?=</code>)",
    re.DOTALL,
)
LEFT = re.compile(rf'<\w+ [^<>]*{MARK}="')


def marked(text: str) -> list[str]:
    """Return the lines of a page whose fences say how many lines repeat others."""
    lines = text.split("\n")
    above: list[str] = []
    for fence in fences(text):
        if not (program := PROGRAM.fullmatch(fence.info)):
            continue
        new = [int(number) for number in (program["new"] or "").split()]
        if found := repeated(fence.code, above, new):
            found -= len(fence.code) - len(fence.code.lstrip("\n"))  # not shown
            start = f"{fence.indent}{fence.marker}"
            options = f'{program["options"]} {MARK}="{found}"'
            lines[fence.line - 1] = f"{start}{{.python{options}}}"
        if not fence.indent:  # what stands in a fold may not have been seen
            above.append(fence.code)
    return lines


def wrapped(match: re.Match[str]) -> str:
    """Return a block whose first lines stand in an element of their own."""
    lines = match["code"].split("\n")
    count = int(match["count"])
    first, rest = ("\n".join(part) for part in (lines[:count], lines[count:]))
    head = f"{match['start']}{match['rest']}"
    return f'{head}<span class="hw-above">{first}\n</span>{rest}'


class _Mark(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        made = marked("\n".join(lines))
        if made != lines and not (
            "attr_list" in self.md.treeprocessors
            and "fenced_code_block" in self.md.preprocessors
        ):
            raise ValueError(
                "programs with repeated lines need the extensions attr_list, "
                "pymdownx.highlight and pymdownx.superfences."
            )
        return made


class _Wrap(Postprocessor):
    def run(self, text: str) -> str:
        text = MARKED.sub(wrapped, text)
        if LEFT.search(text):
            raise ValueError(
                "each program with repeated lines must show them; one does not."
            )
        return text


class FoldRepeated(Extension):
    """Mark what programs repeat, so that a script can fold it."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after new lines are known (28.5), and when all is HTML (30)."""
        md.preprocessors.register(_Mark(md), "mark_repeated", 28.3)
        md.postprocessors.register(_Wrap(md), "wrap_repeated", 20)


def makeExtension(**options: Any) -> FoldRepeated:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return FoldRepeated(**options)
