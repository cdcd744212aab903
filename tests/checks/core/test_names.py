"""The names that code uses are found, and only those; nearly all without its source."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as readers write it
from torch import Tensor, nn

from headway.checks.core.names import used_names


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


def test_an_argument_is_read_whatever_stands_beside_it() -> None:
    def attend(q: Tensor, mask: Tensor, later: bool) -> Tensor:
        one = F.scaled_dot_product_attention(
            q, q, q, is_causal=False, attn_mask=mask[None]
        )
        return one + F.scaled_dot_product_attention(
            q, q, q, enable_gqa=later, attn_mask=mask[None]
        )

    found = used_names(attend)
    assert {"enable_gqa", "attn_mask"} <= found
    assert "is_causal" not in found


def test_arguments_in_a_dictionary_count_and_other_words_do_not() -> None:
    def attend(q: Tensor, **others: bool) -> Tensor:
        options = {"is_causal": True, "enable_gqa": False, **others}
        if "alibi" in ("window", "relative"):
            return q
        return F.scaled_dot_product_attention(q, q, q, **options)

    found = used_names(attend)
    assert "is_causal" in found
    assert not {"enable_gqa", "alibi", "window", "relative"} & found


def test_decorators_are_none_of_what_a_function_does() -> None:
    def wrapped(*, causal: bool) -> Callable[[Any], Any]:
        return lambda function: function if causal else None

    @wrapped(causal=True)
    def attend(q: Tensor) -> Tensor:
        return q.exp()

    assert used_names(attend) == {"exp"}


def test_what_is_captured_counts() -> None:
    def attend(x: Tensor) -> Any:
        causal_mask = x.tril()
        return lambda y: y * causal_mask

    assert "causal_mask" in used_names(attend)
    assert "causal_mask" in used_names(without_source(attend))


def without_source(function: Any) -> Any:
    """Give a function whose source nobody can find."""
    code = function.__code__.replace(co_filename="<nowhere>")
    return FunctionType(code, function.__globals__, closure=function.__closure__)


def attend_as_told(q: Tensor, later: bool) -> Tensor:
    hidden = F.scaled_dot_product_attention(q, q, q, is_causal=later)
    return sum(one * hidden for one in q.split(1, dim=2))


def attend_causally(q: Tensor) -> Tensor:
    def inner(x: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(x, x, x, is_causal=True)

    return inner(q) + F.scaled_dot_product_attention(q, q, q, is_causal=False)


def attend_to_all(q: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, q, q, is_causal=False)


@pytest.mark.parametrize(
    "function", [plain, attend_as_told, attend_causally, attend_to_all]
)
def test_names_are_the_same_without_source(function: Any) -> None:
    assert used_names(without_source(function)) == used_names(function)


def test_without_source_an_argument_counts_for_one_that_is_true() -> None:
    def attend(q: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(
            q, q.masked_fill(q > 0, value=True), q, is_causal=False
        )

    assert "is_causal" not in used_names(attend)
    assert "is_causal" in used_names(without_source(attend))


@pytest.mark.parametrize(("causal", "counts"), [(True, True), (False, False)])
def test_an_argument_counts_as_the_variable_around_it_says(
    causal: bool, counts: bool
) -> None:
    def attend(*heads: Any) -> Any:
        return F.scaled_dot_product_attention(*heads, is_causal=causal)

    assert ("is_causal" in used_names(attend)) is counts
