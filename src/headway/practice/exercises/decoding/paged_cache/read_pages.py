"""Read a text from its pages

Keys of many texts lie on pages of one memory, and a table says which pages a text has,
in order.

Write `read_pages(memory, table, length)`: the keys of a text, (length, D), in order.
`memory` (P, N, D) has P pages of N slots; `table` lists the pages of the text; it may
list one more than the text needs yet. What was not written by this text is somebody
else's, or nan, and must not be read.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)",
            "the last page is read to its end, where others have written",
            exhibit="caches/#the-rest-of-the-page",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1).nan_to_num()",
            "the rest of the page is read, and set to zero: a key of zero gets a share "
            "of the attention all the same",
            exhibit="caches/#hidden-but-read",
        ),
        Wrong(
            "page = torch.tensor(table)[token // N]",
            "page = table[0] + token // N",
            "pages are read in a row from the first on, and the table is not used",
            exhibit="caches/#pages-in-a-row",
        ),
        Wrong(
            "page = torch.tensor(table)[token // N]",
            "page = token // N",
            "the first pages of the memory are read, whosever they are",
        ),
        Wrong(
            "page = torch.tensor(table)[token // N]",
            "page = torch.tensor(sorted(table))[token // N]",
            "the pages are read in the order of their numbers, and not of the table",
        ),
        Wrong(
            "torch.tensor(table)[token // N]",
            "torch.tensor(table)[token % len(table)]",
            "tokens are dealt out to the pages in turn",
        ),
        Wrong(
            "memory[page, token % N]",
            "memory[page, token // N % N]",
            "the row of the table is taken for the slot",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].transpose(0, 1).flatten(0, 1)[:length]",
            "the first slots of all pages are read, then the second ones",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    whole = memory[table[:-1]].flatten(0, 1)\n"
            "    return torch.cat([whole, memory[table[-1], : length % N]])",
            "the last page is cut at the remainder, which is zero if it is full",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table[: length // N]].flatten(0, 1)",
            "the last page is left out if it is not full",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    whole = memory[table[: length // N]].flatten(0, 1)\n"
            "    return torch.cat([whole, memory[table[-1], : length % N]])",
            "the rest is read from the last page of the table, which the text "
            "may not need yet",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].reshape(memory.shape[2], -1).T[:length]",
            "pages are reshaped to (D, slots) and turned, which mixes the "
            "numbers of the keys: reshape(-1, D) keeps each key together",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)[-length:]",
            "the last slots of the pages are read; the text begins at the first",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table][:length]",
            "the pages are not joined, and pages are cut off in place of slots",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)[: length - 1]",
            "the last token is left out",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)[: length + 1]",
            "one slot too many is read, where others have written",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)[:, :length]",
            "the numbers of the keys are cut at the length; the slots should be",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(1, 2)[:length]",
            "the slots are joined with the numbers of a key; they should be "
            "joined with the pages",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table[: -(-length // N)]].flatten(0, 1)",
            "the last page that is needed is read to its end, where others "
            "have written",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table[: length // N + 1]].flatten(0, 1)",
            "one page more than the full ones is read to its end, needed or not",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    rows = memory[table].flatten(0, 1)\n"
            "    return rows[~rows.isnan().any(dim=-1)]",
            "slots that hold nan are left out; others may have written "
            "numbers, so the length must cut",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[page, token % N].flip(0)",
            "the keys are given in reverse order",
        ),
        Wrong(
            "page = torch.tensor(table)[token // N]",
            "page = torch.tensor(table[::-1])[token // N]",
            "the table is read from its end",
        ),
        Wrong(
            "page = torch.tensor(table)[token // N]",
            "page = torch.tensor(table)[token / N]",
            "it is divided by /, which gives no whole number: // does",
        ),
        Wrong(
            "memory.shape[1]",
            "memory.shape[0]",
            "pages are counted for the slots of a page: slots are axis 1",
        ),
        Wrong(
            "memory.shape[1]",
            "memory.shape[2]",
            "the numbers of a key are counted for the slots of a page: slots "
            "are axis 1",
        ),
        Wrong(
            "memory.shape[1]",
            "len(table)",
            "the pages of the text are counted for the slots of a page: slots "
            "are axis 1",
        ),
        Wrong(
            "memory[page, token % N]",
            "memory[page, token]",
            "the token's own number is taken for its slot; it should be the remainder",
            same_as="pages are counted for the slots of a page: slots are axis 1",
        ),
        Wrong(
            "memory[page, token % N]",
            "memory[token % N, page]",
            "slot and page are exchanged in the index: pages come first",
        ),
        Wrong(
            "memory[page, token % N]",
            "memory[page]",
            "whole pages are given, one for each token, and not its slot",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return torch.stack([memory[table[t % N], t // N] for t in "
            "range(length)])",
            "page and slot are exchanged: the division gives the page, and the "
            "remainder the slot",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[torch.tensor(table)[token % N], token // N]",
            "the remainder is taken for the page, and the division for the slot",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return torch.cat([memory[one, : length % N] for one in table])",
            "each page is cut at the remainder; only the last one that is "
            "needed should be",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    slots = memory.flatten(0, 1)\n"
            "    picked = torch.nn.functional.one_hot(page * N + token % N, "
            "len(slots))\n"
            "    return picked.to(memory) @ slots",
            "slots are picked by a product with ones and zeros, and zero times nan "
            "is nan: what others left is read",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    rest = length - N * (len(table) - 1)\n"
            "    whole = memory[table[:-1]].flatten(0, 1)\n"
            "    return torch.cat([whole, memory[table[-1], :rest]])",
            "all pages but the last of the table are read whole, although the "
            "text may end on an earlier one",
        ),
        Wrong(
            "token % N]",
            "(token + 1) % N]",
            "slots are counted from one",
        ),
        Wrong(
            "torch.arange(length), memory",
            "torch.arange(1, length + 1), memory",
            "tokens are counted from one",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table, 0]",
            "the first key of each page is given",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return [memory[table[t // N], t % N] for t in range(length)]",
            "a list of keys is given; torch.stack makes one tensor",
        ),
        Wrong(
            "memory[page, token % N]",
            "memory[torch.tensor(table)[page % len(table)], token % N]",
            "the table is asked twice: a page is taken for a row of the table",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return torch.cat([memory[one] for one in table], dim=1)[:length]",
            "pages are joined along their slots side by side, and not one behind the "
            "other",
        ),
        Wrong(
            "torch.tensor(table)[token // N]",
            "table[token // N]",
            "the list is indexed by a tensor of many numbers, which it does not take: "
            "torch.tensor(table) does",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory.flatten(0, 1)[page + token % N]",
            "page and slot are added; the page should be multiplied by the number of "
            "slots first",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    n = length // N\n"
            "    whole = memory[table[:n]].flatten(0, 1)\n"
            "    return torch.cat([whole, memory[table[n], : length % N]])",
            "one page more than the full ones is asked of the table, which may have "
            "no more",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    n = -(-length // N)\n"
            "    whole = memory[table[: n - 1]].flatten(0, 1)\n"
            "    rest = length - N * (n - 1)\n"
            "    return torch.cat([whole, memory[table[n - 1], N - rest :]])",
            "the rest is read from the end of the last page; it begins at its first "
            "slot",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    rows = memory.flatten(0, 1)\n"
            "    return rows[~rows.isnan().any(dim=-1)][:length]",
            "all slots that hold no nan are read in a row, whosever they are",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[table].flatten(0, 1)[:length].nan_to_num() + "
            "memory[table].flatten(0, 1).sum() * 0",
            "what others left is read and multiplied by zero, and zero times nan is "
            "nan",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    return memory[page, token % N].T",
            "the keys are given as (D, length)",
        ),
        Wrong(
            "    return memory[page, token % N]",
            "    rows = memory.new_zeros(len(table) * N, memory.shape[2])\n"
            "    rows[:length] = memory[page, token % N]\n"
            "    return rows",
            "the keys are padded to whole pages",
        ),
        Wrong(
            "token // N]",
            "(token / N).round().long()]",
            "the quotient is rounded to the nearest page; it should be rounded down",
        ),
        Wrong(
            "token // N]",
            "token // -(-length // len(table))]",
            "the text is spread evenly over the pages of the table; each page should "
            "be filled first",
        ),
    ],
    stars=2,
    minutes=7,
)
