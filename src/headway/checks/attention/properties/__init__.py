"""The properties of attention: what must hold, one module for each kind."""

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
from headway.checks.core.property import Property

# In the order of the report. No property depends on another, so any order will do.
PROPERTIES: tuple[Property[Evidence], ...] = (
    Property("equation", "equals the equation", equation.equals, book.EQUATION),
    Property(
        "finite",
        "rows are numbers",
        finite.finite,
        book.WRONG_MASKS,
        even_if=("random",),
    ),
    Property("leak", "no leak from the future", visibility.leak, book.LEAK),
    Property("past", "every allowed token counts", visibility.past, book.VISIBLE),
    Property(
        "equal-tokens",
        "equal tokens, equal rows",
        mixing.equal_tokens,
        book.WEIGHTED_MEAN,
    ),
    Property("order", "the order seen does not matter", mixing.order, book.ORDER),
    Property("batch", "texts do not move each other", visibility.texts, book.PROMISES),
    Property("other-keys", "queries see other keys", cross.others, book.OTHER_TEXT),
    Property("alone", "the same alone as in a batch", sizes.alone, book.PROMISES),
    Property("earlier-rows", "earlier rows stay", sizes.longer, book.PROMISES),
    Property("cache", "cached equals uncached", cached.cached, book.EVERY_CUT),
    Property("sizes", "any sizes", sizes.sizes, book.PROMISES, even_if=("random",)),
    Property(
        "strides", "memory layout does not matter", layout.strided, book.HEADS_IN_MEMORY
    ),
    Property("context-length", "longer than the context", sizes.context, book.TOO_LONG),
    Property(
        "state",
        "a call leaves nothing behind",
        modes.state,
        book.STATE,
        even_if=("random",),
    ),
    Property(
        "eval",
        "eval is not random",
        modes.in_eval,
        book.DROPOUT_MODES,
        even_if=("random",),
    ),
    Property(
        "training", "training computes the same", modes.in_training, book.DROPOUT_MEAN
    ),
    Property("dropout", "dropout keeps the mean", modes.dropout, book.DROPOUT_MEAN),
    Property("masks", "masks are obeyed", caller_masks.obeyed, book.PADDING),
    Property("padding", "padding is not seen", caller_masks.padding, book.PADDING),
    Property(
        "fully-masked",
        "fully masked rows do no harm",
        caller_masks.fully_masked,
        book.WRONG_MASKS,
    ),
    Property("gradients", "gradients arrive", numerics.gradients, book.GRADIENTS),
    Property(
        "gradcheck",
        "gradients fit differences",
        differences.gradients_fit,
        book.DIFFERENCES,
    ),
    Property("large-scores", "large scores", numerics.large, book.LARGE_SCORES),
    Property(
        "half-precision",
        "types and half precision",
        numerics.half,
        book.HALF_PRECISION,
        even_if=("random",),
    ),
    Property("facts", "declared facts hold", declared.hold, book.DECLARED),
)
