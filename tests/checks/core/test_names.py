"""The names that code uses are found, and only those; nearly all without its source."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as readers write it
from torch import Tensor, nn

from headway.checks.core.names import (
    keys_of_dictionaries,
    numbers_by_default,
    read_names,
    used_names,
)
from tests.checks.support.written import written


def plain(x: Tensor, scale: float = 0.5) -> Tensor:
    hidden = x.tril()
    return hidden * scale


class Parent(nn.Module):
    def inherited(self, x: Tensor) -> Tensor:
        return x.cumsum(0)


class Module(Parent):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ModuleList([nn.Softmax(dim=1), nn.Linear(2, 3)])

    @torch.no_grad()
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.helper(x)

    @staticmethod
    def helper(x: Tensor) -> Tensor:
        return x.logsumexp(0)

    @property
    def slope(self) -> Any:
        return torch.arange(3)

    @functools.cached_property
    def steps(self) -> Any:
        return torch.linspace(0, 1, 3)


class Plain:
    """Something that can be called and is no module."""

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return query.flipud()

    def method(self, x: Tensor) -> Tensor:
        return x.fliplr()


@pytest.mark.parametrize("function", [F.scaled_dot_product_attention, torch.softmax])
def test_built_in_functions_use_no_names(function: Callable[..., Any]) -> None:
    assert used_names(function) == set()


IN_A_FUNCTION = """def f(x):
    def inner(y): return y.tril()
    return [inner(one) for one in x]"""
TOLD = """def f(q, later):
    hidden = F.attend(q, is_causal=later)
    return sum(one * hidden for one in q.split(1, dim=2))"""
CAUSALLY = """def f(q):
    def inner(x): return F.attend(x, is_causal=True)
    return inner(q) + F.attend(q, is_causal=False)"""
BESIDE = """def f(q, mask, later):
    one = F.attend(q, is_causal=False, attn_mask=mask[None])
    return one + F.attend(q, enable_gqa=later, attn_mask=mask[None])"""
IN_A_DICTIONARY = """def f(q, **others):
    options = {"is_causal": True, "enable_gqa": False, **others}
    if "alibi" in ("window", "relative"): return q
    return F.attend(q, **options)"""
DECORATED = """def wrapped(*, causal): return lambda function: function
@wrapped(causal=True)
def f(q): return q.exp()"""
AROUND = """def make(causal):
    def f(*heads): return F.attend(*heads, is_causal=causal)
    return f
