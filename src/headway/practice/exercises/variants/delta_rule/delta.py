"""A memory that corrects itself

The delta rule keeps a table M (D, V) and, for each token, first corrects what the
memory says for its key, then reads it for its query:

    M  becomes  M + beta * k (v - M^T k)^T,     row = M^T q

Write `delta(query, key, value, beta)`: query and key (T, D), value (T, V), beta (T).
The memory begins with zeros. Give the rows (T, V). Keys have length one.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def delta(query: Tensor, key: Tensor, value: Tensor, beta: Tensor) -> Tensor:
    """Write and read a memory token by token, which gives (T, V)."""
    # --- write ---
    memory = key.new_zeros(key.shape[1], value.shape[1])
    rows = []
    for q, k, v, b in zip(query, key, value, beta):
        said = k @ memory
        memory = memory + b * torch.outer(k, v - said)
        rows.append(q @ memory)
    return torch.stack(rows)
    # --- written ---


if __name__ == "__main__":
    one = torch.ones(3, 1)
    value = torch.tensor([[5.0], [7.0], [9.0]])
    print(delta(one, one, value, torch.tensor([1.0, 1.0, 0.5])).flatten())
    # tensor([5., 7., 8.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    key = torch.nn.functional.normalize(d.normal(d.S, d.D), dim=-1)
    return d.normal(d.S, d.D), key, d.normal(d.S, d.V), torch.sigmoid(d.normal(d.S))


EXERCISE = Exercise(
    answer="delta",
    read=("variants/delta_rule/#in-loops", "In loops"),
    hints=(
        "What does the memory say for a key, before it is corrected?",
        "Write the difference between the value and what the memory says, along "
        "the key. Read afterwards.",
        "torch.outer(k, ...) is a table that answers a key of length one with what "
        "stands behind k. Beta says how much of the correction is made.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4)),
    law="With beta one, a memory asked for the key just written gives its value.",
    right=[
        """
        # As a product with I - beta k k^T: what a parallel form begins with.
        eye = torch.eye(key.shape[1], dtype=key.dtype)
        memory = torch.zeros_like(key[0])[:, None] * value[0]
        rows = []
        for t in range(len(key)):
            k = key[t, :, None]
            memory = (eye - beta[t] * k @ k.T) @ memory + beta[t] * k * value[t]
            rows.append(memory.T @ query[t])
        return torch.stack(rows)
        """,
        """
        # einsum: the letters say which axes meet, and nothing is transposed.
        memory = torch.einsum("d,v->dv", 0 * key[0], value[0])
        rows = torch.empty_like(value)
        for t in range(len(key)):
            error = value[t] - torch.einsum("dv,d->v", memory, key[t])
            memory = memory + beta[t] * torch.einsum("d,v->dv", key[t], error)
            rows[t] = torch.einsum("dv,d->v", memory, query[t])
        return rows
        """,
    ],
    survivors={},
    stars=2,
    minutes=12,
)
