"""Groups without a copy

H heads of queries share G heads of keys and values, in groups of neighbours. To repeat
keys for each head costs memory; one call of attention can do without.

Write `share_groups(query, key, value, attend)`: queries are (B, H, T, D), keys
(B, G, S, D), values (B, G, S, V), and the rows (B, H, T, V). `attend(query, key,
value)` is attention, of any number of axes in front; axes of length one are broadcast.
Hand it keys and values whose memory is that of `key` and `value`.
"""

import contextlib

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "    in_groups = query.unflatten(1, (G, H // G))\n"
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))",
            "    in_groups = query.unflatten(1, (H // G, G))\n"
            "    rows = attend(in_groups, key.unsqueeze(1), value.unsqueeze(1))",
            "groups are the inner axis of the heads, so that they are dealt out in "
            "turn, and neighbours do not share",
            exhibit="groups/#groups-inside-out",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.transpose(1, 2).flatten(1, 2)",
            "the heads come back in a different order: groups are the inner axis at "
            "the end",
        ),
        Wrong(
            "rows.flatten(1, 2)", "rows", "the axis of the groups is left in the rows"
        ),
        Wrong(
            "query.unflatten(1, (G, H // G))",
            "query.unflatten(1, (H // G, G))",
            "the two axes of the heads are exchanged, and fit the keys only by chance",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key.unsqueeze(1), value.unsqueeze(1)",
            "the axis of length one stands before the groups, and not behind them",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key[:, :1, None], value[:, :1, None]",
            "all heads share the first keys",
        ),
        Wrong(
            "value.unsqueeze(2)",
            "value.flip(1).unsqueeze(2)",
            "the groups of values stand in reverse order",
        ),
        Wrong(
            "rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))",
            "rows = attend(in_groups.mean(2, True), key.unsqueeze(2), "
            "value.unsqueeze(2)).expand(-1, -1, H // G, -1, -1)",
            "the queries of a group are put together to one",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    return attend(query, key, value)",
            "heads and groups meet on one axis, which works only if there are as many "
            "of both, or one group",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.reshape(query.shape)",
            "the rows are taken to be as wide as queries: they are as wide as values",
        ),
        Wrong(
            "value.unsqueeze(2)",
            "value",
            "the values are given no axis of length one, so that their texts meet "
            "groups",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key.unsqueeze(3), value.unsqueeze(3)",
            "the axis of length one stands behind the tokens, and not between "
            "groups and tokens",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.flatten(0, 1)",
            "texts and groups are joined, and not groups and their heads",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))",
            "    rows = attend(in_groups.mean(2), key, value)\n    return rows",
            "the queries of a group are averaged, so that there are G heads and not H",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.flatten(2, 3)",
            "a group's heads are joined with the tokens; they should be joined "
            "with the groups",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.mean(2)",
            "the rows of a group's heads are averaged; each head should keep its own",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows.flatten(1, 2).transpose(1, 2)",
            "heads and tokens are exchanged at the end",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    rows = [\n"
            "        attend(query[:, h], key[:, h // (H // G)], value[:, h // "
            "(H // G)])\n"
            "        for h in range(H)\n"
            "    ]\n"
            "    return torch.stack(rows)",
            "the heads are stacked before the texts; they should stand behind them",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    rows = [attend(query[:, h], key[:, h // G], value[:, h // G]) "
            "for h in range(H)]\n"
            "    return torch.stack(rows, dim=1)",
            "a head's number is divided by the number of groups; it should be "
            "divided by H // G",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "value.unsqueeze(2), key.unsqueeze(2)",
            "keys and values are handed on in the opposite order",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key, value",
            "keys and values get no axis of length one for the heads of a group",
        ),
        Wrong(
            "query.unflatten(1, (G, H // G))",
            "query.unsqueeze(2)",
            "the queries are not cut into groups, so that H heads meet G groups",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key[:, -1:, None], value[:, -1:, None]",
            "all heads share the last keys",
        ),
        Wrong(
            "rows.flatten(1, 2)",
            "rows[:, :, 0]",
            "of each group the first head alone is given",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    n = H // G\n"
            "    rows = [attend(query[:, h], key[:, h // n], value[:, h // n]) for h "
            "in range(H)]\n"
            "    return torch.cat(rows, dim=1)",
            "the heads are joined along their tokens, by cat; stack makes an axis of "
            "them",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    n = H // G\n"
            "    rows = [attend(query[:, h], key[:, h // n], value[:, h // n]) for h "
            "in range(H)]\n"
            "    return torch.stack(rows, dim=-1)",
            "the heads are stacked behind the values; they should be axis 1",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    n = H // G\n"
            "    rows = [\n"
            "        attend(query[:, h], key[:, h // n], value[:, h % G])\n"
            "        for h in range(H)\n"
            "    ]\n"
            "    return torch.stack(rows, dim=1)",
            "the values' groups are dealt out in turn; neighbours should share them, "
            "as they share keys",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key.flip(1).unsqueeze(2), value.flip(1).unsqueeze(2)",
            "the groups of keys and values stand in reverse order",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key[:1].unsqueeze(2), value[:1].unsqueeze(2)",
            "the keys and values of the first text are taken for all texts",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key.mean(1, True).unsqueeze(2), value.mean(1, True).unsqueeze(2)",
            "the keys and values of all groups are averaged to one",
        ),
        Wrong(
            "key.unsqueeze(2), value.unsqueeze(2)",
            "key, value.unsqueeze(2)",
            "the keys are given no axis of length one, so that their texts meet groups",
        ),
        Wrong(
            "    rows = attend(in_groups, key.unsqueeze(2), value.unsqueeze(2))\n"
            "    return rows.flatten(1, 2)",
            "    return attend(query[:, :G], key, value)",
            "the first G heads alone are asked; all H should be",
        ),
        Wrong(
            "value.unsqueeze(2))\n",
            "value.unsqueeze(2), causal=True)\n",
            "the future is hidden; it was not asked for",
        ),
        Wrong(
            "attend(in_groups,",
            "attend(in_groups / query.shape[-1] ** 0.5,",
            "the queries are scaled before the call, and attend scales the scores "
            "once more",
        ),
        Wrong(
            "query.unflatten(1, (G, H // G))",
            "query.unflatten(1, (G, H // G)).transpose(2, 3)\n"
            "    in_groups = in_groups.reshape(len(query), G, H // G, -1, "
            "query.shape[-1])",
            "heads of a group and tokens are exchanged before a reshape, which mixes "
            "them",
        ),
        Wrong(
            "H, G = query.shape[1], key.shape[1]",
            "H, G = query.shape[1], key.shape[2]",
            "the keys are counted for the groups: G is axis 1",
        ),
    ],
    minutes=10,
    covers=("repeat_groups",),
)
