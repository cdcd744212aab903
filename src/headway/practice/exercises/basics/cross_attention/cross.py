"""One text asks another

Write `cross(x, memory, W_query, W_key, W_value)`: cross-attention of one head.

The T tokens of a text, `x` (B, T, E), ask; the S tokens of another, `memory`
(B, S, M), answer. The weights multiply from the right: W_query is (E, D), W_key is
(M, D), W_value is (M, V). The result is (B, T, V). Nothing is hidden. Scores may be
large.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor

from headway import attention


def cross(
    x: Tensor, memory: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor
) -> Tensor:
    """Let x (B, T, E) ask memory (B, S, M), which gives (B, T, V)."""
    # --- write ---
    query = x @ W_query
    key = memory @ W_key
    value = memory @ W_value
    return attention(query, key, value)
    # --- written ---


if __name__ == "__main__":
    x, memory = torch.ones(1, 3, 2), torch.ones(1, 5, 4)
    weights = torch.ones(2, 6), torch.ones(4, 6), torch.ones(4, 7)
    print(cross(x, memory, *weights).shape)
    # torch.Size([1, 3, 7])
# --- end of your file ---


EXERCISE = Exercise(
    answer="cross",
    read=("basics/cross_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Which text decides how many rows come out, and which one what is in them?",
        "Queries are made of the one that asks; keys and values of the other.",
        "Three products, then attention: two of the products begin with memory.",
    ),
    # Both texts are equally wide, so that a wrong one of the two is no error.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E),
        d.normal(d.B, d.S, d.E),
        d.normal(d.E, d.D) / d.E,
        d.normal(d.E, d.D) / d.E,
        d.normal(d.E, d.V),
    ),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}, {"loud": 12.0, "T": 1}),
    law="The order of the memory does not matter; that of the text that asks decides "
    "the order of the rows.",
    right=[
        """
        # Each step by hand; the memory is mixed first, and projected last.
        scores = (x @ W_query) @ (memory @ W_key).mT / W_query.shape[1] ** 0.5
        return torch.softmax(scores, dim=-1) @ memory @ W_value
        """,
        """
        # PyTorch's own function: fast, and its scale is the same.
        query, key, value = x @ W_query, memory @ W_key, memory @ W_value
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        """,
        """
        # einsum names what is summed: b texts, t who ask, s who answer.
        scores = torch.einsum("btd,bsd->bts", x @ W_query, memory @ W_key)
        weights = (scores / W_key.shape[-1] ** 0.5).softmax(dim=-1)
        return torch.einsum("bts,bsv->btv", weights, memory @ W_value)
        """,
    ],
    stars=2,
    minutes=6,
)
