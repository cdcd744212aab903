"""A block, without its norms

Write `block(x, attend, feed_forward)`: one block of a model, in its plainest form.

Two parts work in turn on tokens x of shape (B, T, E): `attend` lets the tokens look at
each other, then `feed_forward` works on each token alone. What each part gives is not
the new x: it is added to what the part was given. Leave the x of the caller as it is.
"""

from headway.practice import Exercise
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
    stars=1,
    minutes=4,
)
