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
            "each head is given half of the values; both should get them whole",
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
            "the first head is left with the usual scale; it should be 3",
        ),
        Wrong(
            "attention(size, size, value, scale=3.0)",
            "attention(size, size, value)",
            "the second head is left with the usual scale; it should be 3",
        ),
        Wrong(
            "colour, size = x[:, :1], x[:, 1:]",
            "colour, size = 3**0.5 * x[:, :1], 3**0.5 * x[:, 1:]",
            "scores are multiplied by 3 twice: once in queries and keys, and once "
            "by scale",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(3 * colour, 3 * colour, value, scale=1.0)\n"
            "    second = attention(3 * size, 3 * size, value, scale=1.0)",
            "queries and keys are both multiplied by three, so that scores are "
            "nine times as large",
            same_as="scores are multiplied by 3 twice: once in queries and keys, "
            "and once by scale",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value)\n"
            "    second = attention(size, size, value)",
            "both heads are left with the usual scale; it should be 3",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=1 / 3)\n"
            "    second = attention(size, size, value, scale=1 / 3)",
            "scores are divided by 3; they should be multiplied by it",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=3 / 2**0.5)\n"
            "    second = attention(size, size, value, scale=3 / 2**0.5)",
            "scores are divided by the root of the width of x besides",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=3**-0.5)\n"
            "    second = attention(size, size, value, scale=3**-0.5)",
            "scores are divided by the root of 3; they should be multiplied by 3",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = torch.softmax(3 * colour @ colour.T, dim=0) @ value\n"
            "    second = torch.softmax(3 * size @ size.T, dim=0) @ value",
            "the softmax runs over the queries",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = 3 * colour @ colour.T @ value\n"
            "    second = 3 * size @ size.T @ value",
            "there is no softmax",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=3.0, causal=True)\n"
            "    second = attention(size, size, value, scale=3.0, causal=True)",
            "the future is hidden, as in a text; things have no order",
        ),
        Wrong(
            "colour, size = x[:, :1], x[:, 1:]",
            "colour, size = x[:, 0], x[:, 1]",
            "a column is taken without its axis: x[:, 0] has one axis, and x[:, "
            ":1] keeps both",
        ),
        Wrong(
            "colour, size = x[:, :1], x[:, 1:]",
            "colour, size = x[:1], x[1:]",
            "rows are taken for columns: x[:1] is the first thing, and x[:, :1] "
            "are all colours",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "first",
            "only the first head's answer is given",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "second",
            "only the second head's answer is given",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "(first + second) / 2",
            "the mean of the two answers is taken, and they cannot be told apart again",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "first, second",
            "the two answers are given as a pair, and not joined",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.stack([first, second], dim=1)",
            "the heads become the middle axis, and are not joined",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, size, value, scale=3.0)\n"
            "    second = attention(size, colour, value, scale=3.0)",
            "each head compares the colour of one thing with the size of another",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.stack([first, second]).reshape(len(x), -1)",
            "the heads stand in front when the answers are reshaped, so that those of "
            "different things are mixed",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.stack([first, second]).flatten(1)",
            "the heads stay in front, and things are joined with their values",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, colour * value, scale=3.0)\n"
            "    second = attention(size, size, size * value, scale=3.0)",
            "the values are multiplied by colour and size; they should be taken as "
            "they are",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, x, scale=3.0)\n"
            "    second = attention(size, size, x, scale=3.0)",
            "x is mixed; it should be the values",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, colour, scale=3.0)\n"
            "    second = attention(size, size, size, scale=3.0)",
            "colours and sizes are mixed; it should be the values",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "weights = torch.softmax(3 * x.T[:, :, None] * x.T[:, None], dim=0)\n"
            "    first, second = weights @ value",
            "the softmax runs over the heads",
        ),
        Wrong(
            "torch.cat([first, second], dim=-1)",
            "torch.softmax(3 * x.T[:, :, None] * x.T[:, None], -1).transpose(0, "
            "1).flatten(1)",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = torch.softmax(-3 * (colour - colour.T).abs(), dim=-1) @ value\n"
            "    second = torch.softmax(-3 * (size - size.T).abs(), dim=-1) @ value",
            "distances are taken for scores; scores are products",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=1.5)\n"
            "    second = attention(size, size, value, scale=1.5)",
            "the scale is 3 divided by the width of x; it should be 3",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, first, scale=3.0)",
            "the second head mixes the answers of the first; it should mix the values",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour[:1], colour, value, scale=3.0)\n"
            "    second = attention(size[:1], size, value, scale=3.0)",
            "only the first thing asks; all should",
        ),
        Wrong(
            "colour, size = x[:, :1], x[:, 1:]",
            "colour, size = x.chunk(2)",
            "things are halved by chunk(2), which cuts rows; columns are axis 1",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, value, value, scale=3.0)\n"
            "    second = attention(size, value, value, scale=3.0)",
            "the values are handed on as keys; the keys should be colours and sizes",
        ),
        Wrong(
            "first = attention(colour, colour, value, scale=3.0)\n"
            "    second = attention(size, size, value, scale=3.0)",
            "first = attention(colour, colour, value, 3.0)\n"
            "    second = attention(size, size, value, 3.0)",
            "the scale is handed on by its place; attention takes it by its name",
        ),
        Wrong(
            "attention(colour, colour, value, scale=3.0)",
            "attention(x, x, value, scale=3.0)",
            "the first head sees colour and size; it should see the colour alone",
        ),
        Wrong(
            "attention(size, size, value, scale=3.0)",
            "attention(x, x, value, scale=3.0)",
            "the second head sees colour and size; it should see the size alone",
        ),
        Wrong(
            "attention(colour, colour, value, scale=3.0)",
            "attention(colour, size, value, scale=3.0)",
            "the first head's queries are colours and its keys are sizes",
        ),
        Wrong(
            "attention(colour, colour, value, scale=3.0)",
            "attention(size, size, value, scale=3.0)",
            "both heads ask for the size",
        ),
    ],
    survivors={"-1 -> 1": "the answers have two axes, so that the last is axis 1"},
    stars=1,
    minutes=8,
)
