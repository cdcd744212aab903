"""Who attends to itself most?

Write `looks_most_at(x)`: for each word of a text, the position of the word to which
it gives its largest weight, when words are compared with each other as they are.

The text has T vectors of E numbers. The result has T whole numbers: `argmax(dim=-1)` of
a table gives the position of the largest number in each row. Guess first: does a word
look most at itself?
"""

from headway.practice import Exercise

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
        """
        # The softmax keeps the order, so that the weights have the same largest place.
        return torch.softmax(x @ x.mT, dim=-1).argmax(dim=-1)
        """,
        """
        # Word by word: each word that asks can be watched alone.
        return torch.stack([(x * word).sum(dim=-1).argmax() for word in x])
        """,
        """
        # max(dim=...) gives both, the largest and where it stands.
        largest, places = (x @ x.mT).max(dim=-1)
        return places
        """,
    ],
    survivors={
        "-1 -> 1": "the table has two axes, so that the last is axis 1",
        "1 -> 2": "the table equals its transpose, so that both axes give the same",
    },
    minutes=6,
)
