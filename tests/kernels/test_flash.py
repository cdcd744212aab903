"""Attention in tiles: exact for every tile size, and nothing as large as the table."""

import functools
import itertools

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headway import attention, attention_with_lse, flash_forward
from tests.support import oracles
from tests.support.compare import close
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import (
    BROADCAST,
    EVERY_LEADING,
    EVERY_MASK,
    mask_of,
    qkv,
)
from tests.support.sizes import B, D, H, S, T, V, draw

# One, some that divide nothing, one that divides, all at once, more than there are.
QUERY_TILES = (1, 2, 3, 5, T, T + 4)
KEY_TILES = (1, 2, 3, 4, 7, S, S + 2)
TILES = pytest.mark.parametrize(
    ("query_tile", "key_tile"), [*itertools.product(QUERY_TILES, KEY_TILES)]
)
CAUSAL = pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
LENGTHS = [(T, S), (S, T), (S, S), (1, S), (T, 1)]
SOME_TILES = [(2, 3), (3, 2), (5, 4), (64, 64)]


def weighed(query: Tensor, key: Tensor, **options) -> Tensor:
    """Take the log-sum-exp from loops: what 1 at a key and 0 elsewhere would weigh.

    The weight of a key is exp(score - lse), so lse = score - log(weight).
    """
    weights = oracles.attention_weights(query, key, **options)
    scale = options.get("scale") or query.shape[-1] ** -0.5
    scores = torch.einsum("...td,...sd->...ts", query, key) * scale
    if options.get("bias") is not None:
        scores = scores + options["bias"]
    best = weights.argmax(dim=-1, keepdim=True)
    lse = scores.gather(-1, best) - weights.gather(-1, best).log()
    lse = torch.where(weights.sum(dim=-1, keepdim=True) > 0, lse, -torch.inf)
    return lse.squeeze(-1)


def same(ours: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor]) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other)


# Values.


@functools.cache
def in_loops(causal: bool) -> tuple[tuple[Tensor, ...], dict, tuple[Tensor, Tensor]]:
    """Draw everything that may come in, and attend to it in loops, once."""
    query, key, value = qkv((B,))
    bias, mask = draw(B, T, S), mask_of("with fully masked rows", (B,))
    options = {"mask": mask, "bias": bias, "causal": causal}
    context = oracles.attention(query, key, value, **options)
    return (query, key, value), options, (context, weighed(query, key, **options))


@TILES
@CAUSAL
def test_equals_loops_for_every_tile_size(query_tile, key_tile, causal):
    inputs, options, expected = in_loops(causal)
    tiles = {"query_tile": query_tile, "key_tile": key_tile}
    same(flash_forward(*inputs, **options, **tiles), expected)


@CAUSAL
@pytest.mark.parametrize(("rows", "columns"), LENGTHS)
@pytest.mark.parametrize(("query_tile", "key_tile"), SOME_TILES)
def test_the_last_query_stands_at_the_last_key(
    rows, columns, query_tile, key_tile, causal
):
    query, key, value = draw(rows, D), draw(columns, D), draw(columns, V)
    context, lse = flash_forward(
        query, key, value, causal=causal, query_tile=query_tile, key_tile=key_tile
    )
    close(context, oracles.attention(query, key, value, causal=causal))
    close(lse, weighed(query, key, causal=causal))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_masks_of_every_shape(leading, kind):
    query, key, value = qkv(leading)
    mask = mask_of(kind, leading)
    ours = flash_forward(query, key, value, mask=mask, query_tile=3, key_tile=4)
    same(ours, attention_with_lse(query, key, value, mask=mask))


@pytest.mark.parametrize("shape", [(1, 1), (1, S), (T, 1), (T, S), (H, 1, S)], ids=str)
def test_biases_of_every_shape(shape):
    query, key, value = qkv((B, H))
    bias = draw(*shape)
    ours = flash_forward(query, key, value, bias=bias, query_tile=3, key_tile=4)
    same(ours, attention_with_lse(query, key, value, bias=bias))


