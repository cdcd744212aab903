"""Properties that `check` cannot ask, a module for each room.

What an exhibit makes says which of them it must have: `rotate`, `bias`, `encode` or
`frequencies` in the room on positions; `expanded` and `absorbed` in that on groups;
`attend` with `new_cache` in that on caches; `tiled`, `causal`, `piece` with `merge`,
`backward` with `forward`, or `backprop` with `train` in those on pieces and gradients;
and `alone` with `together`, `grad_together` or `ring` in that on processes. The rooms
on variants and on models have a function for each property or two: see their modules.
They are asked where the record of an exhibit says that it breaks one of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from headway.checks import Report
from headway.checks.core.report import Row

from . import caches, groups, models, pieces, positions, processes, variants
from .ask import NEAR, Property

KINDS: dict[str, list[Property]] = {
    **positions.KINDS,
    **groups.KINDS,
    **caches.KINDS,
    **pieces.KINDS,
    **processes.KINDS,
    **variants.KINDS,
    **models.KINDS,
}
EVERY = [one for kind in KINDS.values() for one in kind]


def report(made: Mapping[str, Any]) -> Report:
    """Ask what a program has made for all properties of its kind."""
    return Report("an exhibit", rows=[*_rows(made)])


def _rows(made: Mapping[str, Any]) -> Iterator[Row]:
    for kind, asked in KINDS.items():
        for one in asked if kind in made else []:
            with torch.no_grad():
                seen = one.measure(made)
            holds = seen.figure <= (0 if isinstance(seen.figure, int) else NEAR)
            yield Row(
                one.id,
                one.name,
                "passed" if holds else "failed",
                "" if holds else seen.sentence,
                one.section,
                None if holds else seen.figure,
            )
