"""Positions as hands of clocks."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, LINE, MUTED, Panel, count, figure, tag
from headway import sinusoidal_positions

POSITIONS, HANDS = 8, 3
NAMES = ("fast", "slower", "slowest")


def clock_hands() -> str:
    """Show where each hand points at the first positions."""
    table = sinusoidal_positions(
        torch.arange(POSITIONS), 2 * HANDS, dtype=torch.float64
    )
    pitch, left, top, radius = 32, 62, 44, 13.0
    width, height = left + POSITIONS * pitch, top + HANDS * pitch
    panel = Panel(
        width,
        height,
        f"{count(HANDS).capitalize()} rows of {count(POSITIONS)} dials, a column for "
        f"each position from 0 to {POSITIONS - 1}. All hands begin upright. The first "
        "row goes around once in six columns, the second moves a little at each "
        "column, and the third hardly at all.",
    )
    panel.text(left + POSITIONS * pitch / 2, 10, "position", fill=MUTED)
    for position, row in enumerate(table.unflatten(-1, (HANDS, 2)).tolist()):
        x = left + (position + 0.5) * pitch
        panel.text(x, 28, str(position), font_weight="700")
        for hand, (sine, cosine) in enumerate(row):
            y = top + (hand + 0.5) * pitch
            dial = {"cx": x, "cy": y, "r": radius, "fill": "none", "stroke": LINE}
            panel.add(tag("circle", **dial))
            panel.line(
                x,
                y,
                x + radius * sine,
                y - radius * cosine,
                stroke=ACCENT,
                stroke_width=2.4,
            )
    for hand, name in enumerate(NAMES):
        y = top + (hand + 0.5) * pitch
        panel.text(left - 6, y, name, text_anchor="end")
    return figure(
        [[panel]],
        "Each pair of columns is a hand: its sine points to the right, its cosine up. "
        "Together the hands say a position, as hours and minutes say a time.",
    )


PICTURES: dict[str, Callable[[], str]] = {"clock-hands": clock_hands}
