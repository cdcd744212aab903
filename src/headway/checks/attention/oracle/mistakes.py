"""The mistakes that people make, each as a change of the right recipe."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.rotation import base_of, steps_of
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section


class Setting(NamedTuple):
    """What a mistake could have been made in.

    Attributes:
        p: The weights.
        design: What is meant besides the equation.
        causal: Whether the future is to be hidden.
    """

    p: Projections
    design: Design
    causal: bool


@dataclass(frozen=True)
class KnownMistake:
    """A mistake that somebody could have made.

    Attributes:
        id: Its short name, which stays.
        sentence: What was done, in words.
        section: What to read about it.
        change: The fields of the recipe that differ.
        needs: What must be inside for the mistake to be possible; see `NEEDS`.
    """

    id: str
    sentence: str
    section: Section
    change: Mapping[str, Any]
    needs: str = ""

    def __call__(self, recipe: Recipe) -> Recipe:
        """Make the mistake."""
        return recipe.but(**self.change)

    def is_possible(self, setting: Setting) -> bool:
        """Ask whether it makes sense, where such things are inside."""
        return NEEDS[self.needs](setting)


def _has_base(setting: Setting) -> bool:
    rotation = setting.design.rotation
    return rotation is not None and base_of(rotation) is not None


def _has_norms(setting: Setting) -> bool:
    return setting.design.query_norm is not None or setting.design.key_norm is not None


def _has_groups(setting: Setting) -> bool:
    return setting.p.key.shape[0] < setting.p.query.shape[0]


def _has_bias_of_heads(setting: Setting) -> bool:
    return setting.design.bias is not None and len(setting.design.bias) > 1


def _has_one_axis(setting: Setting) -> bool:
    return setting.design.normalize == "softmax"


NEEDS: Mapping[str, Callable[[Setting], bool]] = {
    "": lambda setting: True,
    "a softmax": _has_one_axis,
    "a mask": lambda setting: setting.causal,
    "certain roles": lambda setting: setting.p.certain,
    "groups": _has_groups,
    "a rotation": lambda setting: setting.design.rotation is not None,
    "a rotation and groups": lambda setting: (
        _has_groups(setting) and setting.design.rotation is not None
    ),
    "a base": _has_base,
    "a bias": lambda setting: setting.design.bias is not None,
    "a bias of heads": _has_bias_of_heads,
    "a window": lambda setting: setting.design.window is not None,
    "a hidden future and a window": lambda setting: (
        setting.causal and setting.design.window is not None
    ),
    "a cap": lambda setting: setting.design.softcap is not None,
    "a cap and a mask": lambda setting: (
        setting.causal and setting.design.softcap is not None
    ),
    "sinks": lambda setting: setting.design.sinks is not None,
    "sinks and groups": lambda setting: (
        _has_groups(setting) and setting.design.sinks is not None
    ),
    "one more": lambda setting: setting.design.normalize == "softmax plus one",
    "a sigmoid": lambda setting: setting.design.normalize == "sigmoid",
    "norms": _has_norms,
    "norms and a rotation": lambda setting: (
        _has_norms(setting) and setting.design.rotation is not None
    ),
    "a scale": lambda setting: setting.design.scale is not None,
}


def _all(
    section: Section,
    part: str,
    cases: Mapping[Any, tuple[str, str]],
    needs: str = "",
) -> list[KnownMistake]:
    return [
        KnownMistake(one, text, section, {part: case}, needs)
        for case, (one, text) in cases.items()
    ]


PLAIN_MISTAKES = [
    *_all(
        book.SCALE,
        "scale",
        {
            "1": ("no-scale", "scores are not scaled"),
        },
    ),
    *_all(
        book.DIVIDING_TWICE,
        "scale",
        {
            "1/D": (
                "scaled-by-width",
                "scores are divided by D and not by its root, or scaled twice",
            ),
        },
    ),
    *_all(
        book.SCALE,
        "scale",
        {
            "sqrt(D)": (
                "scale-multiplied",
                "scores are multiplied by sqrt(D), not divided",
            ),
            "1/sqrt(E)": (
                "scaled-by-root-of-all-heads",
                "scores are divided by the root of all heads' width",
            ),
            "1/E": (
                "scaled-by-all-heads",
                "scores are divided by the width of all heads",
            ),
            "1/sqrt(d_in)": (
                "scaled-by-root-of-d-in",
                "scores are divided by the root of the width of tokens",
            ),
            "1/sqrt(T)": (
                "scaled-by-root-of-tokens",
                "scores are divided by the root of the number of tokens",
            ),
            "1/sqrt(H)": (
                "scaled-by-root-of-heads",
                "scores are divided by the root of the number of heads",
            ),
        },
    ),
    *_all(
        book.SCALE,
        "scale",
        {
            "1/sqrt(E/G)": (
                "scaled-by-root-of-group",
                "scores are divided by the root of the width of a group",
            )
        },
        "groups",
    ),
    *_all(
        book.SCALE,
        "scale",
        {
            "1/sqrt(D)": (
                "told-scale-ignored",
                "scores are divided by the root of D, and the scale meant is ignored",
            ),
            "twice": ("told-scale-twice", "the given scale acts twice"),
        },
        "a scale",
    ),
    KnownMistake(
        "scale-after-softmax",
        "the scale comes after the softmax",
        book.SCALE,
        {"scale": "1", "scale_after_softmax": "1/sqrt(D)"},
    ),
    KnownMistake(
        "scale-again-after-softmax",
        "the scale comes after the softmax, once more than before it",
        book.SCALE,
        {"scale_after_softmax": "1/sqrt(D)"},
    ),
    *_all(
        book.WEIGHTED_MEAN,
        "scale_after_softmax",
        {
            "1/T": (
                "weights-divided-by-tokens",
                "weights are divided by the number of tokens after the softmax",
            ),
            "1/sqrt(E)": (
                "weights-divided-by-width",
                "weights are divided by the root of all heads' width after the softmax",
            ),
        },
    ),
    *_all(
        book.SOFTMAX_AXIS,
        "axis",
        {
            "queries": ("softmax-over-queries", "the softmax runs over the queries"),
            "heads": ("softmax-over-heads", "the softmax runs over the heads"),
            "heads and keys": (
                "softmax-over-heads-and-keys",
                "one softmax runs over the keys of all heads",
            ),
            "texts": ("softmax-over-texts", "the softmax runs over the texts"),
            "texts and queries": (
                "softmax-over-texts-and-queries",
                "one softmax runs over the queries of all texts",
            ),
        },
        "a softmax",
    ),
    *_all(
        book.SCORES_TO_WEIGHTS,
        "axis",
        {
            "none": ("no-softmax", "there is no softmax"),
        },
    ),
    *_all(
        book.VISIBLE,
        "mask",
        {
            "none": ("no-mask", "nothing is hidden"),
            "inverted": (
                "mask-inverted",
                "the mask is inverted: it hides what it should show",
            ),
            "flipped": ("mask-flipped", "the triangle of the mask is flipped"),
            "next": (
                "mask-shows-next",
                "the mask is shifted by one place: the next token is seen",
            ),
            "not itself": (
                "mask-hides-itself",
                "the mask is shifted by one place: no token sees itself",
            ),
        },
        "a mask",
    ),
    *_all(
        book.WRONG_MASKS,
        "mask",
        {
            "added": (
                "mask-of-ones-added",
                "a mask of zeros and ones is added to the scores",
            ),
            "added, upside down": (
                "mask-of-future-ones-added",
                "a mask with ones for the future is added",
            ),
        },
        "a mask",
    ),
    *_all(
        book.MINUS_INFINITY,
        "mask",
        {
            "zero": (
                "mask-fills-zero",
                "hidden scores are set to zero, not to minus infinity",
            ),
        },
        "a mask",
    ),
    *_all(
        book.RENORMALISING,
        "mask",
        {
            "after the softmax": (
                "mask-after-softmax",
                "weights are hidden after the softmax, and their sum is not one",
            ),
        },
        "a mask",
    ),
    *_all(
        book.MERGING,
        "merge",
        {
            "view": (
                "heads-merged-without-transpose",
                "heads are merged without the transpose",
            )
        },
    ),
    *_all(
        book.HEADS_IN_MEMORY,
        "split",
        {
            "view": (
                "heads-split-without-transpose",
                "heads are split without the transpose",
            )
        },
    ),
    *_all(
        book.PROJECTIONS,
        "projections",
        {
            "kqv": ("queries-and-keys-swapped", "queries and keys are swapped"),
            "qvk": ("keys-and-values-swapped", "keys and values are swapped"),
            "vkq": ("queries-and-values-swapped", "queries and values are swapped"),
            "kkv": (
                "queries-from-key-weights",
                "the keys' weights make the queries too",
            ),
            "qqv": (
                "keys-from-query-weights",
                "the queries' weights make the keys too",
            ),
            "qkk": ("values-from-key-weights", "the keys' weights make the values too"),
            "qkq": (
                "values-from-query-weights",
                "the queries' weights make the values too",
            ),
            "kvq": (
                "keys-as-queries-values-as-keys",
                "keys stand in for queries, values for keys, queries for values",
            ),
            "vqk": (
                "values-as-queries-queries-as-keys",
                "values stand in for queries, queries for keys, keys for values",
            ),
        },
        "certain roles",
    ),
    *_all(
        book.HEADS,
        "shared",
        {
            "qkv": ("one-projection-for-all-heads", "all heads share one projection"),
            "q": (
                "one-query-for-all-heads",
                "all heads share the queries of the first",
            ),
            "k": ("one-key-for-all-heads", "all heads share the keys of the first"),
            "v": ("one-value-for-all-heads", "all heads share the values of the first"),
            "kv": (
                "one-key-value-for-all-heads",
                "all heads share keys and values of the first",
            ),
        },
    ),
    *_all(book.OUT_PROJ, "out", {False: ("out-proj-unused", "out_proj is never used")}),
    *_all(
        book.LINEAR_LAYERS,
        "biases",
        {
            "o": ("projection-biases-lost", "the biases of the projections are lost"),
            "kvo": ("query-bias-lost", "the bias of the queries is lost"),
            "qko": ("value-bias-lost", "the bias of the values is lost"),
            "qkv": ("out-proj-bias-lost", "the bias of out_proj is lost"),
            "": ("all-biases-lost", "all biases are lost"),
        },
    ),
    *_all(
        book.HEADS,
        "groups",
        {
            "tile": (
                "groups-tiled",
                "heads of few keys are tiled, not repeated one by one",
            ),
            "k tiled": (
                "key-groups-tiled",
                "heads of keys are tiled, and those of values repeated one by one",
            ),
            "v tiled": (
                "value-groups-tiled",
                "heads of values are tiled, and those of keys repeated one by one",
            ),
            "queries dealt": (
                "query-heads-dealt-to-groups",
                "heads of queries are dealt out to groups in turn, and "
                "not group by group",
            ),
        },
        "groups",
    ),
    *_all(
        book.HEADS,
        "groups",
        {
            "k reversed": (
                "key-groups-reversed",
                "the groups of keys are in a different order from those of "
                "values: the last comes first",
            ),
            "v reversed": (
                "value-groups-reversed",
                "the groups of values are in a different order from those of "
                "keys: the last comes first",
            ),
        },
        "groups",
    ),
    *_all(
        book.MERGING,
        "merge",
        {
            "groups": (
                "heads-merged-by-groups",
                "heads are merged in a different order than they were split: the "
                "first of each group come first",
            )
        },
        "groups",
    ),
    *_all(
        book.HEADS,
        "met",
        {
            "all": (
                "keys-summed-over-heads",
                "queries meet the keys of all heads, summed, and not those of their "
                "own head",
            )
        },
    ),
    *_all(
        book.WEIGHTED_MEAN,
        "summed",
        {
            "own": (
                "own-value-only",
                "each token gets its own value, whatever its weights are: a letter "
                "of the sum is wrong",
            ),
            "all": (
                "all-values-summed",
                "all values are summed, whatever the weights are: a letter of the "
                "sum is wrong",
            ),
        },
    ),
    *_all(
        book.HEADS_IN_MEMORY,
        "attend_over",
        {
            "heads": (
                "heads-and-tokens-swapped",
                "the heads of each token attend to each other: the axes of heads and "
                "tokens are swapped (if (B, T, H, D) is meant, let call transpose it)",
            )
        },
    ),
    *_all(
        book.PROMISES,
        "first_axis",
        {
            "tokens": (
                "texts-and-tokens-swapped",
                "the axes of texts and tokens are swapped (batch_first?)",
            )
        },
    ),
]

_OF_ROTATIONS = [
    *_all(
        book.ROTARY,
        "rotated",
        {
            "": (
                "rotation-left-out",
                "the rotation changes nothing: it is left out, or counts heads or "
                "texts, and not tokens",
            ),
            "q": ("keys-not-rotated", "only queries are rotated, and no keys"),
            "k": ("queries-not-rotated", "only keys are rotated, and no queries"),
            "qkv": ("values-rotated-too", "values are rotated too"),
            "qv": ("values-rotated-for-keys", "values are rotated in place of keys"),
            "kv": (
                "values-rotated-for-queries",
                "values are rotated in place of queries",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.PAIRS_OR_HALVES,
        "pairing",
        {
            "other": (
                "rotary-pairs-or-halves",
                "numbers are paired otherwise: neighbours for halves, or vice versa",
            )
        },
        "a rotation",
    ),
    *_all(
        book.PAIRS_OR_HALVES,
        "layout",
        {
            "other": (
                "rotary-angles-laid-out-otherwise",
                "angles are laid out for neighbours and numbers paired in halves, "
                "or vice versa",
            )
        },
        "a rotation",
    ),
    *_all(
        book.WRONG_ROTATIONS,
        "minus",
        {False: ("rotary-sign-lost", "the minus sign of the rotation is lost")},
        "a rotation",
    ),
    *_all(
        book.ROTARY_DISTANCE,
        "against",
        {
            "q": (
                "queries-rotated-backwards",
                "queries and keys are rotated in opposite directions",
            ),
            "k": (
                "keys-rotated-backwards",
                "keys are rotated the other way than queries, so that scores depend "
                "on the sum of positions",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.WRONG_ROTATIONS,
        "swapped",
        {
            "qk": (
                "rotary-sin-cos-swapped",
                "cosine and sine change places in the rotation",
            ),
            "q": (
                "query-sin-cos-swapped",
                "cosine and sine change places in the rotation of queries",
            ),
            "k": (
                "key-sin-cos-swapped",
                "cosine and sine change places in the rotation of keys",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.WRONG_ROTATIONS,
        "lost",
        {
            ("imaginary part", "q"): (
                "rotary-imaginary-part-lost",
                "the second number of each pair of the rotated "
                "queries or keys is lost, their imaginary part",
            ),
            ("sine of the second", "qk"): (
                "rotary-sine-lost",
                "half of the rotation is missing: the second "
                "number of each pair gets no sine of the first",
            ),
            ("places of the second", "qk"): (
                "rotary-half-swapped",
                "the numbers of a pair change places in one half of the rotation",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.ROTARY_DISTANCE,
        "positions",
        {
            "queries +1": (
                "query-positions-shifted",
                "queries are rotated by one position more than keys",
            ),
            "keys +1": (
                "key-positions-shifted",
                "keys are rotated by one position more than queries",
            ),
            "keys rolled": (
                "key-positions-rolled",
                "keys are rotated by the position of the token before, as "
                "their table is shifted by one token",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.ROTARY_DISTANCE,
        "positions",
        {
            "heads": (
                "rotation-counts-heads",
                "the rotation counts heads, and not tokens",
            )
        },
        "a rotation and groups",
    ),
    *_all(
        book.ROTARY_SPEEDS,
        "angles",
        {
            "half the exponent": (
                "rotary-exponent-halved",
                "the base has the exponent i/D, where 2i/D is meant",
            ),
            "twice the exponent": (
                "rotary-exponent-doubled",
                "the base has the exponent 4i/D, where 2i/D is meant",
            ),
            "turned twice": (
                "rotated-twice",
                "angles are twice as large, or all is rotated twice",
            ),
            "of the first": (
                "one-rotary-speed",
                "all pairs are rotated at the speed of the first",
            ),
            "inverse": (
                "rotary-exponent-sign-lost",
                "the sign of the exponent of the base is lost: the speeds of "
                "the pairs grow",
            ),
        },
        "a rotation",
    ),
    *_all(
        book.ROTARY_SPEEDS,
        "angles",
        {
            "of each number": (
                "rotary-angle-per-number",
                "each number has an angle of its own, and not each pair",
            )
        },
        "a base",
    ),
    *_all(
        book.ROTARY_SPEEDS,
        "turned",
        {
            "all heads": (
                "rotated-across-heads",
                "all heads side by side are rotated as one, and not each head",
            )
        },
        "a base",
    ),
]
_OF_BIASES = [
    *_all(
        book.BIAS,
        "bias",
        {
            "left out": ("position-bias-left-out", "the bias of positions is left out"),
            "negated": (
                "position-bias-negated",
                "the bias of positions has the wrong sign",
            ),
            "before the scale": (
                "position-bias-scaled",
                "the bias of positions is added before scores are scaled",
            ),
            "after the softmax": (
                "position-bias-after-softmax",
                "the bias of positions is added after the softmax",
            ),
            "twice": ("position-bias-twice", "the bias of positions is added twice"),
            "transposed": (
                "position-bias-transposed",
                "queries and keys are swapped in the bias of positions",
            ),
            "multiplied": (
                "position-bias-multiplied",
                "scores are multiplied by the bias of positions, and it is not added",
            ),
            "once more after the softmax": (
                "position-bias-on-weights-too",
                "the bias of positions is added to the "
                "weights once more, after the softmax",
            ),
        },
        "a bias",
    ),
    *_all(
        book.SLOPES,
        "bias",
        {
            "heads reversed": (
                "position-bias-heads-reversed",
                "the heads have the biases of positions in reverse order",
            ),
            "one for all heads": (
                "one-position-bias-for-heads",
                "all heads have the bias of positions of the first",
            ),
        },
        "a bias of heads",
    ),
    *_all(
        book.BUCKETS,
        "bias",
        {
            "view": (
                "position-bias-viewed",
                "the bias of positions is brought to the axes of heads by a view, "
                "where axes must change places",
            ),
        },
        "a bias of heads",
    ),
]
_OF_WINDOWS = [
    *_all(
        book.WINDOW,
        "window",
        {
            "wider": (
                "window-too-wide",
                "the window is one key wider than it is meant to be",
            ),
            "narrower": (
                "window-too-narrow",
                "the window is one key narrower than it is meant to be",
            ),
            "none": ("window-hides-nothing", "the window hides nothing"),
        },
        "a window",
    ),
    *_all(
        book.WINDOW,
        "window",
        {
            "both sides": (
                "window-on-both-sides",
                "the window reaches as far into the future as into the past",
            ),
            "open": (
                "window-open-to-future",
                "the window hides the far past, and nothing hides the future",
            ),
        },
        "a hidden future and a window",
    ),
]
_OF_WINDOWS += _all(
    book.VISIBLE,
    "mask",
    {
        "next, and the window": (
            "mask-shows-next-in-window",
            "the mask of the future is shifted by one place, and "
            "not that of the window: the next token is seen",
        )
    },
    "a hidden future and a window",
)
_OF_CAPS = [
    *_all(
        book.CAP,
        "cap",
        {
            "left out": ("cap-left-out", "scores are not capped"),
            "clamped": (
                "cap-clamped",
                "scores are cut off at the cap, and not bent by tanh",
            ),
            "not multiplied": (
                "cap-not-multiplied",
                "scores are not multiplied by the cap after tanh",
            ),
            "not divided": (
                "cap-not-divided",
                "scores are not divided by the cap before tanh",
            ),
            "before the scale": (
                "cap-before-scale",
                "scores are capped before they are scaled",
            ),
            "after the softmax": (
                "cap-on-weights",
                "weights are capped, and not scores",
            ),
        },
        "a cap",
    ),
    *_all(
        book.CAP,
        "cap",
        {
            "after the mask": (
                "cap-after-mask",
                "scores are capped after the mask, which hides nothing",
            )
        },
        "a cap and a mask",
    ),
]
_OF_SINKS = [
    *_all(
        book.SINKS,
        "sinks",
        {
            "left out": (
                "sink-left-out",
                "the sink is left out or hidden, or its share handed back",
            ),
            "one for all heads": (
                "one-sink-for-all-heads",
                "all heads have the sink of the first",
            ),
            "heads reversed": (
                "sinks-of-heads-reversed",
                "the heads have their sinks in reverse order",
            ),
            "scaled": ("sink-scaled", "the sink is scaled as scores are"),
            "twice": ("sink-counted-twice", "the sink counts twice in the sum"),
            "negated": ("sink-negated", "the sign of the sinks is lost"),
            "to the first key": (
                "sink-weight-to-first-key",
                "the weight of the sink goes to the value of the first key",
            ),
            "not an exponent": (
                "sink-not-exponentiated",
                "the sink is added to the sum of exponentials as it is",
            ),
            "last, and the first key cut": (
                "sink-last-first-cut",
                "the sink stands last, and the weight of "
                "the first key is cut off in place of its own",
            ),
            "first, and the last key cut": (
                "sink-first-last-cut",
                "the sink stands first, and the weight of "
                "the last key is cut off in place of its own",
            ),
        },
        "sinks",
    ),
    *_all(
        book.SINKS,
        "normalize",
        {
            "softmax alone": (
                "softmax-one-left-out",
                "the one that is to be added to the sum is left out",
            ),
            "the one is not shifted": (
                "softmax-one-not-shifted",
                "the one is added to the sum after the largest score was subtracted",
            ),
        },
        "one more",
    ),
    *_all(
        book.SINKS,
        "normalize",
        {
            "softmax": (
                "softmax-for-sigmoid",
                "weights are made by a softmax, and not by a sigmoid",
            )
        },
        "a sigmoid",
    ),
]
_OF_SINKS += _all(
    book.SINKS,
    "sinks",
    {
        "by groups": (
            "sinks-by-groups",
            "the heads have their sinks in a different order: groups and the "
            "heads of a group change places",
        )
    },
    "sinks and groups",
)
_OF_NORMS = [
    *_all(
        book.QK_NORM,
        "norms",
        {
            "": ("norms-left-out", "the norm of queries and keys is left out"),
            "k": ("query-norm-left-out", "the norm of queries is left out"),
            "q": ("key-norm-left-out", "the norm of keys is left out"),
            "qkv": ("values-normalised", "values are normalised too, as keys are"),
        },
        "norms",
    ),
    *_all(
        book.QK_NORM,
        "norm_of",
        {
            "qq": ("query-norm-on-keys", "keys get the norm of queries"),
            "kk": ("key-norm-on-queries", "queries get the norm of keys"),
        },
        "norms",
    ),
    *_all(
        book.QK_NORM,
        "norm_of",
        {"kq": ("norms-swapped", "the norms of queries and keys are swapped")},
        "norms and a rotation",  # without one it makes no difference
    ),
    *_all(
        book.NORM_OVER,
        "norm_over",
        {
            "other": (
                "norm-over-other-axes",
                "the norm runs over all heads side by side, where each head is "
                "meant, or vice versa",
            )
        },
        "norms",
    ),
    *_all(
        book.WRONG_NORMS,
        "norm_place",
        {"other": ("norm-and-rotation-swapped", "norm and rotation change places")},
        "norms and a rotation",
    ),
]
KNOWN_MISTAKES = [
    *PLAIN_MISTAKES,
    *_OF_ROTATIONS,
    *_OF_BIASES,
    *_OF_WINDOWS,
    *_OF_CAPS,
    *_OF_SINKS,
    *_OF_NORMS,
]


def left_out(meant: Design, found: Design) -> KnownMistake | None:
    """Give the mistake of leaving out what is inside and is certainly meant to act.

    Args:
        meant: The likeliest design.
        found: The one that gives the output.
    """
    if meant.rotation is not None and found.rotation is None:
        return _with(rotated="")
    if meant.scale is not None and found.scale is None:
        return _with(scale="1/sqrt(D)")
    for part, field, value in (
        ("sinks", "sinks", "left out"),
        ("query_norm", "norms", ""),
        ("softcap", "cap", "left out"),
        ("buckets", "bias", "left out"),
    ):
        if getattr(meant, part) is not None and getattr(found, part) is None:
            return _with(**{field: value})
    return None


def other_speeds(meant: Design, found: Design) -> KnownMistake | None:
    """Give the mistake that made the speeds of a rotation, if it is a known one.

    Args:
        meant: The design of which names and numbers tell.
        found: The one that gives the output.
    """
    one, other = meant.rotation, found.rotation
    if one is None or other is None:
        return None
    right, steps = steps_of(one), steps_of(other)
    if right.shape != steps.shape or torch.allclose(right, steps, rtol=1e-4):
        return None
    for name, wrong in (
        ("half the exponent", right.sqrt()),
        ("twice the exponent", right**2),
        ("of the first", right[:1].expand_as(right)),
        ("inverse", 1 / right),
    ):
        if torch.allclose(steps, wrong, rtol=1e-4):
            return _with(angles=name)
    return None


def _with(**change: Any) -> KnownMistake:
    return next(one for one in KNOWN_MISTAKES if one.change == change)
