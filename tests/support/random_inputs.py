"""Queries, keys and values drawn at random, and masks of every shape."""

import itertools

import pytest
import torch
from torch import Tensor

from tests.support.sizes import B, D, H, S, T, V, draw

LEADING = [(), (B,), (B, H), (B, 1, H)]
EVERY_LEADING = pytest.mark.parametrize("leading", LEADING, ids=str)


def qkv(leading: tuple[int, ...], width: int = V) -> tuple[Tensor, Tensor, Tensor]:
    return draw(*leading, T, D), draw(*leading, S, D), draw(*leading, S, width)


def random_mask(*shape: int) -> Tensor:
    """Draw a mask whose rows all allow a key."""
    mask = torch.rand(shape) < 0.5
    mask[..., :1] |= ~mask.any(dim=-1, keepdim=True)
    assert mask.any(dim=-1).all()
    return mask


def mask_of(kind: str, leading: tuple[int, ...]) -> Tensor | None:
    full = (*leading, T, S)
    if kind == "none":
        return None
    if kind == "one for all":
        return torch.tensor([[True]])
    if kind == "empty":
        return torch.zeros(full, dtype=torch.bool)
    if kind == "with fully masked rows":
        mask = random_mask(*full)
        mask[..., 1, :] = mask[..., T - 1, :] = False
        return mask
    shapes = {
        "a key": (1, S),
        "a query": (T, 1),
        "queries and keys": (T, S),
        "keys of each text": (*leading[:1], *(1 for _ in leading[1:]), 1, S),
        "full": full,
    }
    mask = random_mask(*shapes[kind])
    if kind == "a query":
        mask[2] = False
    return mask


KINDS = [
    "none",
    "one for all",
    "a key",
    "a query",
    "queries and keys",
    "keys of each text",
    "full",
    "with fully masked rows",
    "empty",
]
EVERY_MASK = [
    pytest.param(leading, kind, id=f"{leading}-{kind}")
    for leading, kind in itertools.product(LEADING, KINDS)
]

# Leading axes of query, key and value that are not the same.
BROADCAST = [
    pytest.param(*shapes, id=" ".join(map(str, shapes)))
    for shapes in [
        ((B, H), (B, 1), (B, 1)),  # all heads share keys and values
        ((B, H), (H,), (H,)),
        ((H,), (B, 1), (B, 1)),
        ((B,), (), (B,)),
        ((), (B,), ()),
        ((), (), (B,)),
        ((B, 3, H), (B, 3, 1), (B, 3, 1)),
        ((B, 1, H), (3, 1), (H,)),
    ]
]
