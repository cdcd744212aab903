"""Both halves at once

In GPT-J and PaLM both halves of a block read the same normalised vector, and both are
added to the stream: x + Attend(N(x)) + F(N(x)).

Write the class `BothHalves`. `__init__` is given the width of a token, an attention and
a feed-forward part, both modules; it makes a LayerNorm of its own, `self.norm`, and
keeps all three, so that `parameters()` finds their weights. `forward(x)` takes tokens
x (B, T, E) and gives as much.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor, nn


class BothHalves(nn.Module):
    """A block whose attention and feed-forward part read the same."""

    def __init__(
        self, width: int, attention: nn.Module, feed_forward: nn.Module
    ) -> None:
        super().__init__()
        # --- write ---
        self.norm = nn.LayerNorm(width)
        self.attention = attention
        self.feed_forward = feed_forward

    def forward(self, x: Tensor) -> Tensor:
        """Give (B, T, E) for tokens (B, T, E)."""
        normed = self.norm(x)
        return x + self.attention(normed) + self.feed_forward(normed)
        # --- written ---


if __name__ == "__main__":
    # With zeros at the end of each half the block is the identity.
    silent = nn.Linear(4, 4)
    nn.init.zeros_(silent.weight)
    nn.init.zeros_(silent.bias)
    x = torch.tensor([[[4.0, 0.0, 0.0, 3.0]]])
    print(BothHalves(4, silent, silent)(x).data)
    # tensor([[[4., 0., 0., 3.]]])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    E = max(d.E, 3)  # a LayerNorm of two numbers knows only their order
    weights = d.normal(E, E) / d.loud, d.normal(E, E) / d.loud
    return d.normal(d.B, d.T, E), *weights, d.normal(E) / d.loud


class Mean(nn.Module):
    """Stands for attention: the mean of all tokens so far."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        counts = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype)
        return x.cumsum(dim=-2) / counts[:, None] @ self.weight


class Each(Mean):
    """Stands for the feed-forward part: works on each token alone."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.gelu(x @ self.weight)


def run(cls, x, first, second, scale):  # type: ignore[no-untyped-def]
    block = cls(x.shape[-1], Mean(first), Each(second)).double()
    count = len([*block.parameters()])
    for one, share in zip(block.norm.parameters(), (1, 3)):
        one.data = scale / share
    return block(x), f"{count} parameters"


def holds_what_it_is_given(cls, x, first, second, scale):  # type: ignore[no-untyped-def]
    attention, feed_forward = Mean(first), Each(second)
    block = cls(x.shape[-1], attention, feed_forward).double()
    found = {id(one) for one in block.parameters()}
    return {id(attention.weight), id(feed_forward.weight)} <= found


def leaves_them_as_they_are(cls, x, first, second, scale):  # type: ignore[no-untyped-def]
    halves = Mean(first), Each(second)
    block = cls(x.shape[-1], *halves).double()
    block(x)
    learn = all(one.requires_grad for one in block.parameters())
    return learn and block.training and all(one.training for one in halves)


def sends_gradients_back(cls, x, first, second, scale):  # type: ignore[no-untyped-def]
    block = cls(x.shape[-1], Mean(first), Each(second)).double()
    x.requires_grad_()
    rows = block(1.0 * x)
    normed = nn.functional.layer_norm(x, x.shape[-1:]).detach()
    cut = x + Mean(first)(normed) + Each(second)(normed)
    try:
        [mine] = torch.autograd.grad(rows.square().sum(), x)
    except RuntimeError:  # a change in place, of which the reader is told elsewhere
        return True
    [without] = torch.autograd.grad(cut.square().sum(), x)
    return not torch.allclose(mine, without)


EXERCISE = Exercise(
    answer="BothHalves",
    read=("models/transformer_block/#the-block", "The block"),
    hints=(
        "How many times is something normalised, and how many times added?",
        "Normalise once, and hand the result to both halves. The stream itself goes "
        "on as it came in.",
        "Three terms make the sum: x as it was, what attention makes of the "
        "normalised tokens, and what the other half makes of the same tokens.",
    ),
    draw=draw,
    ask=run,
    properties=[
        Property(
            "parameters() finds the very weights of the modules that were given",
            holds_what_it_is_given,
        ),
        Property(
            "all can be trained: nothing is frozen, or put into eval mode",
            leaves_them_as_they_are,
        ),
        Property("gradients go back through the norm", sends_gradients_back),
    ],
    law="The two halves do not wait for each other, so they can be computed at the "
    "same time; and with zeros at the end of each the block is the identity.",
    right=[
        """
            # A list of modules: a block of any number of parallel parts.
            self.norm = nn.LayerNorm(width)
            self.halves = nn.ModuleList([attention, feed_forward])

        def forward(self, x: Tensor) -> Tensor:
            return x + sum(half(self.norm(x)) for half in self.halves)
        """,
        """
            # A sum over a stack: the stream is one of three equal terms.
            self.norm = nn.LayerNorm(width)
            self.attention, self.feed_forward = attention, feed_forward

        def forward(self, x: Tensor) -> Tensor:
            normed = self.norm(x)
            parts = x, self.attention(normed), self.feed_forward(normed)
            return torch.stack(parts).sum(dim=0)
        """,
    ],
    stars=2,
    minutes=10,
    covers=("block",),
)
