"""Windows against those of transformers: the mask, a layer with its cache, a model."""

import copy

import pytest
import torch
from torch import Tensor
from transformers import MistralConfig
from transformers.cache_utils import DynamicCache
from transformers.masking_utils import sliding_window_causal_mask_function
from transformers.models.mistral.modeling_mistral import MistralAttention, MistralModel

from headway import (
    GroupedQueryAttention,
    RingCache,
    Rotary,
    rotary_frequencies,
    sliding_window_mask,
)

N, W = 13, 4
B, WIDTH, HEADS, GROUPS = 2, 6, 6, 2
E = HEADS * WIDTH
CONFIG = MistralConfig(
    vocab_size=29,
    hidden_size=E,
    intermediate_size=41,
    num_hidden_layers=3,
    num_attention_heads=HEADS,
    num_key_value_heads=GROUPS,
    head_dim=WIDTH,
    max_position_embeddings=64,
    sliding_window=W,
    attn_implementation="sdpa",
    attention_dropout=0.0,
)
CUTS = pytest.mark.parametrize("chunks", [[7, 6], [3, 10], [1] * N, [N]], ids=str)


def angles(positions: Tensor) -> tuple[Tensor, Tensor]:
    """Give cosines and sines in 64 bits: those of transformers are in 32."""
    turned = positions[..., None] * rotary_frequencies(WIDTH)
    both = torch.cat([turned, turned], dim=-1)
    return both.cos(), both.sin()


class Angles(torch.nn.Module):
    """What a model of transformers asks for its cosines and sines."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        return angles(position_ids)


def like(theirs: MistralAttention) -> GroupedQueryAttention:
    """Make ours of the matrices of theirs."""
    rotate = Rotary(WIDTH, halves=True)
    ours = GroupedQueryAttention(
        E, E, 64, 0.0, HEADS, num_kv_heads=GROUPS, window=W, rotate=rotate
    ).double()
    with torch.no_grad():
        for layer, other in (
            (ours.W_query, theirs.q_proj),
            (ours.W_key, theirs.k_proj),
            (ours.W_value, theirs.v_proj),
            (ours.out_proj, theirs.o_proj),
        ):
            layer.weight.copy_(other.weight)
        ours.out_proj.bias.zero_()
    return ours


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("window", [1, 2, 3, W, N, N + 1])
def test_a_window_counts_as_it_does_there(window) -> None:
    """Which counts the token itself; FlashAttention's pair does not."""
    look = sliding_window_causal_mask_function(window)
    query, key = torch.arange(N)[:, None], torch.arange(N)
    theirs = look(None, None, query, key)
    assert torch.equal(sliding_window_mask(N, window=window), theirs)
    newest = look(None, None, query[-5:], key)
    assert torch.equal(sliding_window_mask(5, N, window=window), newest)


@CUTS
def test_a_layer_with_a_ring_equals_theirs_with_its_cache(chunks) -> None:
    """In values, in gradients of the text, and in those of all four matrices."""
    theirs = MistralAttention(CONFIG, 0).double()
    ours = like(theirs)
    x = torch.randn(B, N, E, dtype=torch.float64)
    own, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    cache, ring = DynamicCache(config=CONFIG), RingCache(W)
    look = sliding_window_causal_mask_function(W)

    found, expected, start = [], [], 0
    for length in chunks:
        end = start + length
        positions = torch.arange(start, end)
        keys, first = cache.get_mask_sizes(length, 0)
        key = torch.arange(first, first + keys)
        mask = look(None, None, positions[:, None], key)[None, None]
        part, _ = theirs(other[:, start:end], angles(positions[None]), mask, cache)
        expected.append(part)
        found.append(ours(own[:, start:end], cache=ring))
        start = end
    close(torch.cat(found, dim=1), torch.cat(expected, dim=1))
    assert ring.length == cache.get_seq_length() == N
    assert cache.layers[0].keys.shape[-2] == W - 1  # a slot fewer than a ring

    gradient = torch.randn(B, N, E, dtype=torch.float64)
    torch.cat(found, dim=1).backward(gradient)
    torch.cat(expected, dim=1).backward(gradient)
    close(own.grad, other.grad)
    for mine, their in zip(
        (ours.W_query, ours.W_key, ours.W_value, ours.out_proj),
        (theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.o_proj),
        strict=True,
    ):
        close(mine.weight.grad, their.weight.grad)


@CUTS
def test_a_whole_model_may_have_our_layers(chunks) -> None:
    """Mistral as it runs, mask and cache and all; then with ours and rings in it."""
    theirs = MistralModel(CONFIG).double().eval()
    theirs.rotary_emb = Angles()
    ours = copy.deepcopy(theirs)
    rings = [RingCache(W) for _ in ours.layers]
    for layer, ring in zip(ours.layers, rings, strict=True):
        layer.self_attn = InPlaceOf(like(layer.self_attn), ring)
    tokens = torch.randint(29, (B, N))
    cache = DynamicCache(config=CONFIG)

    found, expected, start = [], [], 0
    for part in tokens.split(chunks, dim=1):
        where = torch.arange(start, start + part.shape[1])[None]
        given = {"input_ids": part, "position_ids": where}
        expected.append(theirs(**given, past_key_values=cache).last_hidden_state)
        found.append(ours(**given, use_cache=False).last_hidden_state)
        start += part.shape[1]
    close(torch.cat(found, dim=1), torch.cat(expected, dim=1))
    whole = theirs(tokens, use_cache=False).last_hidden_state
    close(torch.cat(found, dim=1), whole)


class InPlaceOf(torch.nn.Module):
    """Ours, called as a layer of transformers calls its own."""

    def __init__(self, inner: GroupedQueryAttention, ring: RingCache) -> None:
        super().__init__()
        self.inner, self.ring = inner, ring

    def forward(self, hidden_states: Tensor, **_: object) -> tuple[Tensor, None]:
        return self.inner(hidden_states, cache=self.ring), None
