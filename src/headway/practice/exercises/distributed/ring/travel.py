"""Let the queries travel

A ring can turn the other way: keys and values stay where they are, and the queries go
around, with what they have found so far. Write `travel(query, key, value, rows)`, which
plays all N machines.

query, key (T, D) and value (T, V) are those of the whole text; `rows` lists for each
machine the positions of its tokens, in any order, as many for each. The future is
hidden. Each machine may use its own keys and values alone. After N steps the queries
are home: give a list of what each machine's own queries found, (T / N, V) each. Use
`attention_with_lse(query, key, value, mask=...)`, which gives rows and log-sum-exps, a
pair, and `merge_attention(pair, pair)`, which gives the pair of both.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor

from headway import attention_with_lse, merge_attention


def travel(
    query: Tensor, key: Tensor, value: Tensor, rows: list[Tensor]
) -> list[Tensor]:
    """Give what the queries of each of N machines found, (T / N, V) each."""
    # --- write ---
    guests = [(query[own], own, None) for own in rows]
    for _ in rows:
        for machine, own in enumerate(rows):
            asked, where, found = guests[machine]
            mask = own <= where[:, None]
            part = attention_with_lse(asked, key[own], value[own], mask=mask)
            found = part if found is None else merge_attention(found, part)
            guests[machine] = (asked, where, found)
        guests = [guests[-1], *guests[:-1]]
    return [found[0] for _, _, found in guests]
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    torch.manual_seed(7)
    query, key, value = torch.randn(3, 6, 4, dtype=torch.float64)
    rows = [torch.tensor(own) for own in ([0, 5], [3, 1], [2, 4])]
    whole = attention(query, key, value, causal=True)
    for own, found in zip(rows, travel(query, key, value, rows)):
        print(own.tolist(), torch.allclose(found, whole[own]))
    # [0, 5] True
    # [3, 1] True
    # [2, 4] True
# --- end of your file ---


def sees_own_keys(travel, query, key, value, rows):  # type: ignore[no-untyped-def]
    from torch.overrides import TorchFunctionMode

    whole = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            if func is torch.nn.functional.scaled_dot_product_attention:
                held = [*args, *(kwargs or {}).values()][1]
                whole.append(held.shape[-2] == len(key))
            if isinstance(result, Tensor) and result.is_floating_point():
                whole.append(result.ndim > 1 and result.shape[-1] == len(key))
            return result

    with Watch():
        travel(query, key, value, rows)
    return len(key) in (query.shape[1], value.shape[1], len(rows[0])) or not any(whole)


def draw(d):  # type: ignore[no-untyped-def]
    """Draw for G + 1 machines; where it is loud, each holds a piece of the text."""
    T = (d.G + 1) * d.W
    rows = d.order(T).split(d.W)
    if d.loud > 1:
        pieces = torch.arange(T).split(d.W)
        rows = [pieces[n] for n in d.order(len(pieces))]
    return d.normal(T, d.D), d.normal(T, d.D), d.normal(T, d.V), [*rows]


EXERCISE = Exercise(
    answer="travel",
    read=("distributed/ring/#in-tensors", "In tensors"),
    hints=(
        "What must a query take along, so that any machine can serve it, and can tell "
        "which of its keys lie in the query's future?",
        "Keep for each machine the guest that it has: the queries, their positions, "
        "and what they have found. After each step all guests move on by one.",
        "A key may be seen if its position is at most that of the query: compare the "
        "machine's own positions with those that the guest brought.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHTSDVEW", 4) | {"G": 3}, {"loud": 2.0, "G": 3}),
    properties=[
        Property(
            "no machine uses keys of another: no table of scores has all keys",
            sees_own_keys,
        )
    ],
    law="It does not matter what travels. Queries must take along their positions and "
    "what they found, a row and a log-sum-exp; keys need only their positions.",
    right=[
        """
        # As each query sees it: where it is in step s, without moving anything.
        found = []
        for n, own in enumerate(rows):
            so_far = None
            for there in rows[n:] + rows[:n]:
                mask = own[:, None] >= there
                held = key[there], value[there]
                piece = attention_with_lse(query[own], *held, mask=mask)
                so_far = merge_attention(so_far, piece) if so_far else piece
            found.append(so_far[0])
        return found
        """,
        """
        # With one mask for the whole text, of which each machine takes a part.
        allowed = torch.ones(len(key), len(key), dtype=torch.bool).tril()
        found = [None] * len(rows)
        for step in range(len(rows)):
            for n, own in enumerate(rows):
                guest = (n - step) % len(rows)
                asked = rows[guest]
                piece = attention_with_lse(
                    query[asked], key[own], value[own], mask=allowed[asked][:, own]
                )
                before = found[guest]
                found[guest] = merge_attention(before, piece) if step else piece
        return [rows for rows, _ in found]
        """,
    ],
    stars=3,
    minutes=20,
    covers=("ring_rows",),
)
