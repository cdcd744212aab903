"""Fill the rows

Which texts belong in one row? Write `fill(lengths, length)`: a list of rows, each a
list of lengths whose sum is at most `length`.

Begin with the longest text, and put each into the first row that has room; if none has,
begin a new row.
"""

from headway.practice import Exercise, Wrong


# --- your file ---
def fill(lengths: list[int], length: int) -> list[list[int]]:
    """Put texts into rows of a length, the longest first, each where it first fits."""
    # --- write ---
    rows: list[list[int]] = []
    for text in sorted(lengths, reverse=True):
        fitting = [row for row in rows if sum(row) + text <= length]
        if fitting:
            fitting[0].append(text)
        else:
            rows.append([text])
    return rows
    # --- written ---


if __name__ == "__main__":
    rows = fill(list(range(1, 25)), 32)
    print(len(rows), rows[0], rows[-1])
    # 10 [24, 8] [5, 4, 2, 1]
# --- end of your file ---


CASES = [
    (list(range(1, 25)), 32),
    ([5, 5, 5], 10),
    ([3, 7, 4, 6], 10),
    ([1, 9, 2, 8, 8, 1, 1], 10),
    ([], 4),
    ([4, 3, 3, 2, 2, 2], 8),
    ([7], 7),
    ([7, 5, 4, 1], 10),
    ([6, 7, 2, 2, 1, 1], 10),
]

EXERCISE = Exercise(
    answer="fill",
    read=("basics/packing/#rows-of-one-length", "Rows of one length"),
    hints=(
        "Which row does a text go to, if several have room?",
        "Sort, longest first. For each text look at the rows in their order.",
        "A row has room if its sum and the text together are at most the length; equal "
        "is enough.",
    ),
    draw=lambda d: CASES[d.case],
    trials=[{"case": n} for n in range(len(CASES))],
    law="No row is longer than the length, and every text stands in exactly one. This "
    "is first fit decreasing, an old answer to the problem of packing bins.",
    right=[
        """
        rows = []
        for text in sorted(lengths, reverse=True):
            for row in rows:
                if sum(row) + text <= length:
                    row.append(text)
                    break
            else:
                rows.append([text])
        return rows
        """,
    ],
    wrong=[
        Wrong(", reverse=True", "", "the shortest text comes first"),
        Wrong(
            "sorted(lengths, reverse=True)", "lengths", "texts are taken as they come"
        ),
        Wrong(
            "<= length",
            "< length",
            "a row that would be exactly full counts as too short",
        ),
        Wrong(
            "fitting[0]",
            "fitting[-1]",
            "the last row with room is taken, and not the first",
        ),
        Wrong(
            "for row in rows if",
            "for row in rows[-1:] if",
            "only the last row is looked at",
        ),
        Wrong(
            "fitting[0]",
            "max(fitting, key=sum)",
            "the fullest row with room is taken, and not the first",
        ),
        Wrong(
            "if sum(row) + text <= length",
            "if sum(row) <= length",
            "the text itself is not counted, so that rows become too long",
        ),
        Wrong(
            "rows: list[list[int]] = []",
            "rows: list[list[int]] = [[]]",
            "there is an empty row at the start, which stays empty if there is no text",
        ),
        Wrong(
            "fitting[0]",
            "min(fitting, key=sum)",
            "the emptiest row with room is taken, and not the first",
        ),
        Wrong(
            "        fitting = [row for row in rows if sum(row) + text <= "
            "length]\n"
            "        if fitting:\n"
            "            fitting[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])\n",
            "        for row in rows:\n"
            "            if sum(row) + text <= length:\n"
            "                row.append(text)\n"
            "        if not any(text in row for row in rows):\n"
            "            rows.append([text])\n",
            "a text goes into every row with room: a break is missing after the first",
        ),
        Wrong(
            "        fitting = [row for row in rows if sum(row) + text <= "
            "length]\n"
            "        if fitting:\n"
            "            fitting[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])\n",
            "        for row in rows:\n"
            "            if sum(row) + text <= length:\n"
            "                row.append(text)\n"
            "        rows.append([text])\n",
            "a text goes into every row with room, and a new row is begun each "
            "time: a break is missing, and for ... else runs on",
        ),
        Wrong(
            "sorted(lengths, reverse=True)",
            "sorted(set(lengths), reverse=True)",
            "a set is made of the lengths, so that of equal texts one is left",
        ),
        Wrong(
            "sum(row) + text",
            "len(row) + text",
            "texts in a row are counted, and their lengths not summed",
        ),
        Wrong(
            "    return rows",
            "    return len(rows)",
            "the number of rows is given, and not the rows",
        ),
        Wrong(
            "        fitting = [row for row in rows if sum(row) + text <= "
            "length]\n"
            "        if fitting:\n"
            "            fitting[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])\n",
            "        rows.append([text])\n",
            "each text gets a row of its own",
        ),
        Wrong(
            "    return rows",
            "    return [sorted(row) for row in rows]",
            "a row begins with its shortest text, and not with the longest, which "
            "came first",
        ),
        Wrong(
            "    return rows",
            "    lengths = sorted(lengths, reverse=True)\n"
            "    rows = []\n"
            "    while lengths:\n"
            "        rows.append([])\n"
            "        for text in lengths:\n"
            "            if sum(rows[-1]) + text <= length:\n"
            "                rows[-1].append(text)\n"
            "                lengths.remove(text)\n"
            "    return rows",
            "texts are removed from the list that is being gone through, so that "
            "some are skipped",
            hint="Go through a copy, or put each text where it belongs without "
            "removing it.",
        ),
        Wrong(
            "sorted(lengths, reverse=True)",
            "lengths.sort(reverse=True)",
            "list.sort gives None: it sorts in place, and sorted gives a new list",
        ),
        Wrong(
            "    return rows",
            "    numbers = sorted(range(len(lengths)), key=lambda one: "
            "-lengths[one])\n"
            "    rows = []\n"
            "    for number in numbers:\n"
            "        room = [r for r in rows if sum(lengths[n] for n in r) + "
            "lengths[number] <= length]\n"
            "        room[0].append(number) if room else rows.append([number])\n"
            "    return rows",
            "the numbers of the texts are put into rows, and not their lengths",
        ),
    ],
    stars=3,
)
