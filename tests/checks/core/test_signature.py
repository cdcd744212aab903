"""The arguments of code and its parts are found, whatever surrounds it."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.core.signature import arguments, parts, unpacked, unwrapped


def plain(x: Tensor, scale: float = 0.5) -> Tensor:
    return x * scale


class Module(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ModuleList([nn.Softmax(dim=1), nn.Linear(2, 3)])

    @torch.no_grad()
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return x

    @property
    def slope(self) -> int:
        return 3

    @functools.cached_property
    def steps(self) -> int:
        return 5


class Similarity:
    """Something that can be called and is no module."""

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return query


def test_the_arguments_are_those_of_a_call() -> None:
    assert [*arguments(plain)] == ["x", "scale"]
    assert arguments(plain)["scale"].default == 0.5
    assert [*arguments(Module())] == ["x", "mask"]
    assert [*arguments(Similarity())] == ["query", "key"]
    assert [*arguments(functools.partial(plain, scale=2.0))] == ["x", "scale"]


@pytest.mark.parametrize("function", [scaled_dot_product_attention, torch.softmax])
def test_built_in_functions_tell_no_arguments(function: Callable[..., Any]) -> None:
    assert arguments(function) == {}


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_scripted_module_has_the_arguments_of_its_forward() -> None:
    known = arguments(torch.jit.script(nn.Linear(2, 3)))
    assert [*known] == ["input"]
    assert known["input"].default is known["input"].empty


def test_the_parts_of_a_module_are_its_modules() -> None:
    module = Module()
    assert [*parts(module)] == [*module.modules()]
    assert [*parts(plain)] == [plain]


def test_wrappers_are_taken_off() -> None:
    @functools.wraps(plain)
    def wrapper(*inputs: Any) -> Any:
        return plain(*inputs)

    assert unwrapped(functools.partial(functools.partial(wrapper), 3)) is plain
    assert unwrapped(vars(Module)["slope"]).__name__ == "slope"
    assert unwrapped(vars(Module)["steps"]).__name__ == "steps"
    assert unwrapped(Module().forward) is Module.forward.__wrapped__


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_scripted_argument_keeps_its_default() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Tensor, scale: float = 0.5) -> Tensor:
            return x * scale

    assert arguments(torch.jit.script(Scaled()))["scale"].default == 0.5


def test_the_names_of_sizes_are_read() -> None:
    class Named(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            seq_len, batch, _ = x.shape
            _first, _second = batch, seq_len
            return x

    def two(x: Tensor) -> Tensor:
        T, _width = x.shape
        return x * T

    assert unpacked(Named()) == ["seq_len", "batch", "_"]
    assert unpacked(two) == ["T", "_width"]
    assert unpacked(plain) == []
    assert unpacked(torch.softmax) == []


def test_the_names_of_sizes_are_read_where_a_generator_uses_them() -> None:
    def captured(x: Tensor) -> Any:
        seq_len, bsz, d = x.shape
        return sum(x[t, b] for t in range(seq_len) for b in range(bsz)) / d

    def returned(x: Tensor) -> Any:
        (seq_len, bsz), width = x.shape[:2], x.shape[2]
        return lambda: (seq_len, bsz, width)

    assert unpacked(captured) == ["seq_len", "bsz", "d"]
    assert unpacked(returned) == []


def test_only_sizes_of_one_value_are_unpacked() -> None:
    def several(x: Tensor, *others: Tensor) -> Any:
        key, value = others[0], others[1]

        def inner(y: Tensor) -> Any:
            a, b = y
            return a, b

        first, *_ = others
        _1, _2, _3, _4, _5 = others
        if len(others) > 2:
            shape = T, B = [*x.shape]
        return key, value, inner, first, shape, T, B, _1, _2, _3, _4, _5

    def nested(x: Tensor) -> Any:
        T, (B, C) = x.shape
        return T, B, C

    assert unpacked(several) == ["T", "B"]
    assert unpacked(nested) == ["T"]


def test_without_source_the_first_variables_pass_for_sizes() -> None:
    def attend(x: Tensor, **others: Any) -> Any:
        seq_len, bsz, d = x.shape
        scores = x @ x.mT / d
        return scores.view(seq_len, bsz), others

    space: dict[str, Any] = {}
    code = attend.__code__.replace(co_filename="<nowhere>")
    hidden = FunctionType(code, space)
    assert unpacked(attend) == ["seq_len", "bsz", "d"]
    assert unpacked(hidden) == ["seq_len", "bsz", "d", "scores"]

    def captured(x: Tensor) -> Any:
        bsz, seq_len = x.shape
        return lambda: bsz / seq_len, seq_len

    code = captured.__code__.replace(co_filename="<nowhere>")
    assert unpacked(FunctionType(code, space)) == []


def test_a_module_that_hands_all_on_has_the_arguments_of_its_call() -> None:
    class Layer(nn.Module):
        def call(self, query: Tensor, value: Tensor) -> Tensor:
            return query * value

        def forward(self, *inputs: Any, **named: Any) -> Tensor:
            return self.call(*inputs, **named)

    class Other(nn.Module):
        def forward(self, *inputs: Any, **named: Any) -> Any:
            return inputs, named

    assert [*arguments(Layer())] == ["query", "value"]
    assert [*arguments(Other())] == ["inputs", "named"]
