"""Blocks of keys and values that go around a ring of machines."""

from collections.abc import Callable

import torch
from torch import Tensor

from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    LINE,
    MUTED,
    Panel,
    count,
    figure,
    shade,
)
from headway import attention_with_lse, contiguous_rows, merge_attention, six_tokens
from workshop.generator_support import fixed

MASSES = (1.0, 2.0, 3.0, 4.0, 5.0, 5.0)
VALUES = (10.0, 20.0, 30.0, 40.0, 50.0, 40.0)
MACHINES = 3
WIDE, HIGH, GAP, PITCH, LEFT, TOP = 86, 50, 22, 66, 22, 46
# One colour, or the other, or none: a block looks the same wherever it is.
LOOKS = ((ACCENT, 0.5), (ACCENT_2, 0.5), (MUTED, 0.35))


def _holdings() -> list[list[tuple[int, float, float]]]:
    """Say, for each hop and machine: whose block, what mass so far, and what mean."""
    key = torch.tensor(MASSES, dtype=torch.float64).log()[:, None]
    value = torch.tensor(VALUES, dtype=torch.float64)[:, None]
    rows = contiguous_rows(len(MASSES), MACHINES)
    found: list[tuple[Tensor, Tensor] | None] = [None] * MACHINES
    hops = []
    for hop in range(MACHINES):
        line = []
        for machine, so_far in enumerate(found):
            origin = (machine - hop) % MACHINES
            own = rows[origin]
            query = torch.ones(1, 1, dtype=torch.float64)
            piece = attention_with_lse(query, key[own], value[own], scale=1.0)
            both = piece if so_far is None else merge_attention(so_far, piece)
            found[machine] = both
            line.append((origin, both[1].exp().item(), both[0].item()))
        hops.append(line)
    return hops


def _way(panel: Panel, hop: int, machine: int) -> None:
    """Draw the way of a block to the next machine."""
    following = (machine + 1) % MACHINES
    x1, x2 = LEFT + hop * (WIDE + GAP) + WIDE + 1, LEFT + (hop + 1) * (WIDE + GAP) - 1
    y1, y2 = (TOP + one * PITCH + HIGH / 2 for one in (machine, following))
    y1, y2 = y1 + 8, y2 - 8
    bend = f"M{x1} {y1}C{x1 + 14} {y1} {x2 - 18} {y2} {x2 - 6} {y2}"
    panel.path(bend, stroke=INK, stroke_opacity="0.6")
    panel.head(x2, y2, 1, 0, MUTED)


def ring_hops() -> str:
    """Draw what each machine holds at each hop, and what it knows by then."""
    words = six_tokens().words
    names = [
        " ".join(words[p] for p in own.tolist())
        for own in contiguous_rows(len(words), MACHINES)
    ]
    hops = _holdings()
    told = ". ".join(
        f"Hop {hop}: "
        + "; ".join(
            f"machine {machine} holds {names[origin]}, so far {mass:.0f} of "
            f"{fixed(mean, 1)}"
            for machine, (origin, mass, mean) in enumerate(line)
        )
        for hop, line in enumerate(hops)
    )
    panel = Panel(
        LEFT + MACHINES * WIDE + (MACHINES - 1) * GAP + 2,
        TOP + (MACHINES - 1) * PITCH + HIGH + 2,
        f"Three machines, a row each, at three hops, a column each. {told}.",
    )
    for hop, line in enumerate(hops):
        x = LEFT + hop * (WIDE + GAP)
        panel.text(x + WIDE / 2, 12, f"hop {hop}", font_weight="700")
        for machine, (origin, mass, mean) in enumerate(line):
            y = TOP + machine * PITCH
            fill, share = LOOKS[origin]
            look = {"fill": fill, "fill_opacity": shade(share), "stroke": LINE}
            panel.rect(x, y, WIDE, HIGH, **look)
            panel.text(x + WIDE / 2, y + 16, names[origin])
            middle, style = x + WIDE / 2, {"font_size": 11, "font_weight": "700"}
            panel.text(middle, y + 35, f"{mass:.0f} of", text_anchor="end", **style)
            mean_at = middle + 4
            panel.text(mean_at, y + 35, fixed(mean, 1), text_anchor="start", **style)
            if hop < MACHINES - 1:
                _way(panel, hop, machine)
    for machine in range(MACHINES):
        panel.text(10, TOP + machine * PITCH + HIGH / 2, str(machine), fill=MUTED)
    panel.text(10, TOP - 16, "machine", fill=MUTED, font_size=11, text_anchor="start")
    (_, mass, mean), *_ = hops[-1]
    return figure(
        [[panel]],
        f"Each block visits all {count(MACHINES)} machines. Bold: the mass of all keys "
        "that a machine has seen, and the mean of their values. In the end all of them "
        f"know the same: {mass:.0f} of {fixed(mean, 1)}.",
    )


PICTURES: dict[str, Callable[[], str]] = {"ring-hops": ring_hops}
