"""By what each rule for longer texts divides the speed of each pair."""

import math
from collections.abc import Sequence

from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    LINE,
    MUTED,
    Panel,
    coordinate,
    figure,
)
from headway import (
    linear_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
)

WIDTH, FACTOR, LENGTH, FAST, SLOW = 128, 16.0, 4096, 32.0, 1.0
LEFT, TOP, STEP, HIGH = 34, 44, 4.3, 150
PAIRS = WIDTH // 2


def _divided_by(rule: str) -> list[float]:
    frequencies = {
        "linear": linear_frequencies(WIDTH, factor=FACTOR),
        "NTK": ntk_frequencies(WIDTH, factor=FACTOR),
        "YaRN, as in code": yarn_frequencies(
            WIDTH, factor=FACTOR, original_length=LENGTH, truncate=False
        ),
        "YaRN, as printed": llama3_frequencies(
            WIDTH,
            base=10_000.0,
            factor=FACTOR,
            low=SLOW,
            high=FAST,
            original_length=LENGTH,
        ),
    }
    quotients: list[float] = (rotary_frequencies(WIDTH) / frequencies[rule]).tolist()
    return quotients


def _place(pair: float, quotient: float) -> tuple[float, float]:
    """Put quotients on a logarithmic scale: halving twice is two equal steps."""
    share = math.log(quotient) / math.log(FACTOR)
    return LEFT + (pair + 0.5) * STEP, TOP + HIGH * (1 - share)


def _bend(*heights: tuple[float, float]) -> float:
    before, here, after = (y for _, y in heights)
    return before - 2 * here + after


def _curve(panel: Panel, quotients: Sequence[float], **style: float | str) -> None:
    points = [_place(pair, one) for pair, one in enumerate(quotients)]
    corners = [
        here
        for before, here, after in zip(
            [points[0], *points], points, [*points[1:], points[-1]], strict=False
        )
        # The ends, and wherever the line bends.
        if before == here or here == after or abs(_bend(before, here, after)) > 1e-6
    ]
    written = (f"{coordinate(x)} {coordinate(y)}" for x, y in corners)
    panel.path("M" + "L".join(written), stroke_width=2.2, **style)


def _panel(title: str, rules: Sequence[str]) -> Panel:
    turns = (rotary_frequencies(WIDTH) * LENGTH / (2 * math.pi)).tolist()
    kept = sum(one >= FAST for one in turns)
    new = sum(one < SLOW for one in turns)
    curves = {rule: _divided_by(rule) for rule in rules}
    middle = PAIRS // 2 + 4
    panel = Panel(
        LEFT + PAIRS * STEP + 12,
        TOP + HIGH + 52,
        f"{title}. Upwards, on a logarithmic scale: by what the speed of a pair is "
        f"divided, from 1 to {FACTOR:.0f}. To the right: {PAIRS} pairs, the fastest "
        f"first. The first {kept} complete {FAST:.0f} turns or more in training, the "
        f"last {new} not one. "
        + " ".join(
            f"{rule}: {one[0]:.0f} at the first pair, about {one[middle]:.0f} at "
            f"pair {middle}, {one[-1]:.0f} at the last."
            for rule, one in curves.items()
        ),
    )
    wide = PAIRS * STEP
    panel.text(LEFT + wide / 2, 14, title, font_weight="700", font_size=13)
    for start, count in ((0, kept), (PAIRS - new, new)):
        panel.rect(
            LEFT + start * STEP,
            TOP - 6,
            count * STEP,
            HIGH + 12,
            fill=INK,
            fill_opacity="0.06",
            rx=0,
        )
    for quotient in (1, 4, 16):
        y = _place(0, quotient)[1]
        panel.line(LEFT, y, LEFT + wide, y, stroke=LINE)
        panel.text(LEFT - 8, y, str(quotient), text_anchor="end")
    looks: list[dict[str, str]] = [
        {"stroke": ACCENT},
        {"stroke": ACCENT_2, "stroke_dasharray": "6 4"},
    ]
    for quotients, look in zip(curves.values(), looks, strict=True):
        _curve(panel, quotients, **look)
    for x, look, rule in zip((LEFT, LEFT + wide / 2), looks, rules, strict=True):
        panel.line(x, 32, x + 22, 32, stroke_width=2.2, **look)
        panel.text(x + 28, 32, rule, text_anchor="start", font_size=11)
    below = TOP + HIGH + 20
    panel.text(LEFT, below, f"{FAST:.0f} turns or more", text_anchor="start")
    panel.text(LEFT + wide, below, "less than one turn", text_anchor="end")
    panel.text(LEFT + wide / 2, below + 20, "pair, fastest first", fill=MUTED)
    return panel


def longer_than_trained() -> str:
    """Draw all four in two panels."""
    return figure(
        [
            [
                _panel("one rule for all pairs", ("linear", "NTK")),
                _panel("by parts", ("YaRN, as in code", "YaRN, as printed")),
            ]
        ],
        f"By what each rule divides the speed of each of {PAIRS} pairs (width {WIDTH}, "
        f"trained on {LENGTH:,} tokens, {FACTOR:.0f} times longer). Grey on the left: "
        "pairs that training has turned often. Grey on the right: pairs that never "
        "completed a turn, and must be divided by "
        f"{FACTOR:.0f} so as to meet no new angle.",
    )


PICTURES = {"longer-than-trained": longer_than_trained}
