"""Which properties fail of themselves where a mistake was made."""

from collections.abc import Sequence
from typing import Any

from headway.checks.attention.oracle.mistakes import KnownMistake

_LEAK = "leak"
_PAST = "past"
_SUM = "equal-tokens"
_ORDER = "order"
_TEXTS = "batch"
_ALONE = "alone"
_NUMBERS = "finite"
_GRADIENTS = "gradients"
_OTHER_KEYS = "other-keys"
_LATER = ("earlier-rows", "context-length")
_MIXED = (_LEAK, _PAST, _SUM, _ORDER, *_LATER, "masks")

# For each change of the recipe. What is not said here is told in full: that a mask of
# the caller is not obeyed, say, follows from no mistake with the mask of the future.
CONSEQUENCES: dict[tuple[str, Any], tuple[str, ...]] = {
    ("scale", "1/sqrt(T)"): (*_LATER, "padding"),
    ("scale_after_softmax", "1/T"): (_SUM, *_LATER),
    ("axis", "queries"): (_LEAK, _SUM, _ORDER, _OTHER_KEYS, *_LATER, "masks"),
    ("axis", "heads"): (_SUM,),
    ("axis", "texts"): (_SUM, _TEXTS, _ALONE, _OTHER_KEYS),
    ("axis", "texts and queries"): (_TEXTS, _ALONE),
    ("axis", "none"): (_SUM, _OTHER_KEYS),
    ("mask", "none"): (_LEAK, *_LATER),
    ("mask", "inverted"): (_NUMBERS, _LEAK, _PAST, _SUM, *_LATER),
    ("mask", "flipped"): (_LEAK, _PAST, *_LATER),
    ("mask", "next"): (_LEAK, *_LATER),
    ("mask", "not itself"): (_NUMBERS, _PAST, _SUM),
    ("mask", "added"): (_LEAK, *_LATER),
    ("mask", "added, upside down"): (_LEAK, *_LATER),
    ("mask", "zero"): (_LEAK, *_LATER),
    ("mask", "after the softmax"): (_LEAK, _SUM, *_LATER),
    ("split", "view"): _MIXED,
    ("merge", "view"): _MIXED,
    ("projections", "kkv"): (_GRADIENTS,),
    ("projections", "qqv"): (_GRADIENTS,),
    ("projections", "qkk"): (_GRADIENTS, _OTHER_KEYS),
    ("projections", "kqv"): (_OTHER_KEYS,),
    ("projections", "qvk"): (_OTHER_KEYS,),
    ("projections", "qkq"): (_GRADIENTS,),
    ("attend_over", "heads"): (_PAST,),
    ("out", False): (_GRADIENTS,),
    ("summed", "own"): (_PAST,),
    ("summed", "all"): (_LEAK, _SUM, *_LATER),
    ("biases", "o"): (_GRADIENTS,),
    ("biases", "kvo"): (_GRADIENTS,),
    ("biases", "qko"): (_GRADIENTS,),
    ("biases", "qkv"): (_GRADIENTS,),
    ("biases", ""): (_GRADIENTS,),
    ("window", "both sides"): (_LEAK, _PAST, *_LATER),
    ("window", "open"): (_LEAK, _PAST, *_LATER),
    ("cap", "after the mask"): (_LEAK, *_LATER),
    ("cap", "after the softmax"): (_SUM,),
    ("sinks", "last, and the first key cut"): (_LEAK, _ORDER, *_LATER),
    ("sinks", "first, and the last key cut"): (_LEAK, _ORDER, *_LATER),
    ("first_axis", "tokens"): (_PAST, _TEXTS, _ALONE),
}


def consequences(mistakes: Sequence[KnownMistake]) -> set[str]:
    """List the properties that cannot hold where these mistakes were made.

    Args:
        mistakes: The mistakes that give exactly what was seen.
    """
    return {
        name
        for one in mistakes
        for change in one.change.items()
        for name in CONSEQUENCES.get(change, ())
    }
