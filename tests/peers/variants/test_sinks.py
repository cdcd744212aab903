"""Sinks against gpt-oss and x-transformers, and caps against Gemma 2 and FlexAttention.

Written on their own, by the makers of the models or after them.
"""

import functools

import pytest
import torch
import torch.nn.attention.flex_attention as flex
from torch import Tensor, nn
from transformers import GptOssConfig
from transformers.models.gemma2.modeling_gemma2 import (
    eager_attention_forward as gemma_eager,
)
from transformers.models.gpt_oss.modeling_gpt_oss import (
    GptOssAttention,
    eager_attention_forward,
)

from headway import (
    GroupedQueryAttention,
    KeyValueCache,
    LearnedSinks,
    Rotary,
    causal_mask,
    rotary_frequencies,
    sink_attention,
    sink_window_mask,
    softcap_attention,
)

pytestmark = pytest.mark.filterwarnings("ignore")
SOFTMAX = functools.partial(torch.softmax, dim=-1)  # theirs has 32 bits
B, HEADS, GROUPS, D, V, T, S = 2, 6, 2, 4, 5, 7, 11
E = HEADS * D


class Theirs(nn.Module):
    """What their functions read off the module that calls them."""

    def __init__(self, sinks: Tensor, groups: int) -> None:
        super().__init__()
        self.sinks, self.num_key_value_groups = sinks, groups


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def inputs(heads: int) -> list[Tensor]:
    shapes = (HEADS, T, D), (heads, S, D), (heads, S, V)
    return [draw(B, *shape).requires_grad_() for shape in shapes]


def added(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape).double().masked_fill(~mask, -torch.inf)


