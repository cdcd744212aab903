"""One text asks another

Write `cross(x, memory, W_query, W_key, W_value)`: cross-attention of one head.

The T tokens of a text, `x` (B, T, E), ask; the S tokens of another, `memory`
(B, S, M), answer. The weights multiply from the right: W_query is (E, D), W_key is
(M, D), W_value is (M, V). The result is (B, T, V). Nothing is hidden.
"""

from headway.practice import Exercise, Wrong

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
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}),
    law="The order of the memory does not matter; that of the text that asks decides "
    "the order of the rows.",
    right=[
        """
        scores = (x @ W_query) @ (memory @ W_key).mT / W_query.shape[1] ** 0.5
        return torch.softmax(scores, dim=-1) @ memory @ W_value
        """,
    ],
    wrong=[
        Wrong(
            "key = memory @ W_key",
            "key = x @ W_key",
            "keys are made of the text that asks",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = x @ W_value",
            "values are made of the text that asks",
        ),
        Wrong(
            "query = x @ W_query", "query = memory @ W_query", "the memory asks itself"
        ),
        Wrong(
            "query = x @ W_query\n    key = memory",
            "query = memory @ W_query\n    key = x",
            "the memory asks the text",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, causal=True)",
            "a causal mask is left in: a query may not see all of the memory",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=1.0)",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "key = memory @ W_key\n    value = memory @ W_value",
            "key = x @ W_key\n    value = x @ W_value",
            "the text asks itself, and the memory is not used",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-2) "
            "@ value",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return query @ key.mT / key.shape[-1] ** 0.5 @ value",
            "there is no softmax",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(query, key, value, scale=1 / key.shape[-1])",
            "scores are divided by D, and not by its root, or scaled twice",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(query, key, value, scale=x.shape[-1] ** -0.5)",
            "the scale is that of the tokens' width, and not of the keys'",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = memory",
            "the values are not projected",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = memory @ W_key",
            "the keys' weights make the values too",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(x, memory, memory)",
            "nothing is projected",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-1)",
            "the weights are given, and not the rows",
        ),
        Wrong(
            "    key = memory @ W_key",
            "    memory = torch.cat([memory, x], dim=1)\n    key = memory @ W_key",
            "the text is put behind the memory, so that it sees itself too",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "query = x @ W_query.T\n"
            "    key = memory @ W_key.T\n"
            "    value = memory @ W_value.T",
            "weights are transposed, which those of nn.Linear are, and these are not",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "query = W_query(x)\n    key = W_key(memory)\n    value = W_value(memory)",
            "weights are called like layers, and they are tensors",
        ),
    ],
    stars=2,
)
