"""Which weights of attention each process has."""

from collections.abc import Callable

import torch
from torch import Tensor

from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    LINE,
    MUTED,
    Panel,
    count,
    figure,
    shade,
)
from headway import MultiHeadAttention, shard_heads

HEADS, WIDTH, D_IN, PROCESSES = 6, 2, 4, 3
CELL, TOP = 13, 46
LOOKS = ((ACCENT, 0.75), (ACCENT_2, 0.75), (MUTED, 0.35))


def dealt_heads() -> str:
    """Draw the weights of a module, shaded by the process that has them."""
    whole = MultiHeadAttention(D_IN, HEADS * WIDTH, 1, 0.0, HEADS)
    layers = ("W_query", "W_key", "W_value", "out_proj")
    with torch.no_grad():
        for name in layers:
            weight = whole.get_parameter(f"{name}.weight")
            weight.copy_(torch.arange(1.0, 1 + weight.numel()).view_as(weight))
    parts = [shard_heads(whole, rank, PROCESSES) for rank in range(PROCESSES)]

    def owner(name: str) -> Tensor:
        """Find the process that has a copy of each number."""
        numbers = whole.get_parameter(f"{name}.weight")
        found = torch.stack(
            [
                torch.isin(numbers, part.get_parameter(f"{name}.weight"))
                for part in parts
            ]
        )
        return found.int().argmax(dim=0)

    return figure(
        [[_layer(name, owner(name)) for name in layers]],
        f"The weights of {count(HEADS)} heads, each {count(WIDTH)} numbers wide, and "
        f"which of {count(PROCESSES)} processes has them. The first three layers are "
        "cut between rows, the last between columns, always between heads.",
    )


def _layer(name: str, owner: Tensor) -> Panel:
    rows, columns = owner.shape
    lines = [sorted({int(o) for o in row}) for row in owner]
    cut = "rows" if all(len(line) == 1 for line in lines) else "columns"
    width = max(CELL * columns, 110)
    panel = Panel(
        width + 4,
        TOP + CELL * HEADS * WIDTH + 4,
        f"{name}.weight, {rows} by {columns}, cut between {cut}: an equal share for "
        f"each of {count(PROCESSES)} processes, in order.",
    )
    left = (width + 4 - CELL * columns) / 2
    panel.text(width / 2 + 2, 12, name, font_weight="700")
    panel.text(width / 2 + 2, 32, f"cut between {cut}", fill=MUTED)
    for rank, (colour, share) in enumerate(LOOKS):
        has = (owner == rank).nonzero()
        (top, first), (bottom, last) = has.amin(dim=0), has.amax(dim=0)
        x, y = left + CELL * int(first), TOP + CELL * int(top)
        across, down = CELL * int(last - first + 1), CELL * int(bottom - top + 1)
        look = {"fill": colour, "fill_opacity": shade(share), "stroke": LINE, "rx": 0}
        panel.rect(x, y, across, down, **look)
        upright = "".join(f"M{x + c} {y}v{down}" for c in range(CELL, across, CELL))
        level = "".join(f"M{x} {y + r}h{across}" for r in range(CELL, down, CELL))
        panel.path(upright + level, stroke=LINE, stroke_width="1")
        panel.text(x + across / 2, y + down / 2, str(rank), font_weight="700")
    return panel


PICTURES: dict[str, Callable[[], str]] = {"dealt-heads": dealt_heads}
