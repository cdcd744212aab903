"""A word in pieces

Write `cut_word(word, pieces)`: cut a word into known pieces, so that no word is
unknown.

Take the longest known piece that the word begins with, and go on with the rest. A
letter that begins no known piece becomes a piece of its own. Give a list of pieces.
"""

from headway.practice import Exercise


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
    minutes=10,
)
