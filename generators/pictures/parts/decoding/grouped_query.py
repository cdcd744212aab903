"""Heads that share keys and values."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT_2, MUTED, Panel, count, figure
from headway import GroupedQueryAttention, repeat_heads

HEADS, WIDTH = 4, 128


def shared_heads() -> str:
    """Join each head of queries to the keys and values that it asks."""
    kinds = (("multi-head", HEADS), ("grouped-query", 2), ("multi-query", 1))
    return figure(
        [[_joined(title, groups) for title, groups in kinds]],
        f"{count(HEADS).capitalize()} heads of queries, each {WIDTH} numbers wide, and "
        "the heads of keys and values that they ask. What is kept for a token, in one "
        "layer and at two bytes a number, depends on the lower row alone.",
    )


def _joined(title: str, groups: int) -> Panel:
    asks = repeat_heads(torch.arange(float(groups)).view(-1, 1, 1), HEADS // groups)
    shared = [int(head) for head in asks.flatten()]
    kept = _kept(groups)
    panel = Panel(
        200,
        190,
        f"{title}: {count(HEADS)} heads of queries above, {count(groups)} of keys and "
        "values below, a line from each to the one that it asks: "
        + ", ".join(f"{h} to {s}" for h, s in enumerate(shared))
        + f". {kept:,} bytes a token.",
    )
    panel.text(100, 14, title, font_weight="700")
    panel.text(100, 36, "queries", fill=MUTED)
    panel.text(100, 160, "keys and values", fill=MUTED)
    panel.text(100, 182, f"{kept:,} bytes a token")
    places = [28 + 48 * h for h in range(HEADS)]
    for group in range(groups):
        members = [x for x, s in zip(places, shared, strict=True) if s == group]
        middle = sum(members) / len(members)
        for x in members:
            panel.line(x, 76, middle, 118)
        look: dict[str, float | str] = {"fill": ACCENT_2, "stroke": ACCENT_2}
        panel.box(middle, 118, 38, str(group), **look)
    for h, x in enumerate(places):
        panel.box(x, 46, 38, str(h))
    return panel


def _kept(groups: int) -> int:
    """Count what one token leaves, in bytes."""
    E = HEADS * WIDTH
    module = GroupedQueryAttention(
        E, E, 1, 0.0, HEADS, num_kv_heads=groups, device="meta", dtype=torch.bfloat16
    )
    token = torch.empty(1, E, device="meta", dtype=torch.bfloat16)
    return module.W_key(token).nbytes + module.W_value(token).nbytes


PICTURES: dict[str, Callable[[], str]] = {"shared-heads": shared_heads}
