"""A puzzle: Boy looks for its pronoun

In `he_finds_boy()` words have three features: noun, pronoun, living. There, *he* looks
for *Boy*. Write two matrices of your own, so that what lives looks for a pronoun:

*Boy* must give *he* more than 0.99 of its attention. *ice* and *cream* ask for nothing,
and take the same from every word, to four digits.

Write `matrices()`: give W_query and W_key, each of shape (3, D), with a D of your
choice.
"""

from headway.practice import Exercise

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


def fitting(name, matrix):  # type: ignore[no-untyped-def]
    if not isinstance(matrix, Tensor) or matrix.dtype != torch.float32:
        got = getattr(matrix, "dtype", type(matrix).__name__)
        raise TypeError(
            f"{name} must be a tensor of torch.float32, the type of x, as "
            f"torch.tensor([[1.0], [2.0], [3.0]]) makes one; got {got}"
        )
    if matrix.ndim != 2 or len(matrix) != 3:
        raise ValueError(
            f"{name} must have shape (3, D), with a row for each feature; "
            f"got {tuple(matrix.shape)}"
        )
    return matrix.double()


def taken(words, weights):  # type: ignore[no-untyped-def]
    """Say from which words most is taken."""
    if bool(((len(words) * weights - 1).abs() < 5e-5).all()):
        return "the same from every word"
    first = (weights > 0.99 * weights.max()).tolist()
    most = [word for word, is_first in zip(words, first, strict=True) if is_first]
    others = [word for word, is_first in zip(words, first, strict=True) if not is_first]
    many = len(most) > len(others)
    names = f"all but {', '.join(others)}" if many else ", ".join(most)
    share = sum(weights.tolist()[n] for n, is_first in enumerate(first) if is_first)
    return f"{'nearly all' if share > 0.99 else 'most, not enough,'} from {names}"


def shares(matrices):  # type: ignore[no-untyped-def]
    from headway import attention_weights, he_finds_boy

    (words, x), _, _ = he_finds_boy()
    W_query, W_key = matrices()
    weights = attention_weights(
        x.double() @ fitting("W_query", W_query), x.double() @ fitting("W_key", W_key)
    )
    return [
        f"{word} takes {taken(words, weights[words.index(word)])}"
        for word in ("Boy", "ice", "cream")
    ]


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
        # A width of two, one number idle: what is large may stand in either matrix.
        W_query, W_key = torch.zeros(3, 2), torch.zeros(3, 2)
        W_query[2] = 30
        W_key[1] = 3
        return W_query, W_key
        """,
        """
        # One product in the middle: what asks times what offers is a table of its own.
        wish = torch.zeros(3, 3)
        wish[2, 1] = 30.0  # what lives looks for a pronoun
        return wish, torch.eye(3)
        """,
    ],
    survivors={
        "0.0 -> 1.0": "in one place alone: that the pronoun asks as well does no harm",
        "10.0 -> 21.0": "larger scores do as well",
        "1.0 -> 3.0": "larger scores do as well",
    },
    stars=2,
    minutes=10,
)
