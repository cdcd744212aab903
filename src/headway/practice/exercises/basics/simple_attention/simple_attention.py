"""Checkpoint: attention without weights

Write `simple_attention(x)`: the context vectors of all words of a text, where words
are compared and mixed as they are.

Scores are dot products, they are not scaled, and the weights of each row are their
softmax. Scores may be large. Texts have shape (..., T, E), and so has the result.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def simple_attention(x: Tensor) -> Tensor:
    """Give context vectors (..., T, E) for tokens (..., T, E)."""
    # --- write ---
    scores = x @ x.mT
    weights = torch.softmax(scores, dim=-1)
    return weights @ x
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), _, _ = he_finds_boy()
    print(simple_attention(x)[words.index("he")])
    # tensor([0.2799, 0.2536, 0.0933])
# --- end of your file ---


def drawn_text(d):  # type: ignore[no-untyped-def]
    """Draw words of many lengths: the long ones attract the others."""
    lengths = (d.normal(*d.lead, d.T, 1) / d.loud).exp()
    return lengths * d.normal(*d.lead, d.T, d.E)


EXERCISE = Exercise(
    answer="simple_attention",
    read=("basics/simple_attention/#all-words-at-once", "All words at once"),
    hints=(
        "Which three steps lead from words to context vectors?",
        "Scores, weights, context: two products and a softmax between them.",
        "The table of scores is the text times itself, with the last two axes of one "
        "of them swapped (.mT); the softmax runs along the last axis.",
    ),
    draw=lambda d: (drawn_text(d),),
    law="A context vector lies between the words.",
    covers=("score", "scores_of_one", "softmax", "context"),
    right=[
        """
        # Query by query: slow, but each step of the section can be seen.
        texts = x.reshape(-1, *x.shape[-2:])
        rows = []
        for text in texts:
            for query in text:
                e = torch.exp(text @ query - (text @ query).max())
                rows.append((e / e.sum()) @ text)
        return torch.stack(rows).reshape(x.shape)
        """,
        """
        # einsum names the axes: t asks, s is asked, e is the width.
        scores = torch.einsum("...te,...se->...ts", x, x)
        return torch.einsum("...ts,...se->...te", scores.softmax(dim=-1), x)
        """,
        """
        # PyTorch's function, told not to scale: the same three steps in one call.
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(x, x, x, scale=1.0)
        """,
    ],
    stars=2,
    minutes=6,
)
