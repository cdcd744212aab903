"""The names that code uses are found without its source, and only those it uses."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as readers write it
from torch import Tensor, nn

from headway.checks.subject.names import used_names


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


def test_a_function_uses_its_locals_and_what_it_looks_up_and_not_its_arguments() -> (
    None
):
    assert used_names(plain) == {"hidden", "tril"}


def test_a_function_made_by_exec_has_names_too() -> None:
    space: dict[str, Any] = {}
    exec("def made(x, causal=None):\n    return x.triu(1)", space)  # noqa: S102
    assert used_names(space["made"]) == {"triu"}


def test_what_is_defined_inside_counts() -> None:
    def outer(x: Tensor) -> list[Tensor]:
        def inner(y: Tensor) -> Tensor:
            return y.tril()

        return [inner(one) for one in x]

    assert {"one", "tril"} <= used_names(outer)


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


def test_an_argument_of_a_call_counts() -> None:
    def attend(q: Tensor, later: bool) -> Tensor:
        one = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        return one + F.scaled_dot_product_attention(q, q, q, enable_gqa=later)

    assert {"is_causal", "enable_gqa"} <= used_names(attend)


def test_an_argument_that_is_false_or_none_does_not_count() -> None:
    def attend(q: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(
            q, q, q, attn_mask=None, dropout_p=0.1, is_causal=False
        )

    assert used_names(attend) == {"F", "scaled_dot_product_attention", "dropout_p"}


def test_an_argument_counts_where_it_cannot_be_read() -> None:
    """A value in several steps hides those before it."""

    def attend(q: Tensor, mask: Tensor, later: bool) -> Tensor:
        return F.scaled_dot_product_attention(
            q, q, q, is_causal=later, attn_mask=mask[None]
        )

    assert {"is_causal", "attn_mask"} <= used_names(attend)
