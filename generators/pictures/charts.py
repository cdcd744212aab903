"""Tables, heat maps and bars: numbers on a regular grid."""

from collections.abc import Sequence

from generators.pictures.svg import ACCENT, INK, MUTED, Panel, coordinate, shade, tag
from workshop.generator_support import fixed

Rows = Sequence[Sequence[float]]


def cells(
    panel: Panel,
    at: tuple[float, float],
    texts: Sequence[Sequence[str]],
    size: tuple[float, float],
    *,
    fill: str = ACCENT,
    opacity: str = "0.08",
    **style: float | str,
) -> None:
    """Draw a block of cells with text in them, all alike."""
    x, y = at
    width, height = size
    for row, line in enumerate(texts):
        for column, words in enumerate(line):
            left, top = x + column * width, y + row * height
            panel.rect(
                left + 1,
                top + 1,
                width - 2,
                height - 2,
                fill=fill,
                fill_opacity=opacity,
            )
            panel.text(left + width / 2, top + height / 2, words, **style)


def heat_map(
    panel: Panel,
    at: tuple[float, float],
    values: Rows,
    size: float,
    *,
    visible: Sequence[Sequence[bool]] | None = None,
    fill: str = ACCENT,
    largest: float | None = None,
) -> None:
    """Draw weights as squares, the fuller the larger; hidden ones are hatched."""
    x, y = at
    largest = max(map(max, values)) if largest is None else largest
    hidden = []
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            left, top = x + column * size + 1, y + row * size + 1
            if visible is not None and not visible[row][column]:
                hidden.append((left, top))
                continue
            opacity = shade(value / largest)
            panel.rect(left, top, size - 2, size - 2, fill=fill, fill_opacity=opacity)
            panel.text(left + size / 2 - 1, top + size / 2 - 1, fixed(value, 2))
    if hidden:
        panel.hatch(hidden, size - 2)


def axes(
    panel: Panel,
    at: tuple[float, float],
    words: Sequence[str],
    size: float,
    *,
    queries: Sequence[str] | None = None,
    **style: float | str,
) -> None:
    """Name the queries to the left and the keys above a square of cells at (x, y)."""
    x, y = at
    for index, (word, query) in enumerate(zip(words, queries or words, strict=True)):
        middle = (index + 0.5) * size
        panel.text(x - 7, y + middle, query, text_anchor="end", **style)
        panel.text(x + middle, y - 11, word, **style)
    panel.text(x - 7, y - 30, "query", text_anchor="end", fill=MUTED, **style)
    panel.text(x + len(words) * size / 2, y - 30, "key", fill=MUTED, **style)


def bars(
    panel: Panel,
    at: tuple[float, float],
    values: Sequence[float],
    size: tuple[float, float],
    *,
    digits: int = 4,
    fill: str = ACCENT,
    longest: float | None = None,
) -> None:
    """Draw one level bar a row, each with its value behind it."""
    x, y = at
    width, pitch = size
    longest = max(values) if longest is None else longest
    panel.line(x, y, x, y + len(values) * pitch)
    for row, value in enumerate(values):
        middle, length = y + (row + 0.5) * pitch, width * value / longest
        if value:
            panel.rect(x, middle - 9, length, 18, fill=fill, fill_opacity="0.7", rx=2)
        # An exact zero is not one that was rounded.
        words = fixed(value, digits) if value else "0"
        panel.text(x + length + 6, middle, words, text_anchor="start")


def row_labels(
    panel: Panel,
    at: tuple[float, float],
    words: Sequence[str],
    pitch: float,
    *,
    strong: int | None = None,
) -> None:
    """Write a word to the left of each row, one of them strong."""
    x, y = at
    for row, word in enumerate(words):
        style: dict[str, str] = {"text_anchor": "end"}
        if row == strong:
            style |= {"font_weight": "700", "fill": ACCENT}
        panel.text(x, y + (row + 0.5) * pitch, word, **style)


def grid(
    panel: Panel,
    at: tuple[float, float],
    shape: tuple[int, int],
    unit: float,
    *,
    fill: str = ACCENT,
    strong: int | None = None,
) -> None:
    """Draw a matrix to scale, one square a number, one row of it strong."""
    x, y = at
    rows, columns = shape
    width, height = columns * unit, rows * unit
    panel.rect(x, y, width, height, fill=fill, fill_opacity="0.14", rx=0)
    if strong is not None:
        top = y + strong * unit
        panel.rect(x, top, width, unit, fill=fill, fill_opacity="0.5", rx=0)
    inner = [
        f"M{coordinate(x)} {coordinate(y + row * unit)}h{coordinate(width)}"
        for row in range(1, rows)
    ] + [
        f"M{coordinate(x + column * unit)} {coordinate(y)}v{coordinate(height)}"
        for column in range(1, columns)
    ]
    panel.path("".join(inner), stroke=fill, stroke_opacity="0.35")
    panel.rect(x, y, width, height, fill="none", stroke=fill, stroke_width=1.5, rx=1)


def dot(panel: Panel, x: float, y: float, **style: float | str) -> None:
    """Draw a small ring."""
    look: dict[str, float | str] = {"r": 4.5, "fill": "none", "stroke": INK, **style}
    panel.add(tag("circle", cx=x, cy=y, **look))
