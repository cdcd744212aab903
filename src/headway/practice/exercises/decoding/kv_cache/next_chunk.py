"""A chunk after a cache

A text is read in chunks. Keys and values of earlier chunks are kept. Write
`next_chunk(cache, query, key, value)`: the rows of one more chunk.

`cache` is a pair of keys and values, (H, S, D) and (H, S, V), or None at first. The
queries, keys and values of the chunk are (H, T, D), (H, T, D), (H, T, V). A token sees
all that is kept, the tokens before it in its chunk, and itself. Give the rows (H, T, V)
and the cache for the chunk after this.
"""

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()",
            "the triangle is aligned to the first key, so that new tokens are taken "
            "for the oldest",
            exhibit="caches/#cache-mask-at-first-key",
        ),
        Wrong(
            "mask=mask), (key",
            "mask=None), (key",
            "nothing is hidden: tokens see the rest of their chunk",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)"
            ".tril(key.shape[1] - query.shape[1] + 1)",
            "each token sees the next one too",
            exhibit="triangles/#mask-shows-next",
        ),
        Wrong(
            "[cache[0], key]",
            "[key, cache[0]]",
            "new keys are put before the old, and values are not",
        ),
        Wrong(
            "value = torch.cat([cache[1], value], dim=1)",
            "value = torch.cat([value, cache[1]], dim=1)",
            "new values are put before the old, and keys are not",
        ),
        Wrong(
            "    if cache is not None:",
            "    if cache is not None and False:",
            "what was kept is not used",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = torch.cat([torch.zeros(query.shape[1], key.shape[1] - "
            "query.shape[1], dtype=torch.bool), causal_mask(query.shape[1])], dim=1)",
            "the mask hides all that was kept",
            same_as="what was kept is not used",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    key = torch.cat([cache[0], key], dim=1)\n"
            "    value = torch.cat([cache[1], value], dim=1)\n",
            "the cache is taken apart without a look whether there is one: at "
            "first it is None",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query, key, value, mask=mask), cache",
            "the cache that was given is given back, which is None at first, and "
            "stays it",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    new = query.shape[1]\n"
            "    return attention(query, key, value, mask=mask), (key[:, -new:], "
            "value[:, -new:])",
            "only the new keys and values are kept for the next chunk",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query, key, value, mask=mask), (value, key)",
            "keys and values change places in the cache that is given",
        ),
        Wrong(
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "        key = torch.cat([cache[1], key], dim=1)\n"
            "        value = torch.cat([cache[0], value], dim=1)\n",
            "keys and values of the cache are taken for each other",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=0)\n"
            "        value = torch.cat([cache[1], value], dim=0)\n",
            "keys and values are joined along the heads",
        ),
        Wrong(
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "",
            "new values are not put behind the old",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query, key, value, mask=mask)",
            "the rows are given alone, without the next cache",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query, key, value, mask=mask), key, value",
            "three results are given: keys and values are not put together to a pair",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is not None:\n"
            "        rows = attention(query, *cache)\n"
            "        return rows, (\n"
            "            torch.cat([cache[0], key], dim=1),\n"
            "            torch.cat([cache[1], value], dim=1),\n"
            "        )\n",
            "a chunk looks at the cache alone, and not at itself",
        ),
        Wrong(
            "causal_mask(query.shape[1], key.shape[1])",
            "causal_mask(query.shape[1])",
            "the mask is a square for the chunk alone; it should have columns for the "
            "cache too",
        ),
        Wrong(
            "causal_mask(query.shape[1], key.shape[1])",
            "causal_mask(key.shape[1], query.shape[1])",
            "rows and columns of the mask are exchanged: queries come first",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = causal_mask(query.shape[1], key.shape[1]).roll(-1, 1)\n"
            "    mask[:, -1] = False",
            "no token sees itself",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is None:\n"
            "        return attention(query, key, value), (key, value)\n"
            "    key = torch.cat([cache[0], key], dim=1)\n"
            "    value = torch.cat([cache[1], value], dim=1)\n",
            "nothing is hidden in the first chunk",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is not None:\n"
            "        key = torch.cat([key, cache[0]], dim=1)\n"
            "        value = torch.cat([value, cache[1]], dim=1)\n",
            "what is new is put before the old",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n"
            "        return attention(query, key, value), (key, value)\n",
            "nothing is hidden once there is a cache, so that tokens of a later "
            "chunk see the rest of it",
        ),
        Wrong(
            "mask=mask), (key",
            "mask=~mask), (key",
            "the mask is turned round: each token sees what comes after it alone",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = causal_mask(query.shape[1], key.shape[1])\n"
            "    mask[:, -query.shape[1] :] = torch.eye(query.shape[1], "
            "dtype=torch.bool)",
            "in its chunk a token sees itself alone; it should see those "
            "before it as well",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    mask[:, : key.shape[1] - query.shape[1]] = torch.eye(1, "
            "dtype=torch.bool)\n"
            "    return attention(query, key, value, mask=mask), (\n"
            "        (key, value) if cache is None else cache\n"
            "    )",
            "the cache of the first chunk is given on for ever, and later "
            "chunks are not added to it",
        ),
        Wrong(
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=1)\n"
            "        value = torch.cat([cache[1], value], dim=1)\n",
            "    if cache is not None:\n"
            "        key = torch.cat([cache[0], key], dim=-1)\n"
            "        value = torch.cat([cache[1], value], dim=-1)\n",
            "keys and values are joined along their numbers; they should be "
            "joined along the tokens",
        ),
        Wrong(
            "mask=mask), (key",
            "mask=mask, scale=1.0), (key",
            "scores are not scaled",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    scores = scores.masked_fill(~mask, 0.0)\n"
            "    return torch.softmax(scores, dim=-1) @ value, (key, value)",
            "hidden scores are set to zero, and get a share; they should be "
            "minus infinity",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    return (torch.softmax(scores, dim=-1) * mask) @ value, (key, "
            "value)",
            "the mask is laid over the weights, after the softmax, so that "
            "rows do not sum to one",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    scores = scores.masked_fill(~mask, -torch.inf)\n"
            "    return torch.softmax(scores, dim=-2) @ value, (key, value)",
            "the softmax runs over the queries",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    scores = scores.masked_fill(~mask, -torch.inf)\n"
            "    scores = scores / query.shape[-1] ** 0.5\n"
            "    return torch.softmax(scores, dim=-1) @ value, (key, value)",
            "scores are divided by the width; they should be divided by its root",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "old = 0 if cache is None else len(cache[0])\n"
            "    mask = torch.ones(query.shape[1], key.shape[1], "
            "dtype=torch.bool).tril(old)",
            "the heads of the cache are counted for its tokens: len() gives "
            "the first axis",
        ),
        Wrong(
            "mask = causal_mask(query.shape[1], key.shape[1])",
            "mask = causal_mask(len(query), len(key))",
            "heads are counted for the mask; tokens should be, which are axis 1",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query[:, -1:], key, value), (key, value)",
            "only the row of the last token is given; each token of the chunk "
            "should have one",
        ),
        Wrong(
            "    mask = causal_mask(query.shape[1], key.shape[1])\n",
            "    if cache is not None:\n"
            "        old, new = attention(query, *cache), key[:, "
            "-query.shape[1] :]\n"
            "        mask = causal_mask(query.shape[1])\n"
            "        rows = attention(query, new, value[:, -query.shape[1] :], "
            "mask=mask)\n"
            "        return (old + rows) / 2, (key, value)\n"
            "    mask = causal_mask(query.shape[1], key.shape[1])\n",
            "cache and chunk have a softmax each, and their rows are averaged; "
            "one softmax should run over both",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    old = key.shape[1] - query.shape[1]\n"
            "    query = torch.cat([key[:, :old], query], dim=1)\n"
            "    mask = causal_mask(key.shape[1])\n"
            "    return attention(query, key, value, mask=mask), (key, value)",
            "rows are given for all that is kept as well; it should be for the chunk "
            "alone",
        ),
        Wrong(
            "    return attention(",
            "    if cache is not None:\n"
            "        mask[:, 0] = False\n"
            "    return attention(",
            "the oldest token that is kept is hidden",
        ),
        Wrong(
            "    return attention(",
            "    old = key.shape[1] - query.shape[1]\n"
            "    mask[:, : max(old - 1, 0)] = False\n"
            "    return attention(",
            "of what was kept only the newest token is seen",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return attention(query, key, value, mask=mask), (query, value)",
            "queries are kept in the place of keys",
        ),
        Wrong(
            "(key, value)",
            "torch.cat([key, value], dim=-1)",
            "keys and values are joined to one tensor in the cache; it should be a "
            "pair",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    rows = attention(query, key, value, mask=mask)\n"
            "    return rows, (key, torch.cat([cache[1], rows], dim=1) if cache else "
            "rows)",
            "rows are kept in the place of values",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    rows = attention(query, key, value, mask=mask)\n"
            "    if cache is not None:\n"
            "        key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], "
            "value], 1)\n"
            "    return rows, (key, value)",
            "what was kept is put in front of the cache twice",
        ),
        Wrong(
            "        key = torch.cat([cache[0], key], dim=1)",
            "",
            "new keys are not put behind the old",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5 + mask\n"
            "    return torch.softmax(scores, dim=-1) @ value, (key, value)",
            "the mask is added to the scores as zeros and ones; hidden scores should "
            "be minus infinity",
        ),
        Wrong(
            "mask=mask), (key",
            "mask=mask, scale=key.shape[1] ** -0.5), (key",
            "scores are divided by the root of the number of keys; it should be of "
            "their width",
        ),
        Wrong(
            "mask=mask), (key",
            "mask=mask, scale=value.shape[-1] ** -0.5), (key",
            "scores are divided by the root of the width of values; it should be of "
            "that of keys",
        ),
        Wrong(
            "causal_mask(query.shape[1], key.shape[1])",
            "causal_mask(query.shape[-1], key.shape[-1])",
            "the width is taken for the number of tokens in the mask",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    scores = scores.masked_fill(~mask, -torch.inf)\n"
            "    return torch.softmax(scores, dim=0) @ value, (key, value)",
            "the softmax runs over the heads",
        ),
        Wrong(
            "    return attention(query, key, value, mask=mask), (key, value)",
            "    return (key, value), attention(query, key, value, mask=mask)",
            "the cache is given first, and then the rows",
            same_as="keys and values are joined to one tensor in the cache; it should "
            "be a pair",
        ),
        Wrong(
            "    mask = causal_mask(query.shape[1], key.shape[1])",
            "    if query.shape[1] == 1:\n"
            "        return value[:, -1:], (key, value)\n"
            "    mask = causal_mask(query.shape[1], key.shape[1])",
            "a chunk of one token sees itself alone; it should see all that is kept, "
            "too",
        ),
        Wrong(
            "causal_mask(query.shape[1], key.shape[1])",
            "torch.ones(query.shape[1], key.shape[1], "
            "dtype=torch.bool).tril(max(key.shape[1] - query.shape[1] - 1, 0))",
            "each token sees one token too few: once something is kept, not itself",
        ),
        Wrong(
            "causal_mask(query.shape[1], key.shape[1])",
            "torch.ones(query.shape[1], key.shape[1], "
            "dtype=torch.bool).tril(query.shape[1])",
            "the triangle is shifted by the length of the chunk; it should be by that "
            "of the cache",
        ),
    ],
    stars=2,
    minutes=12,
)
