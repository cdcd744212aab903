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

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "held[n][row] + sent if hop < N - 1 else sent",
            "held[n][row] + sent",
            "rows are added in the second half, too, and counted more than once",
        ),
        Wrong(
            "hop < N - 1",
            "hop < N",
            "one hop too many adds, so that a row is counted twice",
        ),
        Wrong(
            "hop < N - 1",
            "hop < N - 2",
            "one hop too few adds, so that a machine's part is missing in each sum",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "(n - hop) % N",
            "in hop zero each machine gets the row of its own number; it should get "
            "that of its neighbour's number",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "(n - 1 + hop) % N",
            "the number of the row goes up with each hop, so that a machine does not "
            "send what it got in the hop before",
        ),
        Wrong(
            "held[n - 1][row]",
            "held[(n + 1) % N][row]",
            "rows come from the next machine, against the direction of the ring",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "hop % N",
            "in each hop all machines send the row of the same number",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "(n - 1) % N",
            "each machine sends the row of its own number in every hop",
        ),
        Wrong(
            "    for hop in range(hops):\n",
            "    if hops:\n        return [sum(held)] * N\n"
            "    for hop in range(hops):\n",
            "all have the whole sum after the first hop",
        ),
        Wrong(
            "held[n][row] + sent if hop < N - 1 else sent",
            "sent",
            "rows take each other's place from the first hop on, and nothing is added",
        ),
        Wrong(
            "held[n][row] + sent if",
            "(held[n][row] + sent) / 2 if",
            "the mean of the two rows is taken, and not their sum",
        ),
        Wrong(
            "range(hops)",
            "range(hops + 1)",
            "there is one hop too many",
        ),
        Wrong(
            "range(hops)",
            "range(hops - 1)",
            "there is one hop too few",
        ),
        Wrong(
            "range(hops)",
            "range(min(hops, N - 1))",
            "it ends after the first half: the sums are not handed around",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "n - 1 - hop",
            "the number of the row is not taken modulo N",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "(n - 1 - hop % max(N - 1, 1)) % N",
            "the second half begins again with the rows of hop zero; it should go on "
            "with what came in last",
        ),
        Wrong(
            "        for n in range(N):\n"
            "            row = (n - 1 - hop) % N\n"
            "            sent = held[n - 1][row]\n"
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent\n",
            "        held = [own + held[n - 1] for n, own in enumerate(held)]\n",
            "whole tables are sent and added, and not one row",
        ),
        Wrong(
            "else sent",
            "else held[n][row]",
            "in the second half each machine keeps its own row",
            same_as="it ends after the first half: the sums are not handed around",
        ),
        Wrong(
            "    return held\n",
            "    return [table[(n + 1) % N] for n, table in enumerate(held)]\n",
            "of each table only the row is given whose sum that machine completes",
        ),
        Wrong(
            "held[n][row] + sent if hop < N - 1 else sent",
            "sent if hop < N - 1 else held[n][row] + sent",
            "a row takes the place of the machine's own in the first half, and is "
            "added in the second",
        ),
        Wrong(
            "            row = (n - 1 - hop) % N\n            sent = held[n - 1][row]",
            "            row = (n + 1 + hop) % N\n"
            "            sent = held[(n + 1) % N][row]",
            "the ring goes around the other way: each machine gets a row from the "
            "next one",
        ),
        Wrong(
            "    return held",
            "    return held[0]",
            "one table is given; there should be one of each machine",
        ),
        Wrong(
            "    return held",
            "    return [sum(held) for _ in held]",
            "the whole sum is given, however few hops there were",
        ),
        Wrong(
            "(n - 1 - hop) % N",
            "(n - 1 - max(hop - 1, 0)) % N",
            "each machine sends the row of its own number in the first two hops",
        ),
        Wrong(
            "        for n in range(N):\n            row",
            "        for n in range(1, N):\n            row",
            "the ring is open: the last machine sends nothing to the first",
        ),
        Wrong(
            "            sent = held[n - 1][row]\n"
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            sent = held[n - 1][:, row]\n"
            "            held[n][:, row] = held[n][:, row] + sent if hop < N - 1 else "
            "sent",
            "columns are sent, and not rows",
        ),
        Wrong(
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent\n"
            "            held[n - 1][row] = 0",
            "a row is set to zero where it was sent from; a machine keeps what it "
            "sends",
        ),
        Wrong(
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            held[n][n] = held[n][n] + sent if hop < N - 1 else sent",
            "each machine puts all that comes in into the row of its own number",
        ),
        Wrong(
            "    for hop in range(hops):",
            "    for hop in range(1, hops + 1):",
            "hops are counted from one, so that the rows of hop zero are never sent",
        ),
        Wrong(
            "    for hop in range(hops):",
            "    for hop in range(0):",
            "no hop is made: the tables are given as they were",
        ),
        Wrong(
            "    for hop in range(hops):",
            "    for hop in range(2 * (N - 1)):",
            "all hops are made, and not as many as are asked for",
        ),
        Wrong(
            "        for n in range(N):\n            row",
            "        for n in [hop % N]:\n            row",
            "one machine alone gets a row in each hop; all should",
        ),
        Wrong(
            "    return held",
            "    held",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    N = len(held)",
            "    N = held[0].shape[1]",
            "the numbers of a row are counted for the machines",
        ),
        Wrong(
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            if hop < N - 1:\n"
            "                held[n][row] = held[n][row] + sent\n"
            "            else:\n"
            "                held[n] = held[n - 1].clone()",
            "whole tables are handed on in the second half, and not one row",
        ),
        Wrong(
            "            row = (n - 1 - hop) % N",
            "            row = (n - 1 - hop) % N if hop < N - 1 else (n - hop) % N",
            "in the second half each machine gets again the row that it got one hop "
            "before",
        ),
        Wrong(
            "    return held",
            "    return [table / N for table in held]",
            "sums are divided by the number of machines, as for a mean",
        ),
        Wrong(
            "            row = (n - 1 - hop) % N",
            "            row = (hop - n) % N",
            "the number of the machine is taken off that of the hop; it should be the "
            "other way round",
        ),
        Wrong(
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            held[n][(row + 1) % N] = held[n][(row + 1) % N] + sent if "
            "hop < N - 1 else sent",
            "in each hop the row that comes in is put where the one before was: one "
            "row is never left",
        ),
        Wrong(
            "            held[n][row] = held[n][row] + sent if hop < N - 1 else sent",
            "            if hop < N - 1:\n"
            "                held[n] = held[n] + held[n - 1]\n"
            "            else:\n"
            "                held[n][row] = sent",
            "the machines write into tables that they send from as whole ones: all "
            "rows are added in each hop of the first half",
        ),
        Wrong(
            "hop < N - 1",
            "hop < hops // 2",
            "half of all hops asked for add, whatever N is",
        ),
        Wrong(
            "    return held",
            "    return torch.stack(held)",
            "the tables are stacked to one tensor; a list of tables is asked for",
        ),
    ],
    stars=2,
    minutes=20,
)
