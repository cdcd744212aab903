"""Mistakes in what becomes of queries, keys and values, and of heads."""

from typing import Any

from torch import Tensor
from torch.nn.functional import linear

from mistakes.mistake import EQUATION, GRADIENTS, LEAK, PAST, Mistake
from stepwise import Step


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
    "groups are tiled": Mistake(
        EQUATION,
        {"repeat": tile},
        {"groups": "tile"},
        {"groups": True},
        function=False,
    ),
}
