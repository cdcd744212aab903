"""Where the tokens of a text lie, if its cache is cut into pages."""

from collections.abc import Callable

import torch

from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    LINE,
    MUTED,
    Panel,
    count,
    figure,
    shade,
)
from headway import PagedCache, PagePool, he_finds_boy

PAGE_SIZE, NUM_PAGES, TOKENS = 2, 4, 5
TABLE, OTHER = [3, 0, 2], "another text"
SLOT, ROW, TOP = 54, 46, 62  # a slot's width; a row's pitch; the first row
TEXT_X, TABLE_X, MEMORY_X = 4, 118, 214


def _written() -> tuple[list[int], dict[tuple[int, int], int]]:
    """Write tokens to a pool; say on which pages, and which token is in which slot."""
    pool = PagePool(NUM_PAGES, PAGE_SIZE, num_kv_heads=1, width=1)
    pool.free_pages = [*TABLE, *set(range(NUM_PAGES)).difference(TABLE)]
    pool.positions.fill_(-1)
    cache, token = PagedCache(pool), torch.ones(1, TOKENS, 1)
    cache.append(token, token, torch.arange(TOKENS))
    found = {
        (page, slot): token
        for page, row in enumerate(pool.positions.tolist())
        for slot, token in enumerate(row)
        if token >= 0
    }
    return cache.table, found


def _slot(panel: Panel, x: float, y: float, word: str | None) -> None:
    look = {"fill": ACCENT, "fill_opacity": shade(0.5 if word else 0.0)}
    panel.rect(x + 1, y + 1, SLOT - 2, 28, stroke=LINE, **look)
    if word:
        panel.text(x + SLOT / 2, y + 15, word, font_size=11)


def paged_table() -> str:
    """Draw a text, its table, and the memory that it shares with another text."""
    words = he_finds_boy()[0].words[:TOKENS]
    table, found = _written()
    lies = "; ".join(
        f"{words[token]}: page {page}, slot {slot}"
        for (page, slot), token in sorted(found.items(), key=lambda pair: pair[1])
    )
    panel = Panel(
        MEMORY_X + 2 * SLOT + 4,
        TOP + NUM_PAGES * ROW - 8,
        f"Left the five words {' '.join(words)}, two in a row; beside each row the "
        f"page that the table names: {', '.join(map(str, table))}. Right the memory, "
        f"pages zero to three. {lies}. Page 1 belongs to {OTHER}.",
    )
    panel.text(TEXT_X + SLOT, 12, "the text", font_weight="700")
    panel.text(TABLE_X + 14, 12, "table", font_weight="700", fill=ACCENT_2)
    panel.text(MEMORY_X + SLOT, 12, "the memory", font_weight="700")
    for slot in range(PAGE_SIZE):
        x = MEMORY_X + (slot + 0.5) * SLOT
        panel.text(x, TOP - 16, f"slot {slot}", fill=MUTED, font_size=11)
    for row, page in enumerate(table):
        y, end = TOP + row * ROW, TOP + page * ROW
        for slot in range(PAGE_SIZE):
            token = row * PAGE_SIZE + slot
            x = TEXT_X + slot * SLOT
            _slot(panel, x, y, words[token] if token < TOKENS else None)
        panel.rect(TABLE_X, y + 1, 28, 28, fill=ACCENT_2, fill_opacity=shade(0.5), rx=6)
        panel.text(TABLE_X + 14, y + 15, str(page), font_weight="700")
        bend = f"M{TABLE_X + 30} {y + 15}C{TABLE_X + 52} {y + 15}"
        bend += f" {MEMORY_X - 52} {end + 15} {MEMORY_X - 22} {end + 15}"
        panel.path(bend, stroke=ACCENT_2, stroke_width=1.6)
        panel.head(MEMORY_X - 17, end + 15, 1, 0, ACCENT_2)
    for page in range(NUM_PAGES):
        y = TOP + page * ROW
        panel.text(MEMORY_X - 8, y + 15, str(page), fill=INK, font_weight="700")
        if page not in table:
            panel.hatch([(MEMORY_X + s * SLOT + 13, y + 1) for s in range(2)], 28)
        for slot in range(PAGE_SIZE):
            lies_here = found.get((page, slot))
            word = None if lies_here is None else words[lies_here]
            _slot(panel, MEMORY_X + slot * SLOT, y, word)
    (page, slot), _ = next(pair for pair in found.items() if pair[1] == 3)
    return figure(
        [[panel]],
        f"{count(TOKENS).capitalize()} tokens on pages of {count(PAGE_SIZE)}. Token 3, "
        f"“{words[3]}”, is in row 3 // 2 = 1 of the table, which says page {page}, and "
        f"there in slot 3 % 2 = {slot}. The hatched page belongs to {OTHER}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"paged-table": paged_table}
