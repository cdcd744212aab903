"""The mistakes that people make, each as a change of the right recipe."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headway.checks import book
from headway.checks.book import Section
from headway.checks.oracle.recipe import Recipe


@dataclass(frozen=True)
class KnownMistake:
    """A mistake that somebody could have made.

    Attributes:
        sentence: What was done, in words.
        section: What to read about it.
        change: The fields of the recipe that differ.
    """

    sentence: str
    section: Section
    change: Mapping[str, Any]

    def __call__(self, recipe: Recipe) -> Recipe:
        """Make the mistake."""
        return replace(recipe, **self.change)


def _all(section: Section, part: str, cases: Mapping[Any, str]) -> list[KnownMistake]:
    return [KnownMistake(text, section, {part: case}) for case, text in cases.items()]


KNOWN_MISTAKES = [
    *_all(
        book.SCALE,
        "scale",
        {
            "1": "scores are not scaled",
        },
    ),
    *_all(
        book.DIVIDING_TWICE,
        "scale",
        {
            "1/D": "scores are divided by D and not by its root, or scaled twice",
        },
    ),
    *_all(
        book.SCALE,
        "scale",
        {
            "sqrt(D)": "scores are multiplied by sqrt(D), not divided",
            "1/sqrt(E)": "scores are divided by the root of all heads' width",
            "1/E": "scores are divided by the width of all heads",
            "1/sqrt(d_in)": "scores are divided by the root of the width of tokens",
            "1/sqrt(T)": "scores are divided by the root of the number of tokens",
            "1/sqrt(H)": "scores are divided by the root of the number of heads",
        },
    ),
    KnownMistake(
        "the scale comes after the softmax",
        book.SCALE,
        {"scale": "1", "scale_after_softmax": "1/sqrt(D)"},
    ),
    KnownMistake(
        "the scale comes after the softmax, once more than before it",
        book.SCALE,
        {"scale_after_softmax": "1/sqrt(D)"},
    ),
    *_all(
        book.SOFTMAX_AXIS,
        "axis",
        {
            "queries": "the softmax runs over the queries",
            "heads": "the softmax runs over the heads",
            "heads and keys": "one softmax runs over the keys of all heads",
            "texts": "the softmax runs over the texts",
            "texts and queries": "one softmax runs over the queries of all texts",
        },
    ),
    *_all(
        book.SCORES_TO_WEIGHTS,
        "axis",
        {
            "none": "there is no softmax",
        },
    ),
    *_all(
        book.VISIBLE,
        "mask",
        {
            "none": "nothing is hidden",
            "inverted": "the mask is inverted: it hides what it should show",
            "flipped": "the triangle of the mask is flipped",
            "next": "the mask is shifted by one place: the next token is seen",
            "not itself": "the mask is shifted by one place: no token sees itself",
        },
    ),
    *_all(
        book.WRONG_MASKS,
        "mask",
        {
            "added": "a mask of zeros and ones is added to the scores",
            "added, upside down": "a mask with ones for the future is added",
        },
    ),
    *_all(
        book.MINUS_INFINITY,
        "mask",
        {
            "zero": "hidden scores are set to zero, not to minus infinity",
        },
    ),
    *_all(
        book.RENORMALISING,
        "mask",
        {
            "after the softmax": "weights are hidden after the softmax, and their sum "
            "is not one",
        },
    ),
    *_all(
        book.MERGING,
        "merge",
        {"view": "heads are merged without the transpose"},
    ),
    *_all(
        book.HEADS_IN_MEMORY,
        "split",
        {"view": "heads are split without the transpose"},
    ),
    *_all(
        book.PROJECTIONS,
        "projections",
        {
            "kqv": "queries and keys are swapped",
            "qvk": "keys and values are swapped",
            "vkq": "queries and values are swapped",
            "kkv": "the keys' weights make the queries too",
            "qqv": "the queries' weights make the keys too",
            "qkk": "the keys' weights make the values too",
            "qkq": "the queries' weights make the values too",
            "kvq": "keys stand in for queries, values for keys, queries for values",
            "vqk": "values stand in for queries, queries for keys, keys for values",
        },
    ),
    *_all(
        book.HEADS,
        "shared",
        {
            "qkv": "all heads share one projection",
            "q": "all heads share the queries of the first",
            "k": "all heads share the keys of the first",
            "v": "all heads share the values of the first",
            "kv": "all heads share keys and values of the first",
        },
    ),
    *_all(book.OUT_PROJ, "out", {False: "out_proj is never used"}),
    *_all(
        book.LINEAR_LAYERS, "bias", {False: "the biases of the projections are lost"}
    ),
    *_all(
        book.HEADS,
        "groups",
        {"tile": "heads of few keys are tiled, not repeated one by one"},
    ),
    *_all(
        book.HEADS_IN_MEMORY,
        "attend_over",
        {
            "heads": "the heads of each token attend to each other: the axes of heads "
            "and tokens are swapped (if (B, T, H, D) is meant, let call transpose it)"
        },
    ),
    *_all(
        book.PROMISES,
        "first_axis",
        {"tokens": "the axes of texts and tokens are swapped (batch_first?)"},
    ),
]
