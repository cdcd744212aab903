"""Features that come close to the softmax

The exponential is a sum: 1 + s + s * s / 2 + ... Without a softmax the weight of a key
is a dot product of features, one vector made from the query and one from the key.

Write `up_to_squares(x)`: features of the rows of x (..., D), for queries and keys
alike, as wide as you like. The dot product of the features of q and of k must be

    1 + s + s * s / 2,   where s = (q . k) / D ** 0.5 is the scaled dot product
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def up_to_squares(x: Tensor) -> Tensor:
    """Give features of rows (..., D), whose dot products are near exponentials."""
    # --- write ---
    x = x / x.shape[-1] ** 0.25
    squares = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)
    one = torch.ones_like(x[..., :1])
    return torch.cat([one, x, squares / 2**0.5], dim=-1)
    # --- written ---


if __name__ == "__main__":
    query, key = torch.tensor([2.0, 1.0]), torch.tensor([[1.0, 0.0], [2.0, 2.0]])
    print(query @ key.T, up_to_squares(query) @ up_to_squares(key).T)
    # tensor([2., 6.]) tensor([ 3.4142, 14.2426])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    texts = [] if d.B == 1 else [d.B]
    return d.normal(*texts, d.T, d.D), d.normal(*texts, d.S, d.D)


def run(up_to_squares, query, key):  # type: ignore[no-untyped-def]
    return up_to_squares(query) @ up_to_squares(key).mT


EXERCISE = Exercise(
    answer="up_to_squares",
    read=(
        "variants/linear_attention/#weights-that-are-positive",
        "Weights that are positive",
    ),
    hints=(
        "Which vectors of two numbers have the square of (a c + b d) as dot product?",
        "The square of a dot product is the dot product of all products of two "
        "numbers of q with all products of two numbers of k. Lay the three terms of "
        "the sum one behind the other.",
        "What is divided in s must be shared by both sides: each gets its root. So is "
        "the half before the squares.",
    ),
    draw=draw,
    ask=run,
    trials=(
        {},
        dict.fromkeys("BHGTSDVEW", 4),
        {"D": 1},
        {"B": 1},
        {"loud": 30.0},
        {"T": 1},
    ),
    law="Weights are positive whatever the scores, since 1 + s + s * s / 2 is never "
    "below a half; and near the exponential where scores are small.",
    right=[
        """
        # Each product of two numbers once: about half as wide.
        D = x.shape[-1]
        x = x * D**-0.25
        parts = [torch.ones_like(x[..., 0])]
        parts += [x[..., i] for i in range(D)]
        for i in range(D):
            parts.append(x[..., i] ** 2 / 2**0.5)
            parts += [x[..., i] * x[..., j] for j in range(i)]
        return torch.stack(parts, dim=-1)
        """,
        """
        # einsum writes all products of two numbers of a row.
        x = x / x.shape[-1] ** 0.25
        squares = torch.einsum("...i,...j->...ij", x, x).flatten(-2) * 0.5**0.5
        return torch.cat((squares, x, x[..., :1] * 0 + 1), -1)
        """,
    ],
    stars=3,
    minutes=15,
)
