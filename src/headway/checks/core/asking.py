"""From a property and its outcome to a row of a report."""

import math
from collections.abc import Callable
from typing import Protocol

from headway.checks.core.book_sections import Section
from headway.checks.core.choosing import Named
from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed
from headway.checks.core.report import Row


class Explained(Named, Protocol):
    """A property that a section of the book explains."""

    @property
    def section(self) -> Section:
        """The section."""


def row_of(asked: Explained, ask: Callable[[], Outcome]) -> Row:
    """Ask a property; it fails where the code that is checked raises.

    Args:
        asked: The property.
        ask: Looks whether it holds.
    """
    try:
        outcome = ask()
    except theirs() as raised:
        outcome = failed(f"It raised {describe(raised)}.")
    figure = outcome.figure
    if figure is not None and not math.isfinite(figure):
        figure = None
    return Row(
        asked.id,
        asked.name,
        outcome.verdict,
        outcome.sentence,
        outcome.section or asked.section,
        figure,
        explains=outcome.explains,
        mistakes=outcome.mistakes,
    )
