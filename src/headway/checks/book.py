"""The sections of the book that explain what a check asks."""

import re
from dataclasses import dataclass

_FOLDER = "basics"
_CHAPTERS = {
    "simple_attention": "Attention without trainable weights",
    "scaled_dot_product": "Queries, keys and values",
    "self_attention": "Self-attention as a module",
    "masks": "Hiding the future",
    "dropout": "Dropping attention",
    "causal_attention": "Causal attention, one head",
    "multi_head_attention": "Several heads from one projection",
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

    def __str__(self) -> str:
        """Name the section, its chapter and its address."""
        return f'"{self.title}" in "{self.chapter}" ({self.address})'


def _section(page: str, title: str, anchor: str = "") -> Section:
    words = re.sub(r"[^\w\s-]", "", title.lower()).split()
    anchor = anchor or "-".join(words)
    return Section(_CHAPTERS[page], title, f"{_FOLDER}/{page}/#{anchor}")


SCORES_TO_WEIGHTS = _section("simple_attention", "From scores to weights")
WEIGHTED_MEAN = _section(
    "simple_attention", "A property: the result lies between inputs"
)
LARGE_SCORES = _section("simple_attention", "What breaks it")
PROJECTIONS = _section("scaled_dot_product", "Three projections of one token")
EQUATION = _section("scaled_dot_product", "All tokens at once")
SCALE = _section(
    "scaled_dot_product",
    "Why divide by the square root of d_k?",
    "why-divide-by-the-square-root-of-dk",
)
SOFTMAX_AXIS = _section("scaled_dot_product", "What breaks it")
GRADIENTS = _section("self_attention", "A module, by hand")
LINEAR_LAYERS = _section("self_attention", "The same with linear layers")
ORDER = _section("self_attention", "A property: shuffle in, shuffle out")
MINUS_INFINITY = _section("masks", "Second way: minus infinity")
LEAK = _section("masks", "How to see a leak")
VISIBLE = _section("masks", "What a token may see")
RENORMALISING = _section("masks", "First way: zero, then renormalise")
PADDING = _section("masks", "Two more masks")
WRONG_MASKS = _section("masks", "What breaks it")
DROPOUT_MEAN = _section("dropout", "The property: no change on average, none in use")
DROPOUT_MODES = _section("dropout", "What breaks it")
PROMISES = _section("causal_attention", "Four promises")
TOO_LONG = _section("causal_attention", "What breaks it: a text that is too long")
STATE = _section("causal_attention", "Buffer or no buffer?")
HEADS_IN_MEMORY = _section("multi_head_attention", "Cutting into heads, seen in memory")
MERGING = _section("multi_head_attention", "What breaks it: one call too few")
HEADS = _section("multi_head_attention", "All heads in one batched product")
OUT_PROJ = _section("multi_head_attention", "What out_proj does")
DIVIDING_TWICE = _section("multi_head_attention", "What breaks it: dividing twice")
