"""A chunk after a cache

A text is read in chunks. Keys and values of earlier chunks are kept. Write
`next_chunk(cache, query, key, value)`: the rows of one more chunk.

`cache` is a pair of keys and values, (H, S, D) and (H, S, V), or None at first. The
queries, keys and values of the chunk are (H, T, D), (H, T, D), (H, T, V). A token sees
all that is kept, the tokens before it in its chunk, and itself. Give the rows (H, T, V)
and the cache for the chunk after this.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor

from headway import attention, causal_mask

Pair = tuple[Tensor, Tensor]


def next_chunk(
    cache: Pair | None, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, Pair]:
    """Attend to a cache and to the chunk itself, and give rows and the next cache."""
    # --- write ---
    if cache is not None:
        key = torch.cat([cache[0], key], dim=1)
        value = torch.cat([cache[1], value], dim=1)
    mask = causal_mask(query.shape[1], key.shape[1])
    return attention(query, key, value, mask=mask), (key, value)
    # --- written ---


if __name__ == "__main__":
    one = torch.ones(1, 1, 2)
    rows, cache = next_chunk(None, one, one, one)
    rows, cache = next_chunk(cache, one, one, 3 * one)
    print(rows, cache[0].shape)
    # tensor([[[2., 2.]]]) torch.Size([1, 2, 2])
# --- end of your file ---


def run(next_chunk, query, key, value, cuts):  # type: ignore[no-untyped-def]
    cache, rows = None, []
    for q, k, v in zip(
        *(one.split(cuts, dim=1) for one in (query, key, value)), strict=True
    ):
        given = next_chunk(cache, q, k, v)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            return given
        row, cache = given
        rows.append(row)
    return {"the rows": torch.cat(rows, dim=1), "the last cache": cache}


def goes_on_twice(next_chunk, query, key, value, cuts):  # type: ignore[no-untyped-def]
    first, other = zip(*(one.split([4, 5], 1) for one in (query, key, value)))
    _, cache = next_chunk(None, *first)
    row, _ = next_chunk(cache, *other)
    again, _ = next_chunk(cache, *other)
    return row.shape == again.shape and torch.allclose(row, again)


EXERCISE = Exercise(
    answer="next_chunk",
    read=(
        "decoding/kv_cache/#the-property-every-way-to-cut",
        "The property: every way to cut",
    ),
    hints=(
        "How many keys does the first token of the second chunk see?",
        "Join the cache and the new keys along the tokens; the mask must know of both.",
        "The mask has a row for each query and a column for each key. causal_mask "
        "takes both numbers, and aligns them at the end.",
    ),
    draw=lambda d: (
        d.normal(d.H, 9, d.D),
        d.normal(d.H, 9, d.D),
        d.normal(d.H, 9, d.V),
        [4, 1, 3, 1],
    ),
    ask=run,
    properties=[
        Property(
            "a cache stays as it is, so that two chunks can go on from it",
            goes_on_twice,
        )
    ],
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 3.0}),
    law="However a text is cut, its rows are those of the whole.",
    right=[
        """
        # Written out: nothing is hidden behind a call.
        old = 0 if cache is None else cache[0].shape[1]
        if cache is not None:
            key = torch.cat((cache[0], key), 1)
            value = torch.cat((cache[1], value), 1)
        T, S = query.shape[1], key.shape[1]
        hidden = torch.arange(S) > old + torch.arange(T)[:, None]
        scores = (query @ key.mT / key.shape[-1] ** 0.5).masked_fill(hidden, -torch.inf)
        return torch.softmax(scores, -1) @ value, (key, value)
        """,
        """
        # causal=True aligns the triangle at the last key, which is right here.
        if cache is not None:
            key = torch.cat((cache[0], key), 1)
            value = torch.cat((cache[1], value), 1)
        return attention(query, key, value, causal=True), (key, value)
        """,
        """
        # A query at a time: each sees one key more than the one before it.
        if cache is not None:
            key = torch.cat((cache[0], key), 1)
            value = torch.cat((cache[1], value), 1)
        first = key.shape[1] - query.shape[1] + 1
        rows = [
            attention(query[:, t : t + 1], key[:, : first + t], value[:, : first + t])
            for t in range(query.shape[1])
        ]
        return torch.cat(rows, 1), (key, value)
        """,
    ],
    stars=2,
    minutes=12,
)
