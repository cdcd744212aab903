"""The backward pass in tiles: equal to autograd through the whole table."""

import math
import re
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from headway import (
    GroupedQueryAttention,
    MultiHeadAttention,
    attention,
    attention_weights,
    attention_with_lse,
    causal_mask,
    flash_attention,
    flash_backward,
    flash_forward,
)
from headway.kernels._keep import keep_tile
from tests.support.compare import close
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import (
    BROADCAST,
    EVERY_LEADING,
    EVERY_MASK,
    mask_of,
    qkv,
)
from tests.support.sizes import D_IN, B, D, E, H, S, T, V, draw

# Tiles of one, tiles that divide nothing, tiles of different sizes, and one tile.
TILES = [(1, 1), (2, 3), (3, 2), (4, 5), (T, 1), (1, S), (64, 64)]
EVERY_TILE = pytest.mark.parametrize("tiles", TILES, ids=str)


def both(tensors, grad=None, **options):
    """Go forward and backward through flash and through the table."""
    tiles = options.pop("tiles", (2, 3))
    ours = [x.clone().requires_grad_() for x in tensors]
    theirs = [x.clone().requires_grad_() for x in tensors]
    names = ("query", "key", "value", "bias")
    in_tiles = flash_attention(
        **dict(zip(names, ours, strict=False)),
        **options,
        query_tile=tiles[0],
        key_tile=tiles[1],
    )
    plain = attention(**dict(zip(names, theirs, strict=False)), **options)
    close(in_tiles, plain)
    grad = draw(*plain.shape) if grad is None else grad
    in_tiles.backward(grad)
    plain.backward(grad)
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        assert a.grad.isfinite().all()
        close(a.grad, b.grad)
    return [x.grad for x in ours]


# Equal to autograd.


@EVERY_TILE
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(T, T), (T, S), (S, T), (1, S)])
def test_gradients_are_those_of_the_table(tiles, causal, queries, keys) -> None:
    tensors = draw(B, queries, D), draw(B, keys, D), draw(B, keys, V)
    both(tensors, tiles=tiles, causal=causal, scale=0.7)
    both(tensors, tiles=tiles, causal=causal)


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("causal", [False, True])
def test_with_every_mask(leading, kind, causal) -> None:
    both(qkv(leading), mask=mask_of(kind, leading), causal=causal)


@EVERY_TILE
@pytest.mark.parametrize(
    "shape",
    [(T, S), (1, S), (T, 1), (1, 1), (H, T, S), (B, 1, T, S), (B, H, 1, S)],
    ids=str,
)
def test_a_bias_gets_its_gradient(tiles, shape) -> None:
    """Summed over all that share it, in the shape that it has."""
    *_, bias = both([*qkv((B, H)), draw(*shape)], tiles=tiles, causal=True)
    assert bias.shape == shape


def test_a_bias_with_a_mask() -> None:
    mask = mask_of("with fully masked rows", (B, H))
    both([*qkv((B, H)), draw(H, T, S)], mask=mask, causal=True)


@pytest.mark.parametrize(("query", "key", "value"), BROADCAST)
@pytest.mark.parametrize("causal", [False, True])
def test_what_is_shared_gets_the_sum(query, key, value, causal) -> None:
    tensors = draw(*query, T, D), draw(*key, S, D), draw(*value, S, V)
    grads = both(tensors, causal=causal)
    for grad, tensor in zip(grads, tensors, strict=True):
        assert grad.shape == tensor.shape


@EVERY_LEADING
def test_gradients_are_those_of_differences(leading) -> None:
    tensors = [x.requires_grad_() for x in (*qkv(leading), draw(T, 1))]
    mask = mask_of("with fully masked rows", leading)

    def attend(query, key, value, bias):
        return flash_attention(
            query,
            key,
            value,
            mask=mask,
            bias=bias,
            causal=True,
            query_tile=4,
            key_tile=6,
        )

    assert torch.autograd.gradcheck(attend, tensors, fast_mode=True)


def test_gradients_are_those_of_pytorch() -> None:
    ours = [x.requires_grad_() for x in qkv((B, H))]
    theirs = [x.detach().clone().requires_grad_() for x in ours]
    grad = draw(B, H, T, V)
    flash_attention(*ours, query_tile=3, key_tile=4).backward(grad)
    scaled_dot_product_attention(*theirs).backward(grad)
    for a, b in zip(ours, theirs, strict=True):
        close(a.grad, b.grad)


@pytest.mark.parametrize(
    "grad",
    [
        pytest.param(lambda: draw(B, V, T, H).permute(0, 3, 2, 1), id="permuted"),
        pytest.param(lambda: draw(B, 1, 1, 1).expand(B, H, T, V), id="expanded"),
        pytest.param(lambda: draw(B, H, 2 * T, 3 * V)[..., ::2, ::3], id="strided"),
    ],
)
def test_the_gradient_may_lie_in_memory_in_any_way(grad) -> None:
    both(qkv((B, H)), grad=grad(), causal=True)


