"""Two heads for a colour and a size

Four things have a colour and a size, each plus or minus one. One softmax gives one row
of weights, and a mixture cannot say which weight answered which question. Write
`two_questions(x, value)`.

`x` has shape (S, 2): for each thing its colour, then its size; `value` has shape
(S, V). The first head asks who has my colour: its queries and keys are the colours
alone. The second asks who has my size. Both take the values as they are, and `scale=3`.
The result has shape (S, 2 V): for each thing the first head's answer, then the
second's.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor

from headway import attention


def two_questions(x: Tensor, value: Tensor) -> Tensor:
    """Give (S, 2 V): what each thing (S, 2) collects by colour, and by size."""
    # --- write ---
    colour, size = x[:, :1], x[:, 1:]
    first = attention(colour, colour, value, scale=3.0)
    second = attention(size, size, value, scale=3.0)
    return torch.cat([first, second], dim=-1)
    # --- written ---


if __name__ == "__main__":
    things = torch.tensor([[1.0, -1], [1, 1], [-1, -1], [-1, 1]])
    answers = two_questions(things, torch.eye(4))
    print(" ".join(f"{share:.2f}" for share in answers[1]))  # red large
    # 0.50 0.50 0.00 0.00 0.00 0.50 0.00 0.50
# --- end of your file ---


EXERCISE = Exercise(
    answer="two_questions",
    read=(
        "basics/multi_head_attention/#two-questions-by-hand",
        "Two questions, by hand",
    ),
    hints=(
        "Which number of a thing may the first head see, if size must not count?",
        "Each head is one call of attention, with a column of x as queries and as "
        "keys; torch.cat puts two answers side by side.",
        "x[:, :1] is the column of colours, and keeps its axis. Call attention with it "
        "twice and with the values, and join along the last axis.",
    ),
    draw=lambda d: (d.normal(d.S, 2), d.normal(d.S, d.V)),
    law="Two questions need two softmaxes: a row of weights sums to one only once.",
    right=[
        """
        # A projection for each question: as in a module, where numbers are learned.
        heads = []
        for W in (torch.tensor([[1.0], [0]]), torch.tensor([[0.0], [1]])):
            asked = x @ W.to(x.dtype)
            heads.append(attention(asked, asked, value, scale=3.0))
        return torch.cat(heads, dim=-1)
        """,
        """
        # Heads as an axis in front: one call for all, however many there are.
        asked = x.T[:, :, None]
        answers = attention(asked, asked, value, scale=3.0)
        return torch.hstack([*answers])
        """,
        """
        # By broadcasting: a score is a product of two numbers, which can be seen here.
        weights = torch.softmax(3 * x.T[:, :, None] * x.T[:, None], dim=-1)
        return (weights @ value).transpose(0, 1).flatten(1)
        """,
    ],
    survivors={"-1 -> 1": "the answers have two axes, so that the last is axis 1"},
    stars=1,
    minutes=8,
)
