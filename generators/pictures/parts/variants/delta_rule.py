"""A memory that overwrites, beside one that adds."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, MUTED, Panel, figure, shade
from headway import delta_rule, linear_attention

WRITES = ((0, 5.0), (1, 7.0), (0, 9.0))  # under which key, and what


def _memory(name: str, states: list[list[float]]) -> Panel:
    """Draw what is under both keys after each write; the one written to is full."""
    wide, size, left, top = 76, 36, 104, 58
    listed = "; ".join(
        f"after {value:.0f} under e{key + 1}: {row[0]:.0f} and {row[1]:.0f}"
        for (key, value), row in zip(WRITES, states, strict=True)
    )
    panel = Panel(
        left + 2 * wide + 8,
        top + len(WRITES) * size + 4,
        f"{name}. What is held under e1 and e2, a row after each write: {listed}.",
    )
    panel.text(left + wide, 14, name, font_weight="700")
    for key in range(2):
        panel.text(left + (key + 0.5) * wide, top - 14, f"under e{key + 1}", fill=MUTED)
    for number, ((key, value), row) in enumerate(zip(WRITES, states, strict=True)):
        y = top + number * size
        panel.text(
            left - 8,
            y + size / 2,
            f"{value:.0f} under e{key + 1}",
            text_anchor="end",
        )
        for column, held in enumerate(row):
            panel.rect(
                left + column * wide + 1,
                y + 1,
                wide - 2,
                size - 2,
                fill=ACCENT,
                fill_opacity=shade(1.0 if column == key else 0.2),
            )
            panel.text(
                left + (column + 0.5) * wide,
                y + size / 2,
                f"{held:.0f}",
                font_weight="700" if column == key else "400",
            )
    return panel


def delta_memory() -> str:
    """Write five, seven and nine into both memories."""
    key = torch.eye(2)[[name for name, _ in WRITES]]
    value = torch.tensor([[value] for _, value in WRITES])
    delta, added = [], []
    for end in range(1, len(WRITES) + 1):
        new = key[:end], key[:end], value[:end]
        written = delta_rule(*new, torch.ones(end))[1]
        summed = linear_attention(*new, features=None, normalise=False)[1]
        delta.append(written.flatten().tolist())
        added.append(summed.flatten().tolist())
    return figure(
        [[_memory("delta rule", delta), _memory("sum", added)]],
        "Three writes, one row after each. The delta rule takes out what the key held "
        f"and ends with {delta[-1][0]:.0f}; a sum ends with {added[-1][0]:.0f}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"delta-memory": delta_memory}
