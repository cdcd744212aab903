"""A window, after a cache

Write `window_of_a_chunk(queries, keys, W)`: who sees whom, by positions.

`queries` (T) and `keys` (S) hold positions, whole numbers in any order; an empty slot
of a cache has position -1, and no query may see it. A query sees the keys of the latest
W positions up to its own, itself included. The mask is (T, S), boolean.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def window_of_a_chunk(queries: Tensor, keys: Tensor, W: int) -> Tensor:
    """Give a mask (T, S) for positions of queries (T) and of keys (S)."""
    # --- write ---
    distance = queries[:, None] - keys
    return (distance >= 0) & (distance < W) & (keys >= 0)
    # --- written ---


if __name__ == "__main__":
    queries, keys = torch.tensor([4, 5]), torch.tensor([3, 4, 5, -1])
    print(window_of_a_chunk(queries, keys, 2).int())
    # tensor([[1, 1, 0, 0],
    #         [0, 1, 1, 0]], dtype=torch.int32)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    if d.B == 1:  # some positions are missing, and two slots are empty
        kept = torch.cat([d.order(d.S + 4)[: d.S], torch.tensor([-1, -1])])
        return d.integers(d.S, d.T), kept[d.order(d.S + 2)], d.W
    return d.integers(8, d.T), d.order(9) - 1, d.W


EXERCISE = Exercise(
    answer="window_of_a_chunk",
    read=("decoding/sliding_window/#in-tensors", "In tensors"),
    hints=(
        "How far back is the oldest key that a window of one token allows?",
        "Make a table of distances, query minus key, and ask three questions of it.",
        "Not the future, not too far, and not an empty slot: join three comparisons "
        "with &.",
    ),
    draw=draw,
    trials=(
        {},
        {"W": 1},
        {"T": 1},
        {"W": 3, "T": 9},
        {"W": 20},
        {"S": 9, "B": 1},
        {"S": 12, "T": 9, "B": 1},
    ),
    law="With a window of W a query sees at most W keys, itself included.",
    right=[
        """
        # Two loops: each pair is asked by itself.
        rows = []
        for q in queries.tolist():
            rows.append([k >= 0 and q - W < k <= q for k in keys.tolist()])
        return torch.tensor(rows)
        """,
        """
        # Two bounds for the keys of each query, which make no table of distances.
        last = queries.unsqueeze(1)
        return (keys <= last) & (keys > last - W) & (keys != -1)
        """,
    ],
    stars=1,
    minutes=5,
)
