"""One latent, two heads: a matrix stands on the side of the keys or of the queries."""

from collections.abc import Callable

import torch

from generators.pictures.svg import ACCENT_2, MUTED, Panel, figure, shade

LATENT = torch.tensor([3, 1])
HEADS = (  # a matrix that makes a key of the latent, and a query
    (torch.tensor([[2, 1], [1, 3]]), torch.tensor([1, 2])),
    (torch.tensor([[0, 1], [1, -1]]), torch.tensor([2, 1])),
)
COLUMNS = (79.0, 229.0)
TOP, MIDDLE, BOTTOM = 34.0, 118.0, 202.0  # of boxes, which are 30 high


def _vector(numbers: torch.Tensor) -> str:
    return f"({', '.join(str(number) for number in numbers.tolist())})"


def _panel(absorbed: bool) -> Panel:
    """Draw the way from the latent above and the queries below to the scores."""
    made = [W.T @ q if absorbed else W @ LATENT for W, q in HEADS]
    asked = [LATENT if absorbed else q for _, q in HEADS]
    scores = [int(a @ b) for a, b in zip(made, asked, strict=True)]
    name = "moved query" if absorbed else "key"
    listed = "; ".join(
        f"head {number}: {name} {_vector(vector)}, score {score}"
        for number, (vector, score) in enumerate(zip(made, scores, strict=True), 1)
    )
    title = "absorbed" if absorbed else "expanded"
    way = "up from each query" if absorbed else "down from the latent"
    panel = Panel(
        308,
        BOTTOM + 34,
        f"{title.capitalize()}: the latent {_vector(LATENT)} above, the queries of two "
        f"heads below, and between them what a matrix makes, {way}. {listed}.",
    )
    panel.text(154, 12, title, font_weight="700")
    panel.box(154, TOP, 290, f"latent {_vector(LATENT)}")
    for x, (_, query), vector, score in zip(COLUMNS, HEADS, made, scores, strict=True):
        look = {"fill": ACCENT_2, "stroke": ACCENT_2, "fill_opacity": shade(0.3)}
        panel.box(x, MIDDLE, 140, f"{name} {_vector(vector)}", **look)
        panel.box(x, BOTTOM, 140, f"query {_vector(query)}")
        upper, lower = (TOP + 30, MIDDLE), (MIDDLE + 30, BOTTOM)
        if absorbed:
            panel.arrow(x, lower[1], x, lower[0])
            between, beside = upper, lower
        else:
            panel.arrow(x, upper[0], x, upper[1])
            between, beside = lower, upper
        panel.text(x + 14, sum(beside) / 2, "Wᵀ" if absorbed else "W", fill=MUTED)
        panel.text(x, sum(between) / 2, f"score {score}", font_weight="700")
    return panel


def latent_absorbed() -> str:
    """Set the matrices on the side of the keys beside the same on that of queries."""
    scores = " and ".join(str(int(q @ (W @ LATENT))) for W, q in HEADS)
    return figure(
        [[_panel(False), _panel(True)]],
        "Expanded, each head makes a key of the latent, for every token of the past. "
        "Absorbed, each head moves its query, once, and asks the latent itself. The "
        f"scores are {scores} in both.",
    )


PICTURES: dict[str, Callable[[], str]] = {"latent-absorbed": latent_absorbed}
