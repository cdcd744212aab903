"""A sum that goes around

N machines want the sum of their tables, and each has a wire to the next one alone: they
stand in a ring, and behind the last comes the first. Each table has N rows. In each hop
a machine sends one row to the next machine: in hop zero machine n sends row n, and in
each later hop the row that it got in the hop before. In the first N - 1 hops the row
that comes in is added to the machine's own; in N - 1 further hops it takes the place of
the machine's own. Then all have the whole sum.

Write `ring_sum(held, hops)`, which plays all machines: `held` is a list of their tables
(N, D), and you give the list of their tables after so many hops, from 0 to 2 (N - 1).
Leave the tables of the caller as they are.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def ring_sum(held: list[Tensor], hops: int) -> list[Tensor]:
    """Give the tables (N, D) of N machines in a ring after so many hops."""
    # --- write ---
    N = len(held)
    held = [table.clone() for table in held]
    for hop in range(hops):
        for n in range(N):
            row = (n - 1 - hop) % N
            sent = held[n - 1][row]
            held[n][row] = held[n][row] + sent if hop < N - 1 else sent
    return held
    # --- written ---


if __name__ == "__main__":
    held = [torch.tensor([[1], [10]]), torch.tensor([[2], [20]])]
    for hops in range(3):
        print([table.flatten().tolist() for table in ring_sum(held, hops)])
    # [[1, 10], [2, 20]]
    # [[1, 30], [3, 20]]
    # [[3, 30], [3, 30]]
# --- end of your file ---


def run(ring_sum, tables):  # type: ignore[no-untyped-def]
    last = 2 * (len(tables) - 1)
    found = {}
    for hops in range(last + 1):
        given = tables if hops == last else tables.clone()
        given = ring_sum([*given], hops)
        if not isinstance(given, (list, tuple)):
            return given
        found[f"hops={hops}"] = torch.stack([*given])
    return found


EXERCISE = Exercise(
    answer="ring_sum",
    read=("distributed/tensor_parallel/#at-scale-on-paper", "At scale, on paper"),
    hints=(
        "Which row does machine n get in hop zero, if its neighbour sends the row of "
        "its own number? And in hop one?",
        "The number of the row goes down by one with each hop, and begins anew at the "
        "top: modulo N. That never changes, in the first half and in the second.",
        "Two loops, over hops and over machines. In each, the neighbour's row is added "
        "while the hop is among the first N - 1, and copied after that.",
    ),
    draw=lambda d: (d.normal(d.W, d.W, d.D),),
    trials=({}, {"W": 3, "D": 3}, {"W": 5, "D": 2}),
    ask=run,
    law="Each machine has sent 2 (N - 1) rows of N, so nearly twice its table, however "
    "many machines there are.",
    right=[
        """
        # All rows leave before any comes in, as with real machines that send at once.
        N, held = len(held), [table.clone() for table in held]
        for hop in range(hops):
            post = [((n - hop) % N, held[n][(n - hop) % N].clone()) for n in range(N)]
            for n, (row, numbers) in enumerate(post[-1:] + post[:-1]):
                if hop < N - 1:
                    numbers = numbers + held[n][row]
                held[n][row] = numbers
        return held
        """,
        """
        # Without a loop over machines: one index for all, fast where N is large.
        table, N = torch.stack(held), len(held)
        machine = torch.arange(N)
        for hop in range(hops):
            row = (machine - 1 - hop) % N
            sent = table[machine - 1, row]
            before = table[machine, row] if hop < N - 1 else 0
            table[machine, row] = before + sent
        return list(table)
        """,
        """
        # By the two halves' own names: reduce-scatter, then all-gather.
        N, held = len(held), [table.clone() for table in held]
        for hop in range(min(hops, N - 1)):
            for n in range(N):
                held[n][(n - 1 - hop) % N] += held[n - 1][(n - 1 - hop) % N]
        for hop in range(hops - (N - 1)):
            for n in range(N):
                held[n][(n - hop) % N] = held[n - 1][(n - hop) % N]
        return held
        """,
    ],
    stars=2,
    minutes=20,
)
