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
        # for and else: no list of all rows that fit is made, and the first one ends it.
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
        """
        # The room that is left is kept beside each row: quicker for many texts.
        rows, room = [], []
        for text in sorted(lengths, reverse=True):
            at = next((n for n, left in enumerate(room) if left >= text), len(rows))
            if at == len(rows):
                rows.append([])
                room.append(length)
            rows[at].append(text)
            room[at] -= text
        return rows
        """,
        """
        # Row by row: each takes all that still fit, with the same result.
        left, rows = sorted(lengths, reverse=True), []
        while left:
            row, rest = [], []
            for text in left:
                (row if sum(row) + text <= length else rest).append(text)
            rows.append(row)
            left = rest
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
        Wrong(
            "sum(row) + text <= length",
            "sum(row) + text <= length + 1",
            "a row may be one longer than the length",
        ),
        Wrong(
            "sum(row) + text <= length",
            "row[-1] + text <= length",
            "only the last text of a row is counted, and not all of them",
        ),
        Wrong(
            "sum(row) + text <= length",
            "row[0] + text <= length",
            "only the first text of a row is counted, and not all of them",
            same_as="only the last text of a row is counted, and not all of them",
        ),
        Wrong(
            "sum(row) + text <= length",
            "sum(row) + text >= length",
            "the comparison is turned around: a text goes where there is no room",
        ),
        Wrong(
            "        fitting = [row for row in rows if sum(row) + text <= length]\n"
            "        if fitting:\n"
            "            fitting[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])\n",
            "        if rows and sum(rows[0]) + text <= length:\n"
            "            rows[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])\n",
            "only the first row is looked at, as when the else belongs to the if "
            "and not to the for",
        ),
        Wrong(
            "rows.append([text])",
            "rows.append([])",
            "a new row is begun, and the text is not put into it",
        ),
        Wrong(
            "rows.append([text])",
            "rows.insert(0, [text])",
            "a new row is put before the others",
        ),
        Wrong(
            "    return rows",
            "        return rows",
            "return stands in the loop, which ends after the first text",
        ),
        Wrong(
            "    return rows",
            "    return [sum(row) for row in rows]",
            "the sums of the rows are given; it should be the rows",
        ),
        Wrong(
            "    return rows",
            "    return sorted(rows)",
            "the rows are sorted at the end; they should stay in the order in "
            "which they were begun",
        ),
        Wrong(
            "    return rows",
            "    return rows[::-1]",
            "the last row comes first",
            same_as="the rows are sorted at the end; they should stay in the "
            "order in which they were begun",
        ),
        Wrong(
            "    return rows",
            "    left, rows = sorted(lengths), []\n"
            "    while left:\n"
            "        rows.append([left.pop()])\n"
            "        while left and sum(rows[-1]) + left[0] <= length:\n"
            "            rows[-1].append(left.pop(0))\n"
            "    return rows",
            "a row takes the longest text and then the shortest ones",
        ),
        Wrong(
            "    return rows",
            "    return [row + [0] * (length - sum(row)) for row in rows]",
            "rows are filled up with zeros",
        ),
        Wrong(
            "    return rows",
            "    return [row for row in rows if sum(row) == length]",
            "only full rows are given",
        ),
        Wrong(
            "            fitting[0].append(text)",
            "            fitting[0] = [*fitting[0], text]",
            "a new list is made of the row, and the row itself stays as it was",
        ),
        Wrong(
            "            fitting[0].append(text)",
            "            fitting[0].insert(0, text)",
            "a text is put at the front of its row",
            same_as="a row begins with its shortest text, and not with the "
            "longest, which came first",
        ),
        Wrong(
            "[row for row in rows if sum(row) + text <= length]",
            "[row for row in rows[-1:] if sum(row) + text < length]",
            "only the last row is looked at, and a row that would be exactly full "
            "counts as too short",
        ),
        Wrong(
            "[row for row in rows if sum(row) + text <= length]",
            "[row for row in rows[:1] if sum(row) + text < length]",
            "only the first row is looked at, and a row that would be exactly full "
            "counts as too short",
        ),
        Wrong(
            "fitting[0]",
            "min(fitting, key=len)",
            "of the rows with room the one with the fewest texts is taken, and not "
            "the first",
        ),
        Wrong(
            "    return rows",
            "    return [[lengths.index(text) for text in row] for row in rows]",
            "the places of the texts are put into rows, and not their lengths",
        ),
        Wrong(
            "sorted(lengths, reverse=True)",
            "sorted(lengths, key=str, reverse=True)",
            "lengths are sorted as texts, where 9 comes after 24",
        ),
        Wrong(
            "    return rows",
            "    return sum(rows, [])",
            "rows are joined to one list",
        ),
        Wrong(
            "    for text in sorted(lengths, reverse=True):\n"
            "        fitting = [row for row in rows if sum(row) + text <= length]\n"
            "        if fitting:\n"
            "            fitting[0].append(text)\n"
            "        else:\n"
            "            rows.append([text])",
            "    room = []\n"
            "    for text in sorted(lengths, reverse=True):\n"
            "        fitting = [n for n, left in enumerate(room) if left >= text]\n"
            "        if fitting:\n"
            "            rows[fitting[0]].append(text)\n"
            "            room[fitting[0]] -= text\n"
            "        else:\n"
            "            rows.append([text])\n"
            "            room.append(length)",
            "the room of a new row is its whole length: the text that begins it is "
            "not counted",
        ),
        Wrong(
            "            rows.append([text])",
            "            rows.append([text, text])",
            "a text that begins a row is put in twice",
        ),
        Wrong(
            "fitting[0].append(text)",
            "fitting[0].append([text])",
            "the text is appended as a list of its own, which sum cannot add",
        ),
        Wrong(
            "    return rows",
            "    rows",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return rows",
            "    rows = []\n"
            "    for text in sorted(lengths):\n"
            "        fitting = [row for row in rows if sum(row) + text < length]\n"
            "        fitting[0].append(text) if fitting else rows.append([text])\n"
            "    return rows",
            "the shortest text comes first, and a row that would be exactly full "
            "counts as too short",
        ),
    ],
    stars=3,
    minutes=15,
)
