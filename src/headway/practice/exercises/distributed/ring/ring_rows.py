"""Three machines in a ring

A long text is cut into N pieces, one a machine. Keys and values go around the ring:
after N steps each machine has seen all of them, a piece at a time. Write
`ring_rows(machine, queries, pieces)`: the rows of one machine, with the future hidden.

`queries` (T, D) are those of the machine; `pieces` is a list of N pairs of keys (T, D)
and values (T, V), piece n being that of machine n. In step s the machine holds piece
(machine - s) modulo N. Use `attention_with_lse(query, key, value, mask=...)`, which
gives rows and log-sum-exps, a pair, and `merge_attention(pair, pair)`, which gives the
pair of both. Scores may be large.
"""

from headway.practice import Exercise, Forbidden, Property, Wrong

# --- your file ---
import torch
from torch import Tensor

from headway import attention_with_lse, causal_mask, merge_attention


def ring_rows(
    machine: int, queries: Tensor, pieces: list[tuple[Tensor, Tensor]]
) -> Tensor:
    """Give the rows (T, V) of a machine's queries (T, D), a piece at a time."""
    # --- write ---
    N, T = len(pieces), len(queries)
    merged = None
    for step in range(N):
        held = (machine - step) % N
        key, value = pieces[held]
        if held > machine:
            continue
        mask = causal_mask(T) if held == machine else None
        part = attention_with_lse(queries, key, value, mask=mask)
        merged = part if merged is None else merge_attention(merged, part)
    return merged[0]
    # --- written ---


if __name__ == "__main__":
    one = torch.ones(1, 2)
    pieces = [(one, one), (one, 3 * one), (one, 9 * one)]
    print(ring_rows(1, one, pieces))
    # tensor([[2., 2.]])
# --- end of your file ---


def run(ring_rows, query, key, value):  # type: ignore[no-untyped-def]
    pieces = [*zip(key, value, strict=True)]
    return [ring_rows(n, query[n], pieces) for n in range(len(query))]


class Held(list):  # type: ignore[type-arg]
    """Pieces that note in which order they are taken, unless they are cut out."""

    def __init__(self, pieces: list[object]) -> None:
        super().__init__(pieces)
        self.taken: list[int] | None = []

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        if isinstance(place, slice):
            self.taken = None
        if self.taken is not None:
            self.taken.append(place % len(self))
        return super().__getitem__(place)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return (self[place] for place in range(len(self)))


def takes_what_it_holds(ring_rows, query, key, value):  # type: ignore[no-untyped-def]
    for n in range(len(query)):
        pieces = Held([*zip(key, value, strict=True)])
        ring_rows(n, query[n], pieces)
        if pieces.taken is not None:
            # When each was taken last: before, one may have been asked for its size.
            seen = list(dict.fromkeys(one for one in pieces.taken[::-1] if one <= n))
            if seen != [*range(n + 1)]:
                return False
    return True


def has_more_than_a_piece(args, result, given):  # type: ignore[no-untyped-def]
    _, T, D = given[1].shape
    return (
        isinstance(result, Tensor)
        and result.shape[-1:] == (D,)
        and (result.numel() > T * D)
    )


