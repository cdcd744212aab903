"""Undo a wrong scaling

A library's function `attend(query, key, value)` divides scores by D, and not by the
root of D. You may not change it, and only hand it other queries.

Write `right_queries(query)`: what to hand over in place of the queries, (..., T, D), so
that the result is that of attention. The dots stand for any axes in front, or none.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def right_queries(query: Tensor) -> Tensor:
    """Give the queries (..., T, D) that undo a division by D instead of its root."""
    # --- write ---
    return query * query.shape[-1] ** 0.5
    # --- written ---


if __name__ == "__main__":
    print(right_queries(torch.ones(1, 16)))
    # tensor([[4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4., 4.]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="right_queries",
    read=(
        "basics/scaling/#a-property-the-factor-can-move",
        "A property: the factor can move",
    ),
    hints=(
        "A score is a product. What happens to it if the query is doubled?",
        "The factor that is missing may be given to the queries before they are handed "
        "over.",
        "One over D, times what, is one over the root of D?",
    ),
    draw=lambda d: (d.normal(*d.lead, d.T, d.D),),
    law="A factor of the scores may as well be given to the queries, or to the keys: "
    "at D = 16 they must be 4 times as large, since 4/16 is one over the root of 16.",
    right=["return query.shape[-1] * query / query.shape[-1] ** 0.5"],
    wrong=[
        Wrong("** 0.5", "", "queries are multiplied by D, so that nothing is scaled"),
        Wrong(
            "query * query",
            "query / query",
            "queries are divided by the root of D, so that scores become still smaller",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-2] ** 0.5",
            "the root of the number of queries is taken",
        ),
        Wrong("query * query.shape[-1] ** 0.5", "query", "nothing is changed"),
        Wrong(
            "query.shape[-1] ** 0.5",
            "4",
            "queries are multiplied by 4, which is right for a width of 16 alone",
        ),
        Wrong(
            "** 0.5",
            "** 0.25",
            "the fourth root is taken, which would be right if "
            "keys were changed as well",
        ),
        Wrong(
            "return query *",
            "B, T, D = query.shape\n    return query *",
            "query is taken to have three axes, and may have more",
            hint="query.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[2] ** 0.5",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "len(query) ** 0.5",
            "the root of the size of the first axis is taken, which len gives",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 1 / 2",
            "D ** 1 / 2 is read as (D ** 1) / 2, which is half of D",
            hint="** binds more than /. How does Python read D ** 1 / 2?",
        ),
    ],
    stars=2,
)
