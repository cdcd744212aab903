"""Mistakes that only calls of another kind show: other keys, a cache, memory."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from tests.support.attention_in_steps import Attention
from tests.support.mistakes.mistake import CACHED, DIFFERENCES, LAYOUT, OTHERS, Mistake


class Asking(Attention):
    """It takes other tokens for keys and values."""

    def forward(self, x: Tensor, context: Tensor) -> Any:
        do = self.steps
        given = do["tokens"](self, x, context)
        q = self.W_query(given["q"])
        k, v = self.W_key(given["k"]), self.W_value(given["v"])
        q, k, v = (do["split"](self, part) for part in (q, k, v))
        context = scaled_dot_product_attention(q, k, v)
        return do["out"](self, do["merge"](self, context))


class Remembering(Attention):
    """It takes keys and values of the past, and returns those of all tokens."""

    def forward(
        self, x: Tensor, past_key_value: Any = None, use_cache: bool = False
    ) -> Any:
        do = self.steps
        q, k, v = (do["split"](self, part) for part in do["project"](self, x))
        if past_key_value is not None:
            k, v = do["join"](self, past_key_value, k, v)
        T, S = q.shape[2], k.shape[2]
        keep = do["keep"](self, T, S)
        context = scaled_dot_product_attention(q, k, v, attn_mask=keep)
        rows = do["out"](self, do["merge"](self, context))
        return (rows, (k, v)) if use_cache else rows


def joined(m: Any, past: Any, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)


def to_the_last(m: Any, T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


def in_front(m: Any, past: Any, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    k, v = joined(m, past, k, v)
    return k, v.roll(k.shape[2] - past[0].shape[2], dims=2)


def to_the_first(m: Any, T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T if T == 1 else 0)


REMEMBERS = {"join": joined, "keep": to_the_last}
CROSS: dict[str, Any] = {"options": {"causal": False}, "kind": Asking}


def asking(**tokens: Any) -> dict[str, Any]:
    return {
        "tokens": lambda m, x, y: (
            {"q": x, "k": y, "v": y}
            | {role: {"x": x, "y": y}[which] for role, which in tokens.items()}
        )
    }


OTHER_CALLS: dict[str, Mistake] = {
    "keys of the queries": Mistake(OTHERS, asking(k="x"), **CROSS),
    "values of the queries": Mistake(OTHERS, asking(v="x"), **CROSS),
    "nothing of the others": Mistake(OTHERS, asking(k="x", v="x"), **CROSS),
    "the past is not looked at": Mistake(
        CACHED, REMEMBERS | {"join": lambda m, past, k, v: (k, v)}, kind=Remembering
    ),
    "values beside other keys": Mistake(
        CACHED, REMEMBERS | {"join": in_front}, kind=Remembering
    ),
    "aligned to the first key": Mistake(
        CACHED, REMEMBERS | {"keep": to_the_first}, kind=Remembering
    ),
    "memory as it lies": Mistake(
        LAYOUT,
        {
            "call": lambda m, run, x: run(
                x.as_strided(x.shape, (x.shape[1] * x.shape[2], x.shape[2], 1))
            )
        },
    ),
    "half a gradient": Mistake(
        DIFFERENCES, {"softmax": lambda m, s: ((s + s.detach()) / 2).softmax(-1)}
    ),
}