EXERCISE = Exercise(
    answer="ring_rows",
    forbids=[
        Forbidden(
            "The task says: a piece at a time. Here the keys of several pieces are put "
            "together, which no machine has room for.",
            """
            from headway import attention

            T = len(queries)
            keys = torch.cat([key for key, _ in pieces[: machine + 1]])
            values = torch.cat([value for _, value in pieces[: machine + 1]])
            return attention(queries, keys, values, mask=causal_mask(T, len(keys)))
            """,
            names=("cat", "concat", "concatenate", "stack", "vstack"),
            when=has_more_than_a_piece,
        )
    ],
    read=("distributed/ring/#three-machines-by-eye", "Three machines, by eye"),
    hints=(
        "Which pieces may a machine see whole, which in part, and which not at all?",
        "Earlier pieces are seen whole, its own through a triangle, later ones not; "
        "each part is merged with what came before.",
        "Compare the piece that is held with the machine's own number: smaller, equal "
        "or larger.",
    ),
    draw=lambda d: (
        d.normal(max(d.W - 1, 1), d.T, d.D),
        d.normal(max(d.W - 1, 1), d.T, d.D),
        d.normal(max(d.W - 1, 1), d.T, d.V),
    ),
    ask=run,
    properties=[
        Property(
            "in step s the piece is taken that the machine then holds: "
            "(machine - s) modulo N",
            takes_what_it_holds,
        )
    ],
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 30.0}, {"W": 6, "T": 2}),
    law="All machines together give what one would give for the whole text.",
    right=[
        """
        # All parts first, and then one sum: the log-sum-exps say what each weighs.
        T = len(queries)
        parts = []
        for step in range(machine + 1):
            key, value = pieces[machine - step]
            mask = None if step else causal_mask(T)
            parts.append(attention_with_lse(queries, key, value, mask=mask))
        weights = torch.softmax(torch.stack([lse for _, lse in parts]), dim=0)
        return sum(w[:, None] * rows for w, (rows, _) in zip(weights, parts))
        """,
        """
        # Later pieces go through a mask that hides all of them: every step is alike.
        N, T = len(pieces), len(queries)
        nothing = torch.zeros_like(pieces[machine][1])
        merged = nothing, queries.new_full((T,), -torch.inf)
        for step in range(N):
            held = (machine - step) % N
            place = torch.arange(T) + held * T
            mask = place <= torch.arange(T)[:, None] + machine * T
            part = attention_with_lse(queries, *pieces[held], mask=mask)
            merged = merge_attention(merged, part)
        return merged[0]
        """,
    ],
    wrong=[
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = None",
            "its own piece is seen whole, the future included",
        ),
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = causal_mask(T)",
            "each piece is seen through a triangle, earlier ones too",
            exhibit="pieces/#a-triangle-for-each-piece",
        ),
        Wrong(
            "        if held > machine:\n            continue\n",
            "",
            "later pieces are seen, too",
        ),
        Wrong(
            "if held > machine",
            "if held >= machine and machine > 0",
            "its own piece is left out",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "part",
            "parts are not merged: the last one is left",
            exhibit="pieces/#merged-by-plain-means",
        ),
        Wrong(
            "range(N)",
            "range(1)",
            "there is no second step: each machine sees its own piece alone",
        ),
        Wrong(
            "if held > machine",
            "if held < machine",
            "earlier pieces are hidden, and later ones seen",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(merged[0] + part[0], merged[1] + part[1])",
            "results are added as they are, without their masses",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "((merged[0] + part[0]) / 2, part[1])",
            "the plain mean of what was found and what is new is taken in each step",
        ),
        Wrong(
            "range(N)",
            "range(N - 1)",
            "there is one step too few, so that a machine misses a piece",
        ),
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = ~causal_mask(T) if held == machine else None",
            "the triangle is turned round: in its own piece a machine sees the "
            "future alone",
        ),
        Wrong(
            "    merged = None\n",
            "    none = torch.zeros_like(pieces[0][1])\n"
            "    merged = (none, 0 * queries[:, 0])\n",
            "it begins with a log-sum-exp of zero, which counts as a key; it should be "
            "minus infinity",
        ),
        Wrong(
            "if held == machine else",
            "if step == machine else",
            "the triangle is laid over the piece of step `machine`, where the own "
            "piece comes in step zero",
        ),
        Wrong(
            "    return merged[0]",
            "    return merged",
            "the rows are given together with their log-sum-exps",
        ),
        Wrong(
            "    return merged[0]",
            "    return torch.stack(\n"
            "        [\n"
            "            attention_with_lse(\n"
            "                queries,\n"
            "                *pieces[n],\n"
            "                mask=causal_mask(T) if n == machine else None,\n"
            "            )[0]\n"
            "            for n in range(machine + 1)\n"
            "        ]\n"
            "    ).mean(dim=0)",
            "the plain mean of the pieces' rows is taken, without their log-sum-exps",
        ),
        Wrong(
            "    return merged[0]",
            "    return torch.stack(\n"
            "        [attention_with_lse(queries, *pieces[n])[0] for n in "
            "range(machine + 1)]\n"
            "    ).mean(dim=0)",
            "the plain mean of the pieces' rows is taken, and its own piece is "
            "seen whole",
        ),
        Wrong(
            "    return merged[0]",
            "    return sum(\n"
            "        attention_with_lse(\n"
            "            queries,\n"
            "            *pieces[n],\n"
            "            mask=causal_mask(T) if n == machine else None,\n"
            "        )[0]\n"
            "        for n in range(machine + 1)\n"
            "    )/ N",
            "the rows of the pieces that are seen are added, and divided by "
            "the number of all",
        ),
        Wrong(
            "        if held > machine:\n"
            "            continue\n"
            "        mask = causal_mask(T) if held == machine else None",
            "        mask = causal_mask(T) if held >= machine else None",
            "later pieces are seen through a triangle; they should not be seen at all",
        ),
        Wrong(
            "        if held > machine:\n"
            "            continue\n"
            "        mask = causal_mask(T) if held == machine else None",
            "        mask = None",
            "nothing is hidden, neither in its own piece nor in later ones",
        ),
        Wrong(
            "        if held > machine:\n"
            "            continue\n"
            "        mask = causal_mask(T) if held == machine else None",
            "        mask = causal_mask(T)",
            "each piece is seen through a triangle, later ones too",
        ),
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = causal_mask(T) if held < machine else None",
            "earlier pieces are seen through the triangle, and its own piece whole",
        ),
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = causal_mask(T).tril(-1) if held == machine else None",
            "in its own piece no token sees itself",
        ),
        Wrong(
            "mask = causal_mask(T) if held == machine else None",
            "mask = causal_mask(T).mT if held == machine else None",
            "the triangle is transposed: in its own piece a token sees what "
            "comes after it",
        ),
        Wrong(
            "range(N)",
            "range(1, N)",
            "it begins with step one, and a machine's own piece is left out",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(merge_attention(merged, part)[0], merged[1])",
            "the log-sum-exp is not merged: it stays that of the first piece",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(merge_attention(merged, part)[0], part[1])",
            "the log-sum-exp is not merged: that of the last piece takes its place",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(\n"
            "            merge_attention(merged, part)[0],\n"
            "            merged[1] + part[1],\n"
            "        )",
            "the log-sum-exps are added; their exponentials should be",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "max(merged, part, key=lambda one: float(one[1].sum()))",
            "of two pieces the one with more mass is kept, and the other is forgotten",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(\n"
            "            (merged[0] * merged[1][:, None] + part[0] * "
            "part[1][:, None])\n"
            "            / (merged[1] + part[1])[:, None],\n"
            "            merged[1] + part[1],\n"
            "        )",
            "the log-sum-exps themselves are taken for shares: their "
            "exponentials are forgotten",
        ),
        Wrong(
            "attention_with_lse(queries, key, value, mask=mask)",
            "attention_with_lse(queries, value, key, mask=mask)",
            "keys and values are handed on in the opposite order",
        ),
        Wrong(
            "key, value = pieces[held]",
            "key, value = pieces[machine]",
            "the machine's own piece is taken in each step",
        ),
        Wrong(
            "key, value = pieces[held]",
            "key, value = pieces[step]",
            "piece `step` is taken in step `step`, though another one is held",
            same_as="the triangle is laid over the piece of step `machine`, "
            "where the own piece comes in step zero",
        ),
        Wrong(
            "    return merged[0]",
            "    return merged[1]",
            "the log-sum-exps are given; the rows should be",
        ),
        Wrong(
            "(machine - step) % N",
            "machine - step if step <= machine else machine",
            "where the pieces of others run out, the own piece is seen again",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "(\n"
            "            merge_attention(merged, part)[0],\n"
            "            torch.maximum(merged[1], part[1]),\n"
            "        )",
            "the larger of two log-sum-exps is taken on; their exponentials should "
            "be added",
        ),
        Wrong(
            "    return merged[0]",
            "    parts = []\n"
            "    for n in range(machine + 1):\n"
            "        mask = causal_mask(T) if n == machine else None\n"
            "        parts.append(attention_with_lse(queries, *pieces[n], "
            "mask=mask))\n"
            "    shares = torch.softmax(torch.stack([lse for _, lse in parts]), "
            "dim=-1)\n"
            "    return sum(w[:, None] * rows for w, (rows, _) in zip(shares, parts))",
            "the shares of the pieces are a softmax over the queries; it should run "
            "over the pieces",
        ),
        Wrong(
            "    return merged[0]",
            "    parts = []\n"
            "    for n in range(machine + 1):\n"
            "        mask = causal_mask(T) if n == machine else None\n"
            "        parts.append(attention_with_lse(queries, *pieces[n], "
            "mask=mask))\n"
            "    return sum(lse.exp()[:, None] * rows for rows, lse in parts)",
            "rows are multiplied by their sums of exponentials, and not divided by "
            "the sum of all",
        ),
        Wrong(
            "    return merged[0]",
            "    parts = []\n"
            "    for n in range(machine + 1):\n"
            "        mask = causal_mask(T) if n == machine else None\n"
            "        parts.append(attention_with_lse(queries, *pieces[n], "
            "mask=mask)[0])\n"
            "    return torch.cat(parts)",
            "the rows of the pieces are put below each other; they should be merged",
        ),
        Wrong(
            "    return merged[0]",
            "    rows = 0\n"
            "    for n in range(N):\n"
            "        rows = rows + attention_with_lse(queries, *pieces[n])[0]\n"
            "    return rows / N",
            "the plain mean of the rows of all pieces is taken, and nothing is hidden",
        ),
        Wrong(
            "merged = part if merged is None else merge_attention(merged, part)",
            "merged = merge_attention(part if merged is None else merged, part)",
            "the first part is merged with itself, so that its own piece counts twice",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "merge_attention(*merged, *part)",
            "merge_attention is given four tensors; it takes two pairs",
        ),
        Wrong(
            "merge_attention(merged, part)",
            "merge_attention(merged[0], part[0])",
            "merge_attention is given rows alone, without their log-sum-exps",
        ),
        Wrong(
            "causal_mask(T) if held == machine else None",
            "causal_mask(T) if held == machine else ~causal_mask(T)",
            "earlier pieces are seen through the opposite triangle; they should be "
            "seen whole",
        ),
        Wrong(
            "held == machine else None",
            "held == machine and machine else None",
            "machine 0 sees its own piece whole, the future included",
        ),
        Wrong(
            "if held > machine:",
            "if held > machine or (held == 0 and machine > 0):",
            "piece 0 is left out, which each machine may see",
        ),
        Wrong(
            "    return merged[0]",
            "    parts = []\n"
            "    for n in range(machine, -1, -1):\n"
            "        mask = causal_mask(T) if n == machine else None\n"
            "        parts.append(attention_with_lse(queries, *pieces[n], "
            "mask=mask))\n"
            "    total = sum(lse.exp()[:, None] for _, lse in parts)\n"
            "    return sum(lse.exp()[:, None] * rows for rows, lse in parts) / total",
            "exponentials are taken of the log-sum-exps themselves, and overflow",
        ),
        Wrong(
            "    N, T = len(pieces), len(queries)",
            "    N, T = 3, len(queries)",
            "three machines are counted, however many there are",
        ),
    ],
    stars=2,
    minutes=12,
)
