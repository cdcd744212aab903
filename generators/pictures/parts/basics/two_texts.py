"""Two texts: one that looks into the other, and two that share a row."""

import math
from collections.abc import Callable

import torch

from generators.pictures.charts import axes
from generators.pictures.svg import ACCENT, ACCENT_2, MUTED, Panel, count, figure, shade
from headway import attention_weights, causal_mask, document_mask, pack
from workshop.generator_support import fixed

ENGLISH, FRENCH = ("the", "black", "cat"), ("le", "chat", "noir")
KINDS = (0, 2, 1)  # which French word each English one asks for


def _lookup(strength: float) -> list[list[float]]:
    """Give the weights with which each English word looks at each French one."""
    keys = torch.eye(3, dtype=torch.float64)
    return attention_weights(strength * keys[list(KINDS)], keys, scale=1.0).tolist()


def _between(panel: Panel, start: float, end: float, weight: float, top: bool) -> None:
    """Draw an arrow from a query to a key, as wide as its weight."""
    x1, x2 = 98.0, 226.0
    length = math.hypot(x2 - x1, end - start)
    dx, dy = (x2 - x1) / length, (end - start) / length
    panel.line(
        x1,
        start,
        x2 - 5 * dx,
        end - 5 * dy,
        stroke=ACCENT if top else MUTED,
        stroke_width=0.6 + 5.4 * weight,
        stroke_opacity="0.9" if top else "0.6",
    )
    if top:
        panel.head(x2 + 4 * dx, end + 4 * dy, 1.6 * dx, 1.6 * dy, ACCENT)


def _two_columns(strength: float) -> Panel:
    weights = _lookup(strength)
    listed = "; ".join(
        f"{word} to {FRENCH[row.index(max(row))]} {fixed(max(row), 3)}"
        for word, row in zip(ENGLISH, weights, strict=True)
    )
    pitch, top = 52, 62
    panel = Panel(
        308,
        top + 3 * pitch - 18,
        "The words the, black, cat on the left and le, chat, noir on the right, with "
        f"a line from each to each, as wide as its weight. Strength {strength:g}: "
        f"{listed}; the other two of each word are alike.",
    )
    panel.text(154, 12, f"strength {strength:g}", font_weight="700")
    panel.text(90, 34, "queries", text_anchor="end", fill=MUTED)
    panel.text(238, 34, "keys and values", fill=MUTED, text_anchor="middle")
    heights = [top + row * pitch for row in range(3)]
    for row, start in zip(weights, heights, strict=True):
        for weight, end in zip(row, heights, strict=True):
            if weight < max(row):
                _between(panel, start, end, weight, False)
    for row, start in zip(weights, heights, strict=True):
        _between(panel, start, heights[row.index(max(row))], max(row), True)
    for word, row, y in zip(ENGLISH, weights, heights, strict=True):
        panel.text(90, y - 8, word, text_anchor="end", font_weight="700")
        panel.text(90, y + 8, fixed(max(row), 3), text_anchor="end")
    for index, (word, y) in enumerate(zip(FRENCH, heights, strict=True)):
        panel.text(240, y - 8, word, text_anchor="start", font_weight="700")
        panel.text(240, y + 8, str(10 * (index + 1)), text_anchor="start")
    return panel


def cross_attention_lookup() -> str:
    """Let three words look up three others, quietly and loudly."""
    quiet, loud = (fixed(_lookup(strength)[1][2], 3) for strength in (1.0, 8.0))
    return figure(
        [[_two_columns(1.0), _two_columns(8.0)]],
        "A line is as wide as its weight; the largest of each word has a number and an "
        f"arrow. Asking quietly, “black” gives {quiet} to “noir”; asking loudly, "
        f"{loud}. Two arrows cross: the languages order their words differently.",
    )


def packed_rows() -> str:
    """Set what a causal mask allows beside what is left with a document mask."""
    words = ["he", "ran", "the", "cat", "sat"]
    _, ids = pack([torch.zeros(2), torch.zeros(3)])
    same, past = document_mask(ids), causal_mask(5)
    panels = [
        _table(words, "causal mask", past, same),
        _table(words, "& document mask", same & past, same),
    ]
    too_many, left = int((past & ~same).sum()), int((past & same).sum())
    return figure(
        [panels],
        f"Two texts in one row. With the causal mask alone the second looks at the "
        f"first, in {count(too_many)} dashed pairs of {int(past.sum())}. The document "
        f"mask hides those, and {count(left)} are left: two small triangles.",
    )


def _table(
    words: list[str], title: str, visible: torch.Tensor, same: torch.Tensor
) -> Panel:
    size, left, top, T = 42, 49, 74, len(words)
    foreign = int((visible & ~same).sum())
    seen = "; ".join(
        f"{word}: {', '.join(w for w, yes in zip(words, row, strict=True) if yes)}"
        for word, row in zip(words, visible.tolist(), strict=True)
    )
    panel = Panel(
        left + T * size + 49,
        top + T * size + 4,
        f"{title}: a table of five by five, a row for each query and a column for "
        f"each key. Who sees whom: {seen}. {int(visible.sum())} pairs are allowed, and "
        f"{foreign} of them are of two texts.",
    )
    panel.text(left + T * size / 2, 14, title, font_weight="700")
    axes(panel, (left, top), words, size)
    hidden = []
    for t in range(T):
        for s in range(T):
            x, y = left + s * size + 1, top + t * size + 1
            if not visible[t, s]:
                hidden.append((x, y))
                continue
            inside = bool(same[t, s])
            look = {} if inside else {"stroke": ACCENT_2, "stroke_dasharray": "4 3"}
            panel.rect(
                x,
                y,
                size - 2,
                size - 2,
                fill=ACCENT if inside else ACCENT_2,
                fill_opacity=shade(0.8 if inside else 0.3),
                **look,
            )
    panel.hatch(hidden, size - 2)
    return panel


PICTURES: dict[str, Callable[[], str]] = {
    "cross-attention-lookup": cross_attention_lookup,
    "packed-rows": packed_rows,
}