"""


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("def f(x, y=0.5): hidden = x.tril(); return hidden * y", "hidden tril"),
        (IN_A_FUNCTION, "inner one tril"),
        # Arguments of calls count, unless they are False or None.
        ("def f(q): return F.attend(q, is_causal=True)", "F attend is_causal"),
        ("def f(q, one): return F.attend(q, gqa=one)", "F attend gqa"),
        ("def f(q): return F.attend(q, mask=None, p=0.1, causal=False)", "F attend p"),
        ("def f(q): return F.attend(q, is_causal=False)", "F attend"),
        (
            "def f(q): return F.attend(q.fill(value=True), is_causal=False)",
            "F attend fill value",
        ),
        (TOLD, "F attend is_causal hidden sum one split dim"),
        (CAUSALLY, "F attend is_causal inner"),
        (BESIDE, "F attend one enable_gqa attn_mask"),
        (IN_A_DICTIONARY, "F attend options others is_causal"),
        # Decorators are none of what a function does, and what it captures is.
        (DECORATED, "exp"),
        ("def f(x): mask = x.tril(); return lambda y: y * mask", "mask tril"),
        (f"{AROUND}f = make(True)", "F attend heads is_causal"),
        (f"{AROUND}f = make(False)", "F attend heads"),
    ],
)
def test_a_function_uses_its_locals_and_what_it_looks_up_and_not_its_arguments(
    text: str, used: str
) -> None:
    assert used_names(written(text)) == {*used.split()}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("def f(x, causal=None): return x.triu(1)", "triu"),
        ("def f(x, y=0.5): hidden = x.tril(); return hidden * y", "hidden tril"),
        ("def f(x): mask = x.tril(); return lambda y: y * mask", "mask tril"),
        ("def f(q): return F.attend(q, is_causal=False)", "F attend"),
        (TOLD, "F attend is_causal hidden sum one split dim"),
        (CAUSALLY, "F attend is_causal inner"),
        # An argument counts for one that is true.
        (
            "def f(q): return F.attend(q.fill(value=True), is_causal=False)",
            "F attend fill value is_causal",
        ),
    ],
)
def test_names_are_found_without_source(text: str, used: str) -> None:
    assert used_names(written(text, source=False)) == {*used.split()}


def test_a_module_uses_what_its_methods_use_with_and_without_decorators() -> None:
    found = used_names(Module())
    assert {"helper", "logsumexp", "cumsum", "arange", "linspace"} <= found


def test_what_torch_itself_uses_does_not_count() -> None:
    """The code of nn.Linear and nn.Softmax is in the module, too."""
    found = used_names(Module())
    assert "in_features" not in found
    assert "softmax" not in found
    assert used_names(nn.MultiheadAttention(15, 5)) == set()


def test_an_object_and_its_method_are_read_like_functions() -> None:
    assert {"flipud", "fliplr"} <= used_names(Plain())
    assert used_names(Plain().method) == {"fliplr"}


def test_wrappers_are_taken_off() -> None:
    @functools.wraps(plain)
    def wrapper(*inputs: Any) -> Any:
        return plain(*inputs)

    assert used_names(wrapper) == {"hidden", "tril"}
    assert used_names(functools.partial(wrapper)) == {"hidden", "tril"}


def test_what_is_given_to_a_partial_counts_if_it_is_true() -> None:
    assert used_names(functools.partial(plain, scale=2.0, other=False)) == {
        "hidden",
        "tril",
        "scale",
    }


def test_keys_of_dictionaries_are_texts_that_could_be_names() -> None:
    text = "def f(x): return x['keys'] if 'values' in x else print('no keys here')"
    assert keys_of_dictionaries(written(text)) == {"keys", "values"}


class CallsBeside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.made = torch.linspace(0, 1, 3)

    def forward(self, x: Tensor) -> Tensor:
        return plain(x)


def test_names_that_are_read_are_those_of_functions_beside_too() -> None:
    names = read_names(CallsBeside())
    assert {"plain", "tril", "hidden"} <= names
    assert "linspace" not in names  # where it is made


class Holds:
    """Something that can be called, and calls what it holds."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __call__(self, x: Tensor) -> Any:
        return self.held(x)


class Slots:
    """Its attributes stand in no dictionary."""

    __slots__ = ("held",)

    def __call__(self, x: Tensor) -> Tensor:
        return x.flipud()


@pytest.mark.parametrize("held", [plain, functools.partial(plain, scale=3.0)])
def test_a_function_that_is_held_is_read(held: Callable[..., Any]) -> None:
    assert {"hidden", "tril"} <= used_names(Holds(held))
    module = nn.Sequential()
    module.held = held  # a class of PyTorch, which holds no function of its file
    assert used_names(module) == set()


@pytest.mark.parametrize("held", [F.softmin, functools.partial(F.softmin, dim=1), 3])
def test_what_is_held_of_other_files_is_not(held: Any) -> None:
    assert used_names(Holds(held)) == {"held"}


def test_what_holds_nothing_is_read_as_well() -> None:
    assert "flipud" in used_names(Slots())


def test_numbers_by_default_are_read_from_methods() -> None:
    class Model(nn.Module):
        def __init__(self, layers: int = 3) -> None:
            super().__init__()

        def forward(self, ids: Tensor, pad_id: int = 2, causal: bool = True) -> Tensor:
            return ids

        def write(self, ids: Tensor, *, top: int = 5, heat: float = 1.0) -> Tensor:
            return ids

    assert numbers_by_default(Model()) == {"pad_id": 2, "top": 5}
