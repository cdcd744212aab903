"""The gradient of a score: its weight, times what its key is worth above the mean."""

from collections.abc import Callable

from generators.pictures.svg import ACCENT, ACCENT_2, MUTED, Panel, figure, shade
from workshop.generator_support import fixed

WEIGHTS = (0.4, 0.3, 0.2, 0.1)
WORTH = (2.0, 6.0, 4.0, -3.0)  # the gradient of each weight
MEAN = sum(p * worth for p, worth in zip(WEIGHTS, WORTH, strict=True))
GAINS = [p * (worth - MEAN) for p, worth in zip(WEIGHTS, WORTH, strict=True)]
PITCH, LEFT, TOP, HEIGHT = 62.0, 52.0, 44.0, 150.0


def _bars(
    panel: Panel, numbers: list[float], digits: int, base: float, unit: float
) -> None:
    """Draw a bar for each key, up or down from a line."""
    for index, number in enumerate(numbers):
        x = LEFT + index * PITCH + PITCH / 2
        top, size = base - max(number, 0.0) * unit, abs(number) * unit
        color = ACCENT if number > 0 else ACCENT_2
        panel.rect(
            x - 18, top, 36, size, fill=color, fill_opacity=shade(0.9), stroke=color
        )
        beyond = top - 10 if number > 0 else top + size + 10
        panel.text(x, beyond, fixed(number, digits), font_weight="700")


def _listed(numbers: list[float], digits: int) -> str:
    """Say in words what is under a bar, and what is above it."""
    return "; ".join(
        f"key {index}, weight {fixed(weight, 1)}: {fixed(number, digits)}"
        for index, (weight, number) in enumerate(
            zip(WEIGHTS, numbers, strict=True), start=1
        )
    )


def _panel(title: str, numbers: list[float], digits: int, label: str) -> Panel:
    panel = Panel(308, TOP + HEIGHT + 62, label)
    panel.text(154, 12, title, font_weight="700")
    low, high = min(numbers), max(numbers)
    unit = HEIGHT / (high - low)
    base = TOP + high * unit
    panel.line(LEFT, base, LEFT + 4 * PITCH, base)
    _bars(panel, numbers, digits, base, unit)
    for index, weight in enumerate(WEIGHTS):
        x = LEFT + index * PITCH + PITCH / 2
        panel.text(x, TOP + HEIGHT + 34, f"key {index + 1}")
        panel.text(x, TOP + HEIGHT + 50, fixed(weight, 1), fill=MUTED)
    panel.text(26, TOP + HEIGHT + 50, "weight", fill=MUTED)
    return panel


def backward_scores() -> str:
    """Set the gradients of the weights beside those of the scores."""
    worth = _panel(
        "gradients of the weights",
        list(WORTH),
        1,
        f"Four bars, what each key is worth. {_listed(list(WORTH), 1)}. A dashed line "
        f"marks their weighted mean, {fixed(MEAN, 1)}.",
    )
    unit = HEIGHT / (max(WORTH) - min(WORTH))
    height = TOP + (max(WORTH) - MEAN) * unit
    worth.line(
        LEFT, height, LEFT + 4 * PITCH, height, stroke=ACCENT_2, stroke_dasharray="5 4"
    )
    x = LEFT + 3.5 * PITCH
    worth.text(x, height - 24, "mean", fill=ACCENT_2)
    worth.text(x, height - 10, fixed(MEAN, 1), fill=ACCENT_2)
    gains = _panel(
        "gradients of the scores",
        GAINS,
        2,
        "Four bars, up and down, the gradient of each score. "
        f"{_listed(GAINS, 2)}. They sum to zero.",
    )
    return figure(
        [[worth, gains]],
        "Left: the gradient of each weight, and the mean, in which each counts by its "
        "weight. Right: the gradient of each score, its distance from the mean times "
        "its weight. That of key 1 is negative, below the mean: raising its score "
        "lowers the loss. The bars on the right sum to zero.",
    )


PICTURES: dict[str, Callable[[], str]] = {"backward-scores": backward_scores}
