"""Weights of two heads, and the sizes of what they bring."""

from collections.abc import Callable

import torch

from generators.pictures.charts import axes
from generators.pictures.svg import ACCENT, Panel, figure, shade
from headway import recorded_weights, two_head_model, weighted_norms

TEXT = "planetplane"
SIZE = 20


def _panel(title: str, values: list[list[float]], largest: float, said: str) -> Panel:
    """Draw a square for each token that a token may look at."""
    left, top = 44, 66
    T = len(TEXT)
    panel = Panel(
        left + T * SIZE + 2,
        top + T * SIZE + 4,
        f"Heat map, {title}, a row for each of the {T} letters {' '.join(TEXT)}. "
        f"{said}",
    )
    panel.text(left + T * SIZE / 2, 14, title, font_weight="700", font_size=13)
    axes(panel, (left, top), list(TEXT), SIZE)
    squares: dict[float, list[str]] = {}  # by how dark they are
    for t, row in enumerate(values):
        for s, value in enumerate(row[: t + 1]):
            x, y, side = left + s * SIZE + 1, top + t * SIZE + 1, SIZE - 2
            drawn = f"M{x} {y}h{side}v{side}h-{side}z"
            squares.setdefault(shade(value / largest), []).append(drawn)
    for dark, drawn in sorted(squares.items()):
        panel.path("".join(drawn), fill=ACCENT, fill_opacity=dark, stroke="none")
    return panel


@torch.no_grad()
def weights_and_sizes() -> str:
    """Show two heads that look alike, and bring unlike much."""
    ids = torch.tensor([ord(letter) - ord("a") for letter in TEXT])
    model = two_head_model().double()
    weights = recorded_weights(model, ids)[0]
    sizes = weighted_norms(model.blocks[0].attention, model.embedding(ids), weights)
    back = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    brought = sizes.diagonal(offset=-1, dim1=-2, dim2=-1)
    most = (back > 0.6).sum(dim=-1).tolist()
    if most != [9, 10] or brought[1].min() < 2 * brought[0].max():
        raise ValueError(f"heads must look alike only; got {back}, {brought}.")
    said = (
        (
            "All letters but the first and the sixth give most of their weight to the "
            "one before.",
            "All letters but the first give most of their weight to the one before.",
        ),
        (
            "No square is half as strong as those one back of head 1.",
            "All squares one back are strong, the others nearly empty.",
        ),
    )
    rows = [
        [
            _panel(
                f"{name}, head {h}",
                values[h].tolist(),
                float(values.max()),  # one scale for both heads
                said[row][h],
            )
            for h in range(2)
        ]
        for row, (name, values) in enumerate((("weights", weights), ("sizes", sizes)))
    ]
    return figure(
        rows,
        "Both heads of the first layer while the model reads a word, and most of it "
        "again. Above, the weights: both look at the letter before. Below, the sizes "
        "of what they bring, on one scale: what head 0 brings is small.",
    )


PICTURES: dict[str, Callable[[], str]] = {"weights-and-sizes": weights_and_sizes}
