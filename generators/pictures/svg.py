"""The few shapes that all pictures are drawn with.

A picture becomes part of its page. So it takes its text colour and its font from there,
and its other colours from four variables that a page may set for each colour scheme.
"""

from collections.abc import Sequence
from html import escape

INK = "currentColor"
ACCENT = "var(--hw-accent, #0f6680)"
ACCENT_2 = "var(--hw-accent-2, #b04a15)"
MUTED = "var(--hw-muted, #5b656b)"
LINE = "var(--hw-line, #c8ced1)"

TIMES = "\N{MULTIPLICATION SIGN}"

# Text on the fullest fill stays readable in both schemes up to here.
FULL = 0.42


def coordinate(value: float) -> str:
    """Write a length with one decimal, where it has any."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


def count(number: int) -> str:
    """Write a small number as a word."""
    words = "zero one two three four five six seven eight nine ten eleven twelve"
    words += " thirteen fourteen fifteen sixteen"
    return words.split()[number]


def tag(name: str, content: str = "", /, **attributes: float | str) -> str:
    """Write one element; an underscore in a name becomes a hyphen."""
    pairs = ""
    for key, value in attributes.items():
        written = value if isinstance(value, str) else coordinate(value)
        pairs += f' {key.replace("_", "-")}="{escape(written)}"'
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def shade(share: float) -> str:
    """Turn a share in [0, 1] into the opacity of a fill."""
    return f"{0.03 + (FULL - 0.03) * share:.2f}"


class Panel:
    """One drawing, narrow enough to stand on a phone as it is.

    Args:
        width: Width of the drawing; its texts are 11 to 14 units high.
        height: Height of the drawing.
        label: What is to be seen, for those who do not see it.
        drawn: Width on a wide screen in pixels; `None` means `width`.
        role: `group` if the drawing holds links, which `img` would hide.
    """

    def __init__(
        self,
        width: float,
        height: float,
        label: str,
        *,
        drawn: float | None = None,
        role: str = "img",
    ) -> None:
        self._size = (width, height)
        self._drawn = width if drawn is None else drawn
        self._label, self._role = label, role
        self._parts: list[str] = []

    def add(self, part: str) -> None:
        """Append markup, one line of it."""
        self._parts.append(part)

    def text(self, x: float, y: float, words: str, **style: float | str) -> None:
        """Write words, centred on a height and, unless told otherwise, on x."""
        size = float(style.get("font_size", 12))
        self.add(tag("text", escape(words), x=x, y=y + 0.36 * size, **style))

    def rect(
        self, x: float, y: float, width: float, height: float, **style: float | str
    ) -> None:
        """Draw a rectangle with slightly rounded corners."""
        style = {"rx": 3, **style}
        self.add(tag("rect", x=x, y=y, width=width, height=height, **style))

    def path(self, d: str, **style: float | str) -> None:
        """Draw a line that fills nothing."""
        self.add(tag("path", d=d, **{"fill": "none", "stroke": MUTED, **style}))

    def line(
        self, x1: float, y1: float, x2: float, y2: float, **style: float | str
    ) -> None:
        """Draw a straight line."""
        ends = [coordinate(end) for end in (x1, y1, x2, y2)]
        self.path("M{} {}L{} {}".format(*ends), **style)

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, **style: float | str
    ) -> None:
        """Draw a straight arrow, upright or level."""
        length = max(abs(x2 - x1), abs(y2 - y1))
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        self.line(x1, y1, x2 - 3 * dx, y2 - 3 * dy, **style)
        self.head(x2, y2, dx, dy, str(style.get("stroke", MUTED)))

    def head(self, x: float, y: float, dx: float, dy: float, fill: str) -> None:
        """Draw the head of an arrow that points along (dx, dy), of length one."""
        back_x, back_y = x - 7 * dx, y - 7 * dy
        corners = [
            (x, y),
            (back_x - 3.5 * dy, back_y + 3.5 * dx),
            (back_x + 3.5 * dy, back_y - 3.5 * dx),
        ]
        points = " ".join(f"{coordinate(a)},{coordinate(b)}" for a, b in corners)
        self.add(tag("polygon", points=points, fill=fill))

    def box(
        self, x: float, y: float, width: float, words: str, **style: float | str
    ) -> None:
        """Draw a step of a flow, its top middle at (x, y), 30 high."""
        look: dict[str, float | str] = {
            "fill": ACCENT,
            "fill_opacity": shade(0.2),
            "stroke": ACCENT,
            "rx": 6,
            **style,
        }
        self.rect(x - width / 2, y, width, 30, **look)
        self.text(x, y + 15, words)

    def hatch(
        self,
        cells: Sequence[tuple[float, float]],
        size: float,
        *,
        lettered: bool = False,
    ) -> None:
        """Hatch square cells, which so say without colour that they are hidden."""
        steps = (0.3, 0.55, 1.45, 1.7) if lettered else (0.35, 0.7, 1.0, 1.3, 1.65)
        strokes = []
        for x, y in cells:
            for step in steps:
                low, high = max(step - 1, 0) * size, min(step, 1) * size
                ends = [coordinate(e) for e in (x + low, y + high, x + high, y + low)]
                strokes.append("M{} {}L{} {}".format(*ends))
        self.path("".join(strokes), stroke_opacity="0.55")

    def __str__(self) -> str:
        """Write the drawing."""
        width, height = map(coordinate, self._size)
        head = (
            f'<svg viewBox="0 0 {width} {height}" width="{coordinate(self._drawn)}" '
            f'role="{self._role}" aria-label="{escape(self._label)}" '
            'font-size="12" text-anchor="middle" fill="currentColor" '
            'style="max-width:100%;height:auto;font-variant-numeric:tabular-nums">'
        )
        return "\n".join([head, *self._parts, "</svg>"])


def figure(rows: Sequence[Sequence[Panel]], caption: str) -> str:
    """Join panels to a figure; those of a row stand below each other on a phone."""
    style = "display:flex;flex-wrap:wrap;justify-content:center;gap:20px 24px"
    lines = ['<figure class="hw-figure">']
    for number, row in enumerate(rows):
        margin = ";margin-top:20px" if number else ""
        opening = '<div class="hw-panels" data-search-exclude=""'
        lines.append(f'{opening} style="{style}{margin}">')
        lines.extend(str(panel) for panel in row)
        lines.append("</div>")
    return "\n".join([*lines, f"<figcaption>{caption}</figcaption>", "</figure>", ""])
