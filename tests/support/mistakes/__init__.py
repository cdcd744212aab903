"""Every way to get attention wrong: what checks and properties are tried on."""

from typing import Any

from tests.support.attention_in_steps import GROUPED, SIZES, Attention, Step
from tests.support.mistakes.caller_masks import CALLER_MASKS
from tests.support.mistakes.calls import CALLS
from tests.support.mistakes.dropouts import DROPOUTS
from tests.support.mistakes.heads import HEADS
from tests.support.mistakes.invisible_in_results import INVISIBLE_IN_RESULTS
from tests.support.mistakes.mistake import Mistake
from tests.support.mistakes.museum_only import MUSEUM_ONLY
from tests.support.mistakes.other_calls import OTHER_CALLS
from tests.support.mistakes.scores import AXES, MASKS, SCALES

__all__ = [
    "CALLER_MASKS",
    "INVISIBLE_IN_RESULTS",
    "MISTAKES",
    "MUSEUM_ONLY",
    "OTHER_CALLS",
    "build",
]

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
