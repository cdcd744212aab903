"""A word in pieces

Write `cut_word(word, pieces)`: cut a word into known pieces, so that no word is
unknown.

Take the longest known piece that the word begins with, and go on with the rest. A
letter that begins no known piece becomes a piece of its own. Give a list of pieces.
"""

from headway.practice import Exercise, Wrong


# --- your file ---
def cut_word(word: str, pieces: list[str]) -> list[str]:
    """Cut a word into the longest known pieces, from left to right."""
    # --- write ---
    found = []
    while word:
        known = [piece for piece in pieces if word.startswith(piece)]
        piece = max(known, key=len, default=word[0])
        found.append(piece)
        word = word[len(piece) :]
    return found
    # --- written ---


if __name__ == "__main__":
    known = ["quick", "dog", "est", "like"]
    print(cut_word("quickest", known), cut_word("zoo", known))
    # ['quick', 'est'] ['z', 'o', 'o']
# --- end of your file ---


CASES = [
    ("quickest", ["quick", "est", "q"]),
    ("doglike", ["do", "dog", "like"]),
    ("zoo", ["quick", "est"]),
    ("aaab", ["aa", "a"]),
    ("", ["a"]),
    ("abcabc", ["bc", "ab", "abc", "c"]),
    ("undoing", ["do", "un", "undo", "ing", "in", "g"]),
    ("xabx", ["ab"]),
    ("zoodog", ["dog", "est"]),
    ("doglikedog", ["dog", "like"]),
]

EXERCISE = Exercise(
    answer="cut_word",
    read=("basics/embedding/#a-word-without-a-row", "A word without a row"),
    hints=(
        "Which of the known pieces may come first, and which of these is taken?",
        "A loop that ends when nothing is left of the word; str.startswith tells "
        "which pieces fit at its beginning. Where none fits, a letter must be cut off "
        "all the same, or the loop never ends.",
        "max(..., key=len, default=...) takes the longest of a list, and something "
        "else if the list is empty. Cut the piece off before you go on.",
    ),
    draw=lambda d: CASES[d.case],
    trials=[{"case": n} for n in range(len(CASES))],
    law="The pieces, put together again, are the word. The tokenizer of BERT cuts by "
    "this rule, the longest known piece first, but its letters are not always known. "
    "That of GPT-2 starts from single bytes and joins neighbours by a list of merges "
    "that it learned from text.",
    right=[
        """
        if not word:
            return []
        for length in range(len(word), 0, -1):
            if word[:length] in pieces:
                break
        return [word[:length], *cut_word(word[length:], pieces)]
        """,
    ],
    wrong=[
        Wrong(
            "max(known, key=len, default=word[0])",
            "min(known, key=len, default=word[0])",
            "the shortest piece is taken, and not the longest",
        ),
        Wrong(
            "max(known, key=len, default=word[0])",
            "next(iter(known), word[0])",
            "the first piece of the list that fits is taken, however short",
        ),
        Wrong(
            "default=word[0]",
            "default=word",
            "the rest of a word with an unknown letter becomes one piece",
        ),
        Wrong(
            "word.startswith(piece)",
            "piece in word",
            "pieces from the middle of the word are taken for its beginning",
        ),
        Wrong(
            "        found.append(piece)\n",
            "        found += [piece] if known else []\n",
            "unknown letters are left out",
        ),
        Wrong(
            "    return found",
            "    return found[::-1]",
            "the pieces stand in reverse order",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n"
            "    found += word\n",
            "each piece is tried once, in one pass, and the rest is cut into letters",
            hint="After a piece is cut off, may a longer one fit that did not fit "
            "before? Then all must be tried again.",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n",
            "each piece is tried once, in one pass, and the rest is lost",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n"
            "    found += [word] if word else []\n",
            "each piece is tried once, in one pass, and the rest becomes one piece",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    while word:\n"
            "        known = [piece for piece in pieces if word.endswith(piece)]\n"
            "        piece = max(known, key=len, default=word[-1])\n"
            "        found.insert(0, piece)\n"
            "        word = word[: len(word) - len(piece)]\n",
            "the word is cut from its end",
        ),
        Wrong(
            "default=word[0]",
            "default=word[: min((n for n in range(1, len(word)) if "
            "word[n:].startswith(tuple(pieces))), default=len(word))]",
            "unknown letters that stand side by side become one piece",
        ),
        Wrong(
            "return found",
            "return found if all(piece in pieces for piece in found) else "
            "[''.join(found)]",
            "a word with an unknown letter is not cut at all",
        ),
        Wrong(
            "word.startswith(piece)",
            "word[:-1].startswith(piece)",
            "a piece that reaches the end of the word is never tried",
            hint="range(n - 1, 0, -1) begins at n - 1, so that word[:n] is left out. "
            "May the last piece reach the end?",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        if piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '')\n"
            "    found += word\n",
            "pieces are looked for anywhere, so that they stand in the order of their "
            "lengths, and a piece that comes twice stands once",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '', 1)\n"
            "    found += word\n",
            "pieces are looked for anywhere, so that they stand in the order of their "
            "lengths, and not of the word",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
        Wrong(
            "    while word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        piece = max(known, key=len, default=word[0])\n"
            "        found.append(piece)\n"
            "        word = word[len(piece) :]\n",
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        if piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '')\n",
            "pieces are looked for anywhere, in the order of their lengths, and the "
            "letters that are left are lost",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
    ],
)
