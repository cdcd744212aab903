"""How attention may be computed, in all its steps."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """How attention is computed; by default, rightly.

    What is there only for some designs changes nothing in the others.

    Attributes:
        first_axis: Whether texts or tokens are taken for the first axis.
        projections: Whose weights make queries, keys and values.
        biases: Whose biases act, as letters; `o` is that of the output projection.
        split: `view` splits heads without the transpose.
        groups: How the heads of fewer keys are repeated.
        met: Whether queries meet the keys of their own head, or of all heads.
        shared: Which projections all heads share, as letters.
        attend_over: Whether tokens attend to each other, or the heads of each token.
        norms: Which of queries, keys and values are normalised, as letters.
        norm_of: Whose norms queries and keys get.
        norm_over: Whether a norm runs over each head, or over all heads side by side.
        norm_place: Whether a norm comes before the rotation or after it.
        rotated: Which of queries, keys and values are rotated, as letters.
        pairing: `other` pairs neighbours if halves are right, and halves if not.
        layout: `other` lays the angles out as the other pairing needs them.
        minus: Whether one of the products of a rotation is subtracted, and not added.
        against: Which of queries and keys are turned the other way, as letters.
        swapped: Of which of them cosine and sine change places, as letters.
        lost: Which part of a rotation is left out, and of what, as letters.
        angles: How fast the pairs turn.
        base: What their speeds are powers of; `None` is what is meant.
        positions: What is counted.
        turned: Whether each head is rotated, or all heads side by side.
        scale: What scores are multiplied by.
        factor: What they are multiplied by besides.
        cap: How scores are capped.
        bias: How the bias is added to scores.
        mask: How the future is hidden.
        fill: What hidden scores are set to.
        taken_off: What is taken off hidden scores; `None` sets them instead.
        window: How the window is applied.
        axis: Over which axis the softmax runs; `none` leaves it out.
        normalize: What makes weights of scores.
        sinks: What becomes of the sinks.
        summed: Which values the weights of a row sum.
        scale_after_softmax: What weights are multiplied by, after the softmax.
        merge: `view` merges heads without the transpose, `groups` the first heads of
            all groups first.
        out: Whether the output projection acts.
    """

    first_axis: str = "texts"
    projections: str = "qkv"
    biases: str = "qkvo"
    split: str = "right"
    groups: str = "interleave"
    met: str = "own"
    shared: str = ""
    attend_over: str = "tokens"
    norms: str = "qk"
    norm_of: str = "qk"
    norm_over: str = "right"
    norm_place: str = "before"
    rotated: str = "qk"
    pairing: str = "right"
    layout: str = "right"
    minus: bool = True
    against: str = ""
    swapped: str = ""
    lost: tuple[str, str] = ("", "")
    angles: str = "right"
    base: float | None = None
    positions: str = "right"
    turned: str = "each head"
    scale: str = "right"
    factor: float = 1.0
    cap: str = "right"
    bias: str = "right"
    mask: str = "right"
    fill: float = -math.inf
    taken_off: float | None = None
    window: str = "right"
    axis: str = "keys"
    normalize: str = "right"
    sinks: str = "right"
    summed: str = "right"
    scale_after_softmax: str = "1"
    merge: str = "right"
    out: bool = True

    def but(self, **fields: Any) -> "Recipe":
        """Change some fields, in less time than `replace` takes: searches ask often."""
        made = object.__new__(Recipe)
        vars(made).update(vars(self), **fields)
        return made


# What each stage of the computation depends on; a stage depends on those before it too.
OF_HEADS = (
    *("first_axis", "projections", "biases", "split", "groups", "shared"),
    *("attend_over", "norms", "norm_of", "norm_over", "norm_place", "rotated"),
    *("pairing", "layout", "minus", "against", "swapped", "lost", "angles"),
    *("base", "positions", "turned", "met"),
)
OF_SCORES = ("scale", "factor")
OF_WEIGHTS = (
    *("cap", "bias", "mask", "fill", "taken_off", "window", "axis", "normalize"),
    *("sinks", "scale_after_softmax"),
)
