"""Two answers to one question

Two answers begin with the same tokens, whose keys lie on pages. A second answer can
share the pages that are full: nobody writes to them any more. If the last page is not
full, both answers will write to it, so the second needs a copy of it.

Write `begin_like(memory, free, table, length)`: a new table for the second answer.
`memory` (P, N, D) has P pages of N slots, `table` lists the pages of `length` tokens in
order, and `free` the pages that belong to nobody; take one with `free.pop()`, and only
if you need it. Leave `table` as it is.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def begin_like(
    memory: Tensor, free: list[int], table: list[int], length: int
) -> list[int]:
    """Give a table that shares full pages of memory (P, N, D) with another."""
    # --- write ---
    begun = list(table)
    if length % memory.shape[1] != 0:
        page = free.pop()
        memory[page] = memory[begun[-1]]
        begun[-1] = page
    return begun
    # --- written ---


if __name__ == "__main__":
    memory = torch.zeros(8, 2, 1)
    print(begin_like(memory, [5, 6], table=[0, 1, 2], length=6))
    print(begin_like(memory, [5, 6], table=[0, 1, 2], length=5))
    # [0, 1, 2]
    # [0, 1, 6]
# --- end of your file ---


def _read(memory, table, length):  # type: ignore[no-untyped-def]
    N = memory.shape[1]
    return torch.stack([memory[table[t // N], t % N] for t in range(length)])


def _write(memory, free, table, length, key):  # type: ignore[no-untyped-def]
    N = memory.shape[1]
    if length % N == 0:
        table.append(free.pop())
    memory[table[length // N], length % N] = key


def run(begin_like, memory, free, table, length):  # type: ignore[no-untyped-def]
    memory[free] = torch.nan
    second = begin_like(memory, free, table, length)
    pages = len({*second, *table})
    first = list(table)  # before either goes on
    left = list(free)
    keys = memory.new_tensor([[1.0], [2.0]]).expand(2, memory.shape[2])
    for shift in range(3):
        _write(memory, free, table, length + shift, keys[0])
        _write(memory, free, second, length + shift, keys[1])
    texts = [_read(memory, one, length + 3) for one in (table, second)]
    return [*texts, pages, left, first]


def draw(d):  # type: ignore[no-untyped-def]
    N, length = d.W, d.S
    pages = d.order(20).tolist()
    used = -(-length // N)
    return d.normal(20, N, d.D), pages[used:], pages[:used], length


EXERCISE = Exercise(
    answer="begin_like",
    read=(
        "decoding/paged_cache/#cost-how-large-a-page",
        "Cost: how large a page",
    ),
    hints=(
        "To which pages of the question will somebody write, once both answers go on?",
        "Copy the table, not the pages; then ask whether the last page is full. If it "
        "is not, the new table needs a page of its own there, with the same keys.",
        "A remainder tells whether the last page is full. If it is not: take a free "
        "page, copy the old one's slots in memory, and put its number at the end.",
    ),
    draw=draw,
    ask=run,
    trials=(
        {"S": 6, "W": 2},
        {"S": 7, "W": 4},
        {"S": 5, "W": 2},
        {"S": 3, "W": 1},
        {"S": 3, "W": 4},
        {"S": 5, "W": 4},
        {"S": 20, "W": 4},
    ),
    law="Each answer gets what it gets alone, and together they need one page more at "
    "most than the question, until they go on.",
    right=[
        """
        # Full pages first, then a copy of whatever page is left.
        full = length // memory.shape[1]
        begun = table[:full]
        for page in table[full:]:
            begun.append(free.pop())
            memory[begun[-1]] = memory[page].clone()
        return begun
        """,
        """
        # divmod tells both at once: how many pages are full, and what is left.
        full, left = divmod(length, memory.shape[1])
        if not left:
            return table[:full]
        page = free.pop()
        memory[page, :left] = memory[table[full], :left]
        return [*table[:full], page]
        """,
    ],
    minutes=12,
)
