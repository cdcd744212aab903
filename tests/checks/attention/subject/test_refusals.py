"""Where a call cannot be found, one sentence says why and what to say instead."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway._paths import shown
from headway.checks.attention.subject import Options, discover
from tests.checks.support.asking import refused

HERE = shown(Path(__file__), Path.cwd())


def line(function: Any, after: int = 1) -> str:
    return f"{HERE}:{function.__code__.co_firstlineno + after}"


class Layer(nn.Module):
    def __init__(self, d_in: int = 12, d_out: int = 12) -> None:
        super().__init__()
        self.first = nn.Linear(d_in, d_out)
        self.last = nn.Linear(d_in, d_in)


class Unfit(Layer):
    """A plain mistake: the last layer has the wrong width."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        return self.last(y)


def test_an_error_in_forward_is_told_with_its_line() -> None:
    with refused(
        "Unfit must take tokens of shape (3, 7, 12), called as m(x); got RuntimeError: "
        "mat1 and mat2 shapes cannot be multiplied (21x20 and 12x12) at "
        f"{line(Unfit.forward, 2)}. If it takes another width, say d_in; if it wants "
        "another call, say call."
    ):
        discover(Unfit(12, 20), Options())


class Emb(Unfit):
    """A wrong width is tried first, and its error is not the one that counts."""

    emb = 12
    dim = 4


def test_the_error_that_came_farthest_is_told() -> None:
    with pytest.raises(ValueError, match=r"21x20 and 12x12"):
        discover(Emb(12, 20), Options())


class Graph(Layer):
    def forward(self, x: Tensor, edges: Any, kinds: Any, mask: Any) -> Tensor:
        return self.first(x)[edges.nodes]


def test_what_only_the_reader_knows_is_asked_for() -> None:
    with pytest.raises(ValueError, match=r"^call must say what Graph gets") as caught:
        discover(Graph(), Options())
    assert str(caught.value).startswith(
        "call must say what Graph gets for edges, kinds, mask, such as "
        'call="m(x, edges=..., kinds=..., mask=...)"; got call=None, and m(x, x, x, '
        "None) raised AttributeError: 'Tensor' object has no attribute 'nodes' at "
        f"{line(Graph.forward)}"
    )


class Rotated(Layer):
    def forward(self, x: Tensor, freqs_cos: Tensor, freqs_sin: Tensor) -> Tensor:
        raise ValueError("no such table")


def test_tables_that_do_not_fit_are_asked_for() -> None:
    with refused(
        "call must say what Rotated gets for freqs_cos, freqs_sin, such as "
        'call="m(x, freqs_cos=..., freqs_sin=...)"; got call=None, and m(x, freqs_cos, '
        f"freqs_sin) raised ValueError: no such table at {line(Rotated.forward)}."
    ):
        discover(Rotated(), Options())


def of_three_and_more(q: Tensor, k: Tensor, v: Tensor, table: Any) -> Tensor:
    return q * table.size


