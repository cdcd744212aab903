"""What must hold of a language model, one module for each kind."""

from collections.abc import Callable
from typing import NamedTuple

from headway.checks import book_sections as book
from headway.checks.book_sections import Section
from headway.checks.model.evidence import Evidence
from headway.checks.model.properties import (
    backends,
    cached,
    declared,
    modes,
    padding,
    precision,
    texts,
    visibility,
    vocabulary,
    writing,
)
from headway.checks.outcome import Outcome


class Property(NamedTuple):
    """Something that must hold of a language model.

    Attributes:
        id: Its short name, which stays.
        name: What holds, in a few words.
        ask: Looks whether it holds.
        section: The section of the book that explains it.
        of_any_numbers: Whether it can be asked if some logits are not finite.
        of_a_leak: Whether it can be asked if logits see later tokens.
    """

    id: str
    name: str
    ask: Callable[[Evidence], Outcome]
    section: Section
    of_any_numbers: bool = False
    of_a_leak: bool = False


# In the order of the report: what spoils the answers of others comes first.
PROPERTIES = (
    Property(
        "finite", "logits are numbers", modes.finite, book.MINUS_INFINITY, True, True
    ),
    Property(
        "state", "a call leaves nothing behind", modes.state, book.STATE, of_a_leak=True
    ),
    Property(
        "eval", "eval is not random", modes.in_eval, book.DROPOUT_MODES, of_a_leak=True
    ),
    Property(
        "leak",
        "no leak from the future",
        visibility.leak,
        book.NOTHING_LEAKS,
        True,
        True,
    ),
    Property(
        "leak-training",
        "no leak in training",
        visibility.in_training,
        book.NOTHING_LEAKS,
        True,
    ),
    Property(
        "leak-long", "no leak in a long text", visibility.long, book.NOTHING_LEAKS, True
    ),
    Property(
        "past", "every past token counts", visibility.past, book.VISIBLE, of_a_leak=True
    ),
    Property(
        "batch",
        "texts do not move each other",
        texts.independent,
        book.PROMISES,
        of_a_leak=True,
    ),
    Property(
        "alone",
        "the same alone as in a batch",
        texts.alone,
        book.PROMISES,
        of_a_leak=True,
    ),
    Property(
        "earlier-rows", "a longer text keeps its logits", texts.longer, book.PROMISES
    ),
    Property(
        "padding-right", "padding behind a text", padding.right, book.PADDING_SIDES
    ),
    Property("padding-left", "padding before a text", padding.left, book.PADDING_SIDES),
    Property("packing", "texts in one row stay apart", padding.packed, book.PACKED),
    Property("cache", "cached equals uncached", cached.every_cut, book.EVERY_CUT),
    Property("greedy", "writing takes the likeliest", writing.greedy, book.WRITES),
    Property("eager", "eager equals fused", backends.eager, book.FUSED, of_a_leak=True),
    Property(
        "compile", "compiled is the same", backends.compiled, book.FUSED, of_a_leak=True
    ),
    Property(
        "half-precision",
        "half precision",
        precision.half,
        book.HALF_PRECISION,
        of_a_leak=True,
    ),
    Property(
        "training",
        "training computes the same",
        modes.in_training,
        book.DROPOUT_MEAN,
        of_a_leak=True,
    ),
    Property(
        "targets",
        "targets change no logits",
        modes.with_targets,
        book.WRITES,
        of_a_leak=True,
    ),
    Property(
        "vocabulary", "the vocabulary fits", vocabulary.size, book.A_MODEL, True, True
    ),
    Property(
        "facts", "declared facts hold", declared.hold, book.DECLARED, of_a_leak=True
    ),
)
