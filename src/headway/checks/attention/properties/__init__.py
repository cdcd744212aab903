"""The properties of attention: what must hold, one module for each kind."""

from collections.abc import Callable
from typing import NamedTuple

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.properties import (
    cached,
    caller_masks,
    cross,
    declared,
    differences,
    equation,
    finite,
    layout,
    mixing,
    modes,
    numerics,
    sizes,
    visibility,
)
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section
from headway.checks.core.outcome import Outcome


class AttentionProperty(NamedTuple):
    """Something that must hold of attention.

    Attributes:
        id: Its short name, which stays.
        name: What holds, in a few words.
        ask: Looks whether it holds, and leaves the evidence as it is.
        section: The section of the book that explains it.
        of_random_code: Whether it can be asked of code that is random without dropout.
    """

    id: str
    name: str
    ask: Callable[[Evidence], Outcome]
    section: Section
    of_random_code: bool = False


# In the order of the report. No property depends on another, so any order will do.
PROPERTIES = (
    AttentionProperty(
        "equation", "equals the equation", equation.equals, book.EQUATION
    ),
    AttentionProperty(
        "finite",
        "rows are numbers",
        finite.finite,
        book.WRONG_MASKS,
        of_random_code=True,
    ),
    AttentionProperty("leak", "no leak from the future", visibility.leak, book.LEAK),
    AttentionProperty(
        "past", "every allowed token counts", visibility.past, book.VISIBLE
    ),
    AttentionProperty(
        "equal-tokens",
        "equal tokens, equal rows",
        mixing.equal_tokens,
        book.WEIGHTED_MEAN,
    ),
    AttentionProperty(
        "order", "the order seen does not matter", mixing.order, book.ORDER
    ),
    AttentionProperty(
        "batch", "texts do not move each other", visibility.texts, book.PROMISES
    ),
    AttentionProperty(
        "other-keys", "queries see other keys", cross.others, book.OTHER_TEXT
    ),
    AttentionProperty(
        "alone", "the same alone as in a batch", sizes.alone, book.PROMISES
    ),
    AttentionProperty("earlier-rows", "earlier rows stay", sizes.longer, book.PROMISES),
    AttentionProperty("cache", "cached equals uncached", cached.cached, book.EVERY_CUT),
    AttentionProperty(
        "sizes", "any sizes", sizes.sizes, book.PROMISES, of_random_code=True
    ),
    AttentionProperty(
        "strides", "memory layout does not matter", layout.strided, book.HEADS_IN_MEMORY
    ),
    AttentionProperty(
        "context-length", "longer than the context", sizes.context, book.TOO_LONG
    ),
    AttentionProperty(
        "state", "a call leaves nothing behind", modes.state, book.STATE, True
    ),
    AttentionProperty(
        "eval", "eval is not random", modes.in_eval, book.DROPOUT_MODES, True
    ),
    AttentionProperty(
        "training", "training computes the same", modes.in_training, book.DROPOUT_MEAN
    ),
    AttentionProperty(
        "dropout", "dropout keeps the mean", modes.dropout, book.DROPOUT_MEAN
    ),
    AttentionProperty("masks", "masks are obeyed", caller_masks.obeyed, book.PADDING),
    AttentionProperty(
        "padding", "padding is not seen", caller_masks.padding, book.PADDING
    ),
    AttentionProperty(
        "fully-masked",
        "fully masked rows do no harm",
        caller_masks.fully_masked,
        book.WRONG_MASKS,
    ),
    AttentionProperty(
        "gradients", "gradients arrive", numerics.gradients, book.GRADIENTS
    ),
    AttentionProperty(
        "gradcheck",
        "gradients fit differences",
        differences.gradients_fit,
        book.DIFFERENCES,
    ),
    AttentionProperty(
        "large-scores", "large scores", numerics.large, book.LARGE_SCORES
    ),
    AttentionProperty(
        "half-precision",
        "types and half precision",
        numerics.half,
        book.HALF_PRECISION,
        True,
    ),
    AttentionProperty("facts", "declared facts hold", declared.hold, book.DECLARED),
)
