"""How far heads look with a slope of their own, and where T5's buckets start."""

import math
from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, ACCENT_2, MUTED, Panel, figure, shade
from headway import alibi_slopes, relative_buckets

LONGEST = 140
COLUMNS = 7


def _heads() -> Panel:
    slopes = alibi_slopes(8).tolist()
    halves = [math.ceil(math.log(2) / slope) for slope in slopes]
    listed = "; ".join(
        f"slope 1/{1 / slope:g}, {half}"
        for slope, half in zip(slopes, halves, strict=True)
    )
    size, left, top = 28, 52, 56
    panel = Panel(
        308,
        top + 8 * 24 + 6,
        f"A row for each of eight heads, a square for each of the newest {COLUMNS} "
        "keys, the fuller the larger its weight beside that of the newest, where "
        "scores are equal. How many of the "
        f"newest tokens hold half of the weight: {listed}.",
    )
    panel.text(154, 14, "ALiBi, eight heads", font_weight="700")
    panel.text(left - 8, 40, "slope", text_anchor="end", fill=MUTED)
    panel.text(left + COLUMNS * size / 2, 40, "keys, the newest right", fill=MUTED)
    panel.text(300, 40, "half in", text_anchor="end", fill=MUTED)
    for head, (slope, half) in enumerate(zip(slopes, halves, strict=True)):
        y = top + head * 24
        panel.text(left - 8, y + 9, f"1/{1 / slope:g}", text_anchor="end")
        panel.text(300, y + 9, str(half), text_anchor="end")
        for column in range(COLUMNS):
            weight = math.exp(-slope * (COLUMNS - 1 - column))
            panel.rect(
                left + column * size + 1,
                y,
                size - 2,
                18,
                fill=ACCENT,
                fill_opacity=shade(weight),
            )
    return panel


def starts(bidirectional: bool) -> list[int]:
    """List the distances at which T5's buckets start."""
    n = torch.arange(LONGEST)
    found = relative_buckets(n, n[:1], bidirectional=bidirectional).flatten().tolist()
    return [found.index(bucket) for bucket in sorted(set(found))]


def _ruler(panel: Panel, y: float, name: str, places: list[int]) -> None:
    left, unit = 10, 288 / LONGEST
    panel.text(left, y - 16, name, text_anchor="start")
    ends = [*places[1:], LONGEST]
    for number, (start, end) in enumerate(zip(places, ends, strict=True)):
        last = end == LONGEST
        panel.rect(
            left + start * unit,
            y,
            (end - start) * unit,
            30,
            fill=ACCENT_2 if last else ACCENT,
            fill_opacity=shade(1.0 if number % 2 or last else 0.3),
            rx=0,
        )
    x = left + places[-1] * unit
    panel.line(x, y, x, y + 36, stroke=ACCENT_2)
    panel.text(x, y + 46, str(places[-1]), fill=ACCENT_2, font_weight="700")
    panel.line(
        left + 128 * unit, y - 6, left + 128 * unit, y + 36, stroke_dasharray="4 3"
    )
    panel.text(left + 128 * unit, y + 46, "128", fill=MUTED)
    for tick in (0, 32, 64):
        panel.text(left + tick * unit, y + 46, str(tick), fill=MUTED)


def _buckets() -> Panel:
    one, both = starts(bidirectional=False), starts(bidirectional=True)
    panel = Panel(
        308,
        254,
        f"Two rulers of distances from 0 to {LONGEST}, cut into buckets that grow "
        f"wider. A decoder has {len(one)}, the last starts at {one[-1]}; an encoder "
        f"has {len(both)} for each side, the last starts at {both[-1]}. A dashed line "
        "marks 128.",
    )
    panel.text(154, 14, "T5, buckets of distances", font_weight="700")
    _ruler(panel, 66, f"decoder: {len(one)} buckets", one)
    _ruler(panel, 174, f"encoder: {len(both)} buckets for each side", both)
    return panel


def distance_bias() -> str:
    """Set the reach of ALiBi's heads beside T5's buckets."""
    last = [starts(bidirectional)[-1] for bidirectional in (False, True)]
    return figure(
        [[_heads(), _buckets()]],
        "Left: how much older keys weigh beside the newest, where scores are equal, "
        "and how many tokens hold half of the weight. Right: T5 learns a number for "
        f"each bucket; the last one starts at {last[0]} or {last[1]}, before 128.",
    )


PICTURES: dict[str, Callable[[], str]] = {"distance-bias": distance_bias}
