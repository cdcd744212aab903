"""Checkpoint: scaled dot-product attention

Write `attention(query, key, value)`: what every model in this book computes.

Queries have shape (..., T, D), keys (..., S, D), values (..., S, V). Each query mixes
the values by its weights, which are the softmax of its scores divided by the root of D.
The result is (..., T, V). The dots stand for any number of axes in front, or none.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Mix values (..., S, V) for queries (..., T, D), which gives (..., T, V)."""
    # --- write ---
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), W_query, W_key = he_finds_boy()
    context = attention(x @ W_query, x @ W_key, x)
    print(context[words.index("he")])
    # tensor([0.9816, 0.0031, 0.8778])
# --- end of your file ---


EXERCISE = Exercise(
    answer="attention",
    read=("basics/scaled_dot_product/#all-tokens-at-once", "All tokens at once"),
    hints=(
        "What are the three steps, and which axis goes in each of the two products?",
        "Scores, softmax, mixture: only the scores are scaled.",
        "The width that scales is that of the queries. Values may have a different "
        "width, which must not come in.",
    ),
    draw=lambda d: (
        d.normal(*d.lead, d.H, d.T, d.D),
        d.normal(*d.lead, d.H, d.S, d.D),
        d.normal(*d.lead, d.H, d.S, d.V),
    ),
    law="Each row of the result lies between the values; a query that likes no key "
    "more than another gets their mean.",
    covers=("scaled_weights", "context"),
    right=[
        "return torch.nn.functional.scaled_dot_product_attention(query, key, value)",
        """
        scores = torch.einsum("...td,...sd->...ts", query, key) / key.shape[-1] ** 0.5
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return torch.einsum("...ts,...sv->...tv", e, value) / e.sum(-1, keepdim=True)
        """,
    ],
    wrong=[
        Wrong(
            " / query.shape[-1] ** 0.5",
            "",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1]",
            "scores are divided by D, and not by its root",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "value.shape[-1] ** 0.5",
            "the width of the values is taken for that of the queries",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[1] * query.shape[-1]) ** 0.5",
            "scores are divided by the root of all heads' width",
        ),
        Wrong(
            "dim=-1)",
            "dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong("dim=-1)", "dim=1)", "the softmax runs over the heads"),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores",
            "there is no softmax",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value / query.shape[-1] ** 0.5",
            "what was found is scaled once more",
        ),
        Wrong(
            "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    weights = torch.softmax(scores, dim=-1)",
            "scores = query @ key.mT\n"
            "    weights = torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5",
            "the scale comes after the softmax, and not before it",
            hint="The scale is for the scores. What do weights sum to, after yours?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[0] ** 0.5",
            "scores are divided by the root of the first axis, which counts texts",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted, so that large ones overflow",
            hint="What did your softmax do before the exponential? torch.softmax does "
            "it, too.",
        ),
        Wrong(
            "dim=-1)",
            "dim=3)",
            "axes are counted from the front: axis 3 is the last of four only",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 1 / 2",
            "D ** 1 / 2 is read as (D ** 1) / 2, so that scores are divided by D "
            "and by 2",
            hint="** binds more than /. How does Python read D ** 1 / 2?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] / 2)",
            "D ** 1 / 2 is read as half of D",
            hint="** binds more than /. How does Python read D ** 1 / 2?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-2] ** 0.5",
            "scores are divided by the root of the number of queries",
        ),
        Wrong(
            "return weights @ value",
            "return weights",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ key",
            "keys are mixed, and not values",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.permute(*range(key.ndim)[::-1])",
            ".T turns all axes around, those of the texts too; .mT turns the last two",
        ),
        Wrong(
            "query @ key.mT",
            "torch.einsum('bhtd,bhsd->bhts', query, key)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "dim=-1)",
            "dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            "dim=-1)", "dim=2)", "the softmax runs over axis 2, which is not the last"
        ),
        Wrong(
            "scores = query @ key.mT",
            "B, H, T, D = query.shape\n    scores = query @ key.mT",
            "query is taken to have four axes, and may have more",
            hint="query.shape[-1] is the last size, however many axes there are.",
        ),
    ],
    stars=2,
)