@CAUSAL
@pytest.mark.parametrize(("for_query", "for_key", "for_value"), BROADCAST)
def test_leading_axes_broadcast(for_query, for_key, for_value, causal):
    query, key = draw(*for_query, T, D), draw(*for_key, S, D)
    value = draw(*for_value, S, V)
    context, lse = flash_forward(
        query, key, value, causal=causal, query_tile=2, key_tile=5
    )
    close(context, oracles.attention(query, key, value, causal=causal))
    assert lse.shape == context.shape[:-1]
    close(lse, weighed(query, key, causal=causal).expand(lse.shape))


def test_the_scale_is_that_of_the_width_unless_one_is_given():
    query, key, value = qkv((B,))
    for scale in (None, 1.0, 0.3):
        context, lse = flash_forward(query, key, value, scale=scale, key_tile=4)
        close(context, oracles.attention(query, key, value, scale=scale))
        close(lse, weighed(query, key, scale=scale))


# Against PyTorch's own kernel.


@CAUSAL
@pytest.mark.parametrize(("query_tile", "key_tile"), SOME_TILES)
@pytest.mark.parametrize("scale", [None, 0.7])
def test_equals_the_kernel_of_pytorch(query_tile, key_tile, causal, scale):
    query, key, value = draw(B, H, S, D), draw(B, H, S, D), draw(B, H, S, D)
    theirs = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, causal, scale=scale
    )
    ours = flash_forward(
        query,
        key,
        value,
        causal=causal,
        scale=scale,
        query_tile=query_tile,
        key_tile=key_tile,
    )
    same(ours, theirs)


def test_equals_the_kernel_of_pytorch_with_other_lengths_and_a_bias():
    query, key, value = draw(B, H, T, D), draw(B, H, S, D), draw(B, H, S, D)
    bias = draw(B, H, T, S)
    hidden = torch.full((T, S), -torch.inf).double().triu(S - T + 1)
    theirs = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, False, attn_mask=bias + hidden
    )
    tiles = {"query_tile": 3, "key_tile": 2}
    same(flash_forward(query, key, value, bias=bias, causal=True, **tiles), theirs)


# Numbers that are hard to hold.


@pytest.mark.parametrize("size", [1e3, 1e150])
def test_large_scores_do_not_overflow(size):
    """Ascending, so that each tile raises the maximum; and descending."""
    score = torch.arange(S).double() * size
    value = draw(S, V)
    for order in (slice(None), torch.arange(S - 1, -1, -1)):
        context, lse = flash_forward(
            torch.ones(1, 1).double(),
            score[order].unsqueeze(-1),
            value[order],
            scale=1.0,
            key_tile=2,
        )
        close(context, value[-1:])
        close(lse, score[-1:])


def test_low_scores_do_not_vanish():
    key, value = torch.full((S, 1), -1e4).double(), draw(S, V)
    context, lse = flash_forward(
        torch.ones(1, 1).double(), key, value, scale=1.0, key_tile=3
    )
    close(context, value.mean(dim=0, keepdim=True))
    close(lse, torch.tensor([-1e4 + torch.tensor(S).double().log()]).double())


@pytest.mark.parametrize("hidden", [slice(0, 4), slice(4, 8), slice(8, S)], ids=str)
def test_low_scores_beside_a_tile_that_sees_nothing(hidden):
    """What guards the empty tile must not stay: zero is above all these scores."""
    mask = torch.ones(1, S, dtype=torch.bool)
    mask[:, hidden] = False
    key, value = torch.full((S, 1), -1e4).double(), draw(S, V)
    query = torch.ones(1, 1).double()
    ours = flash_forward(query, key, value, mask=mask, scale=1.0, key_tile=4)
    same(ours, attention_with_lse(query, key, value, mask=mask, scale=1.0))
    close(ours[0], value[mask[0]].mean(dim=0, keepdim=True))


