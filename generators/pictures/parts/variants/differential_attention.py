"""What two tables of weights have in common cancels when one is taken from another."""

from collections.abc import Callable

import torch

from generators.pictures.charts import bars, row_labels
from generators.pictures.svg import Panel, figure
from headway import differential_attention

MASSES = (6, 1, 1, 1, 1), (1, 1, 1, 1, 1)
LAMBDA = 1 / 2  # the words of the picture say half


def rows() -> list[list[float]]:
    """Compute a row of the first table, of the second, and of their difference."""
    query, key = torch.ones(2, 1, 1).double(), torch.tensor(MASSES).double().log()
    everything, lam = torch.eye(len(MASSES[0])).double(), (0.0, LAMBDA)
    first, left = (
        differential_attention(query, key[..., None], everything, lam=number)[0]
        for number in lam
    )
    return [row.tolist() for row in (first, (first - left) / LAMBDA, left)]


def difference() -> str:
    """Set two rows of weights beside what one less half the other leaves."""
    first, second, left = ([round(w, 12) + 0.0 for w in row] for row in rows())
    names = [f"key {s}" for s in range(len(first))]
    margin, top, wide, pitch, gap = 48, 42, 62, 30, 102
    panel = Panel(
        margin + 3 * gap,
        top + len(names) * pitch + 4,
        f"Bars of the weights of {len(first)} keys. The first table: "
        f"{', '.join(f'{w:.2f}' for w in first)}. The second: "
        f"{', '.join(f'{w:.2f}' for w in second)}. The first less half the second: "
        f"{', '.join(f'{w:.2f}' if w else '0' for w in left)}.",
    )
    row_labels(panel, (margin - 8, top), names, pitch)
    for column, (title, values) in enumerate(
        (("first", first), ("second", second), ("difference", left))
    ):
        x = margin + column * gap
        panel.text(x + wide / 2, 14, title, font_weight="700")
        bars(panel, (x, top), values, (wide, pitch), digits=2, longest=max(first))
    return figure(
        [[panel]],
        "The first table sees one key, and a little of all others; the second sees all "
        "alike. Where half the second is subtracted from the first, what they have in "
        f"common cancels, and the row sums to {sum(left):.2f}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"difference": difference}
