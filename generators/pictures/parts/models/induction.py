"""The two heads of a model that goes on with what is repeated."""

from collections.abc import Callable

import torch

from generators.pictures.charts import axes
from generators.pictures.svg import ACCENT, Panel, figure, shade
from headway import induction_model, recorded_weights

TEXT = "planetplane"
SIZE = 25


def _panel(title: str, weights: list[list[float]], looked_for: str) -> Panel:
    """Draw who looks at whom; what has not been said yet is left open."""
    left, top = 44, 66
    T = len(TEXT)
    panel = Panel(
        left + T * SIZE + 2,
        top + T * SIZE + 4,
        f"Heat map of attention weights, {title}, a row for each of the "
        f"{T} letters {' '.join(TEXT)}. {looked_for}",
    )
    panel.text(left + T * SIZE / 2, 14, title, font_weight="700", font_size=13)
    axes(panel, (left, top), list(TEXT), SIZE)
    for t, row in enumerate(weights):
        for s, weight in enumerate(row[: t + 1]):
            panel.rect(
                left + s * SIZE + 1,
                top + t * SIZE + 1,
                SIZE - 2,
                SIZE - 2,
                fill=ACCENT,
                fill_opacity=shade(weight),
            )
    return panel


def two_layers() -> str:
    """Show where both heads look while they read a word nearly twice."""
    ids = torch.tensor([ord(letter) - ord("a") for letter in TEXT])
    maps = recorded_weights(induction_model().double(), ids)
    first, second = (weights[0].tolist() for weights in maps)
    T, d = len(TEXT), TEXT.index(TEXT[0], 1)
    back = [first[t][t - 1] for t in range(1, T)]
    follows = [second[t][t + 1 - d] for t in range(d, T)]
    if min(back + follows) < 0.9:
        raise ValueError(f"back and follows must be large; got {back}, {follows}.")
    return figure(
        [
            [
                _panel(
                    "first layer",
                    first,
                    "From the second on, each letter gives more than nine tenths of "
                    "its weight to the one before it.",
                ),
                _panel(
                    "second layer",
                    second,
                    "From where the word begins anew, each letter gives more than nine "
                    "tenths of its weight to the one that followed it the first time.",
                ),
            ]
        ],
        "What both heads look at while the model reads a word nearly twice. In the "
        "first layer each letter looks at the one before it. In the second, from where "
        "the word begins anew, each looks at the one that followed it the first time.",
    )


PICTURES: dict[str, Callable[[], str]] = {"two-layers": two_layers}
