"""A head while it learns, before and after it, and a head of a trained model."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import nn

from generators.pictures.charts import axes, dot, heat_map
from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    LINE,
    MUTED,
    Panel,
    coordinate,
    count,
    figure,
    shade,
)
from headway import (
    SelfAttentionV2,
    attention_weights,
    eight_guests,
    induction_model,
    recall_task,
    recorded_weights,
    weight_of,
)
from workshop.generator_support import fixed

STEPS = 100
SHOWN = 6  # of the eight guests; more are not legible on a phone
Curve = tuple[Sequence[float], dict[str, str]]


class Learned(NamedTuple):
    """What is measured before each step, on its own texts.

    Attributes:
        loss: The mean loss.
        right: How many answers are right, as a share of all.
        looked: The mean weight of the right token.
    """

    loss: list[float]
    right: list[float]
    looked: list[float]


def _train(attend: SelfAttentionV2, steps: int) -> Learned:
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.02)
    learned = Learned([], [], [])
    for step in range(steps + 1):
        x, answer, place = recall_task(64)
        x = x.double()
        scores = attend(x)[:, -1]
        loss = nn.functional.cross_entropy(scores, answer)
        with torch.no_grad():
            weights = attention_weights(attend.W_query(x), attend.W_key(x))
        learned.loss.append(loss.item())
        learned.right.append((scores.argmax(dim=-1) == answer).double().mean().item())
        learned.looked.append(weight_of(weights, place).mean().item())
        if step < steps:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return learned


@torch.no_grad()
def _who_finds_whom(attend: SelfAttentionV2) -> list[list[float]]:
    """Let the first nicknames ask as many names."""
    one, none = torch.eye(SHOWN, 8).double(), torch.zeros(SHOWN, 8).double()
    questions = torch.cat((none, one, none), dim=1)
    guests = torch.cat((one, none, none), dim=1)
    return attention_weights(attend.W_query(questions), attend.W_key(guests)).tolist()


@cache
def _run() -> tuple[list[list[float]], Learned, list[list[float]]]:
    """Train once: who finds whom before, what is measured, who finds whom after."""
    torch.manual_seed(123)
    attend = SelfAttentionV2(24, 8).double()
    before = _who_finds_whom(attend)
    learned = _train(attend, STEPS)
    return before, learned, _who_finds_whom(attend)


LEFT, TOP, WIDE, HIGH = 30.0, 36.0, 276.0, 180.0


def _at(step: int, height: float) -> tuple[float, float]:
    """Place a step and a height, a share of the whole, on a panel of curves."""
    return LEFT + WIDE * step / STEPS, TOP + HIGH * (1 - height)


def _curves(
    title: str, label: str, ticks: dict[str, float], curves: Sequence[Curve]
) -> Panel:
    """Draw curves over the steps; all heights are shares of the whole."""
    panel = Panel(LEFT + WIDE + 14, TOP + HIGH + 44, label)
    panel.text(LEFT + WIDE / 2, 14, title, font_weight="700", font_size=13)
    for words, height in ticks.items():
        x, y = _at(0, height)
        panel.line(x, y, x + WIDE, y, stroke=LINE)
        panel.text(x - 8, y, words, text_anchor="end")
    for values, style in curves:
        points = [
            " ".join(map(coordinate, _at(step, value)))
            for step, value in enumerate(values)
        ]
        panel.path("M" + "L".join(points), stroke_width=2.2, **style)
    for step in range(0, STEPS + 1, STEPS // 4):
        panel.text(_at(step, 0)[0], TOP + HIGH + 14, str(step))
    panel.text(LEFT + WIDE / 2, TOP + HIGH + 34, "steps", fill=MUTED)
    return panel


def _loss_panel(loss: Sequence[float]) -> Panel:
    highest = 2.4
    eight, five = math.log(8), math.log(5)
    below = next(step for step, value in enumerate(loss) if value < five)
    panel = _curves(
        "loss",
        "A curve. Upwards: the loss. To the right: the steps of training, "
        f"{STEPS} in all. It begins near {fixed(eight, 2)}, the loss of a guess among "
        f"eight hooks, is below {fixed(five, 2)}, that of a guess among five, from "
        f"step {below} on, and ends at {fixed(loss[-1], 2)}.",
        {str(tick): tick / highest for tick in (0, 1, 2)},
        [([value / highest for value in loss], {"stroke": ACCENT})],
    )
    for value, words in ((eight, "a guess among eight"), (five, "among five")):
        x, y = _at(STEPS, value / highest)
        panel.line(LEFT, y, x, y, stroke=INK, stroke_dasharray="2 3")
        panel.text(x - 34, y - 9, words, text_anchor="end")
        panel.text(x, y - 9, fixed(value, 2), text_anchor="end")
    x, y = _at(STEPS, loss[-1] / highest)
    panel.text(x, y - 14, fixed(loss[-1], 2), text_anchor="end")
    return panel


def _weight_panel(right: Sequence[float], looked: Sequence[float]) -> Panel:
    half = STEPS // 2
    answers, weight = (
        {"stroke": ACCENT_2, "stroke_dasharray": "6 4"},
        {"stroke": ACCENT},
    )
    panel = _curves(
        "answers and weight",
        "Two curves over the same steps. One is the share of answers that are right, "
        "the other the weight of the right token. Answers come first: at step "
        f"{half} the share is {fixed(right[half], 2)} and the weight "
        f"{fixed(looked[half], 2)}. Both end close to 1.",
        {"0": 0.0, "1": 1.0},
        [(right, answers), (looked, weight)],
    )
    for values, across, down in ((right, 0, -10), (looked, 21, 8)):
        x, y = _at(half, values[half])
        dot(panel, x, y)
        panel.text(x + across, y + down, fixed(values[half], 2))
    for row, (words, style) in enumerate(
        (("answers right", answers), ("weight of the right token", weight))
    ):
        y = TOP + HIGH - 44 + 20 * row
        panel.line(128, y, 152, y, stroke_width=2.2, **style)
        panel.text(158, y, words, text_anchor="start", font_size=11)
    return panel


def head_learns() -> str:
    """Show loss, answers and weight over the steps of training."""
    _, learned, _ = _run()
    half = STEPS // 2
    return figure(
        [[_loss_panel(learned.loss), _weight_panel(learned.right, learned.looked)]],
        "The loss and, from the same steps, the answers that are right (dashed) and "
        f"the weight of the right token. At step {half} a share of "
        f"{fixed(learned.right[half], 2)} of the answers is right, and the weight is "
        f"{fixed(learned.looked[half], 2)}.",
    )


def _panel(title: str, weights: list[list[float]]) -> Panel:
    names, nicknames = (part[:SHOWN] for part in eight_guests())
    size, left, top = 43, 48, 66
    right = [row[place] for place, row in enumerate(weights)]
    panel = Panel(
        left + SHOWN * size + 2,
        top + SHOWN * size + 2,
        f"Heat map of the weights with which {count(SHOWN)} nicknames ask as many "
        f"names, {title}. "
        f"The row of {nicknames[0]} is {', '.join(fixed(w, 2) for w in weights[0])}. "
        "On the diagonal, where a nickname meets its name, all weights lie between "
        f"{fixed(min(right), 2)} and {fixed(max(right), 2)}.",
    )
    panel.text(left + SHOWN * size / 2, 14, title, font_weight="700", font_size=13)
    axes(panel, (left, top), names, size, queries=nicknames, font_size=11)
    heat_map(panel, (left, top), weights, size, largest=1.0)
    return panel


def head_learned() -> str:
    """Show where nicknames look, before and after the training."""
    before, _, after = _run()
    return figure(
        [
            [
                _panel("before training", before),
                _panel(f"after {STEPS} steps", after),
            ]
        ],
        f"{count(SHOWN).capitalize()} of the eight nicknames ask as many names. Before "
        f"training each looks at everybody alike; after {STEPS} steps “Polly” gives "
        f"“Mary” {fixed(after[0][0], 2)} of its attention, and each of the others "
        "finds its own name.",
    )


TEXT = "johnmarymaryjohn"  # two names of the task, each said twice
CELL = 17


def _followed() -> dict[int, int]:
    """Find, for each letter said before, the place of what followed it then."""
    return {
        t: TEXT.index(letter) + 1
        for t, letter in enumerate(TEXT)
        if TEXT.index(letter) < t
    }


def head_of_a_model() -> str:
    """Show where a head of a trained model looks while it reads two names twice."""
    ids = torch.tensor([ord(letter) - ord("a") for letter in TEXT])
    weights = recorded_weights(induction_model().double(), ids)[1][0].tolist()
    if min(weights[t][s] for t, s in _followed().items()) < 0.9:
        raise ValueError(f"each letter must find what followed; got {weights}.")
    left, top, T = 44, 66, len(TEXT)
    panel = Panel(
        left + T * CELL + 2,
        top + T * CELL + 4,
        f"Heat map of attention weights, a row for each of the {T} letters "
        f"{' '.join(TEXT)}. From the second mary on, each letter gives more than nine "
        "tenths of its weight to the letter that followed it the first time.",
        drawn=400,
    )
    panel.text(left + T * CELL / 2, 14, "second layer", font_weight="700", font_size=13)
    axes(panel, (left, top), list(TEXT), CELL)
    for t, row in enumerate(weights):
        for s, weight in enumerate(row[: t + 1]):
            x, y = left + s * CELL + 1, top + t * CELL + 1
            opacity = shade(weight)
            panel.rect(x, y, CELL - 2, CELL - 2, fill=ACCENT, fill_opacity=opacity)
    return figure(
        [[panel]],
        "A head in the second layer of a trained model reads two names twice. From the "
        "second “mary” on, each letter looks at the one that followed it the first "
        "time, wherever that stands.",
    )


PICTURES = {
    "head-learns": head_learns,
    "head-learned": head_learned,
    "head-of-a-model": head_of_a_model,
}
