"""A cache inside Llama and GPT-2 of transformers: ours in place of theirs, to 1e-12.

The models are small and random, and of 64 bits throughout: transformers computes some
things in 32 bits, whatever the model is, and these are replaced in both models.
"""

import copy
import itertools
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    DynamicCache,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from headway import KeyValueCache, from_gpt2
from headway.decoding.grouped_query import GroupedQueryAttention
from headway.positions.rotary import Rotary

HEADS, KV_HEADS, WIDTH, LAYERS, WORDS, CONTEXT = 6, 3, 10, 2, 31, 19
TEXTS, T = 2, 13
CHUNKS = [[13], [1] * 13, [5, 8], [4, 4, 5], [12, 1]]


class Angles(nn.Module):
    """Cosines and sines in 64 bits, in the form that Llama asks for."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        i = torch.arange(0, WIDTH, 2, dtype=torch.float64)
        angles = position_ids[..., None] * 10_000.0 ** (-i / WIDTH)
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()


class Ours(nn.Module):
    """Our attention and a cache of its own, in the place of theirs."""

    def __init__(self, attend: nn.Module) -> None:
        super().__init__()
        self.attend = attend
        self.cache = KeyValueCache()
        self.mask: Tensor | None = None

    def forward(
        self, hidden_states: Tensor, *_: object, position_ids: Tensor, **__: object
    ) -> tuple[Tensor, None]:
        result = self.attend(
            hidden_states, mask=self.mask, positions=position_ids, cache=self.cache
        )
        return result, None


def llama() -> tuple[PreTrainedModel, PreTrainedModel]:
    """Make a Llama, and one of the same weights that attends as we do."""
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=HEADS * WIDTH,
        intermediate_size=23,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=CONTEXT,
        attention_bias=True,
        attn_implementation="sdpa",
    )
    theirs = LlamaForCausalLM(config).double()
    for name, module in list(theirs.named_modules()):
        if type(module).__name__ == "LlamaRMSNorm":  # it computes in 32 bits
            norm = nn.RMSNorm(HEADS * WIDTH, 1e-6, dtype=torch.float64)
            theirs.set_submodule(name, norm)
    theirs.model.rotary_emb = Angles()
    scatter(theirs)
    ours = copy.deepcopy(theirs)
    for layer in ours.model.layers:
        attend = GroupedQueryAttention(
            HEADS * WIDTH,
            HEADS * WIDTH,
            CONTEXT,
            0.0,
            HEADS,
            True,
            num_kv_heads=KV_HEADS,
            rotate=Rotary(WIDTH, halves=True),
        ).double()
        old = layer.self_attn
        attend.W_query, attend.W_key, attend.W_value, attend.out_proj = (
            old.q_proj,
            old.k_proj,
            old.v_proj,
            old.o_proj,
        )
        layer.self_attn = Ours(attend)
    return ours, theirs


def gpt2() -> tuple[PreTrainedModel, PreTrainedModel]:
    """Make a GPT-2, and one of the same weights that attends as we do."""
    config = GPT2Config(
        vocab_size=WORDS,
        n_positions=CONTEXT,
        n_embd=HEADS * WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        n_inner=23,
        attn_pdrop=0.0,
        embd_pdrop=0.0,
        resid_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="sdpa",
    )
    theirs = GPT2LMHeadModel(config).double()
    scatter(theirs)
    ours = copy.deepcopy(theirs)
    for block in ours.transformer.h:
        block.attn = Ours(from_gpt2(block.attn.state_dict(), HEADS, CONTEXT))
    return ours, theirs


def scatter(model: nn.Module) -> None:
    """Draw all weights, biases too, so large that attention is far from even."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)


MODELS = pytest.mark.parametrize("build", [llama, gpt2])
EVERY_CHUNKS = pytest.mark.parametrize("lengths", CHUNKS, ids=str)


def bounds(lengths: list[int]) -> list[slice]:
    ends = itertools.accumulate(lengths)
    return [slice(end - n, end) for n, end in zip(lengths, ends, strict=True)]


