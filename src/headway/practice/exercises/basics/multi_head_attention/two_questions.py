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

from headway.practice import Exercise, Wrong

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
        heads = []
        for W in (torch.tensor([[1.0], [0]]), torch.tensor([[0.0], [1]])):
            asked = x @ W.to(x.dtype)
            heads.append(attention(asked, asked, value, scale=3.0))
        return torch.cat(heads, dim=-1)
        """,
        """
        asked = x.T[:, :, None]
        answers = attention(asked, asked, value, scale=3.0)
        return torch.hstack([*answers])
        """,
        """
        weights = torch.softmax(3 * x.T[:, :, None] * x.T[:, None], dim=-1)
        return (weights @ value).transpose(0, 1).flatten(1)
        """,
    ],
    wrong=[
        Wrong(
            "    second = attention(size, size,",
            "    second = attention(colour, size,",
            "the second head's queries are colours and its keys are sizes",
        ),
        Wrong(
            "    first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "    half, other = value.tensor_split(2, dim=-1)\n"
            "    first = attention(colour, colour, half, scale=3.0)\n"
            "    second = attention(size, size, other, scale=3.0)",
            "each head is given half of the values, and both should get them whole",
        ),
        Wrong(
            "    second = attention(size, size,",
            "    second = attention(colour, colour,",
            "both heads ask for the colour",
        ),
        Wrong(
            "    colour, size = x[:, :1], x[:, 1:]",
            "    colour, size = x[:, 1:], x[:, :1]",
            "the first head asks for the size, and the second for the colour",
        ),
        Wrong(
            "    colour, size = x[:, :1], x[:, 1:]",
            "    colour, size = x, x",
            "each head sees colour and size, and asks both in one dot product",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "attention(x, x, value, scale=3.0)",
            "there is one head, which asks both questions in one dot product",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.cat([first, second], dim=0)",
            "the answers stand below each other, as if there were twice as many things",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "first + second",
            "the answers are added, and cannot be told apart again",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.stack([first, second])",
            "the heads are an axis of their own, and are not joined",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.stack([first, second], dim=-1).flatten(1)",
            "the two answers are shuffled into each other, one number in turn",
        ),
        Wrong(
            "attention(colour, colour, value, scale=3.0)",
            "attention(colour, colour, value)",
            "the first head is left with the usual scale, and not 3",
        ),
        Wrong(
            "attention(size, size, value, scale=3.0)",
            "attention(size, size, value)",
            "the second head is left with the usual scale, and not 3",
        ),
    ],
    survivors={"-1 -> 1": "the answers have two axes, so that the last is axis 1"},
    stars=1,
)
