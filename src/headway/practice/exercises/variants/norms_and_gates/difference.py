"""Two tables, and their difference

Differential attention: each head has two queries and two keys, which stand side by
side, and takes one table of weights off the other, with a factor.

Write `difference(query, key, value, lam)`: `query` (2 H, T, D) has the first and the
second query of head 1, then those of head 2, and so on. Heads share keys and values in
groups of neighbours: `key` is (2 G, S, D), in the same order, and `value` (G, S, V).
Scores are divided by the root of D. Give the rows (H, T, V), before any norm.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def difference(query: Tensor, key: Tensor, value: Tensor, lam: float) -> Tensor:
    """Attend with pairs of queries (2 H, T, D) to pairs of keys: (H, T, V)."""
    # --- write ---
    times = len(query) // len(key)
    queries = query.unflatten(0, (-1, 2))
    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, dim=0)
    scores = queries @ keys.mT / query.shape[-1] ** 0.5
    first, second = torch.softmax(scores, dim=-1).unbind(1)
    return (first - lam * second) @ value.repeat_interleave(times, dim=0)
    # --- written ---


if __name__ == "__main__":
    query = torch.ones(2, 1, 1)
    key = torch.tensor([[[0.8], [0.2]], [[0.5], [0.5]]]).log()
    value = torch.tensor([[[10.0], [30.0]]])
    print(difference(query, key, value, 0.5).flatten())
    # tensor([4.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="difference",
    read=(
        "variants/norms_and_gates/#two-tables-and-their-difference",
        "Two tables, and their difference",
    ),
    hints=(
        "Which two rows of `query` belong to one head, and which two of `key` does it "
        "use?",
        "Tell the two of a pair apart first, by an axis of their own; repeat keys and "
        "values for the heads that share them afterwards.",
        "unflatten the first axis into (-1, 2), then repeat_interleave along axis 0. "
        "Each of the two tables has a softmax of its own; subtract after it.",
    ),
    draw=lambda d: (
        d.normal(2 * d.H, d.T, d.D),
        d.normal(2 * d.G, d.S, d.D),
        d.normal(d.G, d.S, d.V),
        0.3,
    ),
    trials=(
        {},
        {**dict.fromkeys("BTSDV", 4), "H": 4, "G": 4},
        {"H": 12, "G": 4},
        {"H": 4, "G": 1, "T": 1, "loud": 30.0},
    ),
    law="A row of weights sums to one less the factor, and with a factor of zero it is "
    "plain attention.",
    right=[
        """
        # A head at a time: which two queries and keys it has can be read off.
        H, G = len(query) // 2, len(key) // 2
        rows = []
        for h in range(H):
            g = h // (H // G)
            tables = [
                (query[2 * h + n] @ key[2 * g + n].T / query.shape[-1] ** 0.5)
                for n in (0, 1)
            ]
            one, two = (table.softmax(dim=-1) for table in tables)
            rows.append(one @ value[g] - lam * (two @ value[g]))
        return torch.stack(rows)
        """,
        """
        # Two calls of plain attention, for all first and for all second ones.
        from headway import attention

        times = len(query) // len(key)
        keys = [key[n::2].repeat_interleave(times, dim=0) for n in (0, 1)]
        values = value.repeat_interleave(times, dim=0)
        one = attention(query[0::2], keys[0], values)
        return one - lam * attention(query[1::2], keys[1], values)
        """,
    ],
    stars=2,
    minutes=15,
)
