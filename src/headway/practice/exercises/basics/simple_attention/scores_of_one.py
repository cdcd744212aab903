"""All scores of one word

Write `scores_of_one(query, keys)`: the scores of one word with every word of a text, in
one product.

The query has E numbers, the keys are a table of S rows. The result has S numbers.
"""

from headway.practice import Exercise, Wrong

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
    law="Number s is the dot product of the query with word s.",
    right=[
        "return (keys * query).sum(dim=-1)",
        "return torch.einsum('e,se->s', query, keys)",
        "return torch.stack([query @ key for key in keys])",
    ],
    wrong=[
        Wrong("keys @ query", "keys * query", "products are not added up"),
        Wrong(
            "keys @ query",
            "(keys * query).sum(dim=0)",
            "products are added up over the words, and not over the numbers of a word",
        ),
        Wrong("keys @ query", "(keys * query).sum()", "all products become one number"),
        Wrong(
            "keys @ query",
            "(keys + query).sum(dim=-1)",
            "numbers are added, and not multiplied",
        ),
        Wrong(
            "keys @ query",
            "(keys @ query).unsqueeze(0)",
            "a table of one row comes out, and not a row",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / query.norm()",
            "it is divided by the length of the query",
        ),
        Wrong(
            "keys @ query",
            "torch.softmax(keys @ query, dim=-1)",
            "the softmax is taken already, so that scores are weights",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / len(query) ** 0.5",
            "scores are divided by the root of the width, which comes later",
        ),
        Wrong(
            "keys @ query",
            "(keys * query).mean(dim=-1)",
            "the mean of the products is taken, and not their sum",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / keys.norm(dim=-1)",
            "each score is divided by the length of its key",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / (keys.norm(dim=-1) * query.norm())",
            "scores are divided by both lengths, which is the cosine",
        ),
        Wrong(
            "keys @ query",
            "keys @ keys.T",
            "the words are compared with each other, and the query is not used",
        ),
        Wrong(
            "keys @ query",
            "query @ keys",
            "the query stands on the left and the keys are not transposed, so that the "
            "words would be added up",
            hint="A vector on the left is multiplied with each column of a table. In "
            "keys, is a word a column? In keys.T?",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / len(keys) ** 0.5",
            "scores are divided by the root of the number of words",
        ),
    ],
)
