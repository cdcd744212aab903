"""Attention of the width of a real model, to time the checks."""

from torch import nn

from tests.checks.corpus.styles.gpt import (
    CausalSelfAttention,
    GPTConfig,
    Heads,
    MergedWrongly,
)

WIDTH, HEADS, CONTEXT = 768, 12, 1024
_CONFIG = GPTConfig(block_size=CONTEXT, n_head=HEADS, n_embd=WIDTH)


class Unexplained(CausalSelfAttention):
    """Do what no single mistake explains."""

    def forward(self, x):
        return super().forward(x).exp()


LARGE = {
    "nothing is wrong": lambda: CausalSelfAttention(_CONFIG),
    "PyTorch's module": lambda: nn.MultiheadAttention(WIDTH, HEADS, batch_first=True),
    "one mistake in a list of heads": lambda: Heads(WIDTH, HEADS, CONTEXT, True),
    "heads merged wrongly": lambda: MergedWrongly(_CONFIG),
    "a mistake that none explains": lambda: Unexplained(_CONFIG),
}
