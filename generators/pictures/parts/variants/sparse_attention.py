"""Which blocks a query chooses, and which keys it then sees."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT, LINE, MUTED, Panel, count, figure, shade
from headway import block_scores, block_topk_mask, causal_mask

KEYS = (1, 3, 6, 8, 0, 2, 5, 1)
QUERIES = (1, 1, 1, 1, 1, -1, 1, -1)
BLOCK, KEEP = 2, 2
SIZE, TOP = 36, 52


def _rows() -> tuple[torch.Tensor, torch.Tensor]:
    """Make one number for each query and each key."""
    query, key = (torch.tensor(row).double()[:, None] for row in (QUERIES, KEYS))
    return query, key


def _scores() -> Panel:
    """Draw the scores of the blocks, those that are chosen full."""
    query, key = _rows()
    T, wide, left = len(QUERIES), 52, 62
    scores = block_scores(query, key, block=BLOCK, mask=causal_mask(T))
    chosen = block_topk_mask(query, key, block=BLOCK, keep=KEEP, causal=True)
    blocks = scores.shape[-1]
    drawn, last = 0, ", ".join(f"{score:g}" for score in scores[-2, :-1])
    panel = Panel(
        left + blocks * wide + 8,
        TOP + T * SIZE + 4,
        "A table of the scores, a row for each query and a column for each block: the "
        "query times the mean of the block's keys. The last block of a row is the "
        "query's own, which needs no score and is always chosen; of the others the "
        f"best. For example query {T - 2} has {last}.",
    )
    panel.text(left + blocks * wide / 2, 14, "score of each block", font_weight="700")
    for i in range(blocks):
        panel.text(left + (i + 0.5) * wide, TOP - 14, f"block {i}", fill=MUTED)
    for t in range(T):
        y = TOP + t * SIZE
        panel.text(left / 2, y + SIZE / 2, f"query {t}", fill=MUTED)
        for i in range(t // BLOCK + 1):
            kept = bool(chosen[t, BLOCK * i])
            panel.rect(
                left + i * wide + 1,
                y + 1,
                wide - 2,
                SIZE - 2,
                fill=ACCENT,
                fill_opacity=shade(0.8 if kept else 0.0),
            )
            drawn += kept
            panel.text(
                left + (i + 0.5) * wide,
                y + SIZE / 2,
                "own"
                if i == t // BLOCK
                else f"{scores[t, i]:g}".replace("-", "\N{MINUS SIGN}"),
                font_weight="700" if kept else "400",
            )
    expected = sum(min(KEEP, t // BLOCK + 1) for t in range(T))
    if drawn != expected:
        raise ValueError(f"{expected} blocks must be chosen; got {drawn}.")
    return panel


def _keys() -> Panel:
    """Draw who sees whom; what was not chosen is hatched, and the future is open."""
    query, key = _rows()
    T, left = len(QUERIES), 8
    visible = block_topk_mask(query, key, block=BLOCK, keep=KEEP, causal=True)
    past = causal_mask(T)
    counts = visible.sum(dim=-1).tolist()
    panel = Panel(
        left + T * SIZE + 26,
        TOP + T * SIZE + 4,
        f"A table of {count(T)} by {count(T)}, a row for each query and a column for "
        f"each key. The queries see {', '.join(map(str, counts))} keys. "
        f"{int((past & ~visible).sum())} pairs of the past are hatched: their block "
        "was not chosen.",
    )
    panel.text(left + T * SIZE / 2, 14, "keys it sees", font_weight="700")
    hidden = []
    for s, number in enumerate(KEYS):
        panel.text(left + (s + 0.5) * SIZE, TOP - 14, str(number), fill=MUTED)
    for t in range(T):
        for s in range(t + 1):
            x, y = left + s * SIZE + 1, TOP + t * SIZE + 1
            if visible[t, s]:
                panel.rect(
                    x, y, SIZE - 2, SIZE - 2, fill=ACCENT, fill_opacity=shade(0.8)
                )
            else:
                hidden.append((x, y))
        panel.text(left + T * SIZE + 13, TOP + (t + 0.5) * SIZE, str(counts[t]))
    panel.hatch(hidden, SIZE - 2)
    for i in range(1, T // BLOCK):
        x = left + i * BLOCK * SIZE
        panel.line(x, TOP - 4, x, TOP + T * SIZE, stroke=LINE)
    return panel


def chosen_blocks() -> str:
    """Set the scores of blocks beside the keys that are then seen."""
    return figure(
        [[_scores(), _keys()]],
        f"Blocks of {count(BLOCK)}, of which a query keeps {count(KEEP)}. Left: each "
        "query scores the blocks before its own, and keeps the best of them and its "
        "own (full). Right: the keys that it then sees, "
        "at most four; the hatched ones are in blocks that it did not choose.",
    )


PICTURES: dict[str, Callable[[], str]] = {"chosen-blocks": chosen_blocks}
