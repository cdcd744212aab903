"""Checkpoint: scaled dot-product attention

Write `attention(query, key, value)`: what every model in this book computes.

Queries have shape (..., T, D), keys (..., S, D), values (..., S, V). Each query mixes
the values by its weights, which are the softmax of its scores divided by the root of D.
The result is (..., T, V). The dots stand for any number of axes in front, or none.
Scores may be large.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

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
        d.normal(*d.lead, *[d.H][: d.axes], d.T, d.D),
        d.normal(*d.lead, *[d.H][: d.axes], d.S, d.D),
        d.normal(*d.lead, *[d.H][: d.axes], d.S, d.V),
    ),
    trials=(DIFFERENT, EQUAL, LOUD, {"axes": 0, "T": 1}),
    law="Each row of the result lies between the values; a query that likes no key "
    "more than another gets their mean.",
    covers=("scaled_weights", "context"),
    right=[
        """
        # PyTorch's function: the same in one call, with fast kernels behind it.
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        """,
        """
        # Divided at the end: exponentials mix the values first, as in fast kernels.
        scores = torch.einsum("...td,...sd->...ts", query, key) / key.shape[-1] ** 0.5
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return torch.einsum("...ts,...sv->...tv", e, value) / e.sum(-1, keepdim=True)
        """,
        """
        # Query by query: slow, but the table of all scores is never made.
        rows = []
        for t in range(query.shape[-2]):
            scores = (key * query[..., t : t + 1, :]).sum(dim=-1)
            weights = (scores / query.shape[-1] ** 0.5).softmax(dim=-1)
            rows.append((weights.unsqueeze(-1) * value).sum(dim=-2))
        return torch.stack(rows, dim=-2)
        """,
    ],
    stars=2,
    minutes=6,
)
