"""The weights of all queries

Write `scaled_weights(query, key)`: for each query, its weights for all keys: the
softmax of the dot products, each divided by the root of their width D.

Queries have shape (..., T, D), keys (..., S, D); the result is (..., T, S). There may
be more keys than queries. The three dots stand for any number of axes in front, or
none: `key.mT` swaps the last two axes and leaves those in front where they are. Scores
may be large.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def scaled_weights(query: Tensor, key: Tensor) -> Tensor:
    """Give weights (..., T, S) for queries (..., T, D) and keys (..., S, D)."""
    # --- write ---
    scores = query @ key.mT
    scores = scores / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)
    # --- written ---


if __name__ == "__main__":
    query = torch.tensor([[4.0, 4.0]])
    key = torch.tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    print(scaled_weights(query, key))
    # tensor([[0.9930, 0.0035, 0.0035]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="scaled_weights",
    read=("basics/scaled_dot_product/#all-tokens-at-once", "All tokens at once"),
    hints=(
        "Whose root divides: that of the width of a query, or that of their number?",
        "One product gives all dot products; the softmax comes after the division.",
        "The width D is the size of the last axis of the queries; the softmax runs "
        "over the keys, which is the last axis of the scores.",
    ),
    draw=lambda d: (d.normal(*d.lead, d.T, d.D), d.normal(*d.lead, d.S, d.D)),
    trials=(DIFFERENT, EQUAL, LOUD, {"T": 1}),
    law="Scores of independent numbers with spread one have spread one after the "
    "division, whatever D is.",
    right=[
        """
        # einsum names the axes: d stands on both sides and not in the result.
        D = query.shape[-1]
        scores = torch.einsum("...td,...sd->...ts", query, key)
        return (scores * D**-0.5).softmax(-1)
        """,
        """
        # Half of the scale on each side, before the product: what keeps 16 bits small.
        scores = (query / key.shape[-1] ** 0.25) @ (key / key.shape[-1] ** 0.25).mT
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()
        """,
    ],
    stars=1,
    minutes=5,
)
