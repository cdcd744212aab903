"""Which weights of attention each process has."""

from collections.abc import Callable

import torch
from svg import ACCENT, ACCENT_2, LINE, MUTED, Panel, count, figure, shade
from torch import Tensor

from headway import MultiHeadAttention, shard_heads

HEADS, WIDTH, D_IN, PROCESSES = 6, 2, 4, 3
CELL, TOP = 13, 46


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
    width = max(CELL * columns, 74)
    panel = Panel(
        width + 4,
        TOP + CELL * HEADS * WIDTH + 4,
        f"{name}.weight, {rows} by {columns}, cut between {cut}: an equal share for "
        f"each of {count(PROCESSES)} processes, in order.",
    )
    left = (width + 4 - CELL * columns) / 2
    panel.text(width / 2 + 2, 12, name, font_weight="700")
    panel.text(width / 2 + 2, 30, f"cut between {cut}", fill=MUTED, font_size=10)
    looks = ((ACCENT, 0.75), (ACCENT_2, 0.75), (MUTED, 0.35))
    for r in range(rows):
        for c in range(columns):
            rank = int(owner[r, c])
            colour, share = looks[rank]
            panel.rect(
                left + c * CELL + 0.5,
                TOP + r * CELL + 0.5,
                CELL - 1,
                CELL - 1,
                fill=colour,
                fill_opacity=shade(share),
                stroke=LINE,
                rx=1,
            )
            panel.text(
                left + (c + 0.5) * CELL,
                TOP + (r + 0.5) * CELL,
                str(rank),
                font_size=9,
            )
    return panel


PICTURES: dict[str, Callable[[], str]] = {"dealt-heads": dealt_heads}
