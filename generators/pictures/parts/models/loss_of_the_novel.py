"""How the loss of the small model fell, from the numbers of its training."""

import json
import math
from collections.abc import Sequence

from generators import GENERATED
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
from headway import Characters, small_text
from workshop.generator_support import fixed

NUMBERS = GENERATED / "trained" / "small_gpt.json"
LEFT, TOP, WIDE, HIGH = 34, 34, 286, 240
LOWEST, HIGHEST = 0.9, 4.5


def _y(loss: float) -> float:
    return TOP + HIGH * (HIGHEST - loss) / (HIGHEST - LOWEST)


def _curve(
    panel: Panel, steps: Sequence[int], losses: Sequence[float | None], **style: str
) -> None:
    points = [
        f"{coordinate(LEFT + WIDE * step / steps[-1])} {coordinate(_y(loss))}"
        for step, loss in zip(steps, losses, strict=True)
        if loss is not None
    ]
    panel.path("M" + "L".join(points), stroke_width=2.2, **style)


def loss_of_the_novel() -> str:
    """Draw both losses, with the even guess and the table of pairs to compare."""
    numbers = json.loads(NUMBERS.read_text("utf-8"))
    steps, held_out = numbers["steps"], numbers["held out"]
    even, bigram = math.log(len(Characters(small_text()))), numbers["bigram"]
    last = numbers["learned from"][-1]
    below = next(
        step for step, loss in zip(steps, held_out, strict=True) if loss < bigram - 0.1
    )
    panel = Panel(
        LEFT + WIDE + 8,
        TOP + HIGH + 46,
        "A curve. Upwards: the loss in nats a character. To the right: the steps of "
        f"training, {steps[-1]:,} in all. The loss of what is held out begins a little "
        f"above the {fixed(even, 2)} of an even guess. It "
        f"crosses the {fixed(bigram, 2)} of a table of pairs within the first {below} "
        f"steps and ends at {fixed(held_out[-1], 2)}; that of what is learned from "
        f"ends at {fixed(last, 2)}.",
        drawn=480,
    )
    panel.text(LEFT, 12, "loss, in nats a character", text_anchor="start")
    for loss in (1, 2, 3, 4):
        panel.line(LEFT, _y(loss), LEFT + WIDE, _y(loss), stroke=LINE)
        panel.text(LEFT - 8, _y(loss), str(loss), text_anchor="end")
    for loss, words in ((even, "an even guess"), (bigram, "a table of pairs")):
        y = _y(loss)
        panel.line(LEFT, y, LEFT + WIDE, y, stroke=INK, stroke_dasharray="2 3")
        panel.text(LEFT + WIDE - 32, y - 9, words, text_anchor="end")
        panel.text(LEFT + WIDE, y - 9, fixed(loss, 2), text_anchor="end")
    _curve(
        panel,
        steps,
        numbers["learned from"],
        stroke=ACCENT_2,
        stroke_dasharray="6 4",
    )
    _curve(panel, steps, held_out, stroke=ACCENT)
    for loss, shift, name in ((held_out[-1], -11, "held out"), (last, 10, "read")):
        y = _y(loss) + shift
        panel.text(LEFT + WIDE - 30, y, name, text_anchor="end")
        panel.text(LEFT + WIDE, y, fixed(loss, 2), text_anchor="end")
    for step in (0, 500, 1000, 1500, 2000):
        x = LEFT + WIDE * step / steps[-1]
        anchor = "end" if step == steps[-1] else "middle"
        panel.text(x, TOP + HIGH + 14, f"{step:,}", text_anchor=anchor)
    panel.text(LEFT + WIDE / 2, TOP + HIGH + 34, "steps", fill=MUTED)
    return figure(
        [[panel]],
        f"The loss in {steps[-1]:,} steps: of the tenth of the text that is held out, "
        "and, dashed, of the passages that are read in training.",
    )


PICTURES = {"loss-of-the-novel": loss_of_the_novel}
