"""Masks as functions against those of attention-gym, and attention against SDPA."""

import pytest
import torch
import torch.nn.attention.flex_attention as flex
from attn_gym import masks, mods
from torch import Tensor
from torch.nn.attention.flex_attention import (
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
)
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    FlexAttend,
    alibi_mod,
    alibi_slopes,
    causal_mod,
    count_blocks,
    document_mod,
    padding_mod,
    prefix_mod,
    window_mod,
)

B, HEADS, GROUPS, N, D, V = 2, 8, 4, 29, 5, 7
PIECES = [7, 3, 11, 8]
OFFSETS = torch.tensor([0, 7, 10, 21, 29])
IDS = torch.arange(4).repeat_interleave(torch.tensor(PIECES))
# Ours, and theirs: their window counts the tokens before, and their prefix is one
# number for all texts.
PAIRS = {
    "causal": (causal_mod, masks.causal_mask),
    "window": (window_mod(5), masks.generate_sliding_window(4)),
    "prefix": (prefix_mod(torch.tensor([6] * B)), masks.generate_prefix_lm_mask(6)),
    "documents": (
        and_masks(document_mod(IDS), causal_mod),
        masks.generate_packed_causal_doc_mask_mod(OFFSETS),
    ),
    "documents that see ahead": (
        document_mod(IDS),
        masks.generate_doc_mask_mod(flex.noop_mask, OFFSETS),
    ),
}
EVERY_PAIR = pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out Dynamo, which takes a third of a second for each new function."""
    monkeypatch.setattr(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


def grouped() -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(7)
    sizes = (HEADS, D), (GROUPS, D), (GROUPS, V)
    query, key, value = (
        torch.randn(B, heads, N, width, generator=draw, dtype=torch.float64)
        for heads, width in sizes
    )
    return query, key, value


@EVERY_PAIR
def test_the_same_pairs_and_blocks(ours, theirs) -> None:
    mine, other = (create_mask(mod, B, 1, N, N, "cpu") for mod in (ours, theirs))
    assert torch.equal(mine, other)
    mine, other = (
        create_block_mask(mod, B, 1, N, N, "cpu", BLOCK_SIZE=4)
        for mod in (ours, theirs)
    )
    assert count_blocks(mine) == count_blocks(other)
    assert torch.equal(mine.to_dense(), other.to_dense())


@EVERY_PAIR
def test_the_same_attention_as_with_a_table(ours, theirs) -> None:
    query, key, value = grouped()
    table = create_mask(theirs, B, 1, N, N, "cpu")
    dense = scaled_dot_product_attention(query, key, value, table, enable_gqa=True)
    blocks = create_block_mask(ours, B, HEADS, N, N, "cpu", BLOCK_SIZE=8)
    context = flex_attention(query, key, value, block_mask=blocks, enable_gqa=True)
    torch.testing.assert_close(context, dense, rtol=0, atol=1e-12)
    both = [x.repeat_interleave(HEADS // GROUPS, dim=1) for x in (key, value)]
    torch.testing.assert_close(
        FlexAttend(ours)(query, *both), dense, rtol=0, atol=1e-12
    )


def test_the_blocks_that_they_count_without_a_table() -> None:
    for T, S, size in ((29, 29, 4), (16, 16, 4), (13, 29, 8)):
        theirs = masks.causal.create_causal_block_mask_fast(1, 1, T, S, "cpu", size)
        ours = create_block_mask(causal_mod, 1, 1, T, S, "cpu", BLOCK_SIZE=size)
        assert torch.equal(theirs.to_dense(), ours.to_dense())
        assert count_blocks(theirs) == count_blocks(ours)


def test_alibi_for_a_power_of_two_heads_and_for_others() -> None:
    """For others they take the formula, and the published models its neighbours'."""
    query, key, value = grouped()
    blocks = create_block_mask(causal_mod, B, HEADS, N, N, "cpu", BLOCK_SIZE=8)
    theirs = mods.generate_alibi_bias(HEADS)
    context = flex_attention(
        query, key, value, score_mod=theirs, block_mask=blocks, enable_gqa=True
    )
    both = [x.repeat_interleave(HEADS // GROUPS, dim=1) for x in (key, value)]
    ours = FlexAttend(causal_mod, alibi_mod(alibi_slopes(HEADS)))(query, *both)
    # Their slopes are powers of two, and so exact, though of 32 bits.
    torch.testing.assert_close(ours, context, rtol=0, atol=1e-12)

    one = torch.tensor(1)
    slopes = [
        -mods.generate_alibi_bias(6)(0.0, one, torch.tensor(h), one, one * 0).item()
        for h in range(6)
    ]
    formula = [2.0 ** (-8 * h / 6) for h in range(1, 7)]
    assert slopes == pytest.approx(formula)
    assert slopes != pytest.approx(alibi_slopes(6).tolist())


def test_a_fully_masked_row_is_zeros_where_sdpa_has_zeros() -> None:
    query, key, value = grouped()
    lengths = torch.tensor([0, 11])
    table = create_mask(padding_mod(lengths), B, 1, N, N, "cpu")
    dense = scaled_dot_product_attention(query, key, value, table, enable_gqa=True)
    blocks = create_block_mask(padding_mod(lengths), B, 1, N, N, "cpu")
    context = flex_attention(query, key, value, block_mask=blocks, enable_gqa=True)
    torch.testing.assert_close(context, dense, rtol=0, atol=1e-12)
    assert context[0].eq(0).all()