def test_no_queries_and_no_keys() -> None:
    for queries, keys in ((0, S), (T, 0)):
        grads = both([draw(B, queries, D), draw(B, keys, D), draw(B, keys, V)])
        assert not any(grad.any() for grad in grads)


# What the derivation says.


def test_two_keys_by_hand() -> None:
    """Weights of 3/4 and 1/4: dS = 3/16 (dp1 - dp2), with opposite signs."""
    query = torch.ones(1, 1).double()
    key = torch.tensor([[math.log(3)], [0.0]], dtype=torch.float64)
    value, grad = draw(2, V), draw(1, V)
    bias = torch.zeros(1, 2).double()
    context, lse = flash_forward(query, key, value, bias=bias)
    close(lse.exp(), torch.tensor([4.0]).double())
    *_, d_value, d_scores = flash_backward(
        query, key, value, context, lse, grad, bias=bias
    )
    change = 3 / 16 * (grad @ (value[0] - value[1]))
    close(d_scores, torch.stack([change, -change], dim=-1))
    close(d_value, torch.tensor([[0.75], [0.25]]).double() * grad)


def test_rows_of_the_gradient_of_scores_sum_to_zero() -> None:
    bias = draw(B, H, T, S)
    *_, d_scores = both([*qkv((B, H)), bias], causal=True)
    close(d_scores.sum(dim=-1), torch.zeros(B, H, T).double())


def test_the_mean_is_there_without_the_weights() -> None:
    query, key, value = qkv((B, H))
    grad = draw(B, H, T, V)
    weights = attention_weights(query, key)
    close((weights * (grad @ value.mT)).sum(-1), (grad * (weights @ value)).sum(-1))


# What is kept, and how large anything gets.

LONG = 53


def kept(attend, *tensors, **options) -> list[Tensor]:
    """List what a call saves for its backward pass."""
    saved: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        saved.append(tensor)
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        attend(*tensors, **options)
    return saved


def test_only_arguments_output_and_lse_are_saved() -> None:
    tensors = [x.requires_grad_() for x in qkv((B, H))]
    mask, bias = mask_of("queries and keys", (B, H)), draw(T, 1).requires_grad_()
    saved = kept(flash_attention, *tensors, mask=mask, bias=bias, dropout_p=0.3)
    shapes = [tuple(x.shape) for x in (*tensors, mask, bias)]
    shapes += [(B, H, T, V), (B, H, T)]
    assert [tuple(x.shape) for x in saved] == shapes
    for x, y in zip(saved, (*tensors, mask, bias), strict=False):
        assert x.data_ptr() == y.data_ptr()


@pytest.mark.parametrize("dropout_p", [0.0, 0.3])
@pytest.mark.parametrize("causal", [False, True])
def test_no_table_is_made_forward_or_backward(causal, dropout_p) -> None:
    tensors = [draw(LONG, D).requires_grad_() for _ in range(3)]
    options = {"causal": causal, "dropout_p": dropout_p}
    with Largest() as largest:
        tiles = {"query_tile": 11, "key_tile": 13}
        flash_attention(*tensors, **options, **tiles).sum().backward()
    assert largest.numbers == LONG * D
    with Largest() as largest:
        attention(*tensors, **options).sum().backward()
    assert largest.numbers == LONG**2


def flops(attend, *tensors: Tensor, **options) -> tuple[int, int]:
    """Count the operations of matrix products forward and backward."""
    with FlopCounterMode(display=False) as forward:
        context = attend(*tensors, **options)
    with FlopCounterMode(display=False) as backward:
        context.sum().backward()
    return forward.get_total_flops(), backward.get_total_flops()


def test_five_products_instead_of_four() -> None:
    tensors = [draw(B, LONG, D).requires_grad_() for _ in range(3)]
    one = 2 * B * LONG * LONG * D
    assert flops(attention, *tensors) == (2 * one, 4 * one)
    assert flops(flash_attention, *tensors) == (2 * one, 5 * one)


def test_tiles_in_the_future_are_skipped() -> None:
    tensors = [draw(12, D).requires_grad_() for _ in range(3)]
    options = {"query_tile": 3, "key_tile": 3, "causal": True}
    one = 2 * 3 * 3 * D
    assert flops(flash_attention, *tensors, **options) == (2 * 10 * one, 5 * 10 * one)


# Dropout.


def dense_dropout(query, key, value, keep, dropout_p, **options) -> Tensor:
    """Attend with the whole table, and with the weights that are kept given."""
    weights = attention_weights(query, key, **options)
    return (weights * keep / (1 - dropout_p)) @ value


