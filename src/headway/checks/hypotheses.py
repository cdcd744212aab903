"""The mistakes that people make, each as a change of the right recipe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hypothesis:
    """A mistake that somebody could have made."""

    sentence: str
    chapter: str
    change: Mapping[str, Any]


def _all(chapter: str, part: str, cases: Mapping[Any, str]) -> list[Hypothesis]:
    return [Hypothesis(text, chapter, {part: case}) for case, text in cases.items()]


HYPOTHESES = [
    *_all(
        "scaled_dot_product",
        "scale",
        {
            "1": "scores are not scaled",
            "1/D": "scores are divided by D and not by its root, or scaled twice",
            "sqrt(D)": "scores are multiplied by sqrt(D), not divided",
            "1/sqrt(E)": "scores are divided by the root of all heads' width",
            "1/E": "scores are divided by the width of all heads",
            "1/sqrt(d_in)": "scores are divided by the root of the width of tokens",
            "1/sqrt(T)": "scores are divided by the root of the number of tokens",
            "1/sqrt(H)": "scores are divided by the root of the number of heads",
        },
    ),
    Hypothesis(
        "the scale comes after the softmax",
        "scaled_dot_product",
        {"scale": "1", "after": "1/sqrt(D)"},
    ),
    Hypothesis(
        "the scale comes after the softmax, once more than before it",
        "scaled_dot_product",
        {"after": "1/sqrt(D)"},
    ),
    *_all(
        "simple_attention",
        "axis",
        {
            "queries": "the softmax runs over the queries",
            "heads": "the softmax runs over the heads",
            "heads and keys": "one softmax runs over the keys of all heads",
            "texts": "the softmax runs over the texts",
            "texts and queries": "one softmax runs over the queries of all texts",
            "none": "there is no softmax",
        },
    ),
    *_all(
        "masks",
        "mask",
        {
            "none": "nothing is hidden",
            "inverted": "the mask is inverted: it hides what it should show",
            "flipped": "the triangle of the mask is flipped",
            "next": "the mask is shifted by one place: the next token is seen",
            "not itself": "the mask is shifted by one place: no token sees itself",
            "added": "a mask of zeros and ones is added to the scores",
            "added, upside down": "a mask with ones for the future is added",
            "zero": "hidden scores are set to zero, not to minus infinity",
            "after the softmax": "weights are hidden after the softmax, and their sum "
            "is not one",
        },
    ),
    *_all(
        "multi_head_attention",
        "merge",
        {"view": "heads are merged without the transpose"},
    ),
    *_all(
        "multi_head_attention",
        "split",
        {"view": "heads are split without the transpose"},
    ),
    *_all(
        "self_attention",
        "roles",
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
        "multi_head_attention",
        "shared",
        {
            "qkv": "all heads share one projection",
            "q": "all heads share the queries of the first",
            "k": "all heads share the keys of the first",
            "v": "all heads share the values of the first",
            "kv": "all heads share keys and values of the first",
        },
    ),
    *_all("multi_head_attention", "out", {False: "out_proj is never used"}),
    *_all("self_attention", "bias", {False: "the biases of the projections are lost"}),
    *_all(
        "multi_head_attention",
        "groups",
        {"tile": "heads of few keys are tiled, not repeated one by one"},
    ),
    *_all(
        "multi_head_attention",
        "meet",
        {
            "heads": "the heads of each token attend to each other: the axes of heads "
            "and tokens are swapped (if (B, T, H, D) is meant, let call transpose it)"
        },
    ),
    *_all(
        "causal_attention",
        "first",
        {"tokens": "the axes of texts and tokens are swapped (batch_first?)"},
    ),
]
