"""What followed last time

An induction head finds an earlier copy of the present token, and looks at what followed
it. Write `behind_copy(ids)`: where such a head must look.

`ids` (B, T) are the tokens of texts. The mask has shape (B, T, T), boolean: True for
the query t and the key s if the token *before* s is the same as the token at t, and s
is not in the future. (A token may be its own follower: in a double letter it is.)
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def behind_copy(ids: Tensor) -> Tensor:
    """Give a mask (B, T, T), True right behind an earlier copy, for tokens (B, T)."""
    # --- write ---
    same = ids[:, :, None] == ids[:, None, :]
    behind = torch.zeros_like(same)
    behind[:, :, 1:] = same[:, :, :-1]
    return behind.tril()
    # --- written ---


if __name__ == "__main__":
    # The second "p" looks at the first "l", and the second "l" at the first "a".
    ids = torch.tensor([[ord(letter) - ord("a") for letter in "planetpl"]])
    print(behind_copy(ids).nonzero())
    # tensor([[0, 6, 1],
    #         [0, 7, 2]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="behind_copy",
    read=("models/induction/#the-rule-in-loops", "The rule, in loops"),
    hints=(
        "Which table says where the copies are, and by how much must it be moved?",
        "Compare every token with every other, by two axes that broadcast. Move the "
        "table by one key, and hide the future.",
        "Column s of the result is column s - 1 of the comparison, and column zero "
        "has nothing before it; tril hides what is to come.",
    ),
    draw=lambda d: (d.integers(4, d.B, d.S),),
    trials=({}, {"B": 4, "S": 4}, {"S": 12}, {"B": 1, "S": 1}),
    law="What is looked for stands at s, but what makes it the right one is the token "
    "before it; so a head in an earlier layer must have written that into s.",
    right=[
        """
        # Loops over all pairs: the definition, word by word.
        table = []
        for text in ids.tolist():
            T = range(len(text))
            is_behind = [[text[s - 1] == text[t] and 0 < s <= t for s in T] for t in T]
            table.append(is_behind)
        return torch.tensor(table)
        """,
        """
        # The tokens are moved, not the table: -1 stands before the first one.
        before = nn.functional.pad(ids[:, :-1], (1, 0), value=-1)
        return (ids.unsqueeze(-1) == before.unsqueeze(-2)).tril()
        """.replace("nn.functional", "torch.nn.functional"),
    ],
    wrong=[
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.tril(-1)",
            "the copy itself is looked at, and not what followed it",
            exhibit="models/#the-copy-and-not-what-follows",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.tril()",
            "each token looks at its copies and at itself",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same[:, 1:, :-1].tril()",
            "the table is cut, and not moved, so that a row and a column are missing",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n",
            "    behind = same.roll(1, dims=-1)\n",
            "the table is turned round, so that the last token stands before the first",
        ),
        Wrong(
            "behind[:, :, 1:] = same[:, :, :-1]",
            "behind[:, :, :-1] = same[:, :, 1:]",
            "the token before the copy is looked at, and not the one behind it",
        ),
        Wrong(
            "behind[:, :, 1:] = same[:, :, :-1]",
            "behind[:, 1:] = same[:, :-1]",
            "the table is moved by one query, and not by one key",
        ),
        Wrong(
            "return behind.tril()",
            "return behind",
            "the future is not hidden, and each token sees its own answer",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril(1)",
            "the next token is seen, which is always behind a copy: the token itself",
            exhibit="triangles/#mask-shows-next",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril(-1)",
            "a token never looks at itself, and so double letters are missed",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.triu()",
            "the triangle of the mask is flipped",
            exhibit="triangles/#mask-flipped",
        ),
        Wrong(
            "return behind.tril()",
            "behind = behind.tril()\n    return behind & (behind.cumsum(dim=-1) == 1)",
            "only the first copy counts, and not all of them",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:1, :, None] == ids[:, None, :]",
            "the tokens of the first text are looked for in all texts",
        ),
        Wrong(
            "    return behind.tril()",
            "    behind = behind.tril()\n"
            "    return behind & (behind.flip(-1).cumsum(dim=-1).flip(-1) == 1)",
            "only the latest copy counts, and not all of them",
        ),
        Wrong(
            "    behind = torch.zeros_like(same)\n",
            "    behind = torch.ones_like(same)\n",
            "the first column is True, though nothing stands before the first token",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n",
            "    before = torch.nn.functional.pad(ids, (1, 0))[:, :-1]\n"
            "    behind = ids[:, :, None] == before[:, None, :]\n",
            "a token 0 is put before the first one, and is found as a copy of real "
            "ones",
        ),
        Wrong(
            "return behind.tril()",
            "return ~behind.tril()",
            "the mask is turned round: True where such a head does not look",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril().mT",
            "query and key are exchanged",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril().float()",
            "the mask is made of numbers, and not of True and False",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n",
            "    behind[:, 1:, 1:] = same[:, :-1, :-1]\n",
            "the table is moved along queries and keys; it should be moved "
            "along the keys alone",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril()[0]",
            "the mask of the first text alone is given",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril()[:1].expand_as(behind)",
            "the mask of the first text is given for all",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n",
            "    behind[:, :, 2:] = same[:, :, :-2]\n",
            "the table is moved by two keys; it should be moved by one",
        ),
        Wrong(
            "ids[:, :, None] == ids[:, None, :]",
            "ids[:, :, None] != ids[:, None, :]",
            "tokens that differ are taken for copies",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.triu(1)",
            "only the future is looked at",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril() | same.tril(-1)",
            "the copy is looked at as well as what followed it",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril().any(dim=1)",
            "the queries are joined: it is said of each key whether any query "
            "looks at it",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril().nonzero()",
            "places are listed; a table of True and False is asked for",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n",
            "    behind[:, :, 1:] = same[:, :, 1:]\n",
            "the table is cut and not moved, so that copies are looked at",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    same = same & (ids > 0)[:, :, None]\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "token 0 is taken for padding, and has no copies",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril(-2)",
            "a token sees neither itself nor the one before it",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    same = ids == ids.T\n",
            "texts are compared with texts: the two axes of the tokens are missing",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return (same.roll(1, dims=-1) & same).tril()",
            "a key must be a copy itself as well as stand behind one",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.tril(-1).roll(-1, dims=-1)",
            "the table is turned to the left, so that the token before the "
            "copy is looked at",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    same = (ids[:, :, None] - ids[:, None, :]).abs() == 1\n",
            "tokens whose numbers are neighbours are looked for; it should be "
            "the same token",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(t + 1):\n"
            "                found[b, t, s] = ids[b, s - 1] == ids[b, t]\n"
            "    return found",
            "a loop begins at key 0, before which index -1 means the last token",
            same_as="the table is turned round, so that the last token stands before "
            "the first",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(1, t):\n"
            "                found[b, t, s] = ids[b, s - 1] == ids[b, t]\n"
            "    return found",
            "a loop ends before the token itself, so that double letters are missed",
            same_as="a token never looks at itself, and so double letters are missed",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(t - 1):\n"
            "                found[b, t, s + 1] = ids[b, s] == ids[b, t]\n"
            "    return found",
            "copies are looked for up to two places before the token, so that double "
            "letters are missed",
            same_as="a token never looks at itself, and so double letters are missed",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(t + 1):\n"
            "                found[b, t, s] = ids[b, s] == ids[b, t]\n"
            "    return found",
            "the copy itself is marked, and the token, too",
            same_as="each token looks at its copies and at itself",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(1, T):\n"
            "                found[b, t, s] = ids[b, s - 1] == ids[b, t]\n"
            "    return found",
            "the loop over the keys goes on into the future",
            same_as="the future is not hidden, and each token sees its own answer",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n"
            "    behind = torch.zeros_like(same)\n"
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril()",
            "    B, T = ids.shape\n"
            "    found = torch.zeros(B, T, T, dtype=torch.bool)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            for s in range(1, t + 1):\n"
            "                found[b, s, t] = ids[b, s - 1] == ids[b, t]\n"
            "    return found",
            "query and key are exchanged when the table is written",
            same_as="query and key are exchanged",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.roll(1, dims=1).tril()",
            "the queries are moved round; the keys should be",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.roll(1, dims=0).tril()",
            "texts are compared with those of others: the axis of the texts is moved",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return torch.where(behind.tril(), 0.0, -torch.inf)",
            "a table to be added is given, with zeros and minus infinity; it should "
            "be of True and False",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril() & ~torch.eye(ids.shape[1], dtype=torch.bool)",
            "the diagonal is taken out, and so double letters are missed",
            same_as="a token never looks at itself, and so double letters are missed",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same.tril(-2)[:, :, :-1]\n    return behind",
            "the nearest token before is never taken for a copy, so that double "
            "letters are missed",
            same_as="a token never looks at itself, and so double letters are missed",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril().any(dim=0)",
            "the texts are joined: a place counts if it does in any text",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()[:, -1]",
            "only the row of the last query is given",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()[:, None]",
            "there is an axis too many, as for heads",
        ),
        Wrong(
            "    same = ids[:, :, None] == ids[:, None, :]\n",
            "    same = ids[:, None] == ids[None]\n",
            "texts are compared with texts, place by place; tokens should be compared "
            "within a text",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril().flatten(0, 1)",
            "texts and queries are one axis; each text should have a table of its own",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    return same.roll(-1, dims=-1).tril()",
            "the table is turned by one key to the left; it should be moved to the "
            "right",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    before = ids.roll(1)\n"
            "    return (ids[:, :, None] == before[:, None, :]).tril()",
            "roll without dims moves all texts as one row, so that a text begins with "
            "the last token of another",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    before = torch.nn.functional.pad(ids[:, :-1], (1, 0), value=-1)\n"
            "    return (before[:, :, None] == before[:, None, :]).tril()",
            "the token before the query is compared; it should be the query's own",
            same_as="the table is moved along queries and keys; it should be moved "
            "along the keys alone",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    behind[:, :, 1:] = same[:, :, :-1]\n"
            "    return behind.tril().int().argmax(dim=-1)",
            "one position for each query is given; the mask is asked for",
        ),
        Wrong(
            "    behind[:, :, 1:] = same[:, :, :-1]\n    return behind.tril()",
            "    before = torch.nn.functional.pad(ids[:, :-1], (1, 0), value=-1)\n"
            "    return (before[:, :, None] == before[:, None, :]).tril(-1)",
            "tokens before query and before key are compared, and the query itself is "
            "hidden",
        ),
        Wrong(
            "return behind.tril()",
            "return ~behind.tril(-1)",
            "the mask is turned round, and double letters are missed",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.tril(-1).mT",
            "query and key are exchanged, and double letters are missed",
        ),
        Wrong(
            "return behind.tril()",
            "return behind.mT",
            "query and key are exchanged, and the future is not hidden",
        ),
        Wrong(
            "return behind.tril()",
            "return ~behind",
            "the mask is turned round, and the future is not hidden",
        ),
    ],
    stars=2,
    minutes=8,
)
