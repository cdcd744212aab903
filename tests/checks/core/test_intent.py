"""What code is meant to do is read off its names; each rule, and where it stops."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.core.intent import (
    context_length,
    has_positions,
    has_window,
    is_causal,
    is_triangle,
    kept_positions,
    named_positions,
    num_heads,
    num_kv_heads,
    positions_on_scores,
    widths,
)
from tests.support.sizes import CONTEXT, D_IN, E, H, T


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
    model_dim hidden_size hidden_dim num_hiddens n_embd dim_in dim emb embed n_embed
    embedding_size d_embed d_emb input_dim in_dim query_dim input_size d_input
    channels"""


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
    assert widths(module) == [D_IN, E, 2, 3]
    assert widths(Silent(first=first, second=second)) == [E, 2, 3]


def test_the_width_may_be_each_axis_of_the_first_matrix() -> None:
    scale = nn.Parameter(torch.ones(1))
    matrix = nn.Parameter(torch.ones(H, D_IN, 3))
    assert widths(Silent(scale=scale, matrix=matrix)) == [D_IN, H, 3]
    assert widths(Silent(scale=scale)) == []
    assert widths(silent) == []


def test_the_axis_of_a_softmax_is_no_width() -> None:
    module = Silent(softmax=nn.Softmax(dim=2), layer=nn.Linear(D_IN, E))
    assert widths(module) == [D_IN, E]


def test_the_width_may_be_that_of_all_heads() -> None:
    """A layer may be for one head's part of a token."""
    assert widths(Silent(heads=H, first=nn.Linear(3, 3))) == [3, 3 * H]


# Styles that names were misread in


@pytest.mark.parametrize("name", ["in_decoder", "is_decoder", "autoregressive"])
def test_what_is_in_no_decoder_hides_nothing(name: str) -> None:
    triangle = torch.ones(T, T).tril()
    assert is_causal(Silent(**{name: False}, bias=triangle)) is False
    assert is_causal(Silent(**{name: True})) is None
    assert is_causal(Silent(**{name: True}, bias=triangle)) is True


def test_a_causal_convolution_says_nothing_of_attention() -> None:
    conv = made(
        "class CausalConv3d(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x\n"
        "f = CausalConv3d()"
    )
    assert is_causal(Silent(conv=conv)) is None
    assert is_causal(made("def f(x):\n    return causal_conv(x)")) is None
    assert is_causal(made("def f(x):\n    return causal_mask(x)")) is True


def test_a_layer_of_a_library_may_leave_the_mask_to_its_model() -> None:
    config = SimpleNamespace(_attn_implementation="eager")
    assert is_causal(Silent(config=config, is_causal=True)) is None
    assert is_causal(Silent(config=SimpleNamespace(), is_causal=True)) is True


def test_how_long_a_text_is_generated_is_no_context() -> None:
    config = SimpleNamespace(max_length=20, model_type="opt", n_ctx=None)
    assert context_length(Silent(config=config)) is None
    config.max_position_embeddings = 2048
    assert context_length(Silent(config=config)) == 2048
    both = {"max_length": 20, "max_position_embeddings": 2048}
    assert context_length(Silent(config=both)) == 2048
    assert context_length(Silent(max_length=20)) == 20


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("cos", (11, 4)),
        ("sin_cached", (1, 1, 11, 4)),
        ("rope_cache", (11, 4, 2)),
        ("freqs_cis", (11, 4)),
        ("pe", (1, 11, 4)),
    ],
)
def test_a_table_of_positions_tells_the_context(
    name: str, shape: tuple[int, ...]
) -> None:
    assert context_length(Silent(inner=Stored(name, torch.zeros(shape)))) == 11
    assert context_length(Stored("other", torch.zeros(shape))) is None
    assert context_length(Silent(inner=Stored(name, torch.zeros(4)))) is None
    longer = Silent(inner=Stored(name, torch.zeros(shape)), block_size=19)
    assert context_length(longer) == 19


@pytest.mark.parametrize("name", ["num_kv_heads", "n_query_groups", "kv_heads"])
def test_the_number_of_heads_of_keys_is_an_attribute(name: str) -> None:
    assert num_kv_heads(Silent(**{name: 2})) == 2
    assert num_kv_heads(Silent()) is None


# Positions that are kept, and where they act


@pytest.mark.parametrize("name", ["rotary_emb", "inv_freq", "relative_bias", "pos_emb"])
def test_what_is_kept_for_positions_is_named(name: str) -> None:
    assert kept_positions(Stored(name, torch.zeros(3))) == name
    assert kept_positions(Silent(inner=Silent(**{name: nn.Linear(2, 3)}))) == name
    assert kept_positions(Silent(**{name: silent})) == name


def test_options_and_numbers_are_not_kept_positions() -> None:
    assert kept_positions(Silent(rope_theta=3.0, rotary_dim=4, rope=None)) is None
    assert kept_positions(Silent(rotary=nn.Identity(), cos_similarity=silent)) is None
    assert kept_positions(Silent(positionwise_ffn=nn.Linear(2, 3))) is None
    assert kept_positions(Silent(position_ids=torch.arange(3))) is None
    assert kept_positions(Silent(rotary=nn.Linear(2, 3), use_rope=False)) is None
    assert kept_positions(silent) is None


@pytest.mark.parametrize(
    ("kept", "on_scores"),
    [
        ({"rotary_emb": nn.Linear(2, 3)}, True),
        ({"relative_position_bias": nn.Linear(2, 3)}, True),
        ({"slopes": torch.ones(3)}, True),
        ({"pos_embedding": nn.Linear(2, 3)}, False),
        ({"pos_embedding": nn.Linear(2, 3), "rope": nn.Linear(2, 3)}, False),
        ({"rotary_emb": nn.Linear(2, 3), "rotary_value": True}, False),
        ({}, False),
    ],
)
def test_positions_act_on_scores_or_on_tokens(
    kept: dict[str, Any], on_scores: bool
) -> None:
    assert positions_on_scores(Silent(**kept)) is on_scores


def test_positions_of_functions_are_told_by_their_names() -> None:
    assert positions_on_scores(made("def f(x):\n    return rotate(x)"))
    assert named_positions(made("def f(x):\n    return rotate(x)")) == "rotate"
    assert named_positions(silent) is None


def test_names_in_functions_that_are_called_count_for_positions() -> None:
    text = (
        "def helper(x):\n    distance = x\n    return distance\n"
        "def f(x):\n    return helper(x)"
    )
    assert has_positions(made(text))
    assert not has_positions(made("def f(x):\n    return torch.sigmoid(x)"))
