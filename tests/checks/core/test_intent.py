"""What code is meant to do is read off its names; each rule, and where it stops."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool1d

from headway.checks.core.intent import (
    context_length,
    convolves,
    has_positions,
    has_window,
    is_causal,
    is_triangle,
    keeps,
    kept_positions,
    named_positions,
    num_heads,
    num_kv_heads,
    positions_on_scores,
    widths,
)
from tests.checks.support.written import written
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


class CausalAttention(Silent):
    def forward(self, x: Tensor) -> Tensor:
        return x.tril()


def silent(x: Tensor) -> Tensor:
    return x


def made(text: str) -> Any:
    return written(text, source=False)


def instance(name: str, arguments: str = "x") -> Any:
    """Make a module of a class of this name."""
    forward = f"    def forward(self, {arguments}): return x\n"
    return made(f"class {name}(nn.Module):\n{forward}f = {name}()")


LAYER, SMALL = nn.Linear(2, 3), torch.zeros(3)
TRIANGLE = torch.ones(T, T).tril()
LIBRARY = SimpleNamespace(_attn_implementation="eager")

# Is the future to be hidden?


@pytest.mark.parametrize("name", ["is_causal", "causal", "masked", "mask"])
@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_decides(name: str, flag: bool) -> None:
    assert is_causal(Silent(**{name: flag})) is flag
    assert is_causal(Silent(inner=Silent(**{name: flag}))) is flag


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        # A flag that is set by default counts.
        ("def f(q, k, v, is_causal=True): return v", True),
        ("def f(q, k, v, is_causal=False): return v", None),
        ("def f(q, k, v, is_causal=None): return v", None),
        ("def f(q, k, v, is_causal=1): return v", None),
        ("def f(q, k, v, is_causal): return v", None),
        # So does a name in the code, unless the caller decides.
        ("def f(x): return x.tril()", True),
        ("def f(x): return torch.triu(x)", True),
        ("def f(x): return x.triu_(1)", True),
        ("def f(x): return causal_softmax(x)", True),
        ("def f(x): return causal_mask(x)", True),
        ("def f(x): return F.scaled_dot_product_attention(x, is_causal=True)", True),
        ("def f(x): CAUSAL = x; return CAUSAL", True),
        ("def f(x): return x", None),
        ("def f(x): return until(x)", None),
        ("def f(x): return causal_conv(x)", None),
        ("def f(x): return F.scaled_dot_product_attention(x, is_causal=False)", None),
        ("def f(x, mask=None): return x.tril()", None),
        ("def f(x, attn_mask=None): return x.tril()", None),
        ("def f(x, causal=False): return x.tril()", None),
        # So does the name of a function.
        ("def f_causal(x): return x\nf = f_causal", True),
    ],
)
def test_the_code_of_a_function_says_it(text: str, intent: bool | None) -> None:
    assert is_causal(made(text)) is intent


ATTEND = made("def f(q, k, v, causal=False): return v.tril() if causal else v")
MODULES: dict[str, tuple[Any, bool | None]] = {
    "a flag, above all other names": (CausalAttention(causal=False), False),
    "a name in a method": (CausalAttention(), True),
    "a number is no flag": (Silent(causal=1), None),
    "nothing is no flag": (Silent(causal=None), None),
    "a word is no flag": (Silent(causal="yes"), None),
    "the default of a function": (ATTEND, None),
    "what a partial sets": (functools.partial(ATTEND, causal=True), True),
    "what a partial unsets": (functools.partial(ATTEND, causal=False), False),
    "a partial of something else": (functools.partial(ATTEND, 3), None),
    "a class": (instance("CausalSelfAttention", "x, mask=None"), True),
    "a part": (Silent(inner=instance("CausalSelfAttention", "x, mask=None")), True),
    "a convolution": (Silent(conv=instance("CausalConv3d")), None),
    "a function": (silent, None),
    "of PyTorch": (nn.MultiheadAttention(E, H), None),
    # A layer of a library may leave the mask to its model.
    "of a library": (Silent(config=LIBRARY, is_causal=True), None),
    "configured": (Silent(config=SimpleNamespace(), is_causal=True), True),
}


@pytest.mark.parametrize(("target", "intent"), MODULES.values(), ids=MODULES)
def test_what_surrounds_the_code_says_it(target: Any, intent: bool | None) -> None:
    assert is_causal(target) is intent


@pytest.mark.parametrize("name", ["in_decoder", "is_decoder", "autoregressive"])
def test_what_is_in_no_decoder_hides_nothing(name: str) -> None:
    assert is_causal(Silent(**{name: False}, bias=TRIANGLE)) is False
    assert is_causal(Silent(**{name: True})) is None
    assert is_causal(Silent(**{name: True}, bias=TRIANGLE)) is True


@pytest.mark.parametrize(
    ("table", "hides"),
    [
        (torch.ones(T, T).tril(), True),
        (torch.ones(T, T).triu(1), True),
        (torch.ones(T, T, dtype=torch.bool).triu(), True),
        (torch.full((T, T), -torch.inf).triu(1), True),
        (torch.ones(1, 1, T, T, dtype=torch.int).tril(-1), True),
        (torch.ones(T, T).tril(1), True),
        (torch.ones(T, T), False),
        (torch.zeros(T, T), False),
        (torch.eye(T), False),
        (torch.ones(T, T + 1).tril(), False),
        (torch.ones(1, 1), False),
        (torch.ones(0, 0), False),
        (torch.tensor(1.0), False),
        (torch.ones(T), False),
        (torch.ones(2, T, T).tril(), False),
        (torch.ones(T, T).tril(2), False),
    ],
)
def test_a_triangle_that_is_kept_means_the_future_is_hidden(
    table: Tensor, hides: bool
) -> None:
    assert is_triangle(table) is hides
    assert is_causal(Stored("bias", table)) is (hides or None)
    assert is_causal(Silent(bias=table)) is (hides or None)


# Does it tell tokens by where they stand? Does it see only the nearest?

POSITIONS = """apply_rope rotary rotate_half alibi_slopes position_bias pos_emb pos_enc
    posemb freqs_cis inv_freq relative_bias sinusoid cos sin_cached"""
NO_POSITIONS = """max_position_embeddings n_positions cosine_similarity single composed
    x"""


@pytest.mark.parametrize("name", POSITIONS.split())
def test_a_name_of_positions_counts_wherever_it_stands(name: str) -> None:
    assert has_positions(made(f"def f(x): return x.{name}"))
    assert has_positions(made(f"def {name}(x): return x\nf = {name}"))
    assert has_positions(Stored(name, SMALL))
    assert has_positions(Silent(**{name: nn.Parameter(SMALL)}))
    assert has_positions(Silent(**{name: LAYER}))


@pytest.mark.parametrize("name", NO_POSITIONS.split())
def test_other_names_are_no_positions(name: str) -> None:
    assert not has_positions(made(f"def f(x): return x.{name}"))
    assert not has_positions(Stored(name, SMALL))


@pytest.mark.parametrize("name", ["sliding", "window_size", "banded"])
def test_a_window_is_told_by_a_name(name: str) -> None:
    assert has_window(made(f"def f(x): return x.{name}"))
    assert not has_window(made("def f(x): return x.tril()"))
    assert not has_window(Silent())


# Positions that are kept, and where they act


@pytest.mark.parametrize("name", ["rotary_emb", "inv_freq", "relative_bias", "pos_emb"])
def test_what_is_kept_for_positions_is_named(name: str) -> None:
    assert kept_positions(Stored(name, SMALL)) == name
    assert kept_positions(Silent(inner=Silent(**{name: LAYER}))) == name
    assert kept_positions(Silent(**{name: silent})) == name


@pytest.mark.parametrize(
    "target",
    [
        Silent(rope_theta=3.0, rotary_dim=4, rope=None),
        Silent(rotary=nn.Identity(), cos_similarity=silent),
        Silent(positionwise_ffn=LAYER),
        Silent(position_ids=torch.arange(3)),
        Silent(rotary=LAYER, use_rope=False),
        silent,
    ],
)
def test_options_and_numbers_are_not_kept_positions(target: Any) -> None:
    assert kept_positions(target) is None


@pytest.mark.parametrize(
    ("kept", "on_scores"),
    [
        ({"rotary_emb": LAYER}, True),
        ({"relative_position_bias": LAYER}, True),
        ({"slopes": torch.ones(3)}, True),
        ({"pos_embedding": LAYER}, False),
        ({"pos_embedding": LAYER, "rope": LAYER}, False),
        ({"rotary_emb": LAYER, "rotary_value": True}, False),
        ({}, False),
    ],
)
def test_positions_act_on_scores_or_on_tokens(
    kept: dict[str, Any], on_scores: bool
) -> None:
    assert positions_on_scores(Silent(**kept)) is on_scores


def test_positions_of_functions_are_told_by_their_names() -> None:
    assert positions_on_scores(made("def f(x): return rotate(x)"))
    assert named_positions(made("def f(x): return rotate(x)")) == "rotate"
    assert named_positions(silent) is None


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


@pytest.mark.parametrize("name", HEADS.split())
def test_the_number_of_heads_is_an_attribute(name: str) -> None:
    assert num_heads(Silent(**{name: H})) == H


@pytest.mark.parametrize("name", ["num_kv_heads", "n_query_groups", "kv_heads"])
def test_the_number_of_heads_of_keys_is_an_attribute(name: str) -> None:
    assert num_kv_heads(Silent(**{name: 2})) == 2


@pytest.mark.parametrize("name", WIDTHS.split())
def test_the_width_is_an_attribute_or_that_of_the_first_layer(name: str) -> None:
    first, second = nn.Linear(E, 2), nn.Linear(3, 7)
    module = Silent(**{name: D_IN}, first=first, second=second)
    assert widths(module) == [D_IN, E, 2, 3]
    assert widths(Silent(first=first, second=second)) == [E, 2, 3]


@pytest.mark.parametrize("value", [True, 0, -3, 4.0, "19", None])
def test_a_size_is_a_whole_number_above_zero(value: Any) -> None:
    module = Silent(context_length=value, d_in=value, num_heads=value)
    assert context_length(module) is None
    assert widths(module) == []
    assert num_heads(module) is None


@pytest.mark.parametrize("name", ["config", "cfg", "args", "params", "hparams"])
def test_a_configuration_is_looked_into(name: str) -> None:
    sizes = {"num_attention_heads": H, "hidden_size": D_IN, "n_ctx": CONTEXT}
    for config in (sizes, SimpleNamespace(**sizes)):
        module = Silent(**{name: config})
        assert num_heads(module) == H
        assert widths(module) == [D_IN]
        assert context_length(module) == CONTEXT


LISTED = nn.ModuleList([LAYER for _ in range(H)])
LARGE, SHIFTED = torch.ones(CONTEXT, CONTEXT).tril(), torch.ones(1, T, T).triu(1)
SCALE, MATRIX = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(H, D_IN, 3))
GENERATING = {"max_length": 20, "model_type": "opt", "n_ctx": None}
KNOWN = {"max_position_embeddings": 2048}
SIZES: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "the heads of a list": (num_heads, Silent(heads=LISTED), H),
    "a list of others": (num_heads, Silent(layers=LISTED), None),
    "no heads": (num_heads, silent, None),
    "heads of a function": (num_heads, made("def f(x): return x\nf.num_heads = 5"), H),
    "an attribute": (num_heads, Silent(num_heads=H, config={"num_heads": H + 1}), H),
    "no heads of keys": (num_kv_heads, Silent(), None),
    # The width may be each axis of the first matrix, or that of all heads.
    "a matrix": (widths, Silent(scale=SCALE, matrix=MATRIX), [D_IN, H, 3]),
    "no matrix": (widths, Silent(scale=SCALE), []),
    "no width": (widths, silent, []),
    "the axis of a softmax": (
        widths,
        Silent(softmax=nn.Softmax(dim=2), layer=nn.Linear(D_IN, E)),
        [D_IN, E],
    ),
    "one head": (widths, Silent(heads=H, first=nn.Linear(3, 3)), [3, 3 * H]),
    # The smallest triangle counts if no attribute tells the context.
    "a triangle": (
        context_length,
        Silent(one=Stored("bias", LARGE), other=Silent(mask=SHIFTED)),
        T,
    ),
    "an attribute first": (context_length, Silent(bias=LARGE, block_size=T + 4), T + 4),
    "no triangle": (context_length, Silent(bias=torch.ones(T, T)), None),
    "no context": (context_length, silent, None),
    # How long a text is generated is none.
    "generating": (
        context_length,
        Silent(config=SimpleNamespace(**GENERATING)),
        None,
    ),
    "generating, and known": (
        context_length,
        Silent(config=SimpleNamespace(**GENERATING, **KNOWN)),
        2048,
    ),
    "of no model": (context_length, Silent(config={"max_length": 20, **KNOWN}), 2048),
    "of a layer": (context_length, Silent(max_length=20), 20),
}


@pytest.mark.parametrize(("ask", "target", "answer"), SIZES.values(), ids=SIZES)
def test_a_size_is_found(ask: Callable[[Any], Any], target: Any, answer: Any) -> None:
    assert ask(target) == answer


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


def test_a_pool_mixes_neighbours() -> None:
    class Pooled(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + max_pool1d(x.mT, 3, 1, 1).mT

    assert convolves(Pooled())
    assert convolves(nn.Sequential(nn.AvgPool1d(3)))
    assert not convolves(nn.Linear(3, 3))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relative_bias", True),
        ("relative_encoding", False),
        ("rel_pos_bias", True),
        ("rel_pos_values", False),
        ("value_rel_pos", False),
    ],
)
def test_vectors_of_distances_may_be_in_values_too(name: str, expected: bool) -> None:
    assert positions_on_scores(Silent(**{name: nn.Linear(3, 3)})) is expected


class Masks(Silent):
    """A mask is used, if there is one."""

    def forward(self, x: Tensor) -> Tensor:
        return x if self.causal_mask is None else x * self.causal_mask


def test_a_mask_that_was_not_asked_for_hides_nothing() -> None:
    assert is_causal(Masks(causal_mask=None)) is None
    assert is_causal(Masks(causal_mask=SMALL)) is True
    assert is_causal(Silent(inner=Masks(causal_mask=None))) is None
    buffered = Masks()
    buffered.register_buffer("causal_mask", None)
    assert is_causal(buffered) is None
    assert is_causal(made("def f(x): return x * causal_mask")) is True


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        (Silent(window=T), True),
        (Silent(inner=Silent(length=T)), True),
        (Silent(window=T + 1), False),
        (Silent(window=float(T)), False),
        (Silent(num_heads=T), False),
        (Silent(hidden_size=T), False),
        (Silent(window=(T,)), False),
        (nn.AvgPool1d(T), False),
        (silent, False),
    ],
)
def test_a_number_is_kept_that_is_no_width(target: Any, kept: bool) -> None:
    assert keeps(target, [T, D_IN]) is kept
    assert not keeps(target, [])
