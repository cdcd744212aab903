"""What a chapter says at its top: what one will be able to do, how long, what to skip.

The two sentences stand in the front matter of the chapter, as `learn` and `skip`. How
long it takes is counted, by one rule: a minute for 200 words of prose, and one for 8
lines of programs, rounded to 5 minutes. What is folded is not counted, nor what a
program repeats of those above it, nor exercises, outputs and tables that are included.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

from markdown import Markdown
from mkdocs.utils.meta import get_data

from pytest_proofread.page.markdown import fences, lines_of, outside, programs
from workshop.folds import emptied, folds
from workshop.repeated_lines import repeated
from workshop.website.takeaway.cells import INCLUDE, outside_code, plain

WORDS_PER_MINUTE = 200
LINES_PER_MINUTE = 8
ROUNDED_TO = 5
EXERCISES = "## Exercises"
WORD = re.compile(r"\S*\w\S*")


class Opening(TypedDict):
    """What stands at the top of a chapter: two pieces of HTML, and minutes."""

    learn: str
    minutes: int
    skip: str


def without_exercises(text: str) -> str:
    """Return a page with empty lines in the place of its exercises."""
    lines = lines_of(text)
    bare = outside(text, fences(text)).items()
    heads = [number for number, line in bare if re.match("##? ", line)]
    for start, end in pairwise([*heads, len(lines) + 1]):
        if lines[start - 1].rstrip() == EXERCISES:
            lines[start - 1 : end - 1] = [""] * (end - start)
    return "\n".join(lines) + "\n"


def words(text: str) -> int:
    """Count the words of prose."""
    prose = "\n".join(outside(text, fences(text)).values())
    prose = outside_code(INCLUDE, lambda match: "", plain(prose, lambda target: None))
    return len(WORD.findall(re.sub(r"<[^<>]+>", " ", prose)))


def lines_of_programs(text: str) -> int:
    """Count the lines of programs that a page shows for the first time."""
    total = 0
    above: list[str] = []
    for program in programs(text):
        new = program.code.split("\n")[repeated(program.code, above) :]
        total += sum(bool(line.strip()) for line in new)
        above.append(program.code)
    return total


def minutes(text: str) -> int:
    """Return how many minutes one reads a page, by the rule above.

    Args:
        text: The page, without its front matter.
    """
    text = without_exercises(emptied(text, folds(text)))
    time = words(text) / WORDS_PER_MINUTE + lines_of_programs(text) / LINES_PER_MINUTE
    return max(1, int(time / ROUNDED_TO + 0.5)) * ROUNDED_TO


def as_html(sentence: object) -> str:
    """Return a sentence of the front matter as HTML; nothing for none."""
    html = Markdown().convert(str(sentence or ""))
    return html.removeprefix("<p>").removesuffix("</p>")


def as_promise(sentence: object) -> str:
    """Return what goes on after "You will be able to", so with a small letter."""
    text = str(sentence or "")
    if re.match(r"[A-Z][a-z]*\b", text):
        text = text[0].lower() + text[1:]
    return as_html(text)


def opening(text: str) -> Opening:
    """Return what stands at the top of a chapter.

    Args:
        text: The chapter, with its front matter.
    """
    body, given = get_data(text)
    return {
        "learn": as_promise(given.get("learn")),
        "minutes": minutes(body),
        "skip": as_html(given.get("skip")),
    }


def openings(docs: Path, chapters: tuple[str, ...]) -> dict[str, Opening]:
    """Return what stands at the top of each chapter, by its source.

    Args:
        docs: The folder of the pages.
        chapters: The folders of the chapters, each with a slash at its end.
    """
    return {
        path.relative_to(docs).as_posix(): opening(path.read_text(encoding="utf-8"))
        for folder in chapters
        for path in sorted(docs.glob(f"{folder}**/*.md"))
    }
