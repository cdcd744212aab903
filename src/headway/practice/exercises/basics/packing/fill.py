"""Fill the rows

Which texts belong in one row? Write `fill(lengths, length)`: a list of rows, each a
list of lengths whose sum is at most `length`.

Begin with the longest text, and put each into the first row that has room; if none has,
begin a new row.
"""

from headway.practice import Exercise


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
    stars=3,
    minutes=15,
)
