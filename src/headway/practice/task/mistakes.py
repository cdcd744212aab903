"""The known mistakes of an exercise, from a file beside it.

A mistake is a sentence, what stands in the solution, and what stands there instead:

    # the triangle is flipped: the future is seen, and not the past
    - tril(S - T)
    + triu(S - T)

Without a line `-`, all lines of the solution are replaced. Lines that begin with `@`
say more: `@exhibit`, `@hint` and `@same_as` with a text, and `@alone`. The likeliest
mistake stands first.
"""

from pathlib import Path
from typing import Any

from headway.practice.task.definition import Wrong
from headway.practice.task.refused import RefusedError

_LINES = {"-": "old", "+": "new"}
_TEXTS = ("@exhibit", "@hint", "@same_as")


def read_mistakes(path: Path, solution: str) -> list[Wrong]:
    """Read the mistakes of a file, the likeliest first.

    Args:
        path: The file.
        solution: The lines that a reader writes.

    Raises:
        ValueError: If a line belongs to no mistake, or one changes nothing.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, _, text = line.partition(" ")
        if mark == "#":
            found.append({"sentence": text, "old": [], "new": []})
        elif line and not found:
            _refuse(path, number, "the first line must be a sentence, behind #", line)
        elif mark in _LINES:
            found[-1][_LINES[mark]].append(text)
        elif mark in _TEXTS:
            found[-1][mark[1:]] = text
        elif line == "@alone":
            found[-1]["alone"] = True
        elif line:
            marks = ", ".join(["#", *_LINES, *_TEXTS, "@alone"])
            _refuse(path, number, f"a line must begin with one of {marks}", line)
    for one in found:
        if not one["old"] and not one["new"]:
            text = one["sentence"]
            raise RefusedError(
                f"{path.name}: a mistake must have a line - or +; got {text}."
            )
        one["old"] = one["old"] or [solution.strip("\n")]
        one |= {name: "\n".join(one[name]) for name in _LINES.values()}
    return [Wrong(**one) for one in found]


def _refuse(path: Path, number: int, must: str, line: str) -> None:
    raise RefusedError(f"{path.name}, line {number}: {must}; got {line!r}.")
