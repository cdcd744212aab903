"""Tell the prose of a page from all else, and find the numbers in it.

Prose is what a reader reads as text: paragraphs, items, cells, headings and titles.
Code, formulas, addresses, tags, comments and what stands before the page are not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_proofread.page.expressions import Outputs, evaluate
from pytest_proofread.page.markdown import fences, headings, outside, programs

COMPUTED = re.compile(r"<!--=(.+)-->")
GIVEN = re.compile(r"<!--given: ([^:]+): *(\S.*)-->")
NEARLY = re.compile(r"<!-+\s*(=|given\b|.*\b(out|next)\[|.*\bat\([\"'])", re.I)

# A sign belongs to a number only where it cannot be a dash or a minus between two.
NUMBER = re.compile(
    r"(?:(?<![\w.)\]}])[-+\u2212])?"
    r"(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?:[ ]?%)?"
)
SHOWN = re.compile(rf"(?<![^\W_])(?<!\.)(?:{NUMBER.pattern}|-?(?:inf|nan))\Z")
# The words behind which a number is the name of a place or of a version.
PLACES = "chapter|section|exercise|equation|figure|table|step|version|python"
NAME = re.compile(
    rf"""
    ^[ \t]*\d+[.)](?=\s)                            # a mark of a list
  | \b(?:{PLACES})[\s\[]+\d+(?:\.\d+)*              # chapter 3, Python 3.12
  | \b(?:{PLACES})s(?:[\s,\[\]]+(?:(?:and|or|to)\b)?[\s\[]*\d+)+
  | \d+(?:\.\d+){{2,}}                              # 2.13.0
  | \b\d{{4}}-\d\d(?:-\d\d)?\b                      # 2025-03-31
  | (?<!\d)[^\W\d_][-_]?\d\w*(?:\.\d+)*             # GPT-2, E23, d_2
  | \d+(?:st|nd|rd|th|-bit)\b                       # 2nd, 32-bit
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
# What is no prose. Of two that overlap the first counts, as in a browser.
HIDDEN = re.compile(
    r"""
    <!--(?:(?!<!--|-->).)*--> | <!--[\s\S]*?-->
  | (?<!`)(`+)(?!`)(?:(?!\n\s*\n)[\s\S])+?(?<!`)\1(?!`)  # code
  | \\\([\s\S]+?\\\) | \\\[[\s\S]+?\\\]             # a formula
  | \\.                                             # an escaped sign
  | \$\$[\s\S]+?\$\$ | \$(?![\s$])(?:(?!\n\s*\n)[^$])+?(?<!\s)\$  # a formula
  | <[!/?A-Za-z][^>]*>                               # a tag, or an address
  | \]\((?:[^()\n]|\([^()\n]*\))*\)                 # where a link leads
  | ^[ \t]*\[[^\]\n]+\]:[ ]\S+                      # the same, further down
  | \[\^[^\]\s]+\]                                  # the mark of a footnote
  | \{:?[ ]*[.#][^}\n]*\}                           # attributes
  | \bhttps?://\S+ | &\#?\w+;
  | ^.*--8<--.*$                                    # an include
    """,
    re.VERBOSE | re.MULTILINE,
)
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def blanked(match: re.Match[str]) -> str:
    """Return as much white space as was matched, with the same line ends."""
    return re.sub(r"[^\n]", " ", match[0])


class Number(NamedTuple):
    """A number in prose, with the comment that computes it."""

    start: int
    end: int
    line: int
    comment: str
    outputs: Outputs

    def computed(self) -> str:
        """Compute it.

        Raises:
            ValueError: If that cannot be done, or no number stands there.
        """
        if self.start == self.end:
            raise ValueError(
                "a comment that computes must stand right behind a number; "
                f"got {self.comment}."
            )
        return evaluate(self.comment[len("<!--=") : -len("-->")].strip(), self.outputs)


class Prose:
    """The prose of a page, with all else blanked out, and what stands around it.

    Attributes:
        text: The page.
        prose: As long as the page, with spaces for what is no prose.
        notes: The comments that compute a number or declare some.
        misspelt: The comments that look as if they should.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.notes: list[re.Match[str]] = []
        self.misspelt: list[re.Match[str]] = []
        lines = outside(text, fences(text))
        every = enumerate(text.split("\n"), 1)
        prose = "\n".join(
            line if number in lines else " " * len(line) for number, line in every
        )
        self.prose = HIDDEN.sub(self._hide, FRONT.sub(blanked, prose))
        # A heading has its anchor from what the reader sees.
        bare = self.without_notes()
        self.programs = programs(bare)
        self.titles = headings(outside(bare, fences(bare)))

    def _hide(self, match: re.Match[str]) -> str:
        if COMPUTED.fullmatch(match[0]) or GIVEN.fullmatch(match[0]):
            self.notes.append(match)
        elif NEARLY.match(match[0]):
            self.misspelt.append(match)
        return blanked(match)

    def without_notes(self) -> str:
        """Take the comments that compute and that declare out of the text."""
        text = self.text
        for note in reversed(self.notes):
            text = text[: note.start()] + text[note.end() :]
        return text

    def line(self, position: int) -> int:
        """Count the line at a position."""
        return self.text.count("\n", 0, position) + 1

    def heading(self, line: int) -> str:
        """Give the anchor of the heading above a line, as a program has it."""
        return next((self.titles[n] for n in [*self.titles][::-1] if n <= line), "top")

    def outputs(self, line: int) -> Outputs:
        """Give the outputs as they are called on a line."""
        found = [one for one in self.programs if one.recorded[0]]
        above = [one.recorded[0] for one in found if one.line < line]
        below = [one.recorded[0] for one in found if one.line > line]
        under = {(one.heading, one.number): one.recorded[0] for one in found}
        return Outputs(above[-1] if above else None, below[0] if below else None, under)

    def numbers(self) -> Iterator[Number]:
        """Give the numbers that have a comment to compute them."""
        for note in self.notes:
            if COMPUTED.fullmatch(note[0]):
                end = note.start()
                line_start = self.text.rfind("\n", 0, end) + 1
                shown = SHOWN.search(self.prose, line_start, end)
                start = shown.start() if shown else end
                line = self.line(end)
                yield Number(start, end, line, note[0], self.outputs(line))

    def typed(self) -> Iterator[tuple[int, str]]:
        """Give the other numbers of the prose, with their lines; not those in names."""
        prose = self.prose
        for number in self.numbers():
            blank = " " * (number.end - number.start)
            prose = prose[: number.start] + blank + prose[number.end :]
        for match in NUMBER.finditer(NAME.sub(blanked, prose)):
            yield self.line(match.start()), match[0]
