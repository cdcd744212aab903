"""The fused kernel: equal to plain attention, and without a table of all pairs."""

import functools

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    MultiHeadAttention,
    attention,
    causal_mask,
    fused_attention,
)
from tests.support import oracles
from tests.support.compare import close
from tests.support.largest_tensor import Largest
from tests.support.random_inputs import (
    EVERY_LEADING,
    EVERY_MASK,
    mask_of,
    qkv,
    random_mask,
)
from tests.support.sizes import D_IN, B, D, E, H, S, T, V, draw

SDPA = "scaled_dot_product_attention"


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("width", [D, V], ids=["narrow value", "wide value"])
def test_fused_equals_plain_with_gradients(leading, kind, width) -> None:
    mask = mask_of(kind, leading)
    ours = [x.requires_grad_() for x in qkv(leading, width)]
    theirs = [x.detach().clone().requires_grad_() for x in ours]
    plain = attention(*ours, mask=mask, scale=0.7)
    fused = fused_attention(*theirs, mask=mask, scale=0.7)
    close(fused, plain)
    gradient = draw(*plain.shape)
    plain.backward(gradient)
    fused.backward(gradient)
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        assert b.grad is not None
        assert a.grad.isfinite().all()
        close(b.grad, a.grad)


@EVERY_LEADING
def test_the_causal_flag_is_the_causal_mask(leading: tuple[int, ...]) -> None:
    x = [draw(*leading, T, D).requires_grad_() for _ in range(3)]
    y = [tensor.detach().clone().requires_grad_() for tensor in x]
    by_mask = attention(*x, mask=causal_mask(T), scale=0.7)
    by_flag = fused_attention(*y, causal=True, scale=0.7)
    close(by_flag, by_mask)
    close(by_flag, scaled_dot_product_attention(*y, is_causal=True, scale=0.7))
    gradient = draw(*by_mask.shape)
    by_mask.backward(gradient)
    by_flag.backward(gradient)
    for a, b in zip(x, y, strict=True):
        close(b.grad, a.grad)


@pytest.mark.parametrize(
    ("shape", "masks"),
    [
        ((61, 67), 1),
        ((1, 1, 61, 67), 1),
        ((B, 1, 61, 67), B),
        ((H, 61, 67), H),
        ((B, H, 61, 67), B * H),
    ],
    ids=str,
)
def test_a_mask_is_copied_for_nobody(shape, masks) -> None:
    """PyTorch makes floats of a mask: as many as it has numbers, so keep them few."""
    query, key, value = (draw(B, H, n, D) for n in (61, 67, 67))
    mask = random_mask(*shape)
    with Largest() as largest:
        fused_attention(query, key, value, mask=mask)
    assert largest.numbers == masks * 61 * 67
    with Largest() as largest:
        attention(query, key, value, mask=mask)
    assert largest.numbers == B * H * 61 * 67


@pytest.mark.parametrize("shape", [(1, 67), (B, 1, 1, 67), (61, 1)], ids=str)
def test_a_mask_of_keys_or_queries_alone_stays_as_small_as_it_is(shape) -> None:
    query, key = draw(B, H, 61, D), draw(B, H, 67, D)
    with Largest() as largest:
        fused_attention(query, key, key, mask=random_mask(*shape))
    assert largest.numbers == B * H * 67 * D


LONG = 509


@pytest.mark.parametrize("leading", [(), (H,), (B, H), (B, 1, H)], ids=str)
@pytest.mark.parametrize("shared", [False, True])
def test_the_causal_flag_makes_no_table(leading, shared) -> None:
    """However many leading axes there are, and though heads share their keys."""
    query = draw(*leading, LONG, D).requires_grad_()
    few = (*leading[:-1], *(1 for _ in leading[-1:])) if shared else leading
    key, value = draw(*few, LONG, D), draw(*few, LONG, D)
    with Largest() as largest:
        fused_attention(query, key, value, causal=True).sum().backward()
    assert largest.numbers < LONG**2
    with Largest() as largest:
        attention(query, key, value, causal=True)
    assert largest.numbers >= LONG**2


@pytest.mark.parametrize(
    "attend",
    [
        fused_attention,
        functools.partial(fused_attention, scale=0.37),
        lambda *args, **options: fused_attention(*args, **options),
    ],
    ids=["itself", "partial", "wrapped"],
)
def test_a_wrapped_function_makes_no_table_either(attend) -> None:
    module = MultiHeadAttention(D_IN, E, LONG, 0.0, H, attend=attend)
    with Largest() as largest:
        module(draw(B, LONG, D_IN, dtype=torch.float32)).sum().backward()
    assert largest.numbers < LONG**2


