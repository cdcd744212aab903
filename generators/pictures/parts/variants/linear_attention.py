"""Chunks of linear attention: what is a table, and what is read from the state."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, ACCENT_2, MUTED, Panel, count, figure, shade
from headway import nine_words

CHUNK = 3


def linear_chunks() -> str:
    """Shade the pairs inside of chunks, and those that a state stands for."""
    words = nine_words().words
    T = len(words)
    chunk = torch.arange(T) // CHUNK
    past = torch.ones(T, T, dtype=torch.bool).tril()
    inside = past & (chunk[:, None] == chunk)
    size, left, top = 26, 64, 60
    panel = Panel(
        left + T * size + 6,
        top + T * size + 4,
        f"A table of {T} by {T}, a row for each query and a column for each key. "
        f"Along the diagonal stand {T // CHUNK} triangles of {count(CHUNK)} tokens, "
        f"together {int(inside.sum())} pairs, which are made. The "
        f"{int((past & ~inside).sum())} other pairs of the past are in blocks to their "
        "left, each marked with the state from which its rows are read.",
    )
    panel.text(left + T * size / 2, 14, "pairs, or a state", font_weight="700")
    panel.text(left - 8, top - 12, "query", fill=MUTED, text_anchor="end")
    panel.text(left + T * size / 2, top - 30, "key", fill=MUTED)
    for t, word in enumerate(words):
        panel.text(left + (t + 0.5) * size, top - 12, str(t + 1))
        panel.text(left - 8, top + (t + 0.5) * size, word, text_anchor="end")
        for s in range(t + 1):
            if inside[t, s]:
                x, y = left + s * size + 1, top + t * size + 1
                panel.rect(
                    x, y, size - 2, size - 2, fill=ACCENT, fill_opacity=shade(1.0)
                )
    for number in range(1, T // CHUNK):
        wide, high = number * CHUNK * size, CHUNK * size
        y = top + number * high
        panel.rect(
            left + 1,
            y + 1,
            wide - 2,
            high - 2,
            fill=ACCENT_2,
            fill_opacity=shade(0.35),
            stroke=MUTED,
        )
        read = f"state after {number * CHUNK}"
        if number == 1:
            panel.text(left + wide / 2, y + high / 2 - 8, "state")
            panel.text(left + wide / 2, y + high / 2 + 8, f"after {CHUNK}")
        else:
            panel.text(left + wide / 2, y + high / 2, read)
    return figure(
        [[panel]],
        f"Nine words in chunks of {count(CHUNK)}. Only the triangles are made, pair by "
        "pair. All to the left of a triangle is one product with the state, whose size "
        "is the same for each block.",
    )


PICTURES: dict[str, Callable[[], str]] = {"linear-chunks": linear_chunks}
