"""The picture of the home page: the chapters of the first part as one path."""

import re
from collections.abc import Callable
from textwrap import wrap

from generators import ROOT
from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    LINE,
    MUTED,
    Panel,
    count,
    figure,
)

TILE, PITCH = 42.0, 70.0
CONFIGURATION = ROOT / "mkdocs.yml"


def chapters() -> list[tuple[str, str, str]]:
    """Read number, title and stem of each chapter where their order stands."""
    entry = r"^ +- (\d+\.\d+) (.+): basics/(\w+)\.md$"
    return re.findall(entry, CONFIGURATION.read_text("utf-8"), flags=re.MULTILINE)


def _nine(opacities: str) -> Callable[[Panel, float, float], None]:
    """Make a sign of three by three squares; a digit is an opacity in tenths."""

    def draw(panel: Panel, x: float, y: float) -> None:
        for index, digit in enumerate(opacities):
            row, column = divmod(index, 3)
            left, top = x + 7 + 10 * column, y + 7 + 10 * row
            opacity = f"0.{digit}"
            panel.rect(left, top, 8, 8, rx=1.5, fill=ACCENT, fill_opacity=opacity)

    return draw


def _bars(panel: Panel, x: float, y: float) -> None:
    for row, length in enumerate((14, 28, 20)):
        panel.rect(
            x + 7, y + 7 + 10 * row, length, 8, rx=1.5, fill=ACCENT, fill_opacity="0.8"
        )


def _letters(panel: Panel, x: float, y: float) -> None:
    for column, letter in enumerate("QKV"):
        panel.text(x + 9 + 12 * column, y + 21, letter, font_weight="700")


def _smaller(panel: Panel, x: float, y: float) -> None:
    for left, height in ((9, 28), (23, 14)):
        panel.rect(
            x + left, y + 35 - height, 10, height, fill=ACCENT, fill_opacity="0.8"
        )


def _module(panel: Panel, x: float, y: float) -> None:
    panel.rect(x + 12, y + 10, 18, 22, fill=ACCENT, fill_opacity="0.8")
    panel.line(x + 4, y + 21, x + 12, y + 21, stroke=ACCENT, stroke_width=2)
    panel.line(x + 30, y + 21, x + 38, y + 21, stroke=ACCENT, stroke_width=2)


def _stack(panel: Panel, x: float, y: float) -> None:
    for shift, fill in ((0, ACCENT_2), (8, ACCENT)):
        panel.rect(x + 17 - shift, y + 7 + shift, 18, 20, fill=fill, fill_opacity="0.8")


def _halves(panel: Panel, x: float, y: float) -> None:
    for shift, fill in ((0, ACCENT), (14.5, ACCENT_2)):
        panel.rect(x + 7 + shift, y + 7, 13.5, 28, fill=fill, fill_opacity="0.8")


def _equal(panel: Panel, x: float, y: float) -> None:
    for row in (14, 23):
        panel.rect(x + 10, y + row, 22, 5, rx=2, fill=ACCENT, fill_opacity="0.8")


def _across(panel: Panel, x: float, y: float) -> None:
    for row in (7, 17, 27):
        panel.rect(x + 7, y + row, 8, 8, rx=1.5, fill=ACCENT, fill_opacity="0.8")
        panel.rect(x + 27, y + row, 8, 8, rx=1.5, fill=ACCENT_2, fill_opacity="0.8")
    for start, end in ((11, 11), (21, 31), (31, 21)):
        panel.line(x + 16, y + start, x + 26, y + end, stroke=INK, stroke_width=1.5)


def _tick(panel: Panel, x: float, y: float) -> None:
    for start, end in (((9, 22), (18, 31)), ((18, 31), (34, 11))):
        panel.line(
            x + start[0],
            y + start[1],
            x + end[0],
            y + end[1],
            stroke=ACCENT,
            stroke_width=5,
            stroke_linecap="round",
        )


Glyph = Callable[[Panel, float, float], None]

# What each chapter adds, and a sign for it.
ADDS: dict[str, tuple[str, Glyph]] = {
    "embedding": ("a row of numbers for a word", _nine("222888222")),
    "simple_attention": ("words mixed by similarity", _bars),
    "scaled_dot_product": ("what to seek, offer and give", _letters),
    "scaling": ("scores that stay small", _smaller),
    "self_attention": ("matrices that can be trained", _module),
    "training": ("queries that find their keys", _nine("811181118")),
    "masks": ("no word looks ahead", _nine("811881888")),
    "stacked_heads": ("many ways to look at once", _stack),
    "multi_head_attention": ("the same in one product", _halves),
    "in_a_model": ("added to what went in", _across),
    "pytorch": ("equal up to rounding", _equal),
    "cross_attention": ("one text looks into another", _across),
    "packing": ("texts that share a row", _nine("811881118")),
    "checks": ("the same for your own", _tick),
}


def stages() -> str:
    """Draw the path in two columns, each chapter a link."""
    path = chapters()
    half = (len(path) + 1) // 2
    return figure(
        [[_column(path[:half], more=True), _column(path[half:], more=False)]],
        f"The first part: {count(len(path))} chapters, each one step on from the last.",
    )


def _column(path: list[tuple[str, str, str]], *, more: bool) -> Panel:
    description = "; ".join(f"{number} {title}" for number, title, _ in path)
    panel = Panel(
        308, len(path) * PITCH, f"Chapters on a path: {description}.", role="group"
    )
    middle = 2 + TILE / 2
    for place, (number, title, stem) in enumerate(path):
        adds, glyph = ADDS[stem]
        y = place * PITCH + 4
        last = place == len(path) - 1
        if more or not last:
            # The path goes on in the next column, on a phone below.
            panel.arrow(
                middle,
                y + TILE + 3,
                middle,
                y + PITCH - 3,
                stroke_dasharray="3 3" if last else "none",
            )
        panel.add(f'<a href="basics/{stem}/">')
        # All of the row can be clicked, not only its ink.
        panel.rect(2, y - 2, 304, TILE + 4, fill="none", pointer_events="all")
        panel.rect(
            2, y, TILE, TILE, rx=9, fill=ACCENT, fill_opacity="0.08", stroke=LINE
        )
        glyph(panel, 2, y)
        lines = [title] if len(title) <= 26 else wrap(title, 20)
        panel.text(72, y + 12, number, text_anchor="end", font_weight="700", fill=INK)
        for line, words in enumerate(lines):
            panel.text(
                79, y + 12 + 16 * line, words, text_anchor="start", font_weight="700"
            )
        below = y + 14 + 16 * len(lines)
        panel.text(79, below, adds, text_anchor="start", fill=MUTED)
        panel.add("</a>")
    return panel


PICTURES = {"stages": stages}
