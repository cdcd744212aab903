"""Attention in pieces: put together, any pieces give what all keys give at once."""

import itertools
import math
from functools import reduce

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import AuxRequest, flex_attention

from headway import (
    attention,
    attention_with_lse,
    causal_mask,
    fused_attention,
    merge_attention,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.random_inputs import (
    BROADCAST,
    EVERY_LEADING,
    EVERY_MASK,
    KINDS,
    mask_of,
    qkv,
    random_mask,
)
from tests.support.sizes import B, D, H, S, T, V, draw

Piece = tuple[Tensor, Tensor]


def log_sum_exp(
    query: Tensor, key: Tensor, mask: Tensor, bias: Tensor, scale: float
) -> Tensor:
    """Sum in loops, one score at a time; rows without a key give minus infinity."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    rows, columns = query.shape[-2], key.shape[-2]
    q, k = (x.expand(*leading, *x.shape[-2:]) for x in (query, key))
    mask = mask.expand(*leading, rows, columns)
    bias = bias.expand(*leading, rows, columns)
    result = torch.empty(*leading, rows, dtype=torch.float64)
    for place in itertools.product(*map(range, result.shape)):
        batch = place[:-1]
        seen = [
            oracles.dot(q[place].tolist(), k[(*batch, s)].tolist()) * scale
            + bias[(*place, s)].item()
            for s in range(columns)
            if mask[(*place, s)]
        ]
        top = max(seen, default=0.0)
        total = sum(math.exp(score - top) for score in seen)
        result[place] = top + math.log(total) if seen else -math.inf
    return result


def same(ours: Piece, theirs: Piece, tolerance: float = 1e-12) -> None:
    for mine, yours in zip(ours, theirs, strict=True):
        close(mine, yours, tolerance)


# Attention that says how much it weighs.


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_the_loops(leading, kind, causal) -> None:
    query, key, value = qkv(leading)
    mask, bias = mask_of(kind, leading), draw(T, S)
    ours = attention_with_lse(
        query, key, value, mask=mask, bias=bias, causal=causal, scale=0.37
    )
    seen = torch.tensor(oracles.past(T, S) if causal else oracles.everything(T, S))
    seen = seen if mask is None else seen & mask
    close(ours[0], oracles.attention(query, key, value, seen, 0.37, bias=bias))
    close(ours[1], log_sum_exp(query, key, seen, bias, 0.37))


@pytest.mark.parametrize("kind", [*KINDS])
def test_its_context_is_that_of_attention(kind: str) -> None:
    query, key, value = qkv((B, H))
    mask, bias = mask_of(kind, (B, H)), draw(H, T, S)
    context, _ = attention_with_lse(query, key, value, mask=mask, bias=bias)
    close(context, attention(query, key, value, mask=mask, bias=bias), 0.0)


@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_the_kernel_of_pytorch(causal: bool) -> None:
    query, key, value = (draw(B, H, T, D) for _ in range(3))
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    ours = attention_with_lse(query, key, value, causal=causal)
    same(ours, kernel(query, key, value, 0.0, causal))


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_it_equals_flex_attention() -> None:
    query, key, value = qkv((B, H))
    bias = draw(H, T, S)
    theirs, aux = flex_attention(
        query,
        key,
        value,
        score_mod=lambda score, b, h, t, s: score + bias[h, t, s],
        scale=0.37,
        return_aux=AuxRequest(lse=True),
    )
    ours = attention_with_lse(query, key, value, bias=bias, scale=0.37)
    same(ours, (theirs, aux.lse))


@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
@pytest.mark.parametrize("masked", [False, True])
def test_leading_axes_broadcast(of_query, of_key, of_value, masked) -> None:
    query, key = draw(*of_query, T, D), draw(*of_key, S, D)
    value = draw(*of_value, S, V)
    scores = torch.broadcast_shapes(of_query, of_key)
    mask = random_mask(*scores, T, S)
    mask[..., 3, :] = False
    context, lse = attention_with_lse(query, key, value, mask=mask if masked else None)
    seen = mask if masked else torch.ones(T, S, dtype=torch.bool)
    close(context, oracles.attention(query, key, value, seen))
    every = log_sum_exp(query, key, seen, torch.zeros(T, S), 1 / math.sqrt(D))
    close(lse, every.expand(context.shape[:-1]))


@pytest.mark.parametrize("kind", ["none", "with fully masked rows", "empty"])
def test_gradients_equal_differences_also_through_the_lse(kind: str) -> None:
    mask = mask_of(kind, ())
    visible = torch.ones(T, 1) if mask is None else mask.any(-1, keepdim=True)

    def both(*tensors: Tensor) -> Piece:
        *inputs, bias = tensors
        context, lse = attention_with_lse(*inputs, mask=mask, bias=bias)
        return context, lse[visible.squeeze(-1).bool()]

    tensors = [x.requires_grad_() for x in (*qkv((), D), draw(T, S))]
    assert torch.autograd.gradcheck(both, tensors)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_row_without_a_key_gets_gradients_of_zero() -> None:
    """No nan comes up on the way either: anomaly detection would stop at it."""
    query, key, value = (x.requires_grad_() for x in qkv((B,)))
    mask = mask_of("with fully masked rows", (B,))
    with torch.autograd.detect_anomaly():
        context, lse = attention_with_lse(query, key, value, mask=mask)
        (context.sum() + lse.sum()).backward()
    assert query.grad[:, [1, T - 1]].eq(0).all()
    assert query.grad[:, 2].ne(0).any()
    assert all(x.grad.isfinite().all() for x in (query, key, value))


@pytest.mark.parametrize("masked", [False, True])
def test_no_key_at_all_weighs_nothing(masked: bool) -> None:
    query, key, value = (draw(B, n, D).requires_grad_() for n in (T, 0, 0))
    mask = torch.ones(T, 0, dtype=torch.bool) if masked else None
    context, lse = attention_with_lse(query, key, value, mask=mask)
    close(context, torch.zeros(B, T, D).double())
    assert lse.eq(-torch.inf).all()
    assert lse.shape == (B, T)
    (context.sum() + lse.sum()).backward()
    assert query.grad.eq(0).all()


def test_nan_is_not_taken_for_nothing() -> None:
    query, key, value = qkv(())
    query[2] = torch.nan
    context, lse = attention_with_lse(query, key, value)
    assert context[2].isnan().all()
    assert lse[2].isnan()
    assert lse[[0, 1, 3]].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_32_bits(dtype: torch.dtype) -> None:
    query, key, value = (200 * x.to(dtype) for x in qkv((B, H)))
    context, lse = attention_with_lse(query, key, value, scale=1.0)
    assert (context.dtype, lse.dtype) == (dtype, torch.float32)
    wide = [x.float() for x in (query, key, value)]
    assert (wide[0] @ wide[1].mT).abs().max() > torch.finfo(torch.float16).max
    close(context, attention(*wide, scale=1.0).to(dtype), 0.0)
    exact = (query.double() @ key.double().mT).logsumexp(-1)
    torch.testing.assert_close(lse.double(), exact, rtol=1e-6, atol=1e-6)


# Pieces that are put together.


def pieces_of(
    tensors: tuple[Tensor, Tensor, Tensor], mask: Tensor, keys: list[Tensor]
) -> list[Piece]:
    query, key, value = tensors
    return [
        attention_with_lse(
            query, key[..., rows, :], value[..., rows, :], mask=mask[..., rows]
        )
        for rows in keys
    ]


def splits() -> list[list[Tensor]]:
    """Deal the keys to up to five pieces: in a row, shuffled, and to no one."""
    torch.manual_seed(7)
    found = [list(torch.arange(S).split(n)) for n in range(1, S + 1)]
    for pieces in (2, 3, 5):
        for _ in range(4):
            owner = torch.randint(pieces, (S,))
            found.append([(owner == n).nonzero()[:, 0] for n in range(pieces)])
    nobody = torch.arange(0)
    found.append([nobody, torch.arange(S), nobody, nobody])
    return found


@pytest.mark.parametrize("keys", splits())
@pytest.mark.parametrize("kind", ["full", "with fully masked rows", "empty"])
def test_every_split_gives_what_all_keys_give(kind: str, keys: list[Tensor]) -> None:
    tensors = qkv((B, H))
    mask = mask_of(kind, (B, H)) & causal_mask(T, S)
    pieces = pieces_of(tensors, mask, keys)
    same(reduce(merge_attention, pieces), attention_with_lse(*tensors, mask=mask))
    shuffled = [pieces[n] for n in torch.randperm(len(pieces))]
    same(reduce(merge_attention, shuffled), attention_with_lse(*tensors, mask=mask))


def ways(pieces: list[Piece]) -> list[Piece]:
    """Merge in every order of brackets."""
    if len(pieces) == 1:
        return pieces
    return [
        merge_attention(left, right)
        for cut in range(1, len(pieces))
        for left in ways(pieces[:cut])
        for right in ways(pieces[cut:])
    ]


@pytest.mark.parametrize("kind", ["full", "with fully masked rows", "empty"])
def test_merging_is_associative_and_commutative(kind: str) -> None:
    tensors, mask = qkv((B,)), mask_of(kind, (B,))
    mask[0, 3, 2:5] = mask[0, 3, 5:] = False  # two pieces that see nothing
    keys = [torch.arange(S)[a:b] for a, b in ((0, 2), (2, 5), (5, 6), (6, S))]
    pieces = pieces_of(tensors, mask, keys)
    whole = attention_with_lse(*tensors, mask=mask)
    for order in itertools.permutations(pieces):
        for merged in ways(list(order)):
            same(merged, whole)


@pytest.mark.parametrize("kind", ["full", "with fully masked rows", "empty"])
def test_gradients_through_a_merge_are_those_of_the_whole(kind: str) -> None:
    tensors, mask = qkv((B, H)), mask_of(kind, (B, H))
    mask[0, 0, 0] = torch.arange(S) >= 8  # here the first two pieces see nothing
    whole, parts = ([x.clone().requires_grad_() for x in tensors] for _ in range(2))
    rows, row = draw(B, H, T, V), draw(B, H, T)
    visible = mask.any(-1)
    results = (
        attention_with_lse(*whole, mask=mask),
        reduce(merge_attention, pieces_of(parts, mask, list(torch.arange(S).split(4)))),
    )
    for context, lse in results:
        loss = (context * rows).sum() + (lse * row)[visible].sum()
        loss.backward()
    for ours, theirs in zip(parts, whole, strict=True):
        close(ours.grad, theirs.grad)


def test_two_empty_pieces_hand_back_finite_gradients() -> None:
    context = draw(T, V).mul(0).requires_grad_()
    lse = torch.full((T,), -torch.inf).double().requires_grad_()
    merged = merge_attention((context, lse), (context, lse))
    same(merged, (context, lse), 0.0)
    (merged[0].sum() + merged[1].sum()).backward()
    assert context.grad.isfinite().all()
    assert lse.grad.eq(0).all()


def test_gradients_of_a_merge_equal_differences() -> None:
    first, second = (draw(T, D), draw(T)), (draw(T, D), draw(T))
    tensors = [x.requires_grad_() for x in (*first, *second)]
    assert torch.autograd.gradcheck(
        lambda a, b, c, d: merge_attention((a, b), (c, d)), tensors
    )


@EVERY_LEADING
def test_an_empty_piece_changes_nothing_to_the_last_bit(leading) -> None:
    piece = attention_with_lse(*qkv(leading))
    nothing = (torch.zeros_like(piece[0]), torch.full_like(piece[1], -torch.inf))
    same(merge_attention(piece, nothing), piece, 0.0)
    same(merge_attention(nothing, piece), piece, 0.0)


def test_pieces_broadcast() -> None:
    first, second = (draw(B, 1, T, V), draw(B, 1, T)), (draw(H, T, V), draw(1, T))
    context, lse = merge_attention(first, second)
    assert (context.shape, lse.shape) == ((B, H, T, V), (B, H, T))
    for b, h in itertools.product(range(B), range(H)):
        alone = merge_attention(
            (first[0][b, 0], first[1][b, 0]), (second[0][h], second[1][0])
        )
        same((context[b, h], lse[b, h]), alone)


@pytest.mark.parametrize("shift", [-1e4, -800.0, 800.0, 1e4])
def test_scores_of_any_size_do_not_overflow(shift: float) -> None:
    first, second = (draw(T, V), draw(T)), (draw(T, V), draw(T))
    context, lse = merge_attention(first, second)
    far = merge_attention((first[0], first[1] + shift), (second[0], second[1] + shift))
    same(far, (context, lse + shift), 1e-9)
    other = merge_attention((first[0], first[1] + shift), second)
    same(other, (first[0], first[1] + shift) if shift > 0 else second)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_rounded_once_a_merge(dtype: torch.dtype) -> None:
    query, key, value = (x.to(dtype) for x in qkv((B, H)))
    first = attention_with_lse(query, key[..., :4, :], value[..., :4, :])
    second = attention_with_lse(query, key[..., 4:, :], value[..., 4:, :])
    ours = merge_attention(first, second)
    assert (ours[0].dtype, ours[1].dtype) == (dtype, torch.float32)
    exact = merge_attention(
        (first[0].double(), first[1].double()), (second[0].double(), second[1].double())
    )
    u = torch.finfo(dtype).eps / 2
    torch.testing.assert_close(ours[0].double(), exact[0], rtol=1.01 * u, atol=1e-6)
    torch.testing.assert_close(ours[1].double(), exact[1], rtol=1e-6, atol=1e-6)


# What follows.


def test_figures_by_eye() -> None:
    """Weights 1 to 4: halves give 16 2/3 and 35.714, and weigh 3 and 7."""
    key = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64).log().unsqueeze(-1)
    value = torch.tensor([[10.0], [20.0], [30.0], [40.0]], dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    first = attention_with_lse(one, key[:2], value[:2])
    second = attention_with_lse(one, key[2:], value[2:])
    assert math.isclose(first[0].item(), 50 / 3)
    assert math.isclose(second[0].item(), 250 / 7)
    assert math.isclose(first[1].exp().item(), 3)
    assert math.isclose(second[1].exp().item(), 7)
    context, lse = merge_attention(first, second)
    assert math.isclose(context.item(), 30)
    assert math.isclose(lse.exp().item(), 10)


def test_a_sink_is_a_gate_is_one_more_key() -> None:
    query, key, value = qkv((B, H))
    sink = draw(H, 1)
    mask = mask_of("with fully masked rows", (B, H))
    context, lse = attention_with_lse(query, key, value, mask=mask)
    gated = context * torch.sigmoid(lse - sink).unsqueeze(-1)
    merged, _ = merge_attention(
        (context, lse), (torch.zeros(H, T, V).double(), sink.expand(H, T))
    )
    close(merged, gated)
    # A key of zeros has a score of zero, to which its bias is added.
    more = torch.cat([key, torch.zeros(B, H, 1, D)], -2)
    values = torch.cat([value, torch.zeros(B, H, 1, V)], -2)
    bias = torch.cat([torch.zeros(H, T, S), sink.expand(H, T).unsqueeze(-1)], -1)
    seen = torch.cat([mask, torch.ones(B, H, T, 1).bool()], -1)
    close(gated, attention(query, more, values, mask=seen, bias=bias))
    close(gated, fused_attention(query, more, values, mask=seen, bias=bias))
