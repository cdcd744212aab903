"""Who attends to itself most?

Write `looks_most_at(x)`: for each word of a text, the position of the word to which
it gives its largest weight, when words are compared with each other as they are.

The text has T vectors of E numbers. The result has T whole numbers: `argmax(dim=-1)` of
a table gives the position of the largest number in each row. Guess first: does a word
look most at itself?
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def looks_most_at(x: Tensor) -> Tensor:
    """Give, for each of T tokens (T, E), the position of its largest weight."""
    # --- write ---
    scores = x @ x.mT
    return scores.argmax(dim=-1)
    # --- written ---


if __name__ == "__main__":
    from headway import nine_words

    words, x = nine_words()
    print([words[position] for position in looks_most_at(x)])
    # ['cream', 'is', 'is', 'is', 'cream', 'is', 'is', 'is', 'cream']
# --- end of your file ---


EXERCISE = Exercise(
    answer="looks_most_at",
    read=(
        "basics/simple_attention/#what-similarity-finds-and-what-it-cannot",
        "What similarity finds, and what it cannot",
    ),
    hints=(
        "Does the softmax change which number of a row is the largest?",
        "Make the table of all scores; argmax finds where the largest number is.",
        "Row t belongs to the word that asks. Along which axis must argmax look?",
    ),
    draw=lambda d: (d.normal(d.S, d.E) * (d.normal(d.S, 1) / d.loud).exp(),),
    law="A word's score with itself is its squared length, so a long vector attracts "
    "others more than they attract themselves. A word cannot say what it looks for, "
    "nor what it wants to be found by: it has one vector for both.",
    right=[
        "return torch.softmax(x @ x.mT, dim=-1).argmax(dim=-1)",
        "return torch.stack([(x * word).sum(dim=-1).argmax() for word in x])",
    ],
    wrong=[
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmin(dim=-1)",
            "the smallest weight is looked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax()",
            "the largest of the whole table is looked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.arange(len(x))",
            "each word is taken to look most at itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.amax(dim=-1)",
            "the largest score is given, and not its position",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1) + 1",
            "positions are counted from one",
        ),
        Wrong(
            "x @ x.mT",
            "(x @ x.mT).fill_diagonal_(-torch.inf)",
            "a word is kept from looking at itself",
        ),
        Wrong(
            "x @ x.mT",
            "-torch.cdist(x, x).fill_diagonal_(torch.inf)",
            "the nearest other word is looked for, and not the largest score",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.max(dim=-1)",
            "both are given, the largest scores and their positions",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1, keepdim=True)",
            "the axis of the keys is kept",
        ),
        Wrong(
            "x @ x.mT",
            "torch.nn.functional.normalize(x, dim=-1) @ "
            "torch.nn.functional.normalize(x, dim=-1).mT",
            "vectors are made equally long first, so that each word is most like "
            "itself",
            same_as="each word is taken to look most at itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=0).argmax(dim=-1)",
            "a softmax over the queries comes first",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1)",
            "the weights are given, and not the position of the largest",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1).max(dim=-1)",
            "both are given, the largest weights and their positions",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1).amax(dim=-1)",
            "the largest weight is given, and not its position",
        ),
    ],
    survivors={
        "-1 -> 1": "the table has two axes, so that the last is axis 1",
        "1 -> 2": "the table equals its transpose, so that both axes give the same",
    },
)
