"""What the judge says of an answer."""

import html
import json
import re
import textwrap
from dataclasses import asdict, dataclass
from typing import Literal

from headway.practice.judging.where_to_read import to_exhibit, to_section

State = Literal["passed", "failed", "open"]
_WIDTH = 80
_MARKS = {"passed": "passed", "failed": "FAILED", "open": "not written yet"}
_ADDRESS = re.compile(r"https?://[^\s&<>]+")
_COLOURS = {"passed": "32", "failed": "1;31", "open": "33"}


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verdict on one answer.

    Attributes:
        name: The exercise.
        state: `passed`, `failed`, or `open` while nothing is written in the hole.
        sentence: What was seen.
        mistakes: The mistakes that explain it exactly, as sentences; often one.
        case: The smallest case that shows it: arguments, result, right result.
        read: The page and the title of the section to read.
        exhibits: Programs of the museum that show the mistakes.
        hint: A first hint for who has made this mistake.
        example: Whether the worked example comes out, or what it printed instead.
        printed: What the file printed while it was judged.
        traceback: The reader's own lines of an error.
        seed: What the hidden numbers were drawn from.
    """

    name: str
    state: State
    sentence: str
    mistakes: tuple[str, ...] = ()
    case: tuple[str, ...] = ()
    read: tuple[str, str] = ("", "")
    exhibits: tuple[str, ...] = ()
    hint: str = ""
    example: str = ""
    printed: str = ""
    traceback: str = ""
    seed: int = 0

    @property
    def ok(self) -> bool:
        """Whether the answer is right."""
        return self.state == "passed"

    def to_json(self) -> str:
        """Give the verdict as a JSON object."""
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Verdict":
        """Read what `to_json` wrote."""
        found = json.loads(text)
        found.pop("ok")
        lists = ("mistakes", "case", "read", "exhibits")
        return cls(**(found | {name: tuple(found[name]) for name in lists}))

    def __bool__(self) -> bool:
        """Whether the answer is right."""
        return self.ok

    def __repr__(self) -> str:
        """Give the verdict as lines for a terminal."""
        return self.text()

    def text(self, *, width: int = _WIDTH, colour: bool = False) -> str:
        """Give the verdict as lines for a terminal.

        Args:
            width: How many characters a line may have.
            colour: Whether to mark the state by an ANSI colour.
        """
        mark = _MARKS[self.state]
        if colour:
            mark = f"\x1b[{_COLOURS[self.state]}m{mark}\x1b[0m"
        lines = [f"{self.name}  {mark}"]
        if self.printed:
            lines += ["", "your file printed:"]
            lines += (f"| {line}" for line in self.printed.splitlines())
            lines.append("")
        lines += _wrapped(self.sentence, width)
        lines += [f"    {line}" for line in self.traceback.splitlines()]
        for line in self.case:
            lines += _wrapped(line, width, "    ", " " * 13)
        # What names the mistake stands at the end, where a small terminal shows it.
        if self.mistakes:
            named = ", and when ".join(self.mistakes)
            told = f"This is exactly what comes out when {named}."
            lines += _wrapped(told, width)
        elif self.example:
            lines += _wrapped(self.example, width)
        for one in self._where_to_read():
            lines += _wrapped(one, width)
        return "\n".join(lines)

    def _where_to_read(self) -> list[str]:
        found = []
        address, title = self.read
        if address and not self.ok:
            found.append(to_section(address, title))
        found += [to_exhibit(one) for one in self.exhibits]
        return found

    def _repr_html_(self) -> str:
        colour = {"passed": "green", "failed": "firebrick", "open": "goldenrod"}
        lines = self.text().splitlines()[1:]
        if self.state == "failed":
            lines += ["", f"  hidden numbers from seed {self.seed}"]
        body = _ADDRESS.sub(r'<a href="\g<0>">\g<0></a>', html.escape("\n".join(lines)))
        return (
            f'<p><code>{self.name}</code> <strong style="color: {colour[self.state]}">'
            f"{_MARKS[self.state]}</strong></p><pre>{body}</pre>"
        )


def _wrapped(
    paragraph: str, width: int, first: str = "  ", others: str = "  "
) -> list[str]:
    """Break a paragraph into indented lines; an address stays in one piece."""
    return textwrap.wrap(
        paragraph,
        max(width, 20),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
