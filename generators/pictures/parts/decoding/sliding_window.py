"""A window on the past, and the ring that keeps it."""

from collections.abc import Callable

import torch

from generators.pictures.charts import axes
from generators.pictures.svg import ACCENT, MUTED, Panel, count, figure, shade
from headway import RingCache, causal_mask, nine_words, sliding_window_mask

WINDOW = 3


def _table(words: tuple[str, ...]) -> Panel:
    """Draw who sees whom, what the window hides hatched and the future left open."""
    T = len(words)
    visible = sliding_window_mask(T, window=WINDOW)
    past = causal_mask(T)
    size, left, top = 46, 60, 74
    counts = visible.sum(dim=-1).tolist()
    panel = Panel(
        left + T * size + 20,
        top + T * size + 4,
        "A table of six by six, a row for each query and a column for each key. The "
        f"words {', '.join(words)} see {', '.join(map(str, counts))} keys: themselves "
        f"and those right before. {int((past & ~visible).sum())} pairs of the past are "
        "hatched: they are outside of the window.",
    )
    panel.text(left + T * size / 2, 14, "who sees whom", font_weight="700")
    axes(panel, (left, top), words, size)
    hidden = []
    for t in range(T):
        for s in range(t + 1):
            x, y = left + s * size + 1, top + t * size + 1
            if visible[t, s]:
                panel.rect(
                    x,
                    y,
                    size - 2,
                    size - 2,
                    fill=ACCENT,
                    fill_opacity=shade(1.0 if s == t else 0.55),
                )
            else:
                hidden.append((x, y))
        panel.text(left + T * size + 13, top + (t + 0.5) * size, str(counts[t]))
    panel.hatch(hidden, size - 2)
    return panel


def _slots(words: tuple[str, ...]) -> Panel:
    """Draw what the slots hold after each word; the one that was written is full."""
    T, size, wide, left, top = len(words), 46, 76, 12, 74
    cache, slots = RingCache(WINDOW), [""] * WINDOW
    rows = []
    for p, word in enumerate(words):
        one = torch.full((1, 1), float(p))
        _, _, seen = cache.append(one, one, torch.tensor([p]))
        slots[p % WINDOW] = word
        held = sorted(words.index(slot) for slot in slots if slot)
        if held != seen.tolist():
            raise ValueError(f"slots must hold {seen.tolist()}; got slots={held}.")
        rows.append([*slots])
    listed = "; ".join(
        f"after {word}: {', '.join(slot or 'empty' for slot in row)}"
        for word, row in zip(words, rows, strict=True)
    )
    panel = Panel(
        left + WINDOW * wide + 12,
        top + T * size + 4,
        f"What slots 0 to {WINDOW - 1} hold, a row after each word. {listed}.",
    )
    middle = left + WINDOW * wide / 2
    panel.text(middle, 14, "what the ring holds", font_weight="700")
    for slot in range(WINDOW):
        x = left + (slot + 0.5) * wide
        panel.text(x, top - 14, f"slot {slot}", fill=MUTED)
    for p, row in enumerate(rows):
        for slot, word in enumerate(row):
            written = slot == p % WINDOW
            x, y = left + slot * wide + 1, top + p * size + 1
            panel.rect(
                x,
                y,
                wide - 2,
                size - 2,
                fill=ACCENT,
                fill_opacity=shade(1.0 if written else 0.55 if word else 0.0),
            )
            weight = "700" if written else "400"
            panel.text(x + wide / 2 - 1, y + size / 2 - 1, word, font_weight=weight)
    return panel


def window_ring() -> str:
    """Set a window of three beside the three slots that are all it needs."""
    words = nine_words().words[:6]
    return figure(
        [[_table(words), _slots(words)]],
        f"A window of {count(WINDOW)}. Left: each word sees itself and the two before "
        "it; the rest of the past is hatched. Right, row by row: three slots hold "
        "what the word sees. Each new word overwrites the one that has just left the "
        "window.",
    )


PICTURES: dict[str, Callable[[], str]] = {"window-ring": window_ring}
