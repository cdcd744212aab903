"""A block, without its norms

Write `block(x, attend, feed_forward)`: one block of a model, in its plainest form.

Two parts work in turn on tokens x of shape (B, T, E): `attend` lets the tokens look at
each other, then `feed_forward` works on each token alone. What each part gives is not
the new x: it is added to what the part was given. Leave the x of the caller as it is.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def block(
    x: Tensor,
    attend: Callable[[Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
) -> Tensor:
    """Give (B, T, E) for tokens (B, T, E); both parts give (B, T, E) too."""
    # --- write ---
    x = x + attend(x)
    return x + feed_forward(x)
    # --- written ---


if __name__ == "__main__":
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    nothing = torch.zeros_like
    print(torch.equal(block(x, nothing, nothing), x))
    print(block(x, lambda x: x.cumsum(dim=1), nothing))
    # True
    # tensor([[[ 2.,  4.],
    #          [ 7., 10.]]])
# --- end of your file ---


def run(block, x, mix, W):  # type: ignore[no-untyped-def]
    return block(x, lambda x: (mix @ x).tanh(), lambda x: (x @ W).tanh())


EXERCISE = Exercise(
    answer="block",
    read=(
        "models/transformer_block/#a-block-attention-and-then-each-token-alone",
        "A block: attention, and then each token alone",
    ),
    hints=(
        "How does a token keep its own vector, if attention says what it found in "
        "others?",
        "Each part is called once, and its result is added to what it was given. The "
        "second part is given what the first addition gave.",
        "Two lines: the first makes a new x out of x and what attend says of it; the "
        "second does the same with feed_forward, and returns.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.E), d.normal(d.T, d.T), d.normal(d.E, d.E)),
    ask=run,
    trials=(DIFFERENT, EQUAL, LOUD, {"B": 1, "T": 1}),
    law="A block whose parts give zero hands on what it got, exactly: a deep stack can "
    "begin close to doing nothing.",
    right=[
        """
        # A loop: both parts are treated alike, however many there are.
        for part in (attend, feed_forward):
            x = part(x) + x
        return x
        """,
        """
        # As one sum of three terms: what each part added to the stream.
        found = attend(x)
        return torch.stack([x, found, feed_forward(x + found)]).sum(dim=0)
        """,
    ],
    wrong=[
        Wrong(
            "x = x + attend(x)",
            "x = attend(x)",
            "what attention gives takes the place of x: the first residual is missing",
            hint="What is left of a word, if attention gives only what it found in "
            "the others?",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return feed_forward(x)",
            "the second residual is missing",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + attend(x) + feed_forward(x)",
            "both parts read the same x, and work side by side, not in turn",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + feed_forward(x + attend(x))",
            "the second result is added to the first x, so that what attention found "
            "is not handed on",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + feed_forward(attend(x))",
            "there is one addition around both parts, and not one around each",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    x = x + feed_forward(x)\n    return x + attend(x)",
            "each token is worked on alone first, and looks at the others after that",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = attend(x)\n    return found + feed_forward(found)",
            "the second residual is there, and the first x is lost",
            same_as="what attention gives takes the place of x: the first residual is "
            "missing",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = x + attend(x)\n    return x + found + feed_forward(found)",
            "the first x is added a second time",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = attend(x)\n    return x + found + feed_forward(found)",
            "feed_forward is given what attention found, and not the sum",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + attend(x)",
            "feed_forward never works",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + feed_forward(x)",
            "attend never works",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x, x + feed_forward(x)",
            "two results are given; one is asked for",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return feed_forward(attend(x))",
            "both residuals are missing: each part's result takes the place of x",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return attend(x) + feed_forward(x)",
            "both parts read the same x, and x itself is lost",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + attend(x) + feed_forward(attend(x)) + feed_forward(x)",
            "feed_forward is asked twice, for x and for what attention found; "
            "it should be asked once, for the sum",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = (x + attend(x)) / 2",
            "the mean of x and what attention found is taken; it should be the sum",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    x = (x + attend(x)) / 2\n    return (x + feed_forward(x)) / 2",
            "means are taken in place of sums",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = x * attend(x)",
            "what attention found is multiplied with x; it should be added",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = x - attend(x)",
            "what attention found is taken off; it should be added",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x - feed_forward(x)",
            "what feed_forward gives is taken off; it should be added",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    normed = torch.nn.functional.layer_norm(x, x.shape[-1:])\n"
            "    x = x + attend(normed)\n"
            "    return x + feed_forward(torch.nn.functional.layer_norm(x, "
            "x.shape[-1:]))",
            "tokens are normalised before each part; this block has no norms",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    x = torch.nn.functional.layer_norm(x + attend(x), "
            "x.shape[-1:])\n"
            "    return torch.nn.functional.layer_norm(x + feed_forward(x), "
            "x.shape[-1:])",
            "the sums are normalised; this block has no norms",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x + attend(x)",
            "attend works twice, and feed_forward never",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x + feed_forward(x) + attend(x)",
            "attend works twice",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = x + feed_forward(x)",
            "feed_forward works twice, and attend never",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x",
            "only the first half works: feed_forward is left out",
            same_as="feed_forward never works",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x + x + feed_forward(x)",
            "the sum of the first half is added twice",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "x + feed_forward(x)",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return attend(x + feed_forward(x))",
            "feed_forward works first, and what attend gives takes the place of the "
            "sum",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + attend(x + feed_forward(x))",
            "feed_forward works first, and its result is not handed on",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + attend(feed_forward(x))",
            "the order of the parts is exchanged, with one addition around both",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return attend(feed_forward(x))",
            "the order of the parts is exchanged, and both residuals are missing",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = attend(x)\n    return found + feed_forward(x + found)",
            "x itself is not handed on: what attention found is added to the second "
            "result alone",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return (x + feed_forward(x)) / 2",
            "the mean of the second sum's two parts is taken; it should be the sum",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return torch.maximum(x, feed_forward(x))",
            "the larger of the two is taken; they should be added",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x * feed_forward(x)",
            "what feed_forward gives is multiplied; it should be added",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "x = x + feed_forward(x)\n"
            "    return torch.nn.functional.layer_norm(x, x.shape[-1:])",
            "the result is normalised; this block has no norms",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = x + attend(torch.nn.functional.layer_norm(x, x.shape[-1:]))",
            "tokens are normalised before attend; this block has no norms",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return x + feed_forward(torch.nn.functional.layer_norm(x, x.shape[-1:]))",
            "tokens are normalised before feed_forward; this block has no norms",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    x = (x + attend(x)) * 0.5**0.5\n"
            "    return (x + feed_forward(x)) * 0.5**0.5",
            "each sum is divided by the root of two; it should stay as it is",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return torch.cat([x, feed_forward(x)], dim=-1)",
            "x and the second result are put side by side; they should be added",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return 2 * x + attend(x) + feed_forward(x)",
            "both parts read the same x, which is added twice",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = (x + attend(x)).relu()",
            "a ReLU follows the first sum; it should stay as it is",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "x = x + feed_forward(x)\n    return x + feed_forward(x)",
            "feed_forward works twice",
        ),
        Wrong(
            "return x + feed_forward(x)",
            "return feed_forward(x) - x",
            "x is taken off the second result; it should be added",
        ),
        Wrong(
            "x = x + attend(x)",
            "x = x[0] + attend(x)[0]",
            "only the first text goes on; all should",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    return x + x + feed_forward(x + attend(x))",
            "what attention found is not handed on, and the first x is added twice",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = attend(x)\n    return found + found + feed_forward(x + found)",
            "what attention found is added twice, and x itself is not handed on",
        ),
        Wrong(
            "    x = x + attend(x)\n    return x + feed_forward(x)",
            "    found = attend(x)\n    return x - found + feed_forward(x + found)",
            "what attention found is taken off at the end; it should be added",
        ),
    ],
    stars=1,
    minutes=4,
)
