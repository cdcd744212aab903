"""Undo a wrong scaling

A library's function `attend(query, key, value)` divides scores by D, and not by the
root of D. You may not change it, and only hand it other queries.

Write `right_queries(query)`: what to hand over in place of the queries, (..., T, D), so
that the result is that of attention. The dots stand for any axes in front, or none.
"""

from headway.practice import Exercise, Wrong
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
            "queries are multiplied by 4, whatever D is; that is right for 16 alone",
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
            "query is taken to have three axes; it may have more",
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
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "query / query.shape[-1]",
            "queries are divided by D once more",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[1] ** 0.5",
            "the root of axis 1 is taken, which is the number of queries "
            "if an axis stands in front",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.numel() ** 0.5",
            "the root of how many numbers the queries have in all is taken",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "int(query.shape[-1] ** 0.5)",
            "the root is rounded down to a whole number",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "round(query.shape[-1] ** 0.5)",
            "the root is rounded to a whole number",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "torch.tensor(query.shape[-1]).sqrt()",
            "the root is taken of a tensor of 32 bits, which rounds it; D "
            "is a number of Python",
            hint="math.sqrt and ** 0.5 make numbers of Python.",
        ),
        Wrong(
            "** 0.5",
            "** 2",
            "queries are multiplied by the square of D",
        ),
        Wrong(
            "** 0.5",
            "** 1.5",
            "queries are multiplied by D and by its root",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] / 4)",
            "queries are multiplied by a quarter of D, which is right for 16 alone",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] / 2",
            "queries are multiplied by half of D",
            same_as="D ** 1 / 2 is read as (D ** 1) / 2, which is half of D",
        ),
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "query + query.shape[-1] ** 0.5",
            "the root is added; it should be multiplied",
        ),
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "query**0.5",
            "the root of each number of the queries is taken, which is nan below zero",
        ),
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "query / query.norm(dim=-1, keepdim=True)",
            "queries are brought to length one",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.norm(dim=-1, keepdim=True)",
            "queries are multiplied by their lengths",
        ),
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "query.shape[-1] ** 0.5",
            "the factor alone is given, and no queries",
        ),
        Wrong(
            "query * query.shape[-1] ** 0.5",
            "(query * query.shape[-1] ** 0.5).mT",
            "the last two axes are swapped",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 0.5 / query.shape[-1]",
            "the division by D is made here as well; attend does it",
            same_as="queries are divided by the root of D, so that scores become "
            "still smaller",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return query * query.shape[-2]",
            "the number of queries is taken, and not its root",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return query / query.shape[-1] ** 2",
            "queries are divided by the square of D",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    query * query.shape[-1] ** 0.5",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return query @ query.mT / query.shape[-1] ** 0.5",
            "scores are made; other queries are asked for",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "torch.tensor(query.shape[-1]).double().log()",
            "the logarithm of D is taken",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    T, D = query.shape\n    return query * D**0.5",
            "query is taken to have two axes; it may have more",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "2",
            "queries are multiplied by 2, whatever D is",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] * query.shape[-2]) ** 0.5",
            "the root of the size of a whole table is taken; it should be that of a "
            "row",
        ),
        Wrong(
            "** 0.5",
            "** (1 / 3)",
            "the third root is taken",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] - 1) ** 0.5",
            "the root of D - 1 is taken",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return query / query.std(dim=-1, correction=0, keepdim=True)",
            "queries are divided by their standard deviation",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return torch.softmax(query * query.shape[-1] ** 0.5, dim=-1)",
            "a softmax is taken of the queries",
        ),
        Wrong(
            "    return query * query.shape[-1] ** 0.5",
            "    return query, query.shape[-1] ** 0.5",
            "queries and factor are given as two; they should be multiplied",
        ),
        Wrong(
            "query * query",
            "query ** query",
            "queries are raised to a power of themselves",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "-int(-(query.shape[-1] ** 0.5) // 1)",
            "the root is rounded up to a whole number",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.sum(dim=-1, keepdim=True).abs() ** 0.5",
            "the root of the sum of each query is taken; it should be that of its "
            "width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape ** 0.5",
            "the root of all sizes is taken; query.shape[-1] is the width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "torch.sqrt(query.shape[-1])",
            "torch.sqrt takes a tensor, and D is a number of Python: ** 0.5 or "
            "math.sqrt takes it",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.ndim ** 0.5",
            "the number of axes is taken for the width",
        ),
    ],
    stars=2,
    minutes=5,
)
