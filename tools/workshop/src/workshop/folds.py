"""Find the folds of a page, and what of it the site leaves to the notebook.

The program that proves the key to a question stands in the page, in a fold, and the
tests run it. Who reads the page for attention needs it rarely: the site shows the page
without this fold, and the notebook and the program of the page have it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pytest_proofread.page.markdown import (
    Program,
    fences,
    lines_of,
    outside,
    programs,
)

# The title of a fold that the site does not show.
LEFT_OUT = "The program behind the choices"
FOLD = re.compile(r'(?P<indent> *)\?\?\?\+? +[\w -]*"(?P<title>.*)" *$')


class Fold(NamedTuple):
    """A box that is folded: its lines, from 1, both included, and its title."""

    line: int
    end: int
    title: str


def folds(text: str) -> list[Fold]:
    """Return the folds of a page, those in another one too, in their order."""
    lines = lines_of(text)
    found = []
    for number, line in outside(text, fences(text)).items():
        if not (opening := FOLD.match(line)):
            continue
        inside = " " * (len(opening["indent"]) + 4)
        end = number
        for at in range(number, len(lines)):
            if lines[at].strip() and not lines[at].startswith(inside):
                break
            if lines[at].strip():
                end = at + 1
        found.append(Fold(number, end, opening["title"]))
    return found


def emptied(text: str, unseen: Iterable[Fold]) -> str:
    """Return a page with empty lines in the place of folds; all others stay."""
    lines = lines_of(text)
    for fold in unseen:
        lines[fold.line - 1 : fold.end] = [""] * (fold.end - fold.line + 1)
    return "\n".join(lines) + "\n" * text.endswith("\n")


def left_out(text: str) -> list[Fold]:
    """Return the folds of a page that the site does not show."""
    if LEFT_OUT not in text:
        return []
    return [fold for fold in folds(text) if fold.title == LEFT_OUT]


def as_shown(text: str) -> str:
    """Return a page as the site shows it, with the same numbers of lines."""
    return emptied(text, left_out(text))


def programs_by_place(text: str) -> tuple[Sequence[Program], Sequence[Program]]:
    """Return the programs that the site shows, and those that it leaves out."""
    unseen = left_out(text)
    shown: list[Program] = []
    others: list[Program] = []
    for program in programs(text):
        inside = any(fold.line < program.line <= fold.end for fold in unseen)
        (others if inside else shown).append(program)
    return shown, others
