"""The arguments of code and its parts are found, whatever surrounds it."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.core.signature import (
    SAYS_WHAT_IS_SEEN,
    arguments,
    parts,
    unpacked,
    unwrapped,
)
from tests.checks.support.written import written


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


GENERATOR = """def f(x):
    seq_len, bsz, d = x.shape
    return sum(x[t, b] for t in range(seq_len) for b in range(bsz)) / d"""
RETURNED = """def f(x):
    (seq_len, bsz), width = x.shape[:2], x.shape[2]
    return lambda: (seq_len, bsz, width)"""
SEVERAL = """def f(x, *others):
    key, value = others[0], others[1]
    def inner(y): a, b = y; return a, b
    first, *_ = others
    _1, _2, _3, _4, _5 = others
    if len(others) > 2: shape = T, B = [*x.shape]
    return key, value, inner, first, shape, T, B, _1, _2, _3, _4, _5"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x): T, _width = x.shape; return x * T", "T _width"),
        ("def f(x): seq_len, bsz, d = x.shape; y = x / d; return y", "seq_len bsz d"),
        (GENERATOR, "seq_len bsz d"),
        # Only sizes of one value are unpacked.
        (RETURNED, ""),
        (SEVERAL, "T B"),
        ("def f(x): T, (B, C) = x.shape; return T, B, C", "T"),
        ("def f(x): return x", ""),
    ],
)
def test_the_names_of_sizes_are_read(text: str, names: str) -> None:
    assert unpacked(written(text)) == names.split()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x): seq_len, bsz, d = x.shape; y = x / d; return y", "seq_len bsz d y"),
        ("def f(x): bsz, seq_len = x.shape; return lambda: bsz / seq_len", ""),
    ],
)
def test_without_source_the_first_variables_pass_for_sizes(
    text: str, names: str
) -> None:
    assert unpacked(written(text, source=False)) == names.split()


def test_the_names_of_sizes_are_read_in_a_function_beside_it() -> None:
    whole = written(
        "def sizes(x): seq_len, bsz, d = x.shape; return seq_len, bsz, d\n"
        "def f(x): return x.new_zeros(sizes(x))\n"
    )
    assert unpacked(whole) == []
    assert unpacked(whole, called=True) == ["seq_len", "bsz", "d"]


def test_the_names_of_sizes_are_read_of_a_module() -> None:
    class Named(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            seq_len, batch, _ = x.shape
            _first, _second = batch, seq_len
            return x

    assert unpacked(Named()) == ["seq_len", "batch", "_"]
    assert unpacked(torch.softmax) == []


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


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("keep", True),
        ("src_valid", True),
        ("visible_tokens", True),
        ("is_padding", True),
        ("context_pad", True),
        ("valid_lens", False),  # how many tokens, and not which
        ("pad_length", False),
        ("invalidate", False),
        ("keeper", False),
        ("padded", False),  # these are tokens
    ],
)
def test_some_names_say_which_tokens_are_seen(name: str, says: bool) -> None:
    assert bool(SAYS_WHAT_IS_SEEN.search(name)) is says