@pytest.mark.parametrize("tiles", [(2, 3), (4, 5), (64, 64)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("query", "key", "value"), BROADCAST)
def test_dropout_is_that_of_the_table(tiles, causal, query, key, value) -> None:
    ours = [draw(*query, T, D), draw(*key, S, D), draw(*value, S, V), draw(T, S)]
    mask = mask_of("a query", ())
    leading = torch.broadcast_shapes(query, key, value)
    keep = keep_tile(leading, slice(0, T), slice(0, S), dropout_p=0.4, seed=7)
    theirs = [x.clone().requires_grad_() for x in ours]
    *tensors, bias = theirs
    options = {"mask": mask, "causal": causal}
    plain = dense_dropout(*tensors, keep, 0.4, bias=bias, **options)
    options |= {"bias": ours[-1], "dropout_p": 0.4, "seed": 7}
    options |= {"query_tile": tiles[0], "key_tile": tiles[1]}
    context, lse = flash_forward(*ours[:3], **options)
    close(context, plain.detach())
    grad = draw(*plain.shape)
    plain.backward(grad)
    found = flash_backward(*ours[:3], context, lse, grad, **options)
    for a, b in zip(found, theirs, strict=True):
        close(a, b.grad)


def test_dropout_in_differences_with_the_same_seed() -> None:
    tensors = [x.requires_grad_() for x in (*qkv((B,)), draw(T, S))]

    def attend(query, key, value, bias):
        torch.manual_seed(3)
        return flash_attention(
            query,
            key,
            value,
            bias=bias,
            dropout_p=0.4,
            causal=True,
            query_tile=4,
            key_tile=6,
        )

    assert torch.autograd.gradcheck(attend, tensors, fast_mode=True)


def test_the_seed_is_drawn_anew_at_each_call_and_by_torch() -> None:
    x = draw(T, D)
    torch.manual_seed(3)
    first, second = (flash_attention(x, x, x, dropout_p=0.4) for _ in range(2))
    torch.manual_seed(3)
    again = flash_attention(x, x, x, dropout_p=0.4, query_tile=2, key_tile=3)
    assert (first - second).abs().max() > 0.1
    close(again, first)


def test_without_dropout_nothing_is_drawn() -> None:
    x = draw(T, D)
    before = torch.get_rng_state()
    flash_attention(x, x, x)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_mean_over_seeds_is_attention() -> None:
    query, key, value = qkv(())
    contexts = [
        flash_forward(query, key, value, dropout_p=0.4, seed=seed)[0]
        for seed in range(300)
    ]
    stacked = torch.stack(contexts)
    error = stacked.std(dim=0) / math.sqrt(len(stacked))
    far = (stacked.mean(dim=0) - attention(query, key, value)) / error
    assert far.abs().max() < 5


# In modules, and in other types.


@pytest.mark.parametrize("options", [{}, {"causal": False}])
def test_a_module_on_flash_is_the_same(options) -> None:
    for build in (
        partial(MultiHeadAttention, D_IN, E, 2 * T, 0.0, H, True),
        partial(GroupedQueryAttention, D_IN, 6 * D, 2 * T, 0.0, 6, num_kv_heads=2),
    ):
        default = build(**options).double()
        in_tiles = build(attend=flash_attention, **options).double()
        in_tiles.load_state_dict(default.state_dict())
        assert in_tiles.state_dict().keys() == default.state_dict().keys()
        x = draw(B, T, D_IN)
        grad = draw(B, T, default.out_proj.out_features)
        for module in (default, in_tiles):
            close(module(x), default(x))
            module(x).backward(grad)
        for a, b in zip(in_tiles.parameters(), default.parameters(), strict=True):
            close(a.grad, b.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_single(dtype) -> None:
    """The error is that of rounding what comes in and goes out, not of the sum."""
    exact = [draw(B, LONG, D) for _ in range(3)]
    rounded = [x.to(dtype).requires_grad_() for x in exact]
    wide = [x.detach().double().requires_grad_() for x in rounded]
    grad = draw(B, LONG, D).to(dtype)
    context = flash_attention(*rounded, causal=True)
    assert context.dtype == dtype
    reference = attention(*wide, causal=True)
    reference.backward(grad.double())
    context.backward(grad)
    unit = torch.finfo(dtype).eps
    pairs = [(context, reference)]
    pairs += [(x.grad, y.grad) for x, y in zip(rounded, wide, strict=True)]
    for a, b in pairs:
        assert a.dtype == dtype
        assert (a.double() - b).abs().max() < 4 * unit * b.abs().max()


def test_autocast_leaves_its_types_alone() -> None:
    """Scores of bfloat16 forward and of float32 backward would not be the same."""
    tensors = [draw(B, LONG, D).float() * 9 for _ in range(3)]
    grad = draw(B, LONG, D).float()
    results = []
    for enabled in (False, True):
        given = [x.clone().requires_grad_() for x in tensors]
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            context = flash_attention(*given, causal=True)
        gradients = torch.autograd.grad(context, given, grad)
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            whole, lse = flash_forward(*tensors, causal=True)
            again = flash_backward(*tensors, whole, lse, grad, causal=True)[:3]
        results.append([context, *gradients, whole, lse, *again])
    for plain, cast in zip(*results, strict=True):
        assert torch.equal(plain, cast)


def test_what_only_has_a_shape_goes_through() -> None:
    x = torch.zeros(B, T, D, device="meta", requires_grad=True)
    flash_attention(x, x, x, causal=True).sum().backward()
    assert x.grad.shape == x.shape


def test_a_functional_gradient_and_an_export() -> None:
    query, key, value = qkv((B,))

    def total(query):
        return flash_attention(query, key, value, causal=True).square().sum()

    ours = query.clone().requires_grad_()
    total(ours).backward()
    close(torch.func.grad(total)(query), ours.grad)

    class Model(torch.nn.Module):
        def forward(self, query, key, value):
            return flash_attention(query, key, value, causal=True)

    exported = torch.export.export(Model(), (query, key, value)).module()
    close(exported(query, key, value), attention(query, key, value, causal=True))


def test_a_frozen_argument_gets_no_gradient() -> None:
    query, key, value = qkv((B,))
    flash_attention(query, key.requires_grad_(), value).sum().backward()
    assert query.grad is None
    assert value.grad is None
    assert key.grad is not None


def test_gradients_of_gradients() -> None:
    """They go through the log-sum-exp, too, which is a result like the other."""
    tensors = [x.requires_grad_() for x in (*qkv(()), draw(T, 1))]
    mask = mask_of("with fully masked rows", ())

    def attend(query, key, value, bias):
        torch.manual_seed(3)
        return flash_attention(
            query,
            key,
            value,
            mask=mask,
            bias=bias,
            causal=True,
            dropout_p=0.4,
            query_tile=4,
            key_tile=6,
        )

    assert torch.autograd.gradgradcheck(attend, tensors, fast_mode=True)


@EVERY_TILE
def test_the_gradient_of_the_log_sum_exp(tiles) -> None:
    ours = qkv((B,))
    theirs = [x.clone().requires_grad_() for x in ours]
    results = attention_with_lse(*theirs, causal=True)
    grad, grad_lse = draw(B, T, V), draw(B, T)
    torch.autograd.backward(results, (grad, grad_lse))
    options = {"causal": True, "query_tile": tiles[0], "key_tile": tiles[1]}
    context, lse = (x.detach() for x in results)
    found = flash_backward(*ours, context, lse, grad, grad_lse=grad_lse, **options)
    for a, b in zip(found, theirs, strict=False):
        close(a, b.grad)


# What is refused.


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"query_tile": 0}, "query_tile must be a positive integer; got query_tile=0."),
        ({"key_tile": 0}, "key_tile must be a positive integer; got key_tile=0."),
        ({"dropout_p": 1.0}, "dropout_p must be in [0, 1); got dropout_p=1.0."),
        ({"scale": 0.0}, "scale must be positive and finite; got scale=0.0."),
        (
            {"context": torch.zeros(T, 1)},
            f"context must have shape ({T}, {V}), one row for each query; "
            f"got context.shape=({T}, 1).",
        ),
        (
            {"grad": torch.zeros(1, V)},
            f"grad must have shape ({T}, {V}), one row for each query; "
            f"got grad.shape=(1, {V}).",
        ),
        (
            {"lse": torch.zeros(1)},
            f"lse must have shape ({T},), one number for each query; "
            "got lse.shape=(1,).",
        ),
        (
            {"lse": torch.zeros(B, T)},
            f"lse must have shape ({T},), one number for each query; "
            f"got lse.shape=({B}, {T}).",
        ),
        (
            {"bias": torch.zeros(T, S, dtype=torch.int64)},
            "bias must hold floating-point numbers; got bias.dtype=torch.int64.",
        ),
        (
            {"mask": torch.zeros(T, S)},
            "mask must be boolean, True where a query may look; "
            "got mask.dtype=torch.float32.",
        ),
    ],
)
@pytest.mark.refusal
def test_refused(change, sentence) -> None:
    query, key, value = qkv(())
    given = {"context": draw(T, V), "lse": draw(T), "grad": draw(T, V)} | change
    with pytest.raises(ValueError, match=re.escape(sentence)):
        flash_backward(query, key, value, **given)


@pytest.mark.refusal
def test_tensors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="key must have the width of query"):
        flash_attention(draw(T, D), draw(S, V), draw(S, V))
    with pytest.raises(ValueError, match="mask must broadcast to the scores"):
        flash_attention(*qkv(()), mask=causal_mask(S))
