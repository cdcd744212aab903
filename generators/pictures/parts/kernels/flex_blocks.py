"""The blocks of pairs that a kernel visits, for four masks."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import and_masks

from generators.pictures.svg import ACCENT, MUTED, Panel, coordinate, figure, shade
from headway import causal_mod, document_mod, prefix_mod, window_mod

TOKENS, BLOCK, WINDOW, TEXTS = 2048, 128, 512, 8


def _asked(mod: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
    """Ask about all pairs: which blocks have an allowed one, which no other."""
    places, zero = torch.arange(TOKENS), torch.tensor(0)
    allowed = mod(zero, zero, places[:, None], places)
    blocks = allowed.unflatten(1, (-1, BLOCK)).unflatten(0, (-1, BLOCK))
    return blocks.any(dim=-1).any(dim=1), blocks.all(dim=-1).all(dim=1)


def _panel(name: str, mod: Callable[..., Tensor]) -> Panel:
    """Draw one sign a block: full ones dark, those with questions light."""
    visited, full = _asked(mod)
    n, size, left, top = len(visited), 9, 10, 26
    count, every = int(visited.sum()), visited.numel()
    share = f"{count / every:.1%}"
    panel = Panel(
        n * size + 2 * left,
        top + n * size + 26,
        f"{name}: {n} by {n} blocks, a row for each block of queries. {count} of "
        f"{every} are visited; {int(full.sum())} of them hide no pair.",
    )
    middle = left + n * size / 2
    panel.text(middle, 12, name, font_weight="700")
    frame = {"fill": "none", "stroke": MUTED, "stroke_opacity": "0.5", "rx": 0}
    panel.rect(left, top, n * size, n * size, **frame)
    for kind, opacity in ((full, 1.0), (visited & ~full, 0.45)):
        corners = [
            (coordinate(left + column * size), coordinate(top + row * size))
            for row, column in kind.nonzero().tolist()
        ]
        cells = "".join(f"M{x} {y}h8v8h-8z" for x, y in corners)
        style = {"fill": ACCENT, "fill_opacity": shade(opacity), "stroke": "none"}
        if cells:
            panel.path(cells, **style)
    panel.text(middle, top + n * size + 14, f"{count} of {every}: {share}")
    return panel


def blocks_visited() -> str:
    """Set the blocks of four masks beside each other."""
    ids = torch.arange(TEXTS).repeat_interleave(TOKENS // TEXTS)
    panels = [
        _panel("causal", causal_mod),
        _panel("window", window_mod(WINDOW)),
        _panel("prefix", prefix_mod(torch.tensor([WINDOW]))),
        _panel("documents", and_masks(document_mod(ids), causal_mod)),
    ]
    return figure(
        [panels[:2], panels[2:]],
        f"A text of {TOKENS:,} tokens in blocks of {BLOCK}, queries downwards, keys to "
        "the right. Dark blocks hide no pair; light ones hide some, and there the "
        "function is asked. The rest is skipped.",
    )


PICTURES: dict[str, Callable[[], str]] = {"blocks-visited": blocks_visited}
