"""What code is meant to do is read off its names; each rule, and where it stops."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.subject.intent import (
    context_length,
    has_positions,
    has_window,
    is_causal,
    is_triangle,
    num_heads,
    widths,
)
from sizes import CONTEXT, D_IN, E, H, T


class Silent(nn.Module):
    """A module whose names say nothing; each attribute says one thing."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Stored(Silent):
    """The same with a buffer."""

    def __init__(self, name: str, tensor: Tensor) -> None:
        super().__init__()
        self.register_buffer(name, tensor)


def silent(x: Tensor) -> Tensor:
    return x


def made(text: str) -> Callable[..., Any]:
    """Make the function or class `f` of text, so that no source is at hand."""
    space: dict[str, Any] = {"nn": nn, "torch": torch}
    exec(text, space)  # noqa: S102
    return space["f"]


# Is the future to be hidden?


@pytest.mark.parametrize("name", ["is_causal", "causal", "masked", "mask"])
@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_decides(name: str, flag: bool) -> None:
    assert is_causal(Silent(**{name: flag})) is flag
    assert is_causal(Silent(inner=Silent(**{name: flag}))) is flag


def test_a_flag_stands_above_all_other_names() -> None:
    class CausalAttention(Silent):
        def forward(self, x: Tensor) -> Tensor:
            return x.tril()

    assert is_causal(CausalAttention(causal=False)) is False
    assert is_causal(CausalAttention()) is True


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_a_flag_is_true_or_false(value: Any) -> None:
    assert is_causal(Silent(causal=value)) is None


@pytest.mark.parametrize("flag", [True, False])
def test_what_a_partial_sets_decides(flag: bool) -> None:
    attend = made("def f(q, k, v, causal=False):\n    return v.tril() if causal else v")
    assert is_causal(attend) is None
    assert is_causal(functools.partial(attend, causal=flag)) is flag
    assert is_causal(functools.partial(attend, 3)) is None


@pytest.mark.parametrize(
    ("default", "intent"),
    [("=True", True), ("=False", None), ("=None", None), ("=1", None), ("", None)],
)
def test_a_flag_that_is_set_by_default_counts(
    default: str, intent: bool | None
) -> None:
    text = f"def f(q, k, v, is_causal{default}):\n    return v"
    assert is_causal(made(text)) is intent


@pytest.mark.parametrize(
    "mask",
    [
        torch.ones(T, T).tril(),
        torch.ones(T, T).triu(1),
        torch.ones(T, T, dtype=torch.bool).triu(),
        torch.full((T, T), -torch.inf).triu(1),
        torch.ones(1, 1, T, T, dtype=torch.int).tril(-1),
        torch.ones(T, T).tril(1),
    ],
)
def test_a_triangle_that_is_kept_means_the_future_is_hidden(mask: Tensor) -> None:
    assert is_triangle(mask)
    assert is_causal(Stored("bias", mask)) is True
    assert is_causal(Silent(bias=mask)) is True


@pytest.mark.parametrize(
    "table",
    [
        torch.ones(T, T),
        torch.zeros(T, T),
        torch.eye(T),
        torch.ones(T, T + 1).tril(),
        torch.ones(1, 1),
        torch.ones(0, 0),
        torch.tensor(1.0),
        torch.ones(T),
        torch.ones(2, T, T).tril(),
        torch.ones(T, T).tril(2),
    ],
)
def test_other_tables_are_no_triangles(table: Tensor) -> None:
    assert not is_triangle(table)
    assert is_causal(Stored("bias", table)) is None


@pytest.mark.parametrize(
    "line",
    [
        "return x.tril()",
        "return torch.triu(x)",
        "return x.triu_(1)",
        "return causal_softmax(x)",
        "return nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)",
        "CAUSAL = x; return CAUSAL",
    ],
)
def test_a_name_in_the_code_means_the_future_is_hidden(line: str) -> None:
    assert is_causal(made(f"def f(x):\n    {line}")) is True


@pytest.mark.parametrize(
    "line",
    [
        "return x",
        "return until(x)",
        "return nn.functional.scaled_dot_product_attention(x, x, x, is_causal=False)",
    ],
)
def test_other_names_are_silent(line: str) -> None:
    assert is_causal(made(f"def f(x):\n    {line}")) is None


@pytest.mark.parametrize("argument", ["mask=None", "attn_mask=None", "causal=False"])
def test_a_name_is_silent_where_the_caller_decides(argument: str) -> None:
    assert is_causal(made(f"def f(x, {argument}):\n    return x.tril()")) is None


def test_the_name_of_a_class_or_function_counts() -> None:
    assert is_causal(made("def f_causal(x):\n    return x\nf = f_causal")) is True
    attend = made(
        "class CausalSelfAttention(nn.Module):\n"
        "    def forward(self, x, mask=None):\n"
        "        return x\n"
        "f = CausalSelfAttention()"
    )
    assert is_causal(attend) is True
    assert is_causal(Silent(inner=attend)) is True
    assert is_causal(silent) is None
    assert is_causal(nn.MultiheadAttention(E, H)) is None


# Does it tell tokens by where they stand? Does it see only the nearest?

POSITIONS = [
    "apply_rope",
    "rotary",
    "rotate_half",
    "alibi_slopes",
    "position_bias",
    "pos_emb",
    "pos_enc",
    "posemb",
    "freqs_cis",
    "inv_freq",
    "relative_bias",
    "sinusoid",
    "cos",
    "sin_cached",
]
NO_POSITIONS = [
    "max_position_embeddings",
    "n_positions",
    "cosine_similarity",
    "single",
    "composed",
    "x",
]