@pytest.mark.parametrize(
    ("options", "tables"),
    [
        ({"causal": True, "keys": LONG + 2}, 1),
        ({"causal": True, "mask": (1, 1, 1, LONG)}, 1),
        ({"causal": True, "mask": (B, 1, 1, LONG)}, B),
        ({"bias": (LONG, LONG)}, 1),
        ({"bias": (H, LONG, LONG)}, H),
        ({"bias": (H, LONG, LONG), "causal": True}, H),
    ],
    ids=str,
)
def test_what_is_hidden_is_told_once_for_all_who_share_it(options, tables) -> None:
    options = dict(options)
    keys = options.pop("keys", LONG)
    if "mask" in options:
        options["mask"] = random_mask(*options["mask"])
    if "bias" in options:
        options["bias"] = draw(*options["bias"])
    query, key = draw(B, H, LONG, D), draw(B, H, keys, D)
    with Largest() as largest:
        fused_attention(query, key, key, **options)
    assert largest.numbers == tables * LONG * keys


@pytest.mark.parametrize(
    ("queries", "keys"), [(T, S), (S, T), (1, S)], ids=["more keys", "fewer", "newest"]
)
def test_the_last_query_stands_at_the_last_key(queries: int, keys: int) -> None:
    """PyTorch's own flag puts the first query at the first key."""
    query, key = draw(B, queries, D), draw(B, keys, D)
    ours = fused_attention(query, key, key, causal=True)
    close(ours, attention(query, key, key, mask=causal_mask(queries, keys)))
    theirs = scaled_dot_product_attention(query, key, key, is_causal=True)
    assert not torch.allclose(ours, theirs)


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_no_kernel_ever_meets_a_fully_masked_row(monkeypatch, leading, kind) -> None:
    """What a kernel gives for such a row is its own affair: this one gives nan."""

    def kernel(query, key, value, *, attn_mask, dropout_p, is_causal, scale):
        scores = query @ key.mT * (scale or query.shape[-1] ** -0.5)
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        return scores.softmax(dim=-1) @ value

    query, key, value = (x.requires_grad_() for x in qkv(leading))
    mask = mask_of(kind, leading)
    monkeypatch.setattr(torch.nn.functional, SDPA, kernel)
    context = fused_attention(query, key, value, mask=mask)
    close(context, oracles.attention(query, key, value, mask))
    context.sum().backward()
    for tensor in (query, key, value):
        assert tensor.grad.isfinite().all()


@pytest.mark.parametrize("causal", [False, True])
def test_a_bias_and_a_mask_are_both_heard(causal: bool) -> None:
    query, key, value = qkv((B, H))
    bias, mask = draw(H, T, S), mask_of("with fully masked rows", (B, H))
    options = {"mask": mask, "bias": bias, "causal": causal}
    close(
        fused_attention(query, key, value, **options),
        oracles.attention(query, key, value, mask, bias=bias, causal=causal),
    )


def test_a_bias_takes_the_type_of_the_query() -> None:
    query, key, value = (x.bfloat16() for x in qkv((B,)))
    ours = fused_attention(query, key, value, bias=draw(T, S))
    assert ours.dtype == torch.bfloat16


# One query asks heads that are shared, as in decoding: the heads stand as tokens.

SHARED = {
    "nothing": {},
    "a mask for all": {"mask": torch.arange(S) % 3 > 0},
    "a mask of each text": {"mask": (torch.arange(B * S) % 3 > 0).view(B, 1, 1, S)},
    "a mask of each head": {"mask": (torch.arange(B * H * S) % 3 > 0).view(B, H, 1, S)},
    "all hidden": {"mask": torch.zeros(B, 1, 1, S, dtype=torch.bool)},
    "a bias for all": {"bias": torch.arange(1.0 * S).double().view(1, S)},
    "a bias of each head": {"bias": torch.arange(1.0 * H * S).double().view(H, 1, S)},
}
SHARED["a mask for all"]["mask"] = SHARED["a mask for all"]["mask"].view(1, S)


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("causal", [False, True])
def test_one_query_reads_what_heads_share_once(kind, causal, monkeypatch) -> None:
    shapes = []

    def spy(query, key, value, **options):
        shapes.append((query.shape, key.shape))
        return sdpa(query, key, value, **options)

    sdpa = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    inputs = [draw(B, n, t, D).requires_grad_() for n, t in ((H, 1), (1, S), (1, S))]
    options = SHARED[kind] | {"causal": causal, "scale": 0.7}
    ours = fused_attention(*inputs, **options)
    theirs = attention(*inputs, **options)
    assert shapes == [((B, 1, H, D), (B, 1, S, D))]
    close(ours, theirs)
    pull = draw(B, H, 1, D)
    gradients = [torch.autograd.grad(y, inputs, pull) for y in (ours, theirs)]
    for a, b in zip(*gradients, strict=True):
        close(a, b)
