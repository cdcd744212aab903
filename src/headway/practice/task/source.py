"""The source of an exercise: what the reader gets, and what the solution is."""

import ast
import textwrap
from dataclasses import dataclass

from headway.practice.task.refused import RefusedError

BEGIN = "# --- your file ---"
HOLE = "# --- write ---"
FILLED = "# --- written ---"
END = "# --- end of your file ---"
EXAMPLE = 'if __name__ == "__main__":\n'
BLANK = "raise NotImplementedError  # write your lines here, in place of this one"


@dataclass(frozen=True)
class Source:
    """The parts of the file of an exercise.

    Attributes:
        title: The first line of its docstring.
        text: The task, in Markdown.
        before: What stands in the reader's file above the hole.
        hole: The lines of the solution, with their indentation.
        after: What stands below, the example included.
    """

    title: str
    text: str
    before: str
    hole: str
    after: str

    @property
    def solution(self) -> str:
        """The program with the hole filled."""
        return self.before + self.hole + self.after

    @property
    def indent(self) -> str:
        """What the lines of the hole are indented by."""
        line = self.hole.splitlines()[0]
        return line[: len(line) - len(line.lstrip())]

    @property
    def stub(self) -> str:
        """The program with the hole open."""
        return f"{self.before}{self.indent}{BLANK}\n{self.after}"

    def filled_with(self, lines: str) -> str:
        """Give the program with other lines in the hole."""
        least = min(
            len(line) - len(line.lstrip())
            for line in self.hole.splitlines()
            if line.strip()
        )
        body = textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * least)
        return f"{self.before}{body}\n{self.after}"

    @property
    def example(self) -> tuple[str, str]:
        """The program of the worked example, and what it prints: comments below it."""
        _, _, block = self.after.partition(EXAMPLE)
        lines = textwrap.dedent(block).splitlines()
        program = [line for line in lines if not line.startswith("#")]
        begun = next(
            (n for n, line in enumerate(lines) if line[:1] not in ("", "#")), 0
        )
        below = [line for line in lines[begun:] if line.startswith("#")]
        printed = [line.removeprefix("#").removeprefix(" ") for line in below]
        return "\n".join(program).strip(), "\n".join(printed).strip()


def cut(source: str) -> Source:
    """Cut the file of an exercise into its parts.

    Raises:
        ValueError: If a marker is missing, or the file has no docstring.
    """
    places = []
    for marker in (BEGIN, HOLE, FILLED, END):
        if source.count(marker) != 1:
            raise RefusedError(
                f"an exercise must have one line {marker!r}; "
                f"got {source.count(marker)} of them."
            )
        places.append(source.index(marker))
    if places != sorted(places):
        raise RefusedError("the markers of an exercise must stand in their order.")
    title, _, text = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    if not title:
        raise RefusedError("an exercise must begin with a docstring: title, then task.")
    lines = source.splitlines(keepends=True)
    begin, write, written, end = (source[:place].count("\n") for place in places)
    return Source(
        title.rstrip("."),
        text.strip(),
        "".join(lines[begin + 1 : write]).lstrip("\n"),
        "".join(lines[write + 1 : written]),
        "".join(lines[written + 1 : end]).rstrip("\n") + "\n",
    )