@pytest.mark.parametrize("name", POSITIONS)
def test_a_name_of_positions_counts_wherever_it_stands(name: str) -> None:
    used = made(f"def f(x):\n    return x.{name}")
    assert has_positions(used)
    assert has_positions(made(f"def {name}(x):\n    return x\nf = {name}"))
    assert has_positions(Stored(name, torch.zeros(3)))
    assert has_positions(Silent(**{name: nn.Parameter(torch.zeros(3))}))
    assert has_positions(Silent(**{name: nn.Linear(2, 3)}))


@pytest.mark.parametrize("name", NO_POSITIONS)
def test_other_names_are_no_positions(name: str) -> None:
    assert not has_positions(made(f"def f(x):\n    return x.{name}"))
    assert not has_positions(Stored(name, torch.zeros(3)))


@pytest.mark.parametrize("name", ["sliding", "window_size", "banded"])
def test_a_window_is_told_by_a_name(name: str) -> None:
    assert has_window(made(f"def f(x):\n    return x.{name}"))
    assert not has_window(made("def f(x):\n    return x.tril()"))
    assert not has_window(Silent())


# Sizes


CONTEXTS = """context_length block_size max_seq_len max_seq_length max_sequence_length
    max_len max_length max_position_embeddings max_seq max_tokens n_positions n_ctx
    context_size seq_len seq_length sequence_length"""
HEADS = """num_heads n_heads n_head num_attention_heads nhead heads num_head nheads
    attention_heads attn_heads num_q_heads num_query_heads n_q_heads head_num
    n_local_heads head h H"""
WIDTHS = """d_in embed_dim embed_size emb_size emb_dim embedding_dim d_model dim_model
    model_dim hidden_size hidden_dim num_hiddens n_embd dim_in dim"""


@pytest.mark.parametrize("name", CONTEXTS.split())
def test_the_context_is_an_attribute(name: str) -> None:
    assert context_length(Silent(**{name: CONTEXT})) == CONTEXT
    assert context_length(Silent(inner=Silent(**{name: CONTEXT}))) == CONTEXT


def test_the_context_is_the_smallest_triangle_if_no_attribute_tells() -> None:
    larger = torch.ones(CONTEXT, CONTEXT).tril()
    smaller = torch.ones(1, T, T).triu(1)
    two = Silent(one=Stored("bias", larger), other=Silent(mask=smaller))
    assert context_length(two) == T
    assert context_length(Silent(bias=larger, block_size=T + 4)) == T + 4
    assert context_length(Silent(bias=torch.ones(T, T))) is None
    assert context_length(silent) is None


@pytest.mark.parametrize("value", [True, 0, -3, 4.0, "19", None])
def test_a_size_is_a_whole_number_above_zero(value: Any) -> None:
    module = Silent(context_length=value, d_in=value, num_heads=value)
    assert context_length(module) is None
    assert widths(module) == []
    assert num_heads(module) is None


@pytest.mark.parametrize("name", HEADS.split())
def test_the_number_of_heads_is_an_attribute(name: str) -> None:
    assert num_heads(Silent(**{name: H})) == H


def test_the_number_of_heads_is_the_length_of_a_list() -> None:
    five = nn.ModuleList([nn.Linear(2, 3) for _ in range(H)])
    assert num_heads(Silent(heads=five)) == H
    assert num_heads(Silent(layers=five)) is None
    assert num_heads(silent) is None


def test_a_function_can_have_attributes() -> None:
    attend = made("def f(x):\n    return x\nf.num_heads = 5")
    assert num_heads(attend) == H


@pytest.mark.parametrize("name", ["config", "cfg", "args", "params", "hparams"])
def test_a_configuration_is_looked_into(name: str) -> None:
    sizes = {"num_attention_heads": H, "hidden_size": D_IN, "n_ctx": CONTEXT}
    for config in (sizes, SimpleNamespace(**sizes)):
        module = Silent(**{name: config})
        assert num_heads(module) == H
        assert widths(module) == [D_IN]
        assert context_length(module) == CONTEXT


def test_an_attribute_stands_above_a_configuration() -> None:
    module = Silent(num_heads=H, config={"num_heads": H + 1})
    assert num_heads(module) == H


@pytest.mark.parametrize("name", WIDTHS.split())
def test_the_width_is_an_attribute_or_that_of_the_first_layer(name: str) -> None:
    first, second = nn.Linear(E, 2), nn.Linear(3, 7)
    module = Silent(**{name: D_IN}, first=first, second=second)
    assert widths(module) == [D_IN, E, 2]
    assert widths(Silent(first=first, second=second)) == [E, 2]


def test_the_width_may_be_each_axis_of_the_first_matrix() -> None:
    scale = nn.Parameter(torch.ones(1))
    matrix = nn.Parameter(torch.ones(H, D_IN, 3))
    assert widths(Silent(scale=scale, matrix=matrix)) == [D_IN, H, 3]
    assert widths(Silent(scale=scale)) == []
    assert widths(silent) == []


def test_the_axis_of_a_softmax_is_no_width() -> None:
    module = Silent(softmax=nn.Softmax(dim=2), layer=nn.Linear(D_IN, E))
    assert widths(module) == [D_IN, E]
