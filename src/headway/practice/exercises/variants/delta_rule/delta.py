"""A memory that corrects itself

The delta rule keeps a table M (D, V) and, for each token, first corrects what the
memory says for its key, then reads it for its query:

    M  becomes  M + beta * k (v - M^T k)^T,     row = M^T q

Write `delta(query, key, value, beta)`: query and key (T, D), value (T, V), beta (T).
The memory begins with zeros. Give the rows (T, V). Keys have length one.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "v - said",
            "v",
            "nothing is taken off: the memory adds up, which is linear attention",
        ),
        Wrong(
            "        memory = memory + b * torch.outer(k, v - said)\n"
            "        rows.append(q @ memory)",
            "        rows.append(q @ memory)\n"
            "        memory = memory + b * torch.outer(k, v - said)",
            "the memory is read before the token is written",
            exhibit="variants/#read-before-fading",
        ),
        Wrong(
            "said = k @ memory",
            "said = q @ memory",
            "the memory is asked for the query, where the key is to be corrected",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "torch.outer(k, v - said)",
            "beta is left out",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "torch.outer(k, b * v - said)",
            "beta acts on the value alone, and not on what is taken off",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "b * torch.outer(k, b * v - said)",
            "beta acts twice on the value",
        ),
        Wrong(
            "memory + b",
            "(1 - b) * memory + b",
            "the whole memory fades, and not what stands behind the key alone",
        ),
        Wrong(
            "torch.outer(k, v - said)",
            "torch.outer(q, v - said)",
            "it is written behind the query, and not behind the key",
        ),
        Wrong(
            "v - said",
            "said - v",
            "the difference is turned round, so that the memory moves away from the "
            "value",
        ),
        Wrong(
            "v - said",
            "v + said",
            "what the memory says is added; it should be taken off",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "torch.outer(k, v - b * said)",
            "beta acts on what is taken off alone, and not on the value",
        ),
        Wrong(
            "torch.outer(k, v - said)",
            "(k[:, None] * v - said)",
            "the answer is taken off all rows of the memory: brackets are missing "
            "around the difference",
        ),
        Wrong(
            "q @ memory",
            "k @ memory",
            "the memory is read for the key, and not for the query",
        ),
        Wrong(
            "memory = memory + b",
            "memory = b",
            "the correction takes the place of the memory, and is not added to it",
        ),
        Wrong(
            "        said = k @ memory",
            "        memory = torch.zeros_like(memory)\n        said = k @ memory",
            "the memory is emptied before each token",
        ),
        Wrong(
            "q @ memory",
            "q @ memory / query.shape[-1] ** 0.5",
            "what is read is divided by the root of D, which belongs to scores "
            "before a softmax",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = (1 - b) * memory + b * torch.outer(k, v)\n",
            "the whole memory fades by beta, and nothing is asked of it; only "
            "what stands behind the key should give way",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = (1 - b) * memory + torch.outer(k, v)\n",
            "the whole memory fades by beta, and the value is written without it",
        ),
        Wrong(
            "said = k @ memory",
            "said = memory @ k",
            "the memory is multiplied from the wrong side when it is asked for the key",
        ),
        Wrong(
            "q @ memory",
            "memory @ q",
            "the memory is multiplied from the wrong side when it is read",
        ),
        Wrong(
            "torch.outer(k, v - said)",
            "torch.outer(v - said, k)",
            "rows and columns are exchanged in what is written: the key "
            "belongs to the rows",
        ),
        Wrong(
            "        rows.append(q @ memory)\n    return torch.stack(rows)",
            "    return query @ memory",
            "all queries are read at the end; each should be read after its own token",
        ),
        Wrong(
            "    return torch.stack(rows)",
            "    return rows[-1]",
            "only the last row is given",
        ),
        Wrong(
            "    return torch.stack(rows)",
            "    return memory",
            "the memory is given; the rows that were read should be",
        ),
        Wrong(
            "    return torch.stack(rows)",
            "    return torch.stack(rows, dim=1)",
            "the rows are laid as columns",
        ),
        Wrong(
            "    return torch.stack(rows)",
            "    return torch.cat(rows)",
            "the rows are joined to one long vector: torch.stack makes a table of them",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "b**2 * torch.outer(k, v - said)",
            "beta acts twice on the correction",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "(1 - b) * torch.outer(k, v - said)",
            "one less beta is taken for beta",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "beta[0] * torch.outer(k, v - said)",
            "the beta of the first token is taken for all",
        ),
        Wrong(
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory - b * torch.outer(k, said)\n",
            "what the memory says is taken off, and the value is never written",
        ),
        Wrong(
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = torch.outer(k, v)\n",
            "the memory is replaced by the last pair of key and value",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory + torch.outer(k, v)\n",
            "nothing is taken off, and beta is left out: this is linear attention",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory + b * torch.outer(k, v)\n"
            "        memory = memory - b * torch.outer(k, k @ memory)\n",
            "the value is written first, so that what is taken off contains it already",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory - b * torch.outer(k, k @ memory)\n"
            "        memory = memory + torch.outer(k, v)\n",
            "beta acts on what is taken off alone; the value is written without it",
            same_as="beta acts on what is taken off alone, and not on the value",
        ),
        Wrong(
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory + b * torch.outer(k, v - memory.sum(0))\n",
            "the rows of the memory are added; the key should weigh them",
        ),
        Wrong(
            "zip(query, key, value, beta)",
            "[*zip(query, key, value, beta)][::-1]",
            "the text is read from its end",
        ),
        Wrong(
            "        said = k @ memory\n"
            "        memory = memory + b * torch.outer(k, v - said)\n"
            "        rows.append(q @ memory)\n",
            "        rows.append(q @ memory)\n"
            "        memory = memory + torch.outer(k, v - k @ memory)\n",
            "the memory is read before the token is written, and beta is left out",
        ),
        Wrong(
            "key.new_zeros(key.shape[1], value.shape[1])",
            "key.new_zeros(value.shape[1], key.shape[1])",
            "the memory is made with V rows and D columns; it should have D rows "
            "and V columns",
        ),
        Wrong(
            "key.new_zeros(key.shape[1], value.shape[1])",
            "key.new_zeros(key.shape[1], key.shape[1])",
            "the memory is made D by D; a value has V numbers",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "(b if rows else 1.0) * torch.outer(k, v - said)",
            "the first pair is written without beta",
        ),
        Wrong(
            "zip(query, key, value, beta)",
            "zip(query[1:], key[1:], value[1:], beta[1:])",
            "the loop begins with the second token",
        ),
        Wrong(
            "q @ memory",
            "q / q.norm() @ memory",
            "queries are made to have length one, which only keys have",
        ),
        Wrong(
            "b * torch.outer(k, v - said)",
            "torch.sigmoid(b) * torch.outer(k, v - said)",
            "a sigmoid is taken of beta, which is a share already",
        ),
        Wrong(
            "said = k @ memory",
            "said = key[len(rows) - 1] @ memory",
            "the memory is asked for the key of the token before",
        ),
        Wrong(
            "memory + b * torch.outer(k, v - said)",
            "b * memory + torch.outer(k, v - said)",
            "beta fades the whole memory, and not the correction",
        ),
        Wrong(
            "memory + b * torch.outer(k, v - said)",
            "b * memory + torch.outer(k, v)",
            "beta fades the whole memory, and nothing is taken off",
        ),
        Wrong(
            "q @ memory",
            "torch.softmax(q, dim=-1) @ memory",
            "a softmax is taken of the query before it reads",
        ),
        Wrong(
            "        memory = memory + b * torch.outer(k, v - said)\n",
            "        memory = memory + b * torch.outer(k, v - said)\n"
            "        memory = memory - b * torch.outer(k, k @ memory)\n",
            "what the memory says is taken off once more after the value is written",
        ),
        Wrong(
            "zip(query, key, value, beta)",
            "zip(key, query, value, beta)",
            "queries and keys are swapped",
        ),
        Wrong(
            "key.new_zeros(key.shape[1], value.shape[1])",
            "torch.eye(key.shape[1], value.shape[1], dtype=key.dtype)",
            "the memory begins with ones on the diagonal; it should begin with zeros",
        ),
    ],
    survivors={},
    stars=2,
    minutes=12,
)
