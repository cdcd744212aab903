"""The sections of the book that explain what a check asks."""

import re
from dataclasses import dataclass

from headway._published import url_of

# The titles are those of the nav in mkdocs.yml; a test compares them.
_CHAPTERS = {
    "basics/simple_attention": "Finding by similarity",
    "basics/scaled_dot_product": "Queries, keys and values",
    "basics/scaling": "Why divide by the square root of d_k?",
    "basics/self_attention": "Self-attention as a module",
    "basics/masks": "Hiding the future",
    "basics/multi_head_attention": "Several heads",
    "basics/cross_attention": "Attention to a second text",
    "checking": "What check asks, and its options",
    "kernels/flash_backward": "The backward pass by hand",
    "decoding/kv_cache": "The key-value cache",
    "positions/rotary": "Rotary positions",
    "positions/relative_bias": "A bias for distance",
    "decoding/sliding_window": "A window on the past",
    "variants/sinks": "A place for unused attention",
    "variants/norms_and_gates": "Norms and gates",
    "basics/packing": "Several texts in one row",
    "basics/pytorch": "The same thing in PyTorch",
    "models/small_gpt": "A model that writes",
}


@dataclass(frozen=True)
class Section:
    """A section of the book.

    Attributes:
        chapter: The title of its chapter.
        title: Its own title.
        address: Where it stands, from the first page of the book.
    """

    chapter: str
    title: str
    address: str

    @property
    def url(self) -> str | None:
        """Its full address, or `None` if nobody said where the book is published."""
        return url_of(self.address)

    def __str__(self) -> str:
        """Name the section, its chapter, and the address as far as it is known."""
        return f'"{self.title}" in "{self.chapter}" ({self.url or self.address})'


def _section(page: str, title: str, anchor: str = "") -> Section:
    words = re.sub(r"[^\w\s-]", "", title.lower()).split()
    anchor = anchor or "-".join(words)
    return Section(_CHAPTERS[page], title, f"{page}/#{anchor}")


SCORES_TO_WEIGHTS = _section("basics/simple_attention", "From scores to weights")
WEIGHTED_MEAN = _section(
    "basics/simple_attention", "A property: the result lies between inputs"
)
LARGE_SCORES = _section("basics/simple_attention", "When scores are large")
PROJECTIONS = _section("basics/scaled_dot_product", "Three projections of one token")
EQUATION = _section("basics/scaled_dot_product", "All tokens at once")
SCALE = _section("basics/scaling", "What a large score does to the softmax")
SOFTMAX_AXIS = _section("basics/scaled_dot_product", "What breaks it")
GRADIENTS = _section("basics/self_attention", "A module, by hand")
LINEAR_LAYERS = _section("basics/self_attention", "The same with linear layers")
ORDER = _section("basics/self_attention", "A property: shuffle in, shuffle out")
MINUS_INFINITY = _section("basics/masks", "Second way: minus infinity")
LEAK = _section("basics/masks", "How to see a leak")
VISIBLE = _section("basics/masks", "What a token may see")
RENORMALISING = _section("basics/masks", "First way: zero, then renormalise")
PADDING = _section("basics/masks", "Two more masks")
WRONG_MASKS = _section("basics/masks", "What breaks it")
DROPOUT_MEAN = _section("basics/masks", "No change on average")
DROPOUT_MODES = _section("basics/masks", "Two modes")
PROMISES = _section("basics/masks", "Four promises")
TOO_LONG = STATE = _section("basics/masks", "The module, by hand")
HEADS_IN_MEMORY = _section(
    "basics/multi_head_attention", "Cutting into heads, seen in memory"
)
MERGING = _section("basics/multi_head_attention", "What breaks it: one call too few")
HEADS = _section("basics/multi_head_attention", "All heads in one batched product")
OUT_PROJ = _section("basics/multi_head_attention", "What out_proj does")
DIVIDING_TWICE = _section(
    "basics/multi_head_attention", "What breaks it: dividing twice"
)
OTHER_TEXT = _section("basics/cross_attention", "The property: the memory is a bag")
HALF_PRECISION = _section("checking", "Numbers in sixteen bits")
DECLARED = _section("checking", "Say what you mean once")

ROTARY = _section("positions/rotary", "Turn instead of add")
ROTARY_SPEEDS = _section("positions/rotary", "Many pairs, each at its own speed")
ROTARY_DISTANCE = _section(
    "positions/rotary", "The property: only the difference counts"
)
PAIRS_OR_HALVES = _section("positions/rotary", "Pairs or halves")
WRONG_ROTATIONS = _section("positions/rotary", "What breaks it")
BIAS = _section("positions/relative_bias", "What breaks it")
SLOPES = _section("positions/relative_bias", "A slope for each head")
BUCKETS = _section("positions/relative_bias", "T5: let training choose the numbers")
WINDOW = _section("decoding/sliding_window", "What the number counts")
SINKS = _section("variants/sinks", "What breaks it")
CAP = _section("variants/sinks", "A cap on the scores")
QK_NORM = _section("variants/norms_and_gates", "Queries and keys of one size")
NORM_OVER = _section("variants/norms_and_gates", "Each head, or all heads together")
WRONG_NORMS = _section("variants/norms_and_gates", "What breaks it")

# Of whole models.
NOTHING_LEAKS = _section("models/small_gpt", "The property: nothing leaks")
A_MODEL = _section("models/small_gpt", "The model")
WRITES = _section("models/small_gpt", "It writes")
PADDING_SIDES = _section("basics/packing", "Padding, to the right and to the left")
PACKED = _section("basics/packing", "The property: packed equals alone")
EVERY_CUT = _section("decoding/kv_cache", "The property: every way to cut")
FUSED = _section("basics/pytorch", "The function")
DIFFERENCES = _section("kernels/flash_backward", "Two keys, by hand")
