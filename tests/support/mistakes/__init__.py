"""Every way to get attention wrong: what checks and properties are tried on."""

from typing import Any

from mistakes.alone import ALONE
from mistakes.calls import CALLS
from mistakes.dropouts import DROPOUTS
from mistakes.given import GIVEN
from mistakes.heads import HEADS
from mistakes.mistake import Mistake
from mistakes.not_seen import NOT_SEEN_BY_CHECK
from mistakes.scores import AXES, MASKS, SCALES
from mistakes.unseen import UNSEEN
from stepwise import GROUPED, SIZES, Attention, Step

__all__ = ["ALONE", "GIVEN", "MISTAKES", "NOT_SEEN_BY_CHECK", "UNSEEN", "build"]

TABLES = {
    "scale": SCALES,
    "axis": AXES,
    "mask": MASKS,
    "heads": HEADS,
    "dropout": DROPOUTS,
    "call": CALLS,
}
MISTAKES: dict[str, Mistake] = {
    f"{kind}: {name}": mistake
    for kind, table in TABLES.items()
    for name, mistake in table.items()
}


def build(size: str, *mistakes: Mistake) -> Attention:
    """Make a module with one or more mistakes."""
    steps: dict[str, Step] = {}
    options: dict[str, Any] = {}
    for mistake in mistakes:
        steps |= mistake.steps
        options |= mistake.options
    sizes = SIZES[size]
    if "groups" in options:
        sizes, options["groups"] = GROUPED[size]
    return mistakes[0].kind(sizes, **options, **steps)
