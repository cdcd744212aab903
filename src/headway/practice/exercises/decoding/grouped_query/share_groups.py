"""Groups without a copy

H heads of queries share G heads of keys and values, in groups of neighbours. To repeat
keys for each head costs memory; one call of attention can do without.

Write `share_groups(query, key, value, attend)`: queries are (B, H, T, D), keys
(B, G, S, D), values (B, G, S, V), and the rows (B, H, T, V). `attend(query, key,
value)` is attention, of any number of axes in front; axes of length one are broadcast.
Hand it keys and values whose memory is that of `key` and `value`.
"""

import contextlib

from headway.practice import Exercise, Property

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def share_groups(
    query: Tensor, key: Tensor, value: Tensor, attend: Callable[..., Tensor]
) -> Tensor:
    """Attend with queries (B, H, T, D) to shared keys (B, G, S, D): (B, H, T, V)."""
    # --- write ---
    H, G = query.shape[1], key.shape[1]
    in_groups = query.unflatten(1, (G, H // G))
    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))
    return rows.flatten(1, 2)
    # --- written ---


if __name__ == "__main__":
    from functools import partial

    from headway import attention

    keys = torch.eye(3).expand(1, 2, 3, 3)
    values = torch.tensor([[10.0, 20, 30], [100, 200, 300]]).view(1, 2, 3, 1)
    query = 8 * torch.eye(3)[[2, 0, 2, 1]].view(1, 4, 1, 3)
    print(share_groups(query, keys, values, partial(attention, scale=1.0)).flatten())
    # tensor([ 29.9899,  10.0101, 299.8994, 200.0000])
# --- end of your file ---


def run(share_groups, query, key, value):  # type: ignore[no-untyped-def]
    from headway import attention

    return share_groups(query, key, value, attention)


def copies_nothing(share_groups, query, key, value):  # type: ignore[no-untyped-def]
    from headway import attention

    places = set()

    def attend(query, key, value, **others):  # type: ignore[no-untyped-def]
        for one in (key, value):
            places.add(one.untyped_storage().data_ptr())
        return attention(query, key, value, **others)

    with contextlib.suppress(Exception):  # of which the judge tells
        share_groups(query, key, value, attend)
    return places <= {one.untyped_storage().data_ptr() for one in (key, value)}


EXERCISE = Exercise(
    answer="share_groups",
    read=("decoding/grouped_query/#in-tensors", "In tensors"),
    hints=(
        "Which axis could queries have, and keys have with length one, so that they "
        "meet by broadcasting?",
        "Cut the heads of the queries into two axes: the group, and the head within "
        "it. Keys and values get an axis of length one for the second.",
        "unflatten axis 1 of the queries into G groups of H // G heads, neighbours "
        "together; unsqueeze keys and values behind their groups; flatten the rows.",
    ),
    draw=lambda d: (
        d.normal(d.B, d.H, d.T, d.D),
        d.normal(d.B, d.G, d.S, d.D),
        d.normal(d.B, d.G, d.S, d.V),
    ),
    ask=run,
    trials=(
        {},
        {"H": 12, "G": 3},
        {**dict.fromkeys("BTSDV", 4), "H": 16, "G": 4},
        {"G": 1},
        {"G": 6},
        {"B": 1, "T": 1},
    ),
    properties=[
        Property(
            "keys and values are handed on without a copy, as repeat_interleave makes "
            "one, and reshape behind expand",
            copies_nothing,
        )
    ],
    law="It equals repeated heads, with G / H of the memory for keys and values.",
    right=[
        """
        # expand: heads share memory, though each has its own place in the shape.
        H, G = query.shape[1], key.shape[1]
        B, _, S, D = key.shape
        times = H // G
        k = key[:, :, None].expand(B, G, times, S, D)
        v = value[:, :, None].expand(B, G, times, S, value.shape[-1])
        return attend(query.reshape(B, G, times, -1, D), k, v).flatten(1, 2)
        """,
        """
        # A loop over heads: indexing by one number makes views, and no copies.
        times = query.shape[1] // key.shape[1]
        rows = [
            attend(query[:, h], key[:, h // times], value[:, h // times])
            for h in range(query.shape[1])
        ]
        return torch.stack(rows, dim=1)
        """,
    ],
    minutes=10,
    covers=("repeat_groups",),
)
