"""Highlight what a program has that the one before it on its page does not have.

A Markdown extension. It tells `pymdownx.superfences` the lines of each program under

    <!--workshop:new-->

and takes the comment out. What is new nobody types: `workshop.new_lines` compares the
two programs.
"""

from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from workshop.new_lines import asking, shown


class _HighlightNewLines(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        for program, before in asking("\n".join(lines)):
            try:
                found = shown(program, before)
            except ValueError as error:
                raise ValueError(f"{error}; got {program.name}.") from None
            lines[program.line - 2] = ""
            lines[program.line - 1] += f' hl_lines="{" ".join(map(str, found))}"'
        return lines


class HighlightNewLines(Extension):
    """Highlight the new lines of the programs that ask for it."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after shapes (29), which look for bare fences, and before labs (28)."""
        md.preprocessors.register(_HighlightNewLines(md), "highlight_new_lines", 28.5)


def makeExtension(**options: Any) -> HighlightNewLines:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return HighlightNewLines(**options)
