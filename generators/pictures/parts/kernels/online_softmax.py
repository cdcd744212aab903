"""Four keys, two pieces, one result: what is merged keeps its area."""

import math
from collections.abc import Callable, Sequence

import torch

from generators.pictures.svg import ACCENT, ACCENT_2, LINE, MUTED, Panel, figure, shade
from headway import attention_with_lse, merge_attention
from workshop.generator_support import fixed

POWERS, VALUES, CUT = (1.0, 2.0, 3.0, 4.0), (10.0, 20.0, 30.0, 40.0), 2
UNIT, HEIGHT, LEFT, TOP = 20, 3.0, 6, 46  # of mass, of value; where bars begin
AXES = "A bar is as wide as its mass, and as high as what it gives."
FLOOR = TOP + HEIGHT * max(VALUES)

Bars = list[tuple[float, float]]  # mass and context


def _pieces() -> tuple[Bars, Bars, Bars]:
    """Attend to single keys, to halves, and to all: masses and contexts."""
    query = torch.ones(1, 1, dtype=torch.float64)
    key = torch.tensor(POWERS, dtype=torch.float64).log().unsqueeze(-1)
    value = torch.tensor(VALUES, dtype=torch.float64).unsqueeze(-1)

    def weigh(pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[float, float]:
        return math.exp(pair[1].item()), pair[0].item()

    def attend(start: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        return attention_with_lse(query, key[start:end], value[start:end])

    halves = [attend(0, CUT), attend(CUT, len(POWERS))]
    singles = [attend(n, n + 1) for n in range(len(POWERS))]
    return (
        [weigh(pair) for pair in singles],
        [weigh(pair) for pair in halves],
        [weigh(merge_attention(*halves))],
    )


def _number(value: float) -> str:
    return fixed(value, 2).removesuffix(".00")


def _bars(title: str, bars: Bars, fills: Sequence[str], what: str) -> Panel:
    width = UNIT * sum(mass for mass, _ in bars)
    said = "; ".join(f"mass {_number(m)}, {what} {_number(z)}" for m, z in bars)
    panel = Panel(width + 2 * LEFT, FLOOR + 24, f"{title.capitalize()}: {said}. {AXES}")
    panel.text(LEFT + width / 2, 12, title, font_weight="700")
    x = float(LEFT)
    for (mass, context), fill in zip(bars, fills, strict=True):
        wide, high = UNIT * mass, HEIGHT * context
        panel.rect(
            x + 1,
            FLOOR - high,
            wide - 2,
            high,
            fill=fill,
            fill_opacity=shade(0.6),
            rx=0,
        )
        panel.text(x + wide / 2, FLOOR - high - 10, _number(context))
        panel.text(x + wide / 2, FLOOR + 12, _number(mass), fill=MUTED)
        x += wide
    panel.line(LEFT, FLOOR, LEFT + width, FLOOR, stroke=LINE)
    return panel


def pieces_by_mass() -> str:
    """Draw keys, halves and the whole as bars: as wide as heavy, as high as mixed."""
    keys, halves, whole = _pieces()
    colors = [ACCENT] * CUT + [ACCENT_2] * (len(POWERS) - CUT)
    (first, low), (second, high) = halves
    ((mass, context),) = whole
    return figure(
        [
            [
                _bars("four keys", keys, colors, "value"),
                _bars("two pieces", halves, [ACCENT, ACCENT_2], "context"),
                _bars("together", whole, [MUTED], "context"),
            ]
        ],
        "Each bar is as wide as its mass (below) and as high as its value or context "
        f"(above). A piece is as wide as its keys together, {_number(first)} and "
        f"{_number(second)}, and has their mean height, {_number(low)} and "
        f"{_number(high)}; the whole again, {_number(mass)} wide and "
        f"{_number(context)} high. Each step keeps the area.",
    )


PICTURES: dict[str, Callable[[], str]] = {"pieces-by-mass": pieces_by_mass}
