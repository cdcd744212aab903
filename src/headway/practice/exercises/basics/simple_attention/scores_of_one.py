"""All scores of one word

Write `scores_of_one(query, keys)`: the scores of one word with every word of a text, in
one product.

The query has E numbers, the keys are a table of S rows. The result has S numbers.
"""

from headway.practice import Exercise, Wrong
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
    wrong=[
        Wrong(
            "keys @ query",
            "keys * query",
            "products are not added up: a table of all products comes out",
        ),
        Wrong(
            "keys @ query",
            "(keys * query).sum(dim=0)",
            "products are added up over the words; they should be added up over the "
            "numbers of a word",
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
            "a table of one row comes out; it should be a row",
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
        Wrong(
            "keys @ query",
            "keys.T @ query",
            "the keys are transposed, so that a column would meet the "
            "query; a word is a row",
        ),
        Wrong(
            "keys @ query",
            "(keys - query).norm(dim=-1)",
            "distances are measured; scores are products",
        ),
        Wrong(
            "keys @ query",
            "-(keys - query).norm(dim=-1)",
            "distances are measured, with a minus; scores are products",
        ),
        Wrong(
            "keys @ query",
            "(keys - query).square().sum(dim=-1)",
            "squared distances are measured; scores are products",
        ),
        Wrong(
            "keys @ query",
            "keys[0] @ query",
            "only the first word is scored",
        ),
        Wrong(
            "keys @ query",
            "keys[-1] @ query",
            "only the last word is scored",
        ),
        Wrong(
            "keys @ query",
            "torch.dot(keys, query)",
            "torch.dot takes two vectors; keys are a table",
        ),
        Wrong(
            "keys @ query",
            "torch.dot(query, keys)",
            "torch.dot takes two vectors, and the second is a table",
        ),
        Wrong(
            "keys @ query",
            "torch.mm(keys, query)",
            "torch.mm takes two tables; a query is a vector",
        ),
        Wrong(
            "keys @ query",
            "keys @ query[:, None]",
            "a table of one column comes out; it should be a row",
        ),
        Wrong(
            "keys @ query",
            "[key @ query for key in keys]",
            "a list is given; it should be one tensor, as torch.stack makes one",
        ),
        Wrong(
            "keys @ query",
            "[float(key @ query) for key in keys]",
            "a list of numbers is given; it should be a tensor",
            same_as="a list is given; it should be one tensor, as torch.stack "
            "makes one",
        ),
        Wrong(
            "keys @ query",
            "-(keys @ query)",
            "the sign is turned",
        ),
        Wrong(
            "keys @ query",
            "(keys @ query).abs()",
            "scores have lost their sign",
        ),
        Wrong(
            "keys @ query",
            "keys @ query / len(query)",
            "scores are divided by the width",
            same_as="the mean of the products is taken, and not their sum",
        ),
        Wrong(
            "keys @ query",
            "(keys @ query).sum()",
            "all scores are added up",
            same_as="all products become one number",
        ),
        Wrong(
            "keys @ query",
            "(keys @ query).sort().values",
            "the scores are sorted",
        ),
        Wrong(
            "keys @ query",
            "query * query @ keys.T",
            "the query is multiplied by itself first",
        ),
        Wrong(
            "keys @ query",
            "torch.outer(query, keys)",
            "torch.outer takes two vectors, and multiplies each number by each",
        ),
        Wrong(
            "keys @ query",
            "(keys * query).amax(dim=-1)",
            "the largest product of each word is taken; the products "
            "should be added up",
        ),
        Wrong(
            "keys @ query",
            "(keys * query).prod(dim=-1)",
            "the products of each word are multiplied; they should be added up",
        ),
        Wrong(
            "keys @ query",
            "query[None] @ keys.T / len(query) ** 0.5",
            "scores are divided by the root of the width, which comes later, and "
            "a table of one row comes out",
        ),
        Wrong(
            "    return keys @ query",
            "    keys @ query",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.softmax(keys @ query / len(query) ** 0.5, dim=-1)",
            "scores are divided by the root of the width, and the softmax is taken "
            "already",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.softmax(keys, dim=-1) @ query",
            "a softmax is taken of the keys",
        ),
        Wrong(
            "    return keys @ query",
            '    return torch.einsum("e,es->s", query, keys)',
            "einsum is told that keys are (E, S); they are (S, E)",
        ),
        Wrong(
            "    return keys @ query",
            "    return (keys * keys).sum(dim=-1)",
            "products of each word with itself are given",
        ),
        Wrong(
            "    return keys @ query",
            "    return query[:, None] @ keys",
            "the query is taken as a column on the left",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.bmm(keys, query)",
            "torch.bmm takes three axes; keys have two",
        ),
        Wrong(
            "    return keys @ query",
            "    return (keys @ query).argmax()",
            "the place of the largest score is given; all scores are asked for",
        ),
        Wrong(
            "    return keys @ query",
            "    return (keys @ query).max()",
            "the largest score is given; all are asked for",
        ),
        Wrong(
            "    return keys @ query",
            "    return keys[1:] @ query",
            "the first word is left out",
        ),
        Wrong(
            "    return keys @ query",
            "    return keys[:-1] @ query",
            "the last word is left out",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.stack([query @ key for key in keys.T])",
            "the loop runs over columns",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.tensor([float(query @ key) for key in keys])",
            "numbers are put into a new tensor, which has 32 bits",
        ),
        Wrong(
            "    return keys @ query",
            "    scores = query.new_zeros(len(query))\n"
            "    for s, key in enumerate(keys):\n"
            "        scores[s] = key @ query\n"
            "    return scores",
            "there are as many scores as a word has numbers; there should be one for "
            "each word",
        ),
        Wrong(
            "    return keys @ query",
            "    return (keys @ query).cumsum(dim=0)",
            "scores are added up from word to word",
        ),
        Wrong(
            "    return keys @ query",
            "    return keys @ query - (keys @ query).mean()",
            "the mean of the scores is taken off",
        ),
        Wrong(
            "    return keys @ query",
            "    return keys @ query / (keys @ query).sum()",
            "scores are divided by their sum",
        ),
        Wrong(
            "    return keys @ query",
            "    return (keys @ query) ** 2",
            "scores are squared",
        ),
        Wrong(
            "    return keys @ query",
            "    return query @ query",
            "the query is multiplied by itself, and the keys are not used",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.relu(keys @ query)",
            "scores below zero are set to zero",
        ),
        Wrong(
            "    return keys @ query",
            "    return torch.mv(query, keys)",
            "torch.mv takes the table first; the query stands first",
        ),
        Wrong(
            "return keys @ query",
            "return (keys @ query[:, None]).squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    minutes=3,
)
