"""Several texts in one row: each equals itself alone, in values and in gradients."""

import itertools

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    MultiHeadAttention,
    attention,
    causal_mask,
    document_mask,
    fused_attention,
    pack,
    unpack,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D_IN, B, D, E, H, S, T, draw

LENGTHS = (2, 5, 1, 3)  # no two alike, one of them a single token
ROW = sum(LENGTHS)
ATTEND = pytest.mark.parametrize("attend", [fused_attention, attention])


def draw_texts() -> list[Tensor]:
    return [draw(length, D_IN) for length in LENGTHS]


def build(**options) -> MultiHeadAttention:
    return MultiHeadAttention(D_IN, E, 2 * ROW, 0.0, H, True, **options).double()


def by_loops(ids: list[int]) -> list[list[bool]]:
    """Go through all pairs: the same text, and no padding."""
    return [[a == b and b >= 0 for b in ids] for a in ids]


# The row.


def test_texts_stand_end_to_end() -> None:
    texts = draw_texts()
    row, document_ids = pack(texts)
    assert document_ids.tolist() == [0] * 2 + [1] * 5 + [2] * 1 + [3] * 3
    assert row.shape == (ROW, D_IN)
    bounds = [0, *itertools.accumulate(LENGTHS)]
    for text, (start, end) in zip(texts, itertools.pairwise(bounds), strict=True):
        assert torch.equal(row[start:end], text)


def test_what_is_left_of_a_row_is_padding() -> None:
    row, document_ids = pack(draw_texts(), length=ROW + 4)
    assert document_ids[ROW:].tolist() == [-1] * 4
    assert document_ids[:ROW].min() == 0
    assert row[ROW:].eq(0).all()
    assert row.shape == (ROW + 4, D_IN)
    assert torch.equal(pack(draw_texts(), length=ROW)[1], document_ids[:ROW])


@pytest.mark.parametrize("length", [None, ROW + 4])
@pytest.mark.parametrize("width", [(), (D_IN,), (H, D)], ids=str)
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool], ids=str)
def test_unpacking_is_the_inverse(dtype, width, length) -> None:
    texts = [(10 * draw(length, *width)).to(dtype) for length in LENGTHS]
    row, document_ids = pack(texts, length)
    assert row.dtype == dtype
    assert document_ids.dtype == torch.int64
    back = unpack(row, document_ids)
    assert len(back) == len(texts)
    for one, text in zip(back, texts, strict=True):
        assert torch.equal(one, text)


def test_unpacking_follows_the_numbers_wherever_they_stand() -> None:
    row = torch.arange(7)
    document_ids = torch.tensor([3, 0, -1, 3, 0, -2, 0])
    assert [text.tolist() for text in unpack(row, document_ids)] == [
        [1, 4, 6],
        [0, 3],
    ]


def test_gradients_go_back_to_each_text() -> None:
    texts = [text.requires_grad_() for text in draw_texts()]
    row, document_ids = pack(texts, length=ROW + 4)
    (row * document_ids[:, None]).sum().backward()
    for number, text in enumerate(texts):
        assert text.grad.eq(number).all()


def test_a_row_is_made_where_the_texts_are() -> None:
    texts = draw_texts()
    with torch.device("meta"):
        row, document_ids = pack(texts, length=ROW + 4)
        assert row.device == document_ids.device == texts[0].device
        assert document_mask(document_ids).device == document_ids.device
    row, document_ids = pack([text.to("meta") for text in texts])
    assert row.device.type == document_ids.device.type == "meta"


# The mask.


def test_two_and_three_tokens_use_nine_of_fifteen_pairs() -> None:
    _, document_ids = pack([draw(2, D_IN), draw(3, D_IN)])
    both = document_mask(document_ids) & causal_mask(5)
    assert both.tolist() == [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [False, False, True, False, False],
        [False, False, True, True, False],
        [False, False, True, True, True],
    ]
    assert (int(both.sum()), int(causal_mask(5).sum())) == (9, 15)


