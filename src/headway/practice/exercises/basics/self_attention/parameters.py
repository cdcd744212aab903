"""A module that can learn

Write the class `SelfAttention(d_in, d_out)`, a module with three matrices of its own.

`W_query`, `W_key` and `W_value` have shape (d_in, d_out), hold random numbers, and can
be trained. Called with tokens (T, d_in), it projects them, lets them attend to each
other by scaled dot products, and gives (T, d_out).
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor, nn

from headway import attention


class SelfAttention(nn.Module):
    """Self-attention of one head, with matrices of shape (d_in, d_out)."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # --- write ---
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: Tensor) -> Tensor:
        query = x @ self.W_query
        key = x @ self.W_key
        value = x @ self.W_value
        return attention(query, key, value)
        # --- written ---


if __name__ == "__main__":
    module = SelfAttention(3, 2)
    print([name for name, _ in module.named_parameters()])
    print(module(torch.ones(6, 3)).shape)
    # ['W_query', 'W_key', 'W_value']
    # torch.Size([6, 2])
# --- end of your file ---


def run(cls, x, *weights):  # type: ignore[no-untyped-def]
    module = cls(*weights[0].shape)
    for name, weight in zip(("W_query", "W_key", "W_value"), weights, strict=True):
        getattr(module, name).data = weight
    found = sorted(name for name, _ in module.named_parameters())
    return module(x), found


EXERCISE = Exercise(
    answer="SelfAttention",
    read=("basics/self_attention/#a-module-by-hand", "A module, by hand"),
    hints=(
        "How does a module know which of its tensors are to be trained?",
        "nn.Parameter wraps a tensor, so that an optimizer finds it; forward has three "
        "products and one call of attention.",
        "Give each of the three a line in __init__, of shape (d_in, d_out), and write "
        "forward(self, x) below, at the indentation of __init__.",
    ),
    draw=lambda d: (
        d.normal(d.T, d.E),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    ask=run,
    law="What an optimizer finds with parameters() is all that is ever trained.",
    right=[
        """
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.randn(d_in, d_out)))

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        weights = torch.softmax(scores / self.W_key.shape[1] ** 0.5, dim=-1)
        return weights @ (x @ self.W_value)
        """,
    ],
    wrong=[
        Wrong(
            "self.W_key = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_key = torch.rand(d_in, d_out)",
            "W_key is a plain tensor, which nothing trains",
            exhibit="state/#attention-weights-detached",
        ),
        Wrong(
            "key = x @ self.W_key",
            "key = x @ self.W_query",
            "the queries' weights make the keys too",
        ),
        Wrong(
            "value = x @ self.W_value",
            "value = x",
            "the tokens themselves are the values",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(key, query, value)",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, value, key)",
            "keys and values are swapped",
            exhibit="heads/#keys-and-values-swapped",
        ),
        Wrong(
            "self.W_key = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_key = self.W_query",
            "queries and keys share one parameter",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=1.0)",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
    ],
    survivors={},
)
