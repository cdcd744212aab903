"""Rotary positions: a query and a key, turned by where their tokens stand."""

import math
from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, ACCENT_2, LINE, MUTED, Panel, figure, tag
from headway import Rotary
from workshop.generator_support import fixed

STEP = 30  # degrees by which the pair turns from a token to the next
PLACES = ((2, 0), (5, 3), (9, 7))


def _panel(query_place: int, key_place: int) -> tuple[Panel, str]:
    step = torch.tensor([math.radians(STEP)], dtype=torch.float64)
    word = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    places = torch.tensor([query_place, key_place])
    query, key = Rotary(2, frequencies=step)(word.expand(2, 2), places)
    score = fixed(float(query @ key), 2)
    size, radius = 148, 52.0
    x, y = size / 2, 86.0
    panel = Panel(
        size,
        172,
        "Two arrows from the middle of a circle. The query, at position "
        f"{query_place}, points to {STEP * query_place} degrees, the key, at position "
        f"{key_place}, to {STEP * key_place} degrees. Their dot product is {score}.",
    )
    panel.text(x, 12, f"positions {query_place} and {key_place}", font_weight="700")
    dial = {"cx": x, "cy": y, "r": radius, "fill": "none", "stroke": LINE}
    panel.add(tag("circle", **dial))
    for vector, colour, letter in ((key, ACCENT_2, "k"), (query, ACCENT, "q")):
        dx, dy = (float(number) for number in vector)
        end_x, end_y = x + radius * dx, y - radius * dy
        panel.line(x, y, end_x - 5 * dx, end_y + 5 * dy, stroke=colour, stroke_width=2)
        panel.head(end_x, end_y, dx, -dy, colour)
        panel.text(x + 62 * dx, y - 62 * dy, letter, fill=colour, font_weight="700")
    panel.text(x - 4, 163, "score", fill=MUTED, text_anchor="end")
    panel.text(x + 4, 163, score, font_weight="700", text_anchor="start")
    return panel, score


def rotary_turn() -> str:
    """Move a query and a key together: the angle between them stays."""
    drawn = [_panel(*places) for places in PLACES]
    scores = {score for _, score in drawn}
    if len(scores) > 1:
        raise ValueError(f"scores must be alike; got scores={scores}.")
    return figure(
        [[panel for panel, _ in drawn]],
        f"A query and a key, both the vector (1, 0), turned by {STEP} degrees a step. "
        "Wherever they stand, a distance of two is an angle of "
        f"{2 * STEP} degrees between them, and so a score of {scores.pop()}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"rotary-turn": rotary_turn}
