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
        name: What holds, in a few words.
        ask: Looks whether it holds.
        section: The section of the book that explains it.
        of_any_numbers: Whether it can be asked if some logits are not finite.
        of_a_leak: Whether it can be asked if logits see later tokens.
    """

    name: str
    ask: Callable[[Evidence], Outcome]
    section: Section
    of_any_numbers: bool = False
    of_a_leak: bool = False


# In the order of the report: what spoils the answers of others comes first.
PROPERTIES = (
    Property("logits are numbers", modes.finite, book.MINUS_INFINITY, True, True),
    Property("a call leaves nothing behind", modes.state, book.STATE, of_a_leak=True),
    Property("eval is not random", modes.in_eval, book.DROPOUT_MODES, of_a_leak=True),
    Property(
        "no leak from the future", visibility.leak, book.NOTHING_LEAKS, True, True
    ),
    Property("no leak in training", visibility.in_training, book.NOTHING_LEAKS, True),
    Property("no leak in a long text", visibility.long, book.NOTHING_LEAKS, True),
    Property("every past token counts", visibility.past, book.VISIBLE, of_a_leak=True),
    Property(
        "texts do not move each other", texts.independent, book.PROMISES, of_a_leak=True
    ),
    Property(
        "the same alone as in a batch", texts.alone, book.PROMISES, of_a_leak=True
    ),
    Property("a longer text keeps its logits", texts.longer, book.PROMISES),
    Property("padding behind a text", padding.right, book.PADDING_SIDES),
    Property("padding before a text", padding.left, book.PADDING_SIDES),
    Property("texts in one row stay apart", padding.packed, book.PACKED),
    Property("cached equals uncached", cached.every_cut, book.EVERY_CUT),
    Property("writing takes the likeliest", writing.greedy, book.WRITES),
    Property("eager equals fused", backends.eager, book.FUSED, of_a_leak=True),
    Property("compiled is the same", backends.compiled, book.FUSED, of_a_leak=True),
    Property("half precision", precision.half, book.HALF_PRECISION, of_a_leak=True),
    Property(
        "training computes the same",
        modes.in_training,
        book.DROPOUT_MEAN,
        of_a_leak=True,
    ),
    Property(
        "targets change no logits", modes.with_targets, book.WRITES, of_a_leak=True
    ),
    Property("the vocabulary fits", vocabulary.size, book.A_MODEL, True, True),
    Property("declared facts hold", declared.hold, book.DECLARED, of_a_leak=True),
)