def test_so_it_is_for_a_function() -> None:
    with pytest.raises(ValueError, match=r'such as call="f\(q, k, v, table=...\)"'):
        discover(of_three_and_more, Options())


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(16, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        _B, _C, H, W = x.shape
        return self.layer(x).reshape(H, W)


def test_an_image_is_explained() -> None:
    with pytest.raises(ValueError, match="not enough values to unpack") as caught:
        discover(Image(), Options())
    assert str(caught.value).endswith(
        "say call, such as call="
        '"m(x.mT.unflatten(2, (-1, 3))).flatten(2).mT" for images.'
    )


# Token ids


class Model(nn.Module):
    def __init__(self, answer: str = "tensor", depth: int = 1) -> None:
        super().__init__()
        self.table = nn.Embedding(31, 12)
        layers = (nn.MultiheadAttention(12, 3) for _ in range(depth))
        self.blocks = nn.ModuleList(nn.ModuleDict({"attn": one}) for one in layers)
        self.head = nn.Linear(12, 31)
        self.answer = answer

    def forward(self, ids: Tensor) -> Any:
        _B, _T = ids.shape
        logits = self.head(self.table(ids))
        return {
            "tensor": logits,
            "tuple": (logits, None),
            "dictionary": {"logits": logits},
            "none": None,
        }[self.answer]


@pytest.mark.parametrize("answer", ["tensor", "tuple", "dictionary"])
def test_a_model_of_token_ids_is_sent_to_the_right_check(answer: str) -> None:
    with refused(
        "Model must take tokens of shape (texts, tokens, d_in), and it takes token "
        "ids: check all of it by check_model(model, vocab_size=31), or by headway "
        "check file.py:Model --vocab 31; or its attention alone by "
        'call="m.blocks[0].attn(x)", d_in=12.'
    ):
        discover(Model(answer), Options())


def test_a_model_without_attention_is_sent_there_too() -> None:
    with pytest.raises(ValueError, match=r"--vocab 31\.$"):
        discover(Model(depth=0), Options())


def test_what_returns_no_tensor_for_ids_takes_none() -> None:
    with pytest.raises(
        ValueError, match=r"^Model must take tokens of shape \(2, 7, 12"
    ):
        discover(Model("none"), Options())


def test_a_model_that_takes_no_ids_either_is_told_of_its_error() -> None:
    class Broken(Model):
        def forward(self, ids: Tensor) -> Any:
            raise RuntimeError("out of order")

    with pytest.raises(ValueError, match=r"got RuntimeError: out of order at "):
        discover(Broken(), Options())


# Other libraries


class InNumPy:
    def __init__(self, width: int) -> None:
        self.W = np.ones((width, width))

    def forward(self, x: Any) -> Any:
        return np.dot(x, self.W)


def of_arrays(q: Any, k: Any, v: Any) -> Any:
    return np.matmul(q, k.missing)


@pytest.mark.refusal
def test_numpy_is_told_what_to_do() -> None:
    with pytest.raises(
        ValueError, match=r"^forward must take PyTorch tensors"
    ) as caught:
        discover(InNumPy(12), Options(d_in=12))
    before, _, after = str(caught.value).partition("; got ")
    assert before == (
        "forward must take PyTorch tensors and return one, but it is written for NumPy"
    )
    assert after.endswith(
        'With call="torch.as_tensor(f(x.numpy()))", all is checked except gradients.'
    )
    arrays = r"f\(q.numpy\(\), k.numpy\(\), v.numpy\(\)\)"
    with pytest.raises(ValueError, match=f'^of_arrays must take .* "?.*{arrays}'):
        discover(of_arrays, Options())


def test_keras_is_told_how_a_class_is_found_again() -> None:
    class Own(Layer):
        def __deepcopy__(self, memory: Any) -> Any:
            raise TypeError("Could not locate class")

    Own.__module__ = "keras.layers"
    with pytest.raises(
        ValueError, match=r"^Own must be copied to be checked; .*register_keras_ser"
    ):
        discover(Own(), Options(d_in=12))


def test_a_layer_that_hands_on_its_arguments_is_read_by_its_call() -> None:
    class AsKeras(Layer):
        def call(self, query: Tensor, value: Tensor, key: Tensor) -> Tensor:
            three = self.first(query), self.first(key), self.last(value)
            return scaled_dot_product_attention(*three)

        def forward(self, *inputs: Any, **named: Any) -> Tensor:
            return self.call(*inputs, **named)

    assert discover(AsKeras(), Options()).call.text == "m(x, x, x)"


@pytest.mark.refusal
def test_an_object_with_a_forward_is_called_by_it() -> None:
    class Plain:
        def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            return scaled_dot_product_attention(query, key, value)

    assert discover(Plain(), Options()).call.text == "f(query, key, value)"
    with pytest.raises(ValueError, match="got module_or_function=a list"):
        discover([torch.zeros(30)], Options())  # type: ignore[arg-type]


@pytest.mark.refusal
def test_a_model_that_needs_more_than_ids_is_refused_for_what_it_needs() -> None:
    class Model(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 12)

        def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
            return self.first(self.table(ids) + self.table(segments))

    with pytest.raises(ValueError, match=r"^call must say what Model gets for seg"):
        discover(Model(), Options())


class Answers(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return "no"


def answers(queries: Tensor, keys: Tensor, values: Tensor) -> Any:
    return "no"


@pytest.mark.parametrize(
    ("code", "example"),
    [(Answers(), "m(x, x, x)[0]"), (answers, "f(q, k, v)[0]")],
    ids=["module", "function"],
)
def test_an_example_shows_how_a_call_is_written(code: Any, example: str) -> None:
    with pytest.raises(ValueError, match="it returned str, not a tensor") as caught:
        discover(code, Options(d_in=12))
    such = f'takes tokens of shape (texts, tokens, d_in), such as call="{example}"; got'
    assert such in str(caught.value)
