"""Attention in steps, any of which can be exchanged.

Nothing here comes from the package. A module works in steps, and each step can be
exchanged: for a right one that is written in another way, or for a wrong one. The steps
stand in a dictionary, so that no name in them tells a check what is meant.
"""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Sizes(NamedTuple):
    """Sizes of a module: different primes, so that no axis passes for another."""

    d_in: int
    width: int  # of a head
    heads: int
    context: int
    d_out: int


SIZES = {
    "five heads": Sizes(17, 3, 5, 19, 23),
    "three heads": Sizes(11, 5, 3, 13, 19),
    "two heads": Sizes(13, 7, 2, 17, 11),
}
SMALL = SIZES["two heads"]
# And how many heads the keys have; how many share one is no square, nor D.
GROUPED = {
    "five heads": (Sizes(17, 3, 10, 19, 23), 2),
    "three heads": (Sizes(11, 5, 4, 13, 19), 2),
    "two heads": (Sizes(13, 7, 6, 17, 11), 3),
}

Step = Callable[..., Any]


def past(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def project(m: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return m.W_query(x), m.W_key(x), m.W_value(x)


def split(m: Any, part: Tensor) -> Tensor:
    return part.view(*part.shape[:2], -1, m.width).transpose(1, 2)


def repeat(m: Any, part: Tensor) -> Tensor:
    return part.repeat_interleave(m.heads // part.shape[1], dim=1)


def share(m: Any, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return q, k, v


def score(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(m.width)


def allowed(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Say who may see whom, of shape (T, S) or (B, 1, T, S)."""
    T, S = scores.shape[-2:]
    keep = past(S) if m.causal else torch.ones(T, S, dtype=torch.bool)
    if mask is None:
        return keep
    return keep & (mask[:, None] if mask.ndim == 3 else mask)


def hide(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores.masked_fill(~allowed(m, scores, mask), -torch.inf)


def softmax(m: Any, scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1).nan_to_num(0.0) if m.masked else scores.softmax(-1)


def drop(m: Any, weights: Tensor) -> Tensor:
    return m.dropout(weights)


def merge(m: Any, context: Tensor) -> Tensor:
    return context.transpose(1, 2).flatten(2)


def out(m: Any, context: Tensor) -> Tensor:
    return context if m.out_proj is None else m.out_proj(context)


def call(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return run(x)


RIGHT: dict[str, Step] = {
    step.__name__: step
    for step in (
        project,
        split,
        repeat,
        share,
        score,
        hide,
        softmax,
        drop,
        merge,
        out,
        call,
    )
}
OF_FUNCTIONS = {"share", "score", "hide", "softmax", "drop"}


def attend(
    m: Any, do: Mapping[str, Step], qkv: tuple[Tensor, ...], mask: Tensor | None
) -> Tensor:
    q, k, v = do["share"](m, *qkv)
    scores = do["hide"](m, do["score"](m, q, k), mask)
    return do["drop"](m, do["softmax"](m, scores)) @ v


class Attention(nn.Module):
    """Attention in steps; as it stands, right."""

    masked = False

    def __init__(
        self,
        sizes: Sizes,
        *,
        causal: bool = True,
        bias: bool = True,
        joined: bool = True,
        p: float | None = None,
        groups: int | None = None,
        **steps: Step,
    ):
        super().__init__()
        self.width, self.heads = sizes.width, sizes.heads
        self.d_in, self.context_length = sizes.d_in, sizes.context
        self.causal, self.steps = causal, RIGHT | steps
        wide = sizes.heads * sizes.width
        narrow = (groups or sizes.heads) * sizes.width
        self.W_query = nn.Linear(sizes.d_in, wide, bias=bias)
        self.W_key = nn.Linear(sizes.d_in, narrow, bias=bias)
        self.W_value = nn.Linear(sizes.d_in, narrow, bias=bias)
        self.out_proj = nn.Linear(wide, sizes.d_out) if joined else None
        self.dropout = nn.Identity() if p is None else nn.Dropout(p)

    def forward(self, x: Tensor) -> Any:
        return self.steps["call"](self, self.run, x)

    def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        do = self.steps
        q, k, v = (do["split"](self, part) for part in do["project"](self, x))
        k, v = do["repeat"](self, k), do["repeat"](self, v)
        return do["out"](self, do["merge"](self, attend(self, do, (q, k, v), mask)))


class PairMasked(Attention):
    """It takes a mask of shape (T, S) or (B, T, S); True: may look."""

    masked = True

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        return self.steps["call"](self, lambda y: self.run(y, mask), x)


class KeyMasked(Attention):
    """It takes a mask of shape (B, S); True: may be looked at."""

    masked = True

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Any:
        mask = padding_mask
        if mask is not None:
            mask = mask[:, None].expand(-1, x.shape[1], -1)
        return self.steps["call"](self, lambda y: self.run(y, mask), x)


def function(*, causal: bool, **steps: Step) -> Callable[..., Tensor]:
    """Make a function of queries, keys and values with heads."""
    do = RIGHT | {"drop": lambda m, weights: weights} | steps

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        heads, width = query.shape[1], query.shape[3]
        m = SimpleNamespace(
            heads=heads, width=width, causal=causal, masked=False, d_in=None
        )
        return attend(m, do, (query, key, value), None)

    return attention