def test_a_tile_with_nothing_to_see_comes_first_in_the_middle_and_last():
    query, key, value = qkv(())
    for start in range(0, S, 4):
        mask = torch.ones(T, S, dtype=torch.bool)
        mask[:, start : start + 4] = False
        ours = flash_forward(query, key, value, mask=mask, query_tile=3, key_tile=4)
        seen = torch.arange(S).sub(start).div(4, rounding_mode="floor") != 0
        same(ours, attention_with_lse(query, key[seen], value[seen]))


@pytest.mark.parametrize("causal", [False, True])
def test_fully_masked_rows_get_zeros_and_hold_no_mass(causal):
    query, key, value = qkv((B,))
    mask = torch.zeros(T, S, dtype=torch.bool)
    context, lse = flash_forward(
        query, key, value, mask=mask, causal=causal, query_tile=2, key_tile=3
    )
    assert torch.equal(context, torch.zeros(B, T, V).double())
    assert torch.equal(lse, torch.full((B, T), -torch.inf).double())


def test_no_key_and_no_query():
    query, key, value = qkv((B,))
    context, lse = flash_forward(query, key[:, :0], value[:, :0])
    assert torch.equal(context, torch.zeros(B, T, V).double())
    assert torch.equal(lse, torch.full((B, T), -torch.inf).double())
    context, lse = flash_forward(query[:, :0], key, value)
    assert context.shape == (B, 0, V)
    assert lse.shape == (B, 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_32_bits(dtype):
    query, key, value = (x.to(dtype) for x in qkv((B, H)))
    context, lse = flash_forward(query, key, value, query_tile=2, key_tile=3)
    wide = [x.float() for x in (query, key, value)]
    expected, mass = flash_forward(*wide, query_tile=2, key_tile=3)
    assert torch.equal(context, expected.to(dtype))
    assert torch.equal(lse, mass)


@CAUSAL
def test_gradients_flow_through_the_tiles(causal):
    """Even beside rows and tiles that see nothing, where minus infinity lurks."""
    inputs = [x.requires_grad_() for x in qkv((B,))]
    bias = draw(T, S).requires_grad_()
    mask = mask_of("with fully masked rows", (B,))
    mask[..., :4] = False
    options = {"mask": mask, "bias": bias, "causal": causal}

    def gradients(function, **tiles) -> tuple[Tensor, ...]:
        torch.manual_seed(0)
        context, lse = function(*inputs, **options, **tiles)
        lse = lse.masked_fill(lse == -torch.inf, 0.0)
        loss = (context * draw(B, T, V)).sum() + (lse * draw(B, T)).sum()
        return torch.autograd.grad(loss, [*inputs, bias])

    ours = gradients(flash_forward, query_tile=2, key_tile=3)
    for mine, other in zip(ours, gradients(attention_with_lse), strict=True):
        close(mine, other)


# Properties.


@EVERY_LEADING
def test_the_order_of_the_keys_does_not_matter(leading):
    query, key, value = qkv(leading)
    order = torch.randperm(S)
    ours = flash_forward(query, key, value, query_tile=3, key_tile=4)
    moved = flash_forward(
        query, key[..., order, :], value[..., order, :], query_tile=3, key_tile=4
    )
    same(ours, moved)


# What it costs, counted.


@CAUSAL
@pytest.mark.parametrize("leading", [(), (B, H)], ids=str)
def test_no_tensor_is_as_large_as_the_table_of_scores(leading, causal):
    rows, columns, query_tile, key_tile = 97, 101, 8, 16
    query, key = draw(*leading, rows, D), draw(*leading, columns, D)
    value = draw(*leading, columns, D)
    mask, bias = torch.rand(rows, columns) < 0.9, draw(1, columns)
    options = {"mask": mask, "bias": bias, "causal": causal}
    with Largest() as seen:
        flash_forward(
            query, key, value, **options, query_tile=query_tile, key_tile=key_tile
        )
    texts = query[..., 0, 0].numel()
    largest = max(query_tile * key_tile, rows * D, columns * D, query_tile * columns)
    assert seen.numbers <= texts * largest
    with Largest() as seen:
        attention(query, key, value, **options)
    assert seen.numbers >= texts * rows * columns


class Products(TorchDispatchMode):
    """Note the shapes of all that products of matrices give."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default):
            self.shapes.append((*result.shape,))
        return result


def tiles_in_sight(rows: int, columns: int, query_tile: int, key_tile: int) -> int:
    """Ask of each pair of a query and a key; a tile counts if one pair is visible."""
    visible = oracles.past(rows, columns)
    return len(
        {
            (t // query_tile, s // key_tile)
            for t in range(rows)
            for s in range(columns)
            if visible[t][s]
        }
    )


@pytest.mark.parametrize(("rows", "columns"), [*LENGTHS, (16, 16), (12, 16), (16, 12)])
@pytest.mark.parametrize(("query_tile", "key_tile"), [*SOME_TILES, (4, 4), (1, 1)])
def test_tiles_in_the_future_are_skipped(rows, columns, query_tile, key_tile):
    query, key, value = draw(rows, D), draw(columns, D), draw(columns, V)
    tiles = {"query_tile": query_tile, "key_tile": key_tile}
    with Products() as seen:
        flash_forward(query, key, value, causal=True, **tiles)
    visited = tiles_in_sight(rows, columns, **tiles)
    assert len(seen.shapes) == 2 * visited  # scores, and weights times values
    with Products() as seen:
        flash_forward(query, key, value, **tiles)
    assert len(seen.shapes) == 2 * -(-rows // query_tile) * -(-columns // key_tile)


def test_what_lies_in_skipped_tiles_is_never_read():
    query, key, value = draw(S, D), draw(S, D), draw(S, V)
    expected = flash_forward(query[:4], key[:4], value[:4], causal=True)
    key[4:], value[4:] = torch.nan, torch.nan
    context, lse = flash_forward(
        query, key, value, causal=True, query_tile=4, key_tile=4
    )
    same((context[:4], lse[:4]), expected)


# Bad input.


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"query_tile": 0},
            "query_tile must be a positive integer; got query_tile=0.",
        ),
        ({"key_tile": -1}, "key_tile must be a positive integer; got key_tile=-1."),
        ({"dropout_p": 1.0}, "dropout_p must be in [0, 1); got dropout_p=1.0."),
        ({"scale": 0.0}, "scale must be positive and finite; got scale=0.0."),
        (
            {"mask": torch.ones(T, S)},
            "mask must be boolean, True where a query may look; "
            "got mask.dtype=torch.float32.",
        ),
        (
            {"mask": torch.ones(T, T, dtype=torch.bool)},
            f"mask must broadcast to the scores, of shape ({T}, {S}); "
            f"got mask.shape=({T}, {T}).",
        ),
        (
            {"bias": torch.ones(S, S)},
            f"bias must broadcast to the scores, of shape ({T}, {S}); "
            f"got bias.shape=({S}, {S}).",
        ),
        (
            {"key": torch.ones(S, V)},
            "key must have the width of query, and leading axes that broadcast; "
            f"got key.shape=({S}, {V}), query.shape=({T}, {D}).",
        ),
        (
            {"value": torch.ones(T, V)},
            "value must have the length of key, and leading axes that broadcast; "
            f"got value.shape=({T}, {V}), key.shape=({S}, {D}), "
            f"query.shape=({T}, {D}).",
        ),
    ],
    ids=lambda wrong: next(iter(wrong)) if isinstance(wrong, dict) else "",
)
def test_bad_input_is_refused_in_one_sentence(wrong, sentence):
    given = dict(zip(("query", "key", "value"), qkv(()), strict=True))
    with pytest.raises(ValueError, match="must") as refusal:
        flash_forward(**{**given, **wrong})
    assert str(refusal.value) == sentence


def test_autocast_leaves_the_types_of_scores_alone() -> None:
    tensors = [9 * x.float() for x in qkv((B,))]
    plain = flash_forward(*tensors, causal=True)
    with torch.autocast("cpu", torch.bfloat16):
        cast = flash_forward(*tensors, causal=True)
    for a, b in zip(plain, cast, strict=True):
        assert torch.equal(a, b)