@pytest.mark.parametrize(
    "ids",
    [
        [0, 0, 1, 1, 1, 2],
        [0, 1, 0, 2, 1],  # a text need not stand in one piece
        [5, 5, 0, -1, -1, 3],
        [-1, -2, -1],  # padding is not a text, whatever its number
        [0],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_a_mask_equals_the_loops(ids, dtype) -> None:
    mask = document_mask(torch.tensor(ids, dtype=dtype))
    assert mask.dtype == torch.bool
    assert mask.tolist() == by_loops(ids)


def test_each_row_of_a_batch_has_a_mask_of_its_own() -> None:
    ids = torch.randint(-1, 3, (B, 3, S))
    mask = document_mask(ids)
    assert mask.shape == (B, 3, S, S)
    for place in itertools.product(range(B), range(3)):
        assert mask[place].tolist() == by_loops(ids[place].tolist())


# Packed equals alone.


@ATTEND
@pytest.mark.parametrize("training", [True, False])
def test_each_text_of_a_row_equals_itself_alone_with_gradients(
    attend, training
) -> None:
    module = build(attend=attend).train(training)
    alone = [text.requires_grad_() for text in draw_texts()]
    packed = [text.detach().clone().requires_grad_() for text in alone]
    row, document_ids = pack(packed)
    gradients = [draw(length, E) for length in LENGTHS]

    results = unpack(module(row, mask=document_mask(document_ids)), document_ids)
    torch.cat(results).backward(torch.cat(gradients))
    together = [weight.grad.clone() for weight in module.parameters()]
    module.zero_grad()
    for text, result, gradient in zip(alone, results, gradients, strict=True):
        expected = module(text)
        close(result, expected)
        expected.backward(gradient)
    for one, other in zip(packed, alone, strict=True):
        close(one.grad, other.grad)
    for weight, gradient in zip(module.parameters(), together, strict=True):
        close(weight.grad, gradient)


def test_a_packed_row_equals_the_loops() -> None:
    module = build()
    texts = draw_texts()
    row, document_ids = pack(texts)
    result = module(row, mask=document_mask(document_ids))
    state = module.state_dict()
    expected = [
        oracles.self_attention(text, state, causal=True, num_heads=H) for text in texts
    ]
    close(result, torch.cat(expected))


@ATTEND
def test_a_batch_of_packed_rows_equals_each_text_alone(attend) -> None:
    module = build(attend=attend)
    first, second = draw_texts(), draw_texts()[::-1]
    rows = [pack(first, ROW + 2), pack(second[1:], ROW + 2)]
    x, ids = (torch.stack(part) for part in zip(*rows, strict=True))
    result = module(x, mask=document_mask(ids))
    for text, texts in enumerate((first, second[1:])):
        for one, alone in zip(unpack(result[text], ids[text]), texts, strict=True):
            close(one, module(alone))


@ATTEND
@pytest.mark.parametrize("volume", [1, 1e3])
def test_a_text_moves_no_other_by_a_single_bit(attend, volume) -> None:
    module = build(attend=attend)
    texts = draw_texts()
    row, document_ids = pack(texts)
    mask = document_mask(document_ids)
    before = unpack(module(row, mask=mask), document_ids)
    for changed in range(len(texts)):
        others = [*texts]
        others[changed] = volume * draw(LENGTHS[changed], D_IN)
        after = unpack(module(pack(others)[0], mask=mask), document_ids)
        for number in range(len(texts)):
            same = torch.equal(after[number], before[number])
            assert same == (number != changed)


@ATTEND
def test_without_the_mask_texts_see_those_before_them(attend) -> None:
    """So the test above would notice."""
    module = build(attend=attend)
    texts = draw_texts()
    row, document_ids = pack(texts)
    without = unpack(module(row), document_ids)
    close(without[0], module(texts[0]))
    for result, text in zip(without[1:], texts[1:], strict=True):
        assert (result - module(text)).abs().max() > 1e-3


@ATTEND
def test_texts_may_stand_in_any_order(attend) -> None:
    module = build(attend=attend)
    texts = draw_texts()
    row, ids = pack(texts)
    turned, turned_ids = pack(texts[::-1])
    results = unpack(module(row, mask=document_mask(ids)), ids)
    others = unpack(module(turned, mask=document_mask(turned_ids)), turned_ids)
    for one, other in zip(results, others[::-1], strict=True):
        close(one, other)


@ATTEND
def test_padding_in_a_row_harms_nobody(attend) -> None:
    """Garbage stands there: it is not seen, gives zeros, and no gradient is nan."""
    module = build(attend=attend)
    texts = draw_texts()
    row, document_ids = pack(texts, length=ROW + 4)
    row[ROW:] = 1e3
    row.requires_grad_()
    result = module(row, mask=document_mask(document_ids))
    for one, text in zip(unpack(result, document_ids), texts, strict=True):
        close(one, module(text))
    assert torch.equal(result[ROW:], module.out_proj.bias.expand(4, E))
    result.square().sum().backward()
    assert row.grad[ROW:].eq(0).all()
    assert row.grad.isfinite().all()
    for weight in module.parameters():
        assert weight.grad.isfinite().all()


@ATTEND
def test_who_is_padding_gets_zeros_from_the_function(attend) -> None:
    ids = torch.tensor([0, 0, -1, 1, -1, 1, 1])
    query, key, value = (draw(B, T, D).requires_grad_() for _ in range(3))
    context = attend(query, key, value, mask=document_mask(ids), causal=True)
    assert context[:, ids < 0].eq(0).all()
    assert context[:, ids >= 0].ne(0).all()
    context.sum().backward()
    for tensor in (query, key, value):
        assert tensor.grad[:, ids < 0].eq(0).all()
        assert tensor.grad.isfinite().all()


# The same by others.


def test_it_equals_pytorchs_function() -> None:
    query, key, value = (draw(B, H, ROW, D) for _ in range(3))
    _, ids = pack(draw_texts())
    mask = document_mask(ids) & causal_mask(ROW)
    theirs = scaled_dot_product_attention(query, key, value, attn_mask=mask)
    ours = fused_attention(query, key, value, mask=document_mask(ids), causal=True)
    close(ours, theirs)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_it_equals_a_mask_of_flex_attention() -> None:
    """Forward and eager: on a CPU there is no more of it."""
    query, key, value = (draw(B, H, ROW, D) for _ in range(3))
    _, ids = pack(draw_texts())

    def same_document_and_past(b, h, q, k):
        return (ids[q] == ids[k]) & (q >= k)

    blocks = create_block_mask(
        same_document_and_past, None, None, ROW, ROW, device="cpu"
    )
    theirs = flex_attention(query, key, value, block_mask=blocks)
    close(attention(query, key, value, mask=document_mask(ids), causal=True), theirs)
