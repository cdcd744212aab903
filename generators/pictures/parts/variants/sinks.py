"""Where a row spends its one: on a sink, or on first tokens that stay in sight."""

import math
from collections.abc import Callable

import torch

from generators.pictures.charts import bars, row_labels
from generators.pictures.svg import ACCENT, MUTED, Panel, count, figure, shade
from headway import causal_mask, sink_attention, sink_window_mask

MASSES, SINK = (1, 2, 3, 4), 10
TOKENS, WINDOW, FIRST = 8, 3, 2


def _shares() -> Panel:
    """Draw the weights of four keys, without a sink and with one."""
    query, key = torch.ones(1, 1), torch.tensor(MASSES).float().log()[:, None]
    everything = torch.eye(len(MASSES))
    rows = []
    for sink in (-math.inf, math.log(SINK)):
        weights = sink_attention(query, key, everything, sinks=torch.tensor(sink))[0]
        rows.append([*weights.tolist(), 1.0 - float(weights.sum())])
    plain, shared = rows
    names = [*(f"mass {mass}" for mass in MASSES), f"sink {SINK}"]
    left, top, wide, pitch, gap = 62, 42, 66, 32, 116
    panel = Panel(
        left + 2 * gap,
        top + len(names) * pitch + 4,
        f"Bars of the weights of keys of mass {', '.join(map(str, MASSES))}. Without "
        f"a sink: {', '.join(f'{share:.2f}' for share in plain[:-1])}. With a sink of "
        f"mass {SINK}: {', '.join(f'{share:.2f}' for share in shared[:-1])}, and "
        f"{shared[-1]:.2f} for the sink.",
    )
    row_labels(panel, (left - 8, top), names, pitch)
    for column, (title, values) in enumerate(
        (("no sink", plain[:-1]), ("with a sink", shared))
    ):
        x = left + column * gap
        panel.text(x + wide / 2, 14, title, font_weight="700")
        bars(panel, (x, top), values, (wide, pitch), digits=2, longest=SINK / 20)
    return panel


def _sight() -> Panel:
    """Draw who sees whom, the first tokens darker, and what is forgotten hatched."""
    visible = sink_window_mask(TOKENS, window=WINDOW, sinks=FIRST)
    window = sink_window_mask(TOKENS, window=WINDOW, sinks=0)
    past = causal_mask(TOKENS)
    size, left, top = 26, 52, 52
    panel = Panel(
        left + TOKENS * size + 8,
        top + TOKENS * size + 4,
        f"A table of {TOKENS} by {TOKENS}. Each token sees itself and the "
        f"{WINDOW - 1} right before it, and the first {FIRST} tokens, which stay in "
        f"sight where the window has left them: {int((visible & ~window).sum())} "
        f"pairs. {int((past & ~visible).sum())} pairs are hatched: they are forgotten.",
    )
    panel.text(left + TOKENS * size / 2, 14, "who sees whom", font_weight="700")
    hidden = []
    for t in range(TOKENS):
        panel.text(left - 12, top + (t + 0.5) * size, str(t))
        panel.text(left + (t + 0.5) * size, top - 12, str(t))
        for s in range(t + 1):
            x, y = left + s * size + 1, top + t * size + 1
            if not visible[t, s]:
                hidden.append((x, y))
                continue
            opacity = shade(0.45 if window[t, s] else 1.0)
            panel.rect(x, y, size - 2, size - 2, fill=ACCENT, fill_opacity=opacity)
    panel.hatch(hidden, size - 2)
    panel.text(left - 32, top - 12, "token", fill=MUTED)
    return panel


def sinks() -> str:
    """Set four keys without a sink beside the same with one."""
    return figure(
        [[_shares()]],
        f"A sink of mass {SINK} takes half, and the four keys share the rest as "
        "before.",
    )


def first_tokens() -> str:
    """Show what a window forgets, and the first tokens that stay in sight."""
    return figure(
        [[_sight()]],
        f"A window of {count(WINDOW)}, and {count(FIRST)} first tokens that stay in "
        "sight; what the window alone would hide of them is darker. Hatched: what "
        "is forgotten.",
    )


PICTURES: dict[str, Callable[[], str]] = {
    "sinks": sinks,
    "first-tokens": first_tokens,
}
