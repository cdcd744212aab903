"""A puzzle: Boy looks for its pronoun

In `he_finds_boy()` words have three features: noun, pronoun, living. There, *he* looks
for *Boy*. Write two matrices of your own, so that what lives looks for a pronoun:

*Boy* must give *he* more than 0.99 of its attention. *ice* and *cream* ask for nothing,
and take the same from every word, to four digits.

Write `matrices()`: give W_query and W_key, each of shape (3, D), with a D of your
choice.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def matrices() -> tuple[Tensor, Tensor]:
    """Give W_query and W_key, each of shape (3, D): noun, pronoun, living."""
    # --- write ---
    W_query = torch.tensor([[0.0], [0.0], [10.0]])  # what lives asks
    W_key = torch.tensor([[0.0], [1.0], [0.0]])  # a pronoun offers
    return W_query, W_key
    # --- written ---


if __name__ == "__main__":
    from headway import attention_weights, he_finds_boy

    (words, x), _, _ = he_finds_boy()
    W_query, W_key = matrices()
    weights = attention_weights(x @ W_query, x @ W_key)
    boy, he, ice = (words.index(word) for word in ("Boy", "he", "ice"))
    print(weights[boy, he] > 0.99, f"{weights[ice, he]:.4f}")
    # tensor(True) 0.1111
# --- end of your file ---


def shares(matrices):  # type: ignore[no-untyped-def]
    from headway import attention_weights, he_finds_boy

    (words, x), _, _ = he_finds_boy()
    W_query, W_key = matrices()
    weights = attention_weights(
        x.double() @ W_query.double(), x.double() @ W_key.double()
    )
    boy, he = words.index("Boy"), words.index("he")
    things = [9 * weights[words.index(word)] for word in ("ice", "cream")]
    share = float(weights[boy, he])
    told = "nearly all" if share > 0.99 else "a part" if share > 0.2 else "no more"
    return told, *(one.round(decimals=4) for one in things)


EXERCISE = Exercise(
    answer="matrices",
    read=("basics/scaled_dot_product/#he-finds-boy-by-hand", "He finds Boy, by hand"),
    hints=(
        "Which feature have Boy and no thing, so that only what lives asks?",
        "One number is enough for a query, if there is one thing to ask: D may be 1.",
        "Each matrix needs one number besides zeros. In which row must that of W_key "
        "stand, if a pronoun offers, and how large must the product be?",
    ),
    draw=lambda d: (),
    trials=[{}],
    ask=shares,
    law="One number is enough for a query, if there is one thing to ask; a query of "
    "zero asks for nothing, and gets the mean.",
    right=[
        """
        W_query, W_key = torch.zeros(3, 2), torch.zeros(3, 2)
        W_query[2] = 30
        W_key[1] = 3
        return W_query, W_key
        """,
    ],
    wrong=[
        Wrong(
            "[0.0], [0.0], [10.0]",
            "[10.0], [0.0], [0.0]",
            "every noun asks, so that ice and cream ask too",
        ),
        Wrong(
            "[0.0], [1.0], [0.0]",
            "[1.0], [0.0], [0.0]",
            "a noun offers, so that Boy finds nouns and not the pronoun",
        ),
        Wrong(
            "[0.0], [0.0], [10.0]",
            "[0.0], [0.0], [1.0]",
            "the scores are too small, so that he gets only a part",
        ),
        Wrong(
            "[0.0], [0.0], [10.0]",
            "[0.0], [10.0], [0.0]",
            "the pronoun asks, and not what lives",
            same_as="a noun offers, so that Boy finds nouns and not the pronoun",
        ),
        Wrong(
            "[0.0], [0.0], [10.0]",
            "[10.0], [0.0], [10.0]",
            "nouns ask as well as what lives",
            same_as="every noun asks, so that ice and cream ask too",
        ),
    ],
    survivors={
        "0.0 -> 1.0": "in one place alone: that the pronoun asks as well harms nobody",
        "10.0 -> 21.0": "larger scores do as well",
        "1.0 -> 3.0": "larger scores do as well",
    },
)