def close(ours: Tensor, theirs: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


def same_gradients(ours: Tensor, theirs: Tensor, leaves: list[Tensor]) -> None:
    weight = draw(*ours.shape)
    for one, other in zip(
        torch.autograd.grad((ours * weight).sum(), leaves),
        torch.autograd.grad((theirs * weight).sum(), leaves),
        strict=True,
    ):
        close(one, other)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


MASKS = {
    "causal": causal_mask(T, S),
    "a window and the first": sink_window_mask(T, S, window=3, sinks=2),
    "everything": torch.ones(T, S, dtype=torch.bool),
}
EVERY_MASK = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


@EVERY_MASK
@pytest.mark.parametrize("groups", [HEADS, GROUPS, 1])
def test_sinks_equal_those_of_gpt_oss(mask, groups) -> None:
    """In values and all gradients, with heads that share keys and values."""
    query, key, value = inputs(groups)
    sinks = draw(HEADS).requires_grad_()
    theirs, _ = eager_attention_forward(
        Theirs(sinks, HEADS // groups), query, key, value, added(mask), D**-0.5
    )
    theirs = theirs.transpose(1, 2)

    attend = LearnedSinks(HEADS, groups).double()
    ours = torch.func.functional_call(
        attend,
        {"sinks": sinks},
        (
            query.unflatten(1, (groups, -1)),
            key.unsqueeze(2),
            value.unsqueeze(2),
        ),
        {"mask": mask},
    ).flatten(1, 2)
    close(ours, theirs)
    same_gradients(ours, theirs, [query, key, value, sinks])


def test_a_sink_of_zero_is_not_off_there_either() -> None:
    query, key, value = inputs(HEADS)
    zero, off = torch.zeros(HEADS).double(), torch.full((HEADS,), -torch.inf).double()
    results = [
        eager_attention_forward(Theirs(s, 1), query, key, value, None, D**-0.5)[0]
        for s in (zero, off)
    ]
    assert (results[0] - results[1]).abs().max() > 0.05
    close(sink_attention(query, key, value, sinks=off), results[1].transpose(1, 2))


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("chunks", [[T], [3, 4], [1] * T], ids=str)
def test_a_layer_equals_theirs(window, chunks) -> None:
    """All of the layer: projections, rotary positions, groups, window and sinks."""
    config = GptOssConfig(
        hidden_size=E,
        num_attention_heads=HEADS,
        num_key_value_heads=GROUPS,
        head_dim=D,
        num_hidden_layers=2,
        sliding_window=window,
        attn_implementation="eager",
    )
    theirs = GptOssAttention(config, 0).double()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    ours = GroupedQueryAttention(
        E,
        E,
        T,
        0.0,
        HEADS,
        True,
        num_kv_heads=GROUPS,
        window=window,
        rotate=Rotary(D, halves=True),
        attend=LearnedSinks(HEADS, GROUPS),
    ).double()
    with torch.no_grad():
        for layer, other in (
            (ours.W_query, theirs.q_proj),
            (ours.W_key, theirs.k_proj),
            (ours.W_value, theirs.v_proj),
            (ours.out_proj, theirs.o_proj),
        ):
            layer.weight.copy_(other.weight)
            layer.bias.copy_(other.bias)
        ours.attend.sinks.copy_(theirs.sinks)

    x = draw(B, T, E)
    # gpt-oss hands over one angle for each pair.
    turned = torch.arange(T)[None, :, None] * rotary_frequencies(D)
    mask = sink_window_mask(T, window=window or T, sinks=0)
    expected, _ = theirs(x, (turned.cos(), turned.sin()), added(mask)[None, None])
    cache = KeyValueCache()
    found = torch.cat([ours(part, cache=cache) for part in x.split(chunks, 1)], dim=1)
    close(found, expected)
    weight = draw(*found.shape)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    close(ours.attend.sinks.grad, theirs.sinks.grad)
    close(ours.W_key.weight.grad, theirs.k_proj.weight.grad)


@EVERY_MASK
def test_sinks_equal_those_of_x_transformers(mask) -> None:
    from x_transformers.attend import Attend  # warns

    query, key, value = inputs(HEADS)
    theirs = Attend(
        heads=HEADS, head_learned_sink=True, custom_attn_fn=SOFTMAX
    ).double()
    nn.init.normal_(theirs.head_attn_sink)
    expected, _ = theirs(query, key, value, mask=mask.expand(B, 1, T, S))
    sinks = theirs.head_attn_sink
    ours = sink_attention(query, key, value, sinks=sinks, mask=mask)
    close(ours, expected)
    same_gradients(ours, expected, [query, key, value, sinks])


@pytest.mark.parametrize("cap", [0.7, 5.0, 50.0])
@pytest.mark.parametrize("groups", [HEADS, GROUPS])
def test_a_cap_equals_that_of_gemma(cap, groups) -> None:
    """Its softmax has 32 bits, whatever the scores have."""
    query, key, value = inputs(groups)
    theirs, _ = gemma_eager(
        Theirs(torch.zeros(0), HEADS // groups),
        query,
        key,
        value,
        added(MASKS["causal"]),
        scaling=0.9,
        softcap=cap,
    )
    shared = [x.repeat_interleave(HEADS // groups, dim=1) for x in (key, value)]
    ours = softcap_attention(query, *shared, cap=cap, scale=0.9, causal=True)
    close(ours, theirs.transpose(1, 2), 2e-6)


@pytest.mark.parametrize("cap", [0.7, 5.0, 50.0])
def test_a_cap_equals_that_of_flex_attention(cap, monkeypatch) -> None:
    """Which asks `score_mod` first, and hides then."""
    monkeypatch.setattr(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    query, key, value = (x.detach() for x in inputs(HEADS))
    hide = flex.create_block_mask(
        lambda b, h, q, k: q + S - T >= k, None, None, T, S, device="cpu", BLOCK_SIZE=4
    )
    theirs = flex.flex_attention(
        query,
        key,
        value,
        score_mod=lambda score, b, h, q, k: cap * torch.tanh(score / cap),
        block_mask=hide,
    )
    close(softcap_attention(query, key, value, cap=cap, causal=True), theirs)


def test_flex_attention_and_a_gate_make_a_sink(monkeypatch) -> None:
    monkeypatch.setattr(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    query, key, value = (x.detach() for x in inputs(HEADS))
    sinks = draw(HEADS)
    plain, lse = flex.flex_attention(query, key, value, return_lse=True)
    gated = plain * torch.sigmoid(lse - sinks[:, None])[..., None]
    close(sink_attention(query, key, value, sinks=sinks), gated, 1e-6)
