"""Undo a wrong scaling

A library's function `attend(query, key, value)` divides scores by D, and not by the
root of D. You may not change it, and only hand it other queries.

Write `right_queries(query)`: what to hand over in place of the queries, (..., T, D), so
that the result is that of attention. The dots stand for any axes in front, or none.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

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
    trials=(DIFFERENT, EQUAL, LOUD, {"D": 14, "axes": 0}),
    law="A factor of the scores may as well be given to the queries, or to the keys: "
    "at D = 16 they must be 4 times as large, since 4/16 is one over the root of 16.",
    right=[
        """
        # Undo and do again: away with the division by D, and divide by its root.
        return query.shape[-1] * query / query.shape[-1] ** 0.5
        """,
        """
        # math.sqrt says what ** 0.5 does, and gives a number of Python, too.
        import math

        return math.sqrt(query.shape[-1]) * query
        """,
    ],
    stars=2,
    minutes=5,
)
