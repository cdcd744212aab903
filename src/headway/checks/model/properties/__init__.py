"""What must hold of a language model, one module for each kind."""

from headway.checks.core import book_sections as book
from headway.checks.core.property import Property
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.properties import (
    backends,
    gradients,
    model_facts,
    model_modes,
    model_visibility,
    padding,
    precision,
    targets,
    text_in_pieces,
    texts,
    vocabulary,
    writing,
)

# In the order of the report: what spoils the answers of others comes first.
PROPERTIES: tuple[Property[ModelEvidence], ...] = (
    Property(
        "finite",
        "logits are numbers",
        model_modes.finite,
        book.MINUS_INFINITY,
        even_if=("not finite", "leaking"),
    ),
    Property(
        "state",
        "a call leaves nothing behind",
        model_modes.state,
        book.STATE,
        even_if=("leaking",),
    ),
    Property(
        "eval",
        "eval is not random",
        model_modes.in_eval,
        book.DROPOUT_MODES,
        even_if=("leaking",),
    ),
    Property(
        "leak",
        "no leak from the future",
        model_visibility.leak,
        book.NOTHING_LEAKS,
        even_if=("not finite", "leaking"),
    ),
    Property(
        "leak-training",
        "no leak in training",
        model_visibility.in_training,
        book.NOTHING_LEAKS,
        even_if=("not finite",),
    ),
    Property(
        "leak-long",
        "no leak in a long text",
        model_visibility.long,
        book.NOTHING_LEAKS,
        even_if=("not finite",),
    ),
    Property(
        "past",
        "every past token counts",
        model_visibility.past,
        book.VISIBLE,
        even_if=("leaking",),
    ),
    Property(
        "batch",
        "texts do not move each other",
        texts.independent,
        book.PROMISES,
        even_if=("leaking",),
    ),
    Property(
        "alone",
        "the same alone as in a batch",
        texts.alone,
        book.PROMISES,
        even_if=("leaking",),
    ),
    Property(
        "earlier-rows", "a longer text keeps its logits", texts.longer, book.PROMISES
    ),
    Property(
        "padding-right", "padding behind a text", padding.right, book.PADDING_SIDES
    ),
    Property("padding-left", "padding before a text", padding.left, book.PADDING_SIDES),
    Property("packing", "texts in one row stay apart", padding.packed, book.PACKED),
    Property(
        "cache", "cached equals uncached", text_in_pieces.every_cut, book.EVERY_CUT
    ),
    Property("greedy", "writing takes the likeliest", writing.greedy, book.WRITES),
    Property(
        "eager", "eager equals fused", backends.eager, book.FUSED, even_if=("leaking",)
    ),
    Property(
        "compile",
        "compiled is the same",
        backends.compiled,
        book.FUSED,
        even_if=("leaking",),
    ),
    Property(
        "half-precision",
        "half precision",
        precision.half,
        book.HALF_PRECISION,
        even_if=("leaking",),
    ),
    Property(
        "training",
        "training computes the same",
        model_modes.in_training,
        book.DROPOUT_MEAN,
        even_if=("leaking",),
    ),
    Property(
        "targets",
        "logits and loss fit",
        targets.with_targets,
        book.WRITES,
        even_if=("leaking",),
    ),
    Property(
        "gradients",
        "gradients arrive",
        gradients.arrive,
        book.GRADIENTS,
        even_if=("leaking",),
    ),
    Property(
        "vocabulary",
        "the vocabulary fits",
        vocabulary.size,
        book.A_MODEL,
        even_if=("not finite", "leaking"),
    ),
    Property(
        "facts",
        "declared facts hold",
        model_facts.hold,
        book.DECLARED,
        even_if=("leaking",),
    ),
)
