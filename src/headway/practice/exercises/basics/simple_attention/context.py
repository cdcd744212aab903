"""From weights to context vectors

Write `context(weights, vectors)`: for each word that asks, all vectors mixed by its
weights.

A text has S words with a vector of E numbers each, and T words ask. Weights have shape
(..., T, S): row t says how much of each of the S vectors word t takes. Take the
weights as they are, whatever a row sums to. Vectors have shape (..., S, E). The result
is (..., T, E).
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def context(weights: Tensor, vectors: Tensor) -> Tensor:
    """Mix vectors (..., S, E) by weights (..., T, S), which gives (..., T, E)."""
    # --- write ---
    return weights @ vectors
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), _, _ = he_finds_boy()
    weights = torch.full((1, 9), 0.0933)
    weights[0, words.index("he")] = 0.2536
    print(context(weights, x))
    # tensor([[0.2799, 0.2536, 0.0933]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="context",
    read=(
        "basics/simple_attention/#from-weights-to-a-context-vector",
        "From weights to a context vector",
    ),
    hints=(
        "How many numbers has one row of the result, and where do they come from?",
        "Multiply each vector by its weight, and add them up.",
        "This is a product of two tables. Which axis do both have, and must go?",
    ),
    draw=lambda d: (
        drawn_weights(d),
        d.normal(*d.lead, d.S, d.E),
    ),
    law="If the weights of a row sum to one, its result lies between the vectors.",
    right=[
        """
        # Broadcasting: each vector times its weight, in a table with one axis more.
        return (weights[..., None] * vectors[..., None, :, :]).sum(dim=-2)
        """,
        """
        # einsum names the axes: s stands on both sides and not in the result.
        return torch.einsum('...ts,...se->...te', weights, vectors)
        """,
    ],
    minutes=4,
)


def drawn_weights(d):  # type: ignore[no-untyped-def]
    """Draw rows that do not sum to one, as after dropout."""
    sums = (d.normal(*d.lead, d.T, 1) / d.loud).exp()
    return sums * torch.softmax(d.normal(*d.lead, d.T, d.S), dim=-1)
