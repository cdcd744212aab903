"""Which tiles of a causal table are visited, crossed by the diagonal, or skipped."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from generators.pictures.svg import ACCENT, LINE, MUTED, Panel, figure, shade
from headway import causal_mask, flash_forward
from headway.kernels import _tiles

QUERY_TILE, KEY_TILE = 4, 3


class _Products(TorchDispatchMode):
    """Count products of matrices: two for each tile that is visited."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function is torch.ops.aten.mm.default
        return function(*args, **(kwargs or {}))


def _visited(T: int, S: int) -> list[tuple[slice, slice]]:
    """List the tiles, and see that the package computes as many."""
    tiles = [
        (rows, columns)
        for rows in _tiles.query_tiles(T, QUERY_TILE)
        for columns in _tiles.key_tiles(rows, S, KEY_TILE, S - T)
    ]
    query, key = torch.zeros(T, 2), torch.zeros(S, 2)
    with _Products() as seen:
        flash_forward(
            query, key, key, causal=True, query_tile=QUERY_TILE, key_tile=KEY_TILE
        )
    if seen.count != 2 * len(tiles):
        raise ValueError(
            f"tiles must be those visited; got {len(tiles)}, {seen.count} products."
        )
    return tiles


def _table(T: int, S: int) -> Panel:
    """Draw one table: a cell for each pair, a frame for each tile."""
    visible, tiles = causal_mask(T, S), _visited(T, S)
    size, left, top = 20, 4, 46
    every = -(-T // QUERY_TILE) * -(-S // KEY_TILE)
    whole = sum(bool(visible[at, of].all()) for at, of in tiles)
    panel = Panel(
        left + S * size + 4,
        top + T * size + 4,
        f"A table of {T} queries and {S} keys in {every} tiles of {QUERY_TILE} queries "
        f"by {KEY_TILE} keys. {len(tiles)} are visited: {whole} of them whole, "
        f"{len(tiles) - whole} crossed by the diagonal. {every - len(tiles)} lie in "
        "the future and are empty.",
    )
    title = f"{len(tiles)} of {every} tiles visited"
    panel.text(left + S * size / 2, 12, title, font_weight="700")
    panel.text(left + S * size / 2, 32, f"{T} queries, {S} keys", fill=MUTED)
    for at in _tiles.query_tiles(T, QUERY_TILE):
        for of in _tiles.query_tiles(S, KEY_TILE):
            box = (
                left + of.start * size,
                top + at.start * size,
                (of.stop - of.start) * size,
                (at.stop - at.start) * size,
            )
            if (at, of) not in tiles:
                panel.rect(*box, fill="none", stroke=LINE, stroke_dasharray="2 4")
                continue
            seen = visible[at, of].sum(dim=1).tolist()
            if min(seen) == of.stop - of.start:
                panel.rect(*box, fill=ACCENT, fill_opacity=shade(1.0), stroke=MUTED)
                continue
            steps = "".join(f"h{seen_by * size}v{size}H{box[0]}" for seen_by in seen)
            outline = f"M{box[0]} {box[1]}{steps}z"
            panel.path(outline, fill=ACCENT, fill_opacity=shade(0.45), stroke="none")
            panel.rect(*box, fill="none", stroke=MUTED)
    return panel


def flash_tiles() -> str:
    """Set as many queries as keys beside the newest queries of a longer text."""
    return figure(
        [[_table(12, 12), _table(8, 12)]],
        f"Tiles of {QUERY_TILE} queries by {KEY_TILE} keys under a causal mask. Full "
        "ones need no mask; stairs are crossed by the diagonal; dotted ones are in the "
        "future of all their queries, and never read. The last query stands at the "
        "last key, also on the right, where only the newest queries ask.",
    )


PICTURES: dict[str, Callable[[], str]] = {"flash-tiles": flash_tiles}