def start(build) -> tuple[PreTrainedModel, PreTrainedModel, Tensor]:
    torch.manual_seed(7)
    ours, theirs = build()
    words = torch.randint(WORDS, (TEXTS, T))
    return ours, theirs, theirs.get_input_embeddings()(words).detach()


def our_logits(
    model: PreTrainedModel,
    x: Tensor,
    lengths: list[int],
    positions: Tensor,
    real: Tensor | None = None,
) -> Tensor:
    pieces = []
    for new in bounds(lengths):
        for module in model.modules():
            if isinstance(module, Ours) and real is not None:
                module.mask = real[:, None, : new.stop]
        piece = model(
            inputs_embeds=x[:, new], position_ids=positions[:, new], use_cache=False
        )
        pieces.append(piece.logits)
    return torch.cat(pieces, dim=1)


def their_logits(
    model: PreTrainedModel,
    x: Tensor,
    lengths: list[int],
    positions: Tensor,
    real: Tensor | None = None,
) -> Tensor:
    cache, pieces = DynamicCache(config=model.config), []
    for new in bounds(lengths):
        piece = model(
            inputs_embeds=x[:, new],
            position_ids=positions[:, new],
            attention_mask=None if real is None else real[:, : new.stop].long(),
            past_key_values=cache,
            use_cache=True,
        )
        pieces.append(piece.logits)
    return torch.cat(pieces, dim=1)


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@MODELS
@EVERY_CHUNKS
def test_chunks_are_theirs_with_gradients(build, lengths) -> None:
    ours, theirs, x = start(build)
    places = torch.arange(T).expand(TEXTS, T)
    a, b = (x.clone().requires_grad_() for _ in range(2))
    mine = our_logits(ours, a, lengths, places)
    expected = their_logits(theirs, b, lengths, places)
    close(mine, expected)
    close(mine, theirs(inputs_embeds=x, use_cache=False).logits)
    loss = torch.randn_like(expected)
    (mine * loss).sum().backward()
    (expected * loss).sum().backward()
    close(a.grad, b.grad)
    weights, others = attention_gradients(ours), attention_gradients(theirs)
    assert len(weights) == len(others) > 0
    for one, other in zip(weights, others, strict=True):
        close(one, other)


def attention_gradients(model: PreTrainedModel) -> list[Tensor]:
    """Collect gradients of keys' and values' projections, one row a number."""
    found = []
    for name, module in model.named_modules():
        last = name.rpartition(".")[2]
        if last in ("k_proj", "v_proj", "W_key", "W_value"):
            found.append(module.weight.grad)
        elif last == "c_attn":  # queries, keys and values side by side
            found += [*module.weight.grad.T.chunk(3)[1:]]
    return found


@MODELS
@pytest.mark.parametrize("lengths", [[13], [8, 1, 1, 3], [2, 11]], ids=str)
def test_texts_that_end_together_are_theirs(build, lengths) -> None:
    ours, theirs, x = start(build)
    pads = torch.tensor([0, 5])
    real = torch.arange(T) >= pads[:, None]
    positions = (torch.arange(T) - pads[:, None]).clamp(min=0)
    mine = our_logits(ours, x, lengths, positions, real)
    expected = their_logits(theirs, x, lengths, positions, real)
    close(mine[real], expected[real])
    for row, pad in enumerate(pads.tolist()):
        alone = theirs(inputs_embeds=x[row : row + 1, pad:], use_cache=False).logits
        close(mine[row, pad:], alone[0])


def test_each_layer_keeps_what_theirs_keeps() -> None:
    ours, theirs, x = start(llama)
    positions = torch.arange(T).expand(TEXTS, T)
    our_logits(ours, x, [5, 8], positions)
    cache = DynamicCache(config=theirs.config)
    theirs(inputs_embeds=x, past_key_values=cache, use_cache=True)
    for layer, kept in zip(ours.model.layers, cache.layers, strict=True):
        nothing = torch.empty(TEXTS, KV_HEADS, 0, WIDTH, dtype=torch.float64)
        key, value, _ = layer.self_attn.cache.append(
            nothing, nothing, torch.empty(0, dtype=torch.int64)
        )
        close(key, kept.keys)
        close(value, kept.values)
