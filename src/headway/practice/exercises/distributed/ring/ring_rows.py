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

from headway.practice import Exercise, Forbidden, Property

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
    stars=2,
    minutes=12,
)
