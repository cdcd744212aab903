"""Attention that is right, written in every way in which people write it.

Each variation changes how a step is done and nothing of what comes out. None of this
may fail a check.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from tests.support.attention_in_steps import (
    Attention,
    KeyMasked,
    PairMasked,
    Sizes,
    Step,
    allowed,
    past,
)

# How a step may be done as well.


def by_where(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    return torch.where(allowed(m, scores, mask), scores, -torch.inf)


def by_the_lowest(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~allowed(m, scores, mask), lowest)


def by_adding(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    keep = allowed(m, scores, mask)
    return scores + torch.zeros_like(scores).masked_fill(~keep, -torch.inf)


def by_a_kept_table(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Keep the largest table that was needed."""
    T = scores.shape[-1]
    if m.causal and (getattr(m, "table", None) is None or len(m.table) < T):
        m.table = past(T)
    keep = m.table[:T, :T] if m.causal else allowed(m, scores, None)
    if mask is not None:
        keep = keep & (mask[:, None] if mask.ndim == 3 else mask)
    return scores.masked_fill(~keep, -torch.inf)


HIDE = {
    "where": by_where,
    "lowest": by_the_lowest,
    "added": by_adding,
    "kept": by_a_kept_table,
}


def in_single_precision(m: Any, scores: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(scores.dtype)
    return weights.nan_to_num(0.0) if m.masked else weights


def by_hand(m: Any, scores: Tensor) -> Tensor:
    largest = scores.amax(dim=-1, keepdim=True).clamp(min=-1e4).detach()
    shares = (scores - largest).exp()
    return shares / shares.sum(dim=-1, keepdim=True).clamp(min=1e-4)


SOFTMAX = {"single": in_single_precision, "hand": by_hand}


def by_einsum(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("bhtd,bhsd->bhts", q, k) / k.shape[-1] ** 0.5


def in_advance(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return (q * m.width**-0.5) @ k.transpose(2, 3)


def by_both_roots(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return (q / m.width**0.25) @ (k / m.width**0.25).mT


SCORE = {"einsum": by_einsum, "advance": in_advance, "roots": by_both_roots}


def side_by_side(m: Any, context: Tensor) -> Tensor:
    return torch.cat(context.unbind(1), dim=-1)


def split_by_chunks(m: Any, part: Tensor) -> Tensor:
    return torch.stack(part.split(m.width, dim=-1), dim=1)


SPLIT = {"chunks": split_by_chunks}


def by_a_repeated_index(m: Any, part: Tensor) -> Tensor:
    times = m.heads // part.shape[1]
    return part[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)


REPEAT = {"index": by_a_repeated_index}


def merged_by_permuting(m: Any, context: Tensor) -> Tensor:
    B, H, T, D = context.shape
    return context.permute(0, 2, 1, 3).contiguous().view(B, T, H * D)


MERGE = {"permute": merged_by_permuting, "cat": side_by_side}


def dropped_by_hand(m: Any, weights: Tensor) -> Tensor:
    p = getattr(m.dropout, "p", 0.0)
    if not m.training or not p:
        return weights
    return weights * (torch.rand_like(weights) >= p) / (1 - p)


DROP = {"hand": dropped_by_hand}


def refuses_what_is_too_long(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    if x.shape[1] > m.context_length:
        raise ValueError("the text is too long")
    return run(x)


def with_weights(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return run(x), None


def in_a_dictionary(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return {"context": run(x), "weights": None}


CALL = {
    "refuses": refuses_what_is_too_long,
    "tuple": with_weights,
    "dictionary": in_a_dictionary,
}

STEPS: dict[str, dict[str, Step]] = {
    "hide": HIDE,
    "softmax": SOFTMAX,
    "score": SCORE,
    "split": SPLIT,
    "repeat": REPEAT,
    "merge": MERGE,
    "drop": DROP,
    "call": CALL,
}


# How weights may be stored as well.


class Packed(Attention):
    """One layer makes all three, one beside the other."""

    def __init__(self, sizes: Sizes, **options: Any):
        super().__init__(sizes, **options)
        wide = sizes.heads * sizes.width
        bias = self.W_query.bias is not None
        del self.W_query, self.W_key, self.W_value
        self.qkv = nn.Linear(sizes.d_in, 3 * wide, bias=bias)
        self.steps["project"] = lambda m, x: m.qkv(x).chunk(3, dim=-1)


class AsParameters(Attention):
    """Weights are parameters that tokens are multiplied by."""

    def __init__(self, sizes: Sizes, **options: Any):
        super().__init__(sizes, **options)
        for name in ("W_query", "W_key", "W_value"):
            weight = self.get_submodule(name).weight
            delattr(self, name)
            setattr(self, name, nn.Parameter(weight.detach().T.clone()))
        self.steps["project"] = lambda m, x: (
            x @ m.W_query,
            x @ m.W_key,
            x @ m.W_value,
        )


class TimeFirst(Attention):
    """Tokens come before texts, and the module says so."""

    batch_first = False

    def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().run(x.transpose(0, 1), mask).transpose(0, 1)


class OfThree(Attention):
    """It is called with queries, keys and values."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Any:
        do = self.steps
        parts = zip(["query", "key", "value"], (query, key, value), strict=True)
        three = [do["split"](self, getattr(self, f"W_{n}")(x)) for n, x in parts]
        three[1:] = [do["repeat"](self, part) for part in three[1:]]
        scores = do["hide"](self, do["score"](self, *three[:2]), None)
        weights = do["drop"](self, do["softmax"](self, scores))
        return do["out"](self, do["merge"](self, weights @ three[2]))


class Fused(Attention):
    """PyTorch's kernel does the work."""

    def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        do = self.steps
        q, k, v = (do["split"](self, part) for part in do["project"](self, x))
        k, v = do["repeat"](self, k), do["repeat"](self, v)
        p = getattr(self.dropout, "p", 0.0) if self.training else 0.0
        context = scaled_dot_product_attention(
            q, k, v, is_causal=self.causal, dropout_p=p
        )
        return do["out"](self, do["merge"](self, context))


STORED = {
    "packed": Packed,
    "parameters": AsParameters,
    "time first": TimeFirst,
    "of three": OfThree,
    "fused": Fused,
}


# Masks, as well.


class NeedsMask(PairMasked):
    """It must be given a mask, or `None`."""

    def forward(self, x: Tensor, mask: Tensor | None) -> Any:
        return super().forward(x, mask)


class HidesTrue(PairMasked):
    """Of its mask, what is True is hidden."""

    def forward(self, x: Tensor, attn_mask: Tensor | None = None) -> Any:
        return super().forward(x, None if attn_mask is None else ~attn_mask)


class HidesPadding(KeyMasked):
    """As in PyTorch, True is padding."""

    def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
        mask = key_padding_mask
        return super().forward(x, None if mask is None else ~mask)


class OfNumbers(KeyMasked):
    """Its mask has ones for tokens and zeros for padding."""

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Any:
        mask = attention_mask
        return super().forward(x, None if mask is None else mask == 1)


class Adds(Attention):
    """Its mask is added to the scores."""

    masked = True

    def forward(self, x: Tensor, attn_bias: Tensor | None = None) -> Any:
        mask = None
        if attn_bias is not None:
            low = attn_bias == -torch.inf
            mask, attn_bias = ~low, attn_bias.masked_fill(low, 0.0)

        def score(m: Any, q: Tensor, k: Tensor) -> Tensor:
            scores = q @ k.mT / math.sqrt(m.width)
            return scores if attn_bias is None else scores + attn_bias

        before, self.steps = self.steps, self.steps | {"score": score}
        try:
            return self.steps["call"](self, lambda y: self.run(y, mask), x)
        finally:
            self.steps = before


class Both(PairMasked):
    """It takes a mask of pairs and one of keys."""

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
    ) -> Any:
        keep = torch.ones(len(x), x.shape[1], x.shape[1], dtype=torch.bool)
        if attn_mask is not None:
            keep = keep & attn_mask
        if key_padding_mask is not None:
            keep = keep & ~key_padding_mask[:, None]
        return super().forward(x, keep)


MASKED = {
    "pairs": PairMasked,
    "keys": KeyMasked,
    "needed": NeedsMask,
    "hides true": HidesTrue,
    "hides padding": HidesPadding,
    "of numbers": OfNumbers,
    "adds": Adds,
    "both": Both,
}


# What the equation does not have, and names say so.


class Rotates(Attention):
    """Queries and keys are turned by an angle that grows with the place."""

    def forward(self, x: Tensor) -> Any:
        self.steps = self.steps | {"share": self.rotate}
        return super().forward(x)

    @staticmethod
    def rotate(m: Any, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        half = q.shape[-1] // 2
        angles = torch.arange(q.shape[2])[:, None] * 0.3 ** torch.arange(half)

        def turn(part: Tensor) -> Tensor:
            one, other = part[..., :half], part[..., half : 2 * half]
            cos, sin = (f(angles).to(part) for f in (torch.cos, torch.sin))
            turned = one * cos - other * sin, one * sin + other * cos
            return torch.cat([*turned, part[..., 2 * half :]], dim=-1)

        return turn(q), turn(k), v


class LearnsPositions(Attention):
    """A vector for each place is added to the tokens."""

    def __init__(self, sizes: Sizes, **options: Any):
        super().__init__(sizes, **options)
        self.position = nn.Parameter(torch.randn(sizes.context, sizes.d_in))

    def forward(self, x: Tensor) -> Any:
        return super().forward(x + self.position[: x.shape[1]])


class Windowed(Attention):
    """Each token sees itself and the two before."""

    def __init__(self, sizes: Sizes, **options: Any):
        super().__init__(sizes, **options)
        self.window = 3

    def forward(self, x: Tensor) -> Any:
        size = self.window

        def hide(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
            keep = past(scores.shape[-1]).triu(1 - size)
            return scores.masked_fill(~keep, -torch.inf)

        self.steps = self.steps | {"hide": hide}
        return super().forward(x)


NAMED = {
    "rotary": Rotates,
    "learned positions": LearnsPositions,
    "window": Windowed,
}
