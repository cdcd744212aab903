"""What code keeps is found, in modules, plain objects, mappings and functions."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from headway.checks.attention.evidence.held_values import held_values


class Rope:
    def __init__(self) -> None:
        self.base, self.inner = 100.0, SimpleNamespace(deep=SimpleNamespace(deeper=3))
        self.inner.deep.far = SimpleNamespace(near=SimpleNamespace(farther=1))


def names(target: Any) -> set[str]:
    return {name for name, _ in held_values(target)}


def test_a_module_keeps_attributes_weights_and_buffers() -> None:
    module = nn.Module()
    module.register_buffer("table", torch.zeros(2))
    module.layer = nn.Linear(2, 3)
    module.rope = Rope()
    module.config = {"theta": 5}
    found = names(module)
    assert {"table", "layer", "weight", "in_features", "base", "theta"} <= found
    assert "deeper" in found
    assert "farther" not in found
    assert not {name for name in found if name.startswith("_")}


def test_an_object_is_looked_into_once() -> None:
    module, rope = nn.Module(), Rope()
    module.one, module.other, rope.itself = rope, rope, rope
    found = [name for name, _ in held_values(module)]
    assert found.count("base") == 1


def test_a_function_keeps_what_stands_around_it() -> None:
    def made(slopes: int) -> Callable[[int], int]:
        if slopes > 5:
            later = 3

        def inner(x: int) -> int:
            return x * slopes + later

        inner.window = 3  # type: ignore[attr-defined]
        return inner

    assert {"slopes", "window"} <= names(made(2))
    assert "later" not in names(made(2))
    assert "later" in names(made(7))
    partial = functools.partial(made(2), theta=4)
    assert {"theta", "slopes"} <= names(partial)
