"""Both halves at once

In GPT-J and PaLM both halves of a block read the same normalised vector, and both are
added to the stream: x + Attend(N(x)) + F(N(x)).

Write the class `BothHalves`. `__init__` is given the width of a token, an attention and
a feed-forward part, both modules; it makes a LayerNorm of its own, `self.norm`, and
keeps all three, so that `parameters()` finds their weights. `forward(x)` takes tokens
x (B, T, E) and gives as much.
"""

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "self.feed_forward(normed)",
            "self.feed_forward(self.norm(x + self.attention(normed)))",
            "the second half waits for the first, as in the usual block",
        ),
        Wrong(
            "self.feed_forward(normed)",
            "self.feed_forward(x)",
            "the feed-forward part reads tokens that are not normalised",
        ),
        Wrong(
            "self.attention(normed)",
            "self.attention(x)",
            "attention reads tokens that are not normalised",
        ),
        Wrong(
            "return x + self",
            "return normed + self",
            "the stream itself is normalised",
            exhibit="models/#the-stream-is-normalised",
        ),
        Wrong(
            "return x + self.attention",
            "return self.attention",
            "the stream is lost: nothing hands the tokens on",
        ),
        Wrong(
            "self.attention(normed) + self.feed_forward(normed)",
            "self.feed_forward(self.attention(normed))",
            "the feed-forward part reads what attention gave, and not the tokens",
        ),
        Wrong(
            "self.feed_forward(normed)",
            "self.feed_forward(normed) + x",
            "the tokens are handed on twice",
        ),
        Wrong(
            "x + self.attention(normed) + self.feed_forward(normed)",
            "self.norm(x + self.attention(x) + self.feed_forward(x))",
            "the norm comes last, and touches the stream",
            exhibit="models/#the-stream-is-normalised",
        ),
        Wrong(
            "self.attention(normed) + self.feed_forward(normed)",
            "self.norm(self.attention(x)) + self.norm(self.feed_forward(x))",
            "the norm comes behind each half; it should come before",
        ),
        Wrong(
            "        self.attention = attention\n"
            "        self.feed_forward = feed_forward\n",
            "        halves = {'attention': attention, 'feed_forward': feed_forward}\n"
            "        self.__dict__.update(halves)\n",
            "the halves are kept in a plain list or a dict, so that nothing finds "
            "their weights",
            hint="A module looks for weights in modules that it holds, and not in "
            "plain lists.",
        ),
        Wrong(
            "self.feed_forward = feed_forward\n",
            "self.feed_forward = nn.Sequential(nn.LayerNorm(width), feed_forward)\n",
            "the second half has a norm of its own",
        ),
        Wrong(
            "self.norm(x)",
            "nn.functional.layer_norm(x, x.shape[-1:])",
            "the norm has no weights of its own",
        ),
        Wrong(
            "self.attention(normed) + self.feed_forward(normed)",
            "(self.attention(normed) + self.feed_forward(normed)) / 2",
            "the mean of the two halves is taken, and not their sum",
        ),
        Wrong(
            "self.feed_forward(normed)",
            "self.feed_forward(self.norm(normed))",
            "the second half reads what was normalised twice",
        ),
        Wrong(
            "self.attention(normed) + self.feed_forward(normed)",
            "self.feed_forward(normed)",
            "attention is left out",
        ),
        Wrong(
            "self.attention(normed) + self.feed_forward(normed)",
            "self.attention(normed)",
            "the feed-forward part is left out",
        ),
        Wrong(
            "self.feed_forward(normed)",
            "self.feed_forward(self.attention(normed))",
            "the feed-forward part reads what attention gave, which is added as well",
        ),
        Wrong(
            "nn.LayerNorm(width)",
            "nn.RMSNorm(width)",
            "an RMSNorm is made, where a LayerNorm is asked for",
        ),
        Wrong(
            "nn.LayerNorm(width)",
            "nn.LayerNorm(width, bias=False)",
            "the norm has no bias",
        ),
        Wrong(
            "        self.feed_forward = feed_forward\n"
            "\n"
            "    def forward(self, x: Tensor) -> Tensor:\n"
            '        """Give (B, T, E) for tokens (B, T, E)."""\n'
            "        normed = self.norm(x)\n"
            "        return x + self.attention(normed) + "
            "self.feed_forward(normed)",
            "        self.feed_forward = feed_forward\n"
            "        self.norm2 = nn.LayerNorm(width)\n"
            "\n"
            "    def forward(self, x: Tensor) -> Tensor:\n"
            '        """Give (B, T, E) for tokens (B, T, E)."""\n'
            "        normed = self.norm(x)\n"
            "        return x + self.attention(normed) + "
            "self.feed_forward(self.norm2(x))",
            "each half has a norm of its own; one norm should serve both",
        ),
        Wrong(
            "        self.feed_forward = feed_forward\n"
            "\n"
            "    def forward(self, x: Tensor) -> Tensor:\n"
            '        """Give (B, T, E) for tokens (B, T, E)."""\n'
            "        normed = self.norm(x)\n"
            "        return x + self.attention(normed) + "
            "self.feed_forward(normed)",
            "        self.feed_forward = feed_forward\n"
            "        self.norm2 = nn.LayerNorm(width)\n"
            "\n"
            "    def forward(self, x: Tensor) -> Tensor:\n"
            '        """Give (B, T, E) for tokens (B, T, E)."""\n'
            "        normed = self.norm(x)\n"
            "        x = x + self.attention(normed)\n"
            "        return x + self.feed_forward(self.norm2(x))",
            "this is the usual block, with two norms, in which the second half "
            "waits for the first",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        x = x + self.attention(normed)\n"
            "        return x + self.feed_forward(x)",
            "the second half reads the stream behind the first, and no norm "
            "stands before it",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return self.norm(x + self.attention(normed) + "
            "self.feed_forward(normed))",
            "the sum is normalised once more at the end",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return self.norm(x + self.attention(x)) + self.feed_forward(x)",
            "the norm stands behind attention, and the second half has none",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        x = self.norm(x + self.attention(x))\n"
            "        return self.norm(x + self.feed_forward(x))",
            "this is the block of 2017, with its norms behind each sum, one "
            "half after the other",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return normed",
            "the normalised tokens are given, and no half works",
        ),
        Wrong(
            "        normed = self.norm(x)\n",
            "        normed = x\n",
            "nothing is normalised",
        ),
        Wrong(
            "nn.LayerNorm(width)",
            "nn.LayerNorm(width, elementwise_affine=False)",
            "the norm is made without weights, by elementwise_affine=False",
        ),
        Wrong(
            "nn.LayerNorm(width)",
            "nn.LayerNorm(width, eps=1e-6)",
            "the norm has another eps than a LayerNorm has by itself",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.attention(normed) * self.feed_forward(normed)",
            "the two halves are multiplied; they should be added",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.attention(normed) - self.feed_forward(normed)",
            "the second half is taken off; it should be added",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.attention(self.feed_forward(normed))",
            "attention reads what the feed-forward part gave, and not the tokens",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.attention(normed + self.feed_forward(normed))",
            "attention reads the sum of tokens and feed-forward part",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.attention(normed) + self.attention(normed)",
            "attention works twice, and the feed-forward part never",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.feed_forward(normed) + self.feed_forward(normed)",
            "the feed-forward part works twice, and attention never",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return self.attention(normed) + self.feed_forward(normed) "
            "+ normed + x",
            "the normalised tokens are added to the sum as well",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        x + self.attention(normed) + self.feed_forward(normed)",
            "nothing is returned: forward ends without a return",
        ),
        Wrong(
            "        self.norm = nn.LayerNorm(width)",
            "        self.norm = nn.BatchNorm1d(width)",
            "a norm over the texts is made; a LayerNorm works on each token alone",
        ),
        Wrong(
            "        normed = self.norm(x)",
            "        normed = nn.functional.layer_norm(x, x.shape[1:])",
            "the norm runs over the tokens of a text as well; each token should be "
            "normalised alone",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        x = x + self.feed_forward(normed)\n"
            "        return x + self.attention(self.norm(x))",
            "attention waits for the feed-forward part, one half after the other",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        first = self.attention(normed)\n"
            "        return x + first + self.feed_forward(normed + first)",
            "the second half reads the normalised tokens with what attention gave; it "
            "should read them alone",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + self.norm(self.attention(normed) + "
            "self.feed_forward(normed))",
            "the sum of the halves is normalised; it should be what they read",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return normed + self.attention(x) + self.feed_forward(x)",
            "the stream itself is normalised, and the halves read tokens that are not",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x, self.attention(normed), self.feed_forward(normed)",
            "three results are given; they should be added",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return torch.cat([x, self.attention(normed), "
            "self.feed_forward(normed)], dim=-1)",
            "stream and halves are joined side by side; they should be added",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return (x + self.attention(normed) + self.feed_forward(normed)) "
            "/ 3",
            "the mean of the three terms is taken, and not their sum",
        ),
        Wrong(
            "        self.attention = attention",
            "        self.attention = nn.Linear(width, width)",
            "an attention of its own is made, and the one that is given is not used",
        ),
        Wrong(
            "        self.feed_forward = feed_forward",
            "        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), "
            "nn.GELU(), nn.Linear(4 * width, width))",
            "a feed-forward part of its own is made, and the one that is given is not "
            "used",
        ),
        Wrong(
            "        return x + self.attention(normed) + self.feed_forward(normed)",
            "        return x + nn.functional.gelu(self.attention(normed) + "
            "self.feed_forward(normed))",
            "a GELU is taken of what the halves give",
        ),
        Wrong(
            "        self.feed_forward = feed_forward",
            "        self.feed_forward = feed_forward.forward",
            "the function of the second half is kept, and not the module, so that "
            "nothing finds its weights",
        ),
        Wrong(
            "nn.LayerNorm(width)",
            "nn.GroupNorm(1, width)",
            "a GroupNorm is made, which wants its channels in axis 1",
        ),
        Wrong(
            "        self.norm = nn.LayerNorm(width)",
            "        self.ln = nn.LayerNorm(width)",
            "there is no self.norm: it has another name, or super().__init__() comes "
            "after it",
        ),
        Wrong(
            "        super().__init__()",
            "        pass",
            "modules are set before super().__init__() is called",
        ),
    ],
    stars=2,
    minutes=10,
    covers=("block",),
)
