"""A head before and after it has learned."""

import torch
from charts import axes, heat_map
from svg import Panel, count, figure
from torch import nn

from headway import SelfAttentionV2, attention_weights, eight_guests, recall_task
from workshop.generator_support import fixed

STEPS = 100
SHOWN = 6  # of the eight guests; more are not legible on a phone


def _train(attend: SelfAttentionV2, steps: int) -> None:
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.02)
    for _ in range(steps):
        x, answer, _ = recall_task(64)
        loss = nn.functional.cross_entropy(attend(x.double())[:, -1], answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def _who_finds_whom(attend: SelfAttentionV2) -> list[list[float]]:
    """Let the first nicknames ask as many names."""
    one, none = torch.eye(SHOWN, 8).double(), torch.zeros(SHOWN, 8).double()
    questions = torch.cat((none, one, none), dim=1)
    guests = torch.cat((one, none, none), dim=1)
    return attention_weights(attend.W_query(questions), attend.W_key(guests)).tolist()


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
    torch.manual_seed(123)
    attend = SelfAttentionV2(24, 8).double()
    before = _who_finds_whom(attend)
    _train(attend, STEPS)
    after = _who_finds_whom(attend)
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


PICTURES = {"head-learned": head_learned}
