"""What each call computes while a text is read with a cache."""

from collections.abc import Callable

from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    MUTED,
    Panel,
    count,
    figure,
    shade,
)
from headway import causal_mask

CALLS = (("prefill", 3), ("a chunk", 2), ("decode", 1))
SIZE, LEFT, TOP = 30, 26, 60


def _band(title: str, seen: int, new: int) -> Panel:
    """Draw the rows of one call: a query for each new token, a key for each so far."""
    keys = seen + new
    visible = causal_mask(new, keys)
    width = LEFT + keys * SIZE + 4
    panel = Panel(
        max(width, 116),
        TOP + 3 * SIZE + 22,
        f"{title}: a table with a row for each new token and a column for each of "
        f"{count(keys)} keys, of which {count(seen)} were kept before and {count(new)} "
        f"are new. {int(visible.sum())} of its {visible.numel()} places are scores.",
    )
    middle = LEFT + keys * SIZE / 2
    panel.text(middle, 12, title, font_weight="700")
    panel.text(middle, 29, f"{seen} kept, {new} new", fill=MUTED)
    hidden = []
    for s in range(keys):
        colour = ACCENT_2 if s < seen else INK
        panel.text(LEFT + (s + 0.5) * SIZE, TOP - 11, str(s + 1), fill=colour)
    for t in range(new):
        y = TOP + t * SIZE + 1
        panel.text(LEFT - 10, y + SIZE / 2 - 1, str(seen + t + 1))
        for s in range(keys):
            x = LEFT + s * SIZE + 1
            if not visible[t, s]:
                hidden.append((x, y))
                continue
            old = s < seen
            panel.rect(
                x,
                y,
                SIZE - 2,
                SIZE - 2,
                fill=ACCENT_2 if old else ACCENT,
                fill_opacity=shade(0.6 if old else 0.9),
            )
    if hidden:
        panel.hatch(hidden, SIZE - 2)
    scores = int(visible.sum())
    panel.text(middle, TOP + new * SIZE + 12, f"{scores} scores", fill=MUTED)
    return panel


def cache_calls() -> str:
    """Set side by side what three calls compute of a text of six tokens."""
    panels, seen, scores = [], 0, []
    for title, new in CALLS:
        panels.append(_band(title, seen, new))
        scores.append(int(causal_mask(new, seen + new).sum()))
        seen += new
    listed = " + ".join(map(str, scores))
    return figure(
        [panels],
        f"Six tokens in three calls. A row is a query, a column a key; keys and values "
        f"left of the new ones come from the cache. {listed} = {sum(scores)} scores: "
        f"together the bands are the causal triangle of {count(seen)}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"cache-calls": cache_calls}
