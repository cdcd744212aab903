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
    ("abcdef", ["abc", "def", "bcde"]),
    ("abcx", ["ab", "b", "c", "x"]),
    ("abcde", ["ab", "abc", "cde"]),  # not the fewest pieces
    ("c++like", ["like", "c++", "c"]),
    ("dogDo", ["Dog", "do", "D"]),
]

# The loop of the solution, in whose place many put another.
LOOP = """    while word:
        known = [piece for piece in pieces if word.startswith(piece)]
        piece = max(known, key=len, default=word[0])
        found.append(piece)
        word = word[len(piece) :]
"""

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
        # A recursion: the rest is a shorter word, which is cut by the same rule.
        if not word:
            return []
        for length in range(len(word), 0, -1):
            if word[:length] in pieces:
                break
        return [word[:length], *cut_word(word[length:], pieces)]
        """,
        """
        # Pieces sorted once, the longest first: the first that fits is the longest.
        found, place = [], 0
        longest_first = sorted(pieces, key=len, reverse=True)
        while place < len(word):
            fits = (p for p in longest_first if word.startswith(p, place))
            found.append(next(fits, word[place]))
            place += len(found[-1])
        return found
        """,
        """
        # A regular expression: the alternatives are tried in their order, a dot last.
        import re

        longest_first = sorted(map(re.escape, pieces), key=len, reverse=True)
        return re.findall("|".join([*longest_first, "."]), word)
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
            LOOP,
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
            LOOP,
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n",
            "each piece is tried once, in one pass, and the rest is lost",
        ),
        Wrong(
            LOOP,
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n"
            "    found += [word] if word else []\n",
            "each piece is tried once, in one pass, and the rest becomes one piece",
        ),
        Wrong(
            LOOP,
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
            LOOP,
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        if piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '')\n"
            "    found += word\n",
            "pieces are looked for anywhere in the word; they stand in the order of "
            "their "
            "lengths, and a piece that comes twice stands once",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
        Wrong(
            LOOP,
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        while piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '', 1)\n"
            "    found += word\n",
            "pieces are looked for anywhere in the word; they stand in the order of "
            "their "
            "lengths, and not in that of the word",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
        Wrong(
            LOOP,
            "    for piece in sorted(pieces, key=len, reverse=True):\n"
            "        if piece in word:\n"
            "            found.append(piece)\n"
            "            word = word.replace(piece, '')\n",
            "pieces are looked for anywhere, in the order of their lengths, and the "
            "letters that are left are lost",
            hint="Which piece does the word begin with? The order of the answer is "
            "that of the word.",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word[len(piece) :].lstrip(piece) if known else word[1:]",
            "a piece is taken off by lstrip, which takes off all letters "
            "that occur in it",
            hint="lstrip('dog') takes off any of the letters d, o and g, as "
            "often as they come. removeprefix takes off the piece.",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word.replace(piece, '')",
            "replace takes the piece out of the whole word, where its "
            "beginning alone is to be cut off",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word[1:]",
            "the word is cut by one letter, where it is to be cut by the "
            "length of the piece",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word[len(piece) + 1 :]",
            "one letter too many is cut off with each piece",
        ),
        Wrong(
            "while word:",
            "while len(word) > 1:",
            "the loop ends while one letter is left",
        ),
        Wrong(
            "        piece = max(known, key=len, default=word[0])\n",
            "        if not known:\n"
            "            break\n"
            "        piece = max(known, key=len)\n",
            "the loop ends at a letter that begins no piece, and all that "
            "comes after is lost",
        ),
        Wrong(
            "        piece = max(known, key=len, default=word[0])\n",
            "        if not known:\n"
            "            found.append(word)\n"
            "            break\n"
            "        piece = max(known, key=len)\n",
            "the loop ends at a letter that begins no piece",
            same_as="the rest of a word with an unknown letter becomes one piece",
        ),
        Wrong(
            "max(known, key=len, default=word[0])",
            "max(known, key=len)",
            "a letter that begins no known piece is not thought of, so "
            "that max gets an empty list",
        ),
        Wrong(
            "max(known, key=len, default=word[0])",
            "sorted(known, key=len)[-1]",
            "a letter that begins no known piece is not thought of, so "
            "that an empty list is indexed",
        ),
        Wrong(
            "        found.append(piece)\n",
            "        found += [piece] if piece not in found else []\n",
            "a piece that comes twice stands once",
        ),
        Wrong(
            "        found.append(piece)\n",
            "        found.append('##' + piece if found else piece)\n",
            "pieces after the first are marked by ##, as BERT writes them",
        ),
        Wrong(
            "        found.append(piece)\n",
            "        found.append(piece if known else '[UNK]')\n",
            "an unknown letter is replaced by a sign for what is unknown; "
            "it should become a piece of its own",
        ),
        Wrong(
            "        found.append(piece)\n",
            "        found.append(piece if known else '<unk>')\n",
            "an unknown letter is replaced by <unk>; it should become a "
            "piece of its own",
        ),
        Wrong(
            "return found",
            "return ' '.join(found)",
            "the pieces are joined to one text; they should be a list",
        ),
        Wrong(
            "return found",
            "return set(found)",
            "the pieces are a set, which has no order; they should be a list",
        ),
        Wrong(
            "        piece = max(known, key=len, default=word[0])\n",
            "        if not known:\n"
            "            found += word\n"
            "            break\n"
            "        piece = max(known, key=len)\n",
            "the rest of a word with an unknown letter is cut into letters",
        ),
        Wrong(
            "if word.startswith(piece)]",
            "if word.startswith(piece)]\n"
            "        known = [piece for piece in known if piece not in found]",
            "each piece is used once",
        ),
        Wrong(
            LOOP,
            "    if word:\n"
            "        known = [piece for piece in pieces if "
            "word.startswith(piece)]\n"
            "        found = [max(known, key=len, default=word[0])]\n"
            "        rest = word[len(found[0]) :]\n"
            "        found += [rest] if rest else []\n",
            "the word is cut once, and its rest stays in one piece",
        ),
        Wrong(
            LOOP,
            "    known = [piece for piece in pieces if piece in word]\n"
            "    piece = max(known, key=len, default='')\n"
            "    if not piece:\n"
            "        return list(word)\n"
            "    left, _, right = word.partition(piece)\n"
            "    found = [*cut_word(left, pieces), piece, *cut_word(right, "
            "pieces)]\n",
            "the longest piece anywhere in the word is taken first; it "
            "should be the longest at its beginning",
        ),
        Wrong(
            LOOP,
            "    for piece in pieces:\n"
            "        while word.startswith(piece):\n"
            "            found.append(piece)\n"
            "            word = word[len(piece) :]\n"
            "    found += word\n",
            "each piece is tried in the order of the list, in one pass, "
            "and the rest is cut into letters",
        ),
        Wrong(
            LOOP,
            "    while word:\n"
            "        for piece in sorted(pieces, key=len, reverse=True):\n"
            "            if word.startswith(piece):\n"
            "                found.append(piece)\n"
            "                word = word[len(piece) :]\n"
            "        if not word.startswith(tuple(pieces)):\n"
            "            found += word[:1]\n"
            "            word = word[1:]\n",
            "the loop over the pieces goes on after one has fitted, so "
            "that a shorter one is tried next; it should begin again with "
            "the longest",
            hint="break ends the loop over the pieces, and the outer loop begins anew.",
        ),
        Wrong(
            LOOP,
            "    cuts = {len(word): []}\n"
            "    for start in range(len(word) - 1, -1, -1):\n"
            "        fits = [p for p in [*pieces, word[start]] if "
            "word.startswith(p, start)]\n"
            "        ways = [[p, *cuts[start + len(p)]] for p in fits]\n"
            "        cuts[start] = min(ways, key=len)\n"
            "    found = cuts[0]\n",
            "the word is cut into as few pieces as possible; the longest should "
            "be taken at each place",
        ),
        Wrong(
            LOOP,
            "    import re\n"
            "\n"
            "    ways = [*sorted(pieces, key=len, reverse=True), '.']\n"
            "    found = re.findall('|'.join(ways), word)\n",
            "pieces are taken for regular expressions, in which + and . have a "
            "meaning of their own: re.escape takes it away",
        ),
        Wrong(
            LOOP,
            "    import re\n"
            "\n"
            "    found = re.findall('|'.join([*map(re.escape, pieces), '.']), word)\n",
            "a regular expression tries the pieces in the order of the list, and "
            "takes the first that fits",
            same_as="the first piece of the list that fits is taken, however short",
        ),
        Wrong(
            "word.startswith(piece)",
            "word.lower().startswith(piece.lower())",
            "capital letters are taken for small ones",
        ),
        Wrong(
            "    found = []\n",
            "    found, word = [], word.lower()\n",
            "the word is turned into small letters",
        ),
        Wrong(
            LOOP,
            "    current = ''\n"
            "    for letter in word:\n"
            "        current += letter\n"
            "        if current in pieces:\n"
            "            found.append(current)\n"
            "            current = ''\n"
            "    found += current\n",
            "letters are joined until they are a known piece, so that the "
            "shortest is taken, and what is left is cut into letters",
        ),
        Wrong(
            LOOP,
            "    current = ''\n"
            "    for letter in word:\n"
            "        current += letter\n"
            "        if current in pieces:\n"
            "            found.append(current)\n"
            "            current = ''\n"
            "    found += [current] if current else []\n",
            "letters are joined until they are a known piece, so that the "
            "shortest is taken, and what is left becomes one piece",
        ),
        Wrong(
            LOOP,
            "    current = ''\n"
            "    for letter in word:\n"
            "        current += letter\n"
            "        if current in pieces:\n"
            "            found.append(current)\n"
            "            current = ''\n",
            "letters are joined until they are a known piece, so that the "
            "shortest is taken, and what is left is lost",
        ),
        Wrong(
            LOOP,
            "    current = ''\n"
            "    for letter in word:\n"
            "        if current and current + letter not in pieces:\n"
            "            found.append(current)\n"
            "            current = ''\n"
            "        current += letter\n"
            "    found += [current] if current else []\n",
            "a piece grows letter by letter, and only while what is joined so far "
            "is known itself",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word.lstrip(piece)",
            "lstrip is to take the piece off: it takes off all letters that occur "
            "in it, as often as they come",
        ),
        Wrong(
            "return found",
            "return [*found, '']",
            "an empty piece stands at the end",
        ),
        Wrong(
            "    return found",
            "    nested = []\n"
            "    for piece in reversed(found):\n"
            "        nested = [piece, nested]\n"
            "    return nested",
            "each list contains the list of the rest: [piece, *rest] joins them",
        ),
        Wrong(
            "    return found",
            "    return found[:1]",
            "only the first piece is given",
        ),
        Wrong(
            "word = word[len(piece) :]",
            "word = word.strip(piece)",
            "strip is to take the piece off: it takes off all letters that occur "
            "in it, at both ends",
        ),
        Wrong(
            "default=word[0]",
            "default=word[-1]",
            "the last letter is cut off where the first one is unknown",
        ),
    ],
    minutes=10,
)
