"""What a property is, and the row of a report that it becomes."""

import math
import re
from collections.abc import Callable
from typing import Generic, Literal, NamedTuple, TypeVar

from headway.checks.core.book_sections import Section
from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable
from headway.checks.core.report import Row

# What a library says of numbers of two types, as where code makes some in 32 bits.
OF_TYPES = re.compile("the same dtype|expected scalar type|expected .* but found .*oat")
_NO_KERNEL = "No available kernel"  # of PyTorch, where a caller has named one
E = TypeVar("E")  # the evidence of attention, or of a model
Trouble = Literal["random", "not finite", "leaking"]


class Property(NamedTuple, Generic[E]):
    """Something that must hold of attention, or of a language model.

    Attributes:
        id: Its short name, which stays.
        name: What holds, in a few words.
        ask: Looks whether it holds, and leaves the evidence as it is.
        section: The section of the book that explains it.
        even_if: What may be wrong with the code, so that others are not asked of it,
            when this one is asked all the same.
    """

    id: str
    name: str
    ask: Callable[[E], Outcome]
    section: Section
    even_if: tuple[Trouble, ...] = ()


def row_of(asked: Property[E], ask: Callable[[], Outcome]) -> Row:
    """Ask a property; it fails where the code that is checked raises.

    Args:
        asked: The property.
        ask: Looks whether it holds, if it can be asked.
    """
    try:
        outcome = ask()
    except theirs() as raised:
        outcome = failed(f"It raised {describe(raised)}.")
        if _NO_KERNEL in str(raised):
            outcome = not_applicable("PyTorch has no kernel for it on this device.")
        if OF_TYPES.search(str(raised)):
            outcome = not_applicable(f"In this type it raised {describe(raised)}.")
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
        unexplained=outcome.unexplained,
    )
