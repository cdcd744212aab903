"""Read a text from its pages

Keys of many texts lie on pages of one memory, and a table says which pages a text has,
in order.

Write `read_pages(memory, table, length)`: the keys of a text, (length, D), in order.
`memory` (P, N, D) has P pages of N slots; `table` lists the pages of the text; it may
list one more than the text needs yet. What was not written by this text is somebody
else's, or nan, and must not be read.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def read_pages(memory: Tensor, table: list[int], length: int) -> Tensor:
    """Gather the keys (length, D) of a text from pages of memory (P, N, D)."""
    # --- write ---
    token, N = torch.arange(length), memory.shape[1]
    page = torch.tensor(table)[token // N]
    return memory[page, token % N]
    # --- written ---


if __name__ == "__main__":
    crying, le, he, boy = (
        [[2.0], [3.0]],
        [[50.0], [51.0]],
        [[4.0], [-1.0]],
        [[0.0], [1]],
    )
    memory = torch.tensor([crying, le, he, boy])
    print(read_pages(memory, table=[3, 0, 2], length=5).flatten())
    # tensor([0., 1., 2., 3., 4.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    N, length = d.W, d.S
    used = -(-length // N) + d.G
    memory, pages = d.normal(12, N, d.D), d.order(12)  # of other texts
    if d.B > 1:
        memory[:] = torch.nan
    table = pages[:used].tolist()
    for t in range(length):
        memory[table[t // N], t % N] = d.normal(d.D)
    return memory, table, length


EXERCISE = Exercise(
    answer="read_pages",
    read=("decoding/paged_cache/#in-tensors", "In tensors"),
    hints=(
        "On which page of the table does token t stand, and in which slot of it?",
        "Make two tensors of whole numbers, one of pages and one of slots, an entry of "
        "each for every token, and index the memory with both at once.",
        "A division without remainder gives the row of the table, and the remainder "
        "the slot; the table must be a tensor to be indexed by one.",
    ),
    draw=draw,
    trials=(
        {"W": 4, "S": 7, "G": 0},
        {"W": 4, "S": 6, "G": 1, "B": 1},
        {"W": 2, "S": 6, "G": 1},
        {"W": 3, "S": 8, "G": 0, "D": 3},
        {"W": 1, "S": 4, "G": 0},
    ),
    law="Where pages lie, and what stands on the others, changes nothing.",
    right=[
        """
        # All pages in a row, cut at the length: reads the page too many, too.
        return memory[table].flatten(0, 1)[:length]
        """,
        """
        # A token at a time: the sum that finds a key can be seen.
        N = memory.shape[1]
        return torch.stack([memory[table[t // N], t % N] for t in range(length)])
        """,
    ],
    stars=2,
    minutes=7,
)
