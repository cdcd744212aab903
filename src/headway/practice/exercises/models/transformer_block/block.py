"""A block, without its norms

Write `block(x, attend, feed_forward)`: one block of a model, in its plainest form.

Two parts work in turn on tokens x of shape (B, T, E): `attend` lets the tokens look at
each other, then `feed_forward` works on each token alone. What each part gives is not
the new x: it is added to what the part was given. Leave the x of the caller as it is.
"""

from headway.practice import Exercise, Wrong

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
    law="A block whose parts give zero hands on what it got, exactly: a deep stack can "
    "begin close to doing nothing.",
    right=[
        """
        for part in (attend, feed_forward):
            x = part(x) + x
        return x
        """,
        """
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
            "two results are given, and one is asked for",
        ),
    ],
    stars=1,
)
