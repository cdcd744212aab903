"""All scores of one word

Write `scores_of_one(query, keys)`: the scores of one word with every word of a text, in
one product.

The query has E numbers, the keys are a table of S rows. The result has S numbers.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor


def scores_of_one(query: Tensor, keys: Tensor) -> Tensor:
    """Give the S dot products of a query (E) with keys (S, E)."""
    # --- write ---
    return keys @ query
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), _, _ = he_finds_boy()
    print(scores_of_one(x[words.index("Boy")], x))
    # tensor([2., 0., 0., 0., 0., 0., 0., 1., 1.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="scores_of_one",
    read=("basics/simple_attention/#all-scores-of-one-word", "All scores of one word"),
    hints=(
        "How many numbers must come out, and which axis must go?",
        "A table times a vector multiplies each row of the table by the vector.",
        "The operator is @; the table with a row for each word stands on its left.",
    ),
    draw=lambda d: (d.normal(d.E), d.normal(d.S, d.E)),
    trials=(DIFFERENT, EQUAL, {"S": 1}),
    law="Number s is the dot product of the query with word s.",
    right=[
        """
        # Broadcasting: the query meets each row, and each row is added up.
        return (keys * query).sum(dim=-1)
        """,
        """
        # einsum names the axes: e is missing in the result, so that it is added up.
        return torch.einsum('e,se->s', query, keys)
        """,
        """
        # A loop: one dot product after the other, as in the exercise before.
        return torch.stack([query @ key for key in keys])
        """,
    ],
    minutes=3,
)
