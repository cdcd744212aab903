"""Mistakes in what becomes of queries, keys and values, and of heads."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from tests.support.attention_in_steps import Step
from tests.support.mistakes.mistake import EQUATION, GRADIENTS, LEAK, PAST, Mistake


def with_roles(roles: str) -> dict[str, Step]:
    layers = {"q": "W_query", "k": "W_key", "v": "W_value"}
    return {
        "project": lambda m, x: tuple(getattr(m, layers[role])(x) for role in roles)
    }


def first(part: Tensor) -> Tensor:
    return part[:, :1].expand_as(part)


def shared(letters: str) -> dict[str, Step]:
    return {
        "share": lambda m, *qkv: tuple(
            first(part) if letter in letters else part
            for letter, part in zip("qkv", qkv, strict=True)
        )
    }


def lost_biases(roles: str) -> dict[str, Step]:
    def project(m: Any, x: Tensor) -> tuple[Tensor, ...]:
        layers = zip("qkv", (m.W_query, m.W_key, m.W_value), strict=True)
        return tuple(
            linear(x, one.weight, None if role in roles else one.bias)
            for role, one in layers
        )

    return {"project": project}


LOST_AT_LAST: dict[str, Step] = {"out": lambda m, c: linear(c, m.out_proj.weight)}


def tile(m: Any, part: Tensor) -> Tensor:
    return part.repeat(1, m.heads // part.shape[1], 1, 1)


def groups_of(m: Any) -> int:
    return int(m.W_key.out_features // m.width)


def each(m: Any, part: Tensor) -> Tensor:
    """Take the head of each group out of those that were repeated."""
    return part[:, :: m.heads // groups_of(m)]


def dealt(m: Any, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Let group after group take every so many heads of the queries."""
    groups = groups_of(m)
    order = [head for group in range(groups) for head in range(group, m.heads, groups)]
    return q[:, order], k, v


def by_groups(m: Any, context: Tensor) -> Tensor:
    times = m.heads // groups_of(m)
    order = [head for first in range(times) for head in range(first, m.heads, times)]
    return context[:, order].transpose(1, 2).flatten(2)


ROLES = ("kqv", "qvk", "vkq", "kkv", "qqv", "qkk", "qkq", "kvq", "vqk")
HEADS: dict[str, Mistake] = {
    **{
        f"roles {roles}": Mistake(
            EQUATION, with_roles(roles), {"projections": roles}, function=False
        )
        for roles in ROLES
    },
    **{
        f"shared {letters}": Mistake(
            EQUATION,
            shared(letters),
            {"shared": letters},
        )
        for letters in ("qkv", "q", "k", "v", "kv")
    },
    "split by a view": Mistake(
        LEAK,
        {"split": lambda m, part: part.reshape(len(part), -1, part.shape[1], m.width)},
        {"split": "view"},
        function=False,
    ),
    "merged by a view": Mistake(
        LEAK,
        {"merge": lambda m, c: c.reshape(len(c), c.shape[2], -1)},
        {"merge": "view"},
        function=False,
    ),
    "heads meet, not tokens": Mistake(
        PAST,
        {
            "share": lambda m, *qkv: [part.transpose(1, 2) for part in qkv],
            "merge": lambda m, c: c.flatten(2),
        },
        {"attend_over": "heads"},
        function=False,
    ),
    "out_proj is never used": Mistake(
        GRADIENTS, {"out": lambda m, c: c}, {"out": False}, function=False
    ),
    **{
        name: Mistake(EQUATION, steps, {"biases": left}, function=False)
        for name, left, steps in [
            ("biases are lost", "o", lost_biases("qkv")),
            ("the bias of queries is lost", "kvo", lost_biases("q")),
            ("the bias of values is lost", "qko", lost_biases("v")),
            ("the bias of the output is lost", "qkv", LOST_AT_LAST),
            ("all biases are lost", "", lost_biases("qkv") | LOST_AT_LAST),
        ]
    },
    **{
        f"groups: {change}": Mistake(
            EQUATION,
            {"share": step},
            {"groups": change},
            {"groups": True},
            function=False,
        )
        for change, step in [
            ("k tiled", lambda m, q, k, v: (q, tile(m, each(m, k)), v)),
            ("v tiled", lambda m, q, k, v: (q, k, tile(m, each(m, v)))),
            ("k reversed", lambda m, q, k, v: (q, k.flip(1), v)),
            ("v reversed", lambda m, q, k, v: (q, k, v.flip(1))),
            ("queries dealt", dealt),
        ]
    },
    "heads of groups are merged in another order": Mistake(
        EQUATION,
        {"merge": by_groups},
        {"merge": "groups"},
        {"groups": True},
        function=False,
    ),
    "queries meet the keys of all heads": Mistake(
        EQUATION,
        {"share": lambda m, q, k, v: (q, torch.stack([k.sum(1)] * k.shape[1], 1), v)},
        {"met": "all"},
    ),
    "each token gets its own value": Mistake(
        EQUATION,
        {"drop": lambda m, weights: torch.diag_embed(weights.sum(-1))},
        {"summed": "own"},
    ),
    "all values are summed": Mistake(
        EQUATION,
        {"drop": lambda m, weights: weights.sum(-1, keepdim=True).expand_as(weights)},
        {"summed": "all"},
    ),
    "groups are tiled": Mistake(
        EQUATION,
        {"repeat": tile},
        {"groups": "tile"},
        {"groups": True},
        function=False,
    ),
}
