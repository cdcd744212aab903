"""What must hold of a language model, one module for each kind."""

from collections.abc import Callable
from typing import NamedTuple

from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section
from headway.checks.core.outcome import Outcome
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.properties import (
    backends,
    model_facts,
    model_modes,
    model_visibility,
    padding,
    precision,
    text_in_pieces,
    texts,
    vocabulary,
    writing,
)


class ModelProperty(NamedTuple):
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
    ask: Callable[[ModelEvidence], Outcome]
    section: Section
    of_any_numbers: bool = False
    of_a_leak: bool = False


# In the order of the report: what spoils the answers of others comes first.
PROPERTIES = (
    ModelProperty(
        "finite",
        "logits are numbers",
        model_modes.finite,
        book.MINUS_INFINITY,
        True,
        True,
    ),
    ModelProperty(
        "state",
        "a call leaves nothing behind",
        model_modes.state,
        book.STATE,
        of_a_leak=True,
    ),
    ModelProperty(
        "eval",
        "eval is not random",
        model_modes.in_eval,
        book.DROPOUT_MODES,
        of_a_leak=True,
    ),
    ModelProperty(
        "leak",
        "no leak from the future",
        model_visibility.leak,
        book.NOTHING_LEAKS,
        True,
        True,
    ),
    ModelProperty(
        "leak-training",
        "no leak in training",
        model_visibility.in_training,
        book.NOTHING_LEAKS,
        True,
    ),
    ModelProperty(
        "leak-long",
        "no leak in a long text",
        model_visibility.long,
        book.NOTHING_LEAKS,
        True,
    ),
    ModelProperty(
        "past",
        "every past token counts",
        model_visibility.past,
        book.VISIBLE,
        of_a_leak=True,
    ),
    ModelProperty(
        "batch",
        "texts do not move each other",
        texts.independent,
        book.PROMISES,
        of_a_leak=True,
    ),
    ModelProperty(
        "alone",
        "the same alone as in a batch",
        texts.alone,
        book.PROMISES,
        of_a_leak=True,
    ),
    ModelProperty(
        "earlier-rows", "a longer text keeps its logits", texts.longer, book.PROMISES
    ),
    ModelProperty(
        "padding-right", "padding behind a text", padding.right, book.PADDING_SIDES
    ),
    ModelProperty(
        "padding-left", "padding before a text", padding.left, book.PADDING_SIDES
    ),
    ModelProperty(
        "packing", "texts in one row stay apart", padding.packed, book.PACKED
    ),
    ModelProperty(
        "cache", "cached equals uncached", text_in_pieces.every_cut, book.EVERY_CUT
    ),
    ModelProperty("greedy", "writing takes the likeliest", writing.greedy, book.WRITES),
    ModelProperty(
        "eager", "eager equals fused", backends.eager, book.FUSED, of_a_leak=True
    ),
    ModelProperty(
        "compile", "compiled is the same", backends.compiled, book.FUSED, of_a_leak=True
    ),
    ModelProperty(
        "half-precision",
        "half precision",
        precision.half,
        book.HALF_PRECISION,
        of_a_leak=True,
    ),
    ModelProperty(
        "training",
        "training computes the same",
        model_modes.in_training,
        book.DROPOUT_MEAN,
        of_a_leak=True,
    ),
    ModelProperty(
        "targets",
        "targets change no logits",
        model_modes.with_targets,
        book.WRITES,
        of_a_leak=True,
    ),
    ModelProperty(
        "vocabulary", "the vocabulary fits", vocabulary.size, book.A_MODEL, True, True
    ),
    ModelProperty(
        "facts", "declared facts hold", model_facts.hold, book.DECLARED, of_a_leak=True
    ),
)
