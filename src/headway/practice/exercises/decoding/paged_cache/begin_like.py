"""Two answers to one question

Two answers begin with the same tokens, whose keys lie on pages. A second answer can
share the pages that are full: nobody writes to them any more. If the last page is not
full, both answers will write to it, so the second needs a copy of it.

Write `begin_like(memory, free, table, length)`: a new table for the second answer.
`memory` (P, N, D) has P pages of N slots, `table` lists the pages of `length` tokens in
order, and `free` the pages that belong to nobody; take one with `free.pop()`, and only
if you need it. Leave `table` as it is.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "begun = list(table)",
            "begun = table",
            "both answers have one list, so that a page of one is a page of the other",
            hint="b = a gives one list two names. How is a list copied?",
        ),
        Wrong(
            "if length % memory.shape[1] != 0:",
            "if False:",
            "the last page is shared although it is not full, so that one answer "
            "writes over the other",
        ),
        Wrong(
            "if length % memory.shape[1] != 0:",
            "if True:",
            "the last page is copied although it is full; it should be shared, since "
            "nobody writes to it",
        ),
        Wrong(
            "        memory[page] = memory[begun[-1]]\n",
            "",
            "the new page is not filled: what stood on the last page is missing",
        ),
        Wrong(
            "        begun[-1] = page",
            "        begun.append(page)",
            "the copy is put behind the shared page, and does not take its place",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "memory[page] = memory[begun[0]]",
            "the first page is copied, and not the last",
        ),
        Wrong(
            "        page = free.pop()",
            "        page = free[-1]",
            "the page is not taken off the list, so that somebody else gets it too",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "    for n, old in enumerate(table):\n"
            "        begun[n] = free.pop()\n"
            "        memory[begun[n]] = memory[old]\n",
            "all pages are copied, and none is shared",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "len(table) % memory.shape[1] != 0",
            "pages are counted, where tokens tell whether the last page is full",
        ),
        Wrong(
            "begun = list(table)",
            "begun = list(table) if length % memory.shape[1] else table",
            "if the last page is full, both answers have one list, so that a page of "
            "one is a page of the other",
            hint="What does the second answer append its next page to, if you return "
            "table itself?",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "memory[begun[-1]] = memory[page]",
            "the empty page is copied over the full one: the assignment goes the "
            "wrong way",
        ),
        Wrong(
            "!= 0:",
            "== 0:",
            "the condition is turned round: a full page is copied, and one that is "
            "not full is shared",
        ),
        Wrong(
            "    begun = list(table)\n",
            "    return table[: length // memory.shape[1]]\n    begun = list(table)\n",
            "the last page is left out if it is not full, and the tokens on it are "
            "missing",
        ),
        Wrong(
            "free.pop()",
            "free.pop(0)",
            "the first of the free pages is taken, and not the last",
        ),
        Wrong(
            "        begun[-1] = page",
            "        table[-1] = page",
            "the new page goes into the first answer's table, which should "
            "stay as it is",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "    page = free.pop()\n"
            "    if length % memory.shape[1] != 0:\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "a page is taken even where the last one is full, and then belongs "
            "to nobody",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "length // memory.shape[1] != 0",
            "the division asks whether any page is full; the remainder tells "
            "whether the last one is",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "length % len(memory) != 0",
            "the pages of the memory are counted for the slots of a page: "
            "slots are axis 1",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "memory[page] = 0.0",
            "the new page is filled with zeros; it should hold what stood on "
            "the last page",
        ),
        Wrong(
            "    return begun\n",
            "    return table\n",
            "the table of the first answer is given back, and the new one is "
            "thrown away",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "    begun.append(free.pop())\n",
            "the second answer gets one more page, and shares all others, the "
            "unfinished one too",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "    for n in range(1, len(begun)):\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[n]]\n"
            "        begun[n] = page\n",
            "all pages but the first are copied; full ones should be shared",
        ),
        Wrong(
            "        begun[-1] = page",
            "        begun[0] = page",
            "the copy takes the place of the first page; it should take that "
            "of the last",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n",
            "    if (length + 1) % memory.shape[1] != 0:\n",
            "the remainder is taken of one token more than there are",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n",
            "    if (length - 1) % memory.shape[1] != 0:\n",
            "the remainder is taken of one token less than there are",
        ),
        Wrong(
            "        begun[-1] = page\n    return begun",
            "    return begun",
            "a copy is made, but the new table still names the old page",
        ),
        Wrong(
            "    begun = list(table)\n"
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n",
            "    begun = table\n"
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n",
            "both answers have one list, and the new page is not filled",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "left = length % memory.shape[1]\n"
            "        memory[page, left - 1] = memory[begun[-1], left - 1]",
            "only the last token is copied; the new page should have all that stand "
            "on the old one",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "left = length % memory.shape[1]\n"
            "        memory[page, : left - 1] = memory[begun[-1], : left - 1]",
            "the last token is not copied: the end of a slice is not in it",
        ),
        Wrong(
            "        begun[-1] = page",
            "        begun[-1] = table[-1] = page",
            "both tables get the new page; the first should keep its own",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "memory[page] = memory[table[length // memory.shape[1] - 1]]",
            "the page before the last is copied, as if the division counted the last "
            "page, too",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]\n        begun[-1] = page",
            "memory[page] = memory[begun[-1]]\n"
            "        free.append(begun[-1])\n"
            "        begun[-1] = page",
            "the old page is given back to the free ones, and the first answer still "
            "has it",
        ),
        Wrong(
            "memory[page] = memory[begun[-1]]",
            "memory[page] = memory[begun[-1]]\n        memory[begun[-1]] = 0.0",
            "the old page is emptied after the copy; the first answer still reads it",
        ),
        Wrong(
            "page = free.pop()",
            "page = min(free)\n        free.remove(page)",
            "the free page with the smallest number is taken; it should be the one "
            "that pop gives",
        ),
        Wrong(
            "page = free.pop()",
            "page = max(table) + 1",
            "the page behind the largest of the table is taken, which may be "
            "somebody's; it should be one of the free ones",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "length % memory.shape[1] > 1",
            "a last page with one token on it is shared, though it is not full",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "length % memory.shape[1] >= memory.shape[1] / 2",
            "a last page that is less than half full is shared; any that is not full "
            "should be copied",
        ),
        Wrong(
            "    return begun\n",
            "    return begun, memory\n",
            "something is given besides the table; the table alone is asked for",
        ),
        Wrong(
            "    return begun\n",
            "    return tuple(begun)\n",
            "a tuple is given, to which no page can be added; it should be a list",
        ),
        Wrong(
            "    return begun\n",
            "    return begun[-1:]\n",
            "only the last page is given; it should be the whole table",
        ),
        Wrong(
            "    return begun\n",
            "    return begun[-1]\n",
            "the number of a page is given; it should be the whole table",
        ),
        Wrong(
            "    return begun\n",
            "    pass\n",
            "nothing is given back: the function ends without a return",
        ),
        Wrong(
            "    if length % memory.shape[1] != 0:\n"
            "        page = free.pop()\n"
            "        memory[page] = memory[begun[-1]]\n"
            "        begun[-1] = page\n",
            "    full = length // memory.shape[1]\n"
            "    page = free.pop()\n"
            "    memory[page] = memory[table[full - 1]]\n"
            "    begun = [*table[:full], page]\n",
            "a page is put behind the full ones in any case, and filled with the last "
            "full one",
        ),
        Wrong(
            "length % memory.shape[1] != 0",
            "length < memory.shape[1]",
            "a page is copied only where the whole text has room on one; it is the "
            "last page that counts",
        ),
        Wrong(
            "        memory[page] = memory[begun[-1]]\n        begun[-1] = page",
            "        begun[-1] = page\n        memory[page] = memory[begun[-1]]",
            "the table is changed before the copy, so that the new page is copied to "
            "itself",
            same_as="the new page is not filled: what stood on the last page is "
            "missing",
        ),
    ],
    minutes=12,
)
