"""Our rotation equals those that others have published, in values and in gradients.

They make their tables of cosines in 32 bits, which leaves some 1e-7 between us; handed
ours, they agree to the last places of 64 bits.
"""

import pytest
import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from torch import Tensor
from transformers.models.llama import modeling_llama as llama

from headway import (
    MultiHeadAttention,
    Rotary,
    pairs_to_halves,
    pairs_to_halves_weight,
    rotary_frequencies,
)

B, H, T, D, WIDTH, CONTEXT = 2, 3, 7, 10, 21, 1000
E = H * D


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def close(ours: Tensor, theirs: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


def config() -> llama.LlamaConfig:
    return llama.LlamaConfig(
        hidden_size=WIDTH,
        num_attention_heads=H,
        head_dim=D,
        max_position_embeddings=CONTEXT,
        attn_implementation="sdpa",
    )


def tables(positions: Tensor) -> tuple[Tensor, Tensor]:
    """Make what Llama's rotation takes, (B, T, D), in 64 bits."""
    angles = positions[..., None] * rotary_frequencies(D)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def both_turn(ours, theirs, *, tolerance: float) -> None:
    """Compare two functions of queries of several heads, and their gradients."""
    x, gradient = draw(B, H, T, D), draw(B, H, T, D)
    results = []
    for turn in (ours, theirs):
        leaf = x.clone().requires_grad_()
        result = turn(leaf)
        result.backward(gradient)
        results += [(result, leaf.grad)]
    for one, other in zip(*results, strict=True):
        close(one, other, tolerance)


def test_halves_equal_llama_with_tables_in_64_bits() -> None:
    positions = torch.randint(0, CONTEXT, (B, T))
    rotate = Rotary(D, halves=True)

    def theirs(x: Tensor) -> Tensor:
        return llama.apply_rotary_pos_emb(x, x, *tables(positions))[0]

    both_turn(lambda x: rotate(x, positions[:, None]), theirs, tolerance=1e-12)


def test_halves_equal_llama_with_its_own_tables() -> None:
    positions = torch.randint(0, CONTEXT, (B, T))
    rotate, table = Rotary(D, halves=True), llama.LlamaRotaryEmbedding(config())

    def theirs(x: Tensor) -> Tensor:
        return llama.apply_rotary_pos_emb(x, x, *table(x, positions))[0]

    # An angle of 1,000 has six decimals left in 32 bits: half of its last place is
    # 3e-5, and vectors are as large as three.
    both_turn(lambda x: rotate(x, positions[:, None]), theirs, tolerance=2e-4)


def test_pairs_equal_rotary_embedding_torch_with_tables_in_64_bits() -> None:
    positions = torch.arange(5, 5 + T)
    rotate = Rotary(D)
    angles = (positions[:, None] * rotary_frequencies(D)).repeat_interleave(2, dim=-1)
    both_turn(
        lambda x: rotate(x, positions),
        lambda x: apply_rotary_emb(angles, x),
        tolerance=1e-12,
    )


def test_pairs_equal_rotary_embedding_torch_with_its_own_tables() -> None:
    rotate, theirs = Rotary(D), RotaryEmbedding(D)
    both_turn(
        lambda x: rotate(x, torch.arange(5, 5 + T)),
        lambda x: theirs.rotate_queries_or_keys(x, offset=5),
        tolerance=1e-5,
    )


def llama_attention(ours: MultiHeadAttention, reorder) -> llama.LlamaAttention:
    """Copy our weights into Llama's attention, with the rows of two reordered."""
    theirs = llama.LlamaAttention(config(), layer_idx=0).double()
    with torch.no_grad():
        theirs.q_proj.weight.copy_(reorder(ours.W_query.weight))
        theirs.k_proj.weight.copy_(reorder(ours.W_key.weight))
        theirs.v_proj.weight.copy_(ours.W_value.weight)
        theirs.o_proj.weight.copy_(ours.out_proj.weight)
    return theirs


def build(*, halves: bool) -> MultiHeadAttention:
    """Build a module whose last layer is as wide as the tokens, as Llama's is."""
    module = MultiHeadAttention(
        WIDTH, E, CONTEXT, 0.0, H, rotate=Rotary(D, halves=halves)
    )
    module.out_proj = torch.nn.Linear(E, WIDTH, bias=False)
    return module.double()


def run_theirs(module: llama.LlamaAttention, x: Tensor, positions: Tensor) -> Tensor:
    return module(x, position_embeddings=tables(positions), attention_mask=None)[0]


@pytest.mark.parametrize("halves", [True, False], ids=["halves", "pairs"])
def test_a_module_equals_llamas(halves) -> None:
    """With weights for pairs, the rows of the projections are reordered first."""
    ours = build(halves=halves)
    positions = torch.tensor([[300], [4]]) + torch.arange(T)

    def reorder(weight: Tensor) -> Tensor:
        return weight if halves else pairs_to_halves_weight(weight, H)

    theirs = llama_attention(ours, reorder)
    x, gradient = draw(B, T, WIDTH), draw(B, T, WIDTH)
    mine, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    one, two = ours(mine, positions=positions), run_theirs(theirs, other, positions)
    close(one, two)
    one.backward(gradient)
    two.backward(gradient)
    close(mine.grad, other.grad)
    close(reorder(ours.W_query.weight.grad), theirs.q_proj.weight.grad)
    close(reorder(ours.W_key.weight.grad), theirs.k_proj.weight.grad)
    close(ours.W_value.weight.grad, theirs.v_proj.weight.grad)
    close(ours.out_proj.weight.grad, theirs.o_proj.weight.grad)


def test_weights_for_pairs_are_wrong_in_llama_unless_reordered() -> None:
    """So the test above would notice."""
    ours, x = build(halves=False), draw(B, T, WIDTH)
    positions = torch.arange(T).expand(B, T)
    theirs = llama_attention(ours, lambda weight: weight)
    wrong = run_theirs(theirs, x, positions) - ours(x, positions=positions)
    assert wrong.abs().max() > 1e-2


def test_vectors_for_pairs_are_wrong_in_llama_unless_reordered() -> None:
    x, positions = draw(B, H, T, D), torch.arange(T).expand(B, T)
    expected = Rotary(D)(x, positions[:, None])
    theirs = llama.apply_rotary_pos_emb(x, x, *tables(positions))[0]
    assert (theirs - expected).abs().max() > 1.0
    reordered = pairs_to_halves(x)
    theirs = llama.apply_rotary_pos_emb(reordered, reordered, *tables(positions))[0]
    close(theirs, pairs_to_halves(expected))
