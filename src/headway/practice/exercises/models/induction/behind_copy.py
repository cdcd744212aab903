"""What followed last time

An induction head finds an earlier copy of the present token, and looks at what followed
it. Write `behind_copy(ids)`: where such a head must look.

`ids` (B, T) are the tokens of texts. The mask has shape (B, T, T), boolean: True for
the query t and the key s if the token *before* s is the same as the token at t, and s
is not in the future. (A token may be its own follower: in a double letter it is.)
"""

from headway.practice import Exercise

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
    stars=2,
    minutes=8,
)
