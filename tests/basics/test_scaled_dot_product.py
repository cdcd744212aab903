"""The function all else calls: equal to loops, to PyTorch, to itself when fused."""

import itertools
import math

import oracles
import pytest
import torch
from compare import close, printed
from largest import Largest
from sizes import B, D, H, S, T, V, draw
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    fused_attention,
    masked_softmax,
    six_tokens,
)

SDPA = "scaled_dot_product_attention"
LEADING = [(), (B,), (B, H), (B, 1, H)]
BOTH = pytest.mark.parametrize("attend", [attention, fused_attention])


def random_mask(*shape: int) -> Tensor:
    """Draw a mask whose rows all allow a key."""
    mask = torch.rand(shape) < 0.5
    mask[..., :1] |= ~mask.any(dim=-1, keepdim=True)
    assert mask.any(dim=-1).all()
    return mask


def mask_of(kind: str, leading: tuple[int, ...]) -> Tensor | None:
    full = (*leading, T, S)
    if kind == "none":
        return None
    if kind == "one for all":
        return torch.tensor(True)
    if kind == "empty":
        return torch.zeros(full, dtype=torch.bool)
    if kind == "with empty rows":
        mask = random_mask(*full)
        mask[..., 1, :] = mask[..., T - 1, :] = False
        return mask
    shapes = {
        "a key": (S,),
        "a query": (T, 1),
        "queries and keys": (T, S),
        "keys of each text": (*leading[:1], *(1 for _ in leading[1:]), 1, S),
        "full": full,
    }
    mask = random_mask(*shapes[kind])
    if kind == "a query":
        mask[2] = False
    return mask


KINDS = [
    "none",
    "one for all",
    "a key",
    "a query",
    "queries and keys",
    "keys of each text",
    "full",
    "with empty rows",
    "empty",
]
EVERY_MASK = [
    pytest.param(leading, kind, id=f"{leading}-{kind}")
    for leading, kind in itertools.product(LEADING, KINDS)
]


def drawn(leading: tuple[int, ...], width: int = V) -> tuple[Tensor, Tensor, Tensor]:
    return draw(*leading, T, D), draw(*leading, S, D), draw(*leading, S, width)


@pytest.mark.parametrize("leading", LEADING, ids=str)
def test_scores_are_all_dot_products(leading: tuple[int, ...]) -> None:
    query, key, _ = drawn(leading)
    scores = attention_scores(query, key)
    assert scores.shape == (*leading, T, S)
    for place in itertools.product(*map(range, scores.shape)):
        q, k = query[place[:-1]], key[(*place[:-2], place[-1])]
        assert math.isclose(
            scores[place].item(),
            oracles.dot(q.tolist(), k.tolist()),
            rel_tol=1e-12,
            abs_tol=1e-12,
        )


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("scale", [None, 0.37])
def test_weights_equal_the_loops(leading, kind, scale) -> None:
    query, key, _ = drawn(leading)
    mask = mask_of(kind, leading)
    ours = attention_weights(query, key, mask=mask, scale=scale)
    close(ours, oracles.attention_weights(query, key, mask, scale))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_masked_softmax_equals_the_loops(leading, kind) -> None:
    scores, mask = 4 * draw(*leading, T, S), mask_of(kind, leading)
    close(masked_softmax(scores, mask), oracles.softmax(scores, mask))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("scale", [None, 0.37])
@BOTH
def test_attention_equals_the_loops(attend, leading, kind, scale) -> None:
    query, key, value = drawn(leading)
    mask = mask_of(kind, leading)
    ours = attend(query, key, value, mask=mask, scale=scale)
    close(ours, oracles.attention(query, key, value, mask, scale))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("width", [D, V], ids=["narrow value", "wide value"])
def test_fused_equals_plain_with_gradients(leading, kind, width) -> None:
    mask = mask_of(kind, leading)
    ours = [x.requires_grad_() for x in drawn(leading, width)]
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


@pytest.mark.parametrize("leading", LEADING, ids=str)
@pytest.mark.parametrize("kind", ["none", "a key", "queries and keys", "full"])
@pytest.mark.parametrize("scale", [None, 0.37])
@BOTH
def test_attention_equals_pytorch(attend, leading, kind, scale) -> None:
    query, key, value = drawn(leading)
    mask = mask_of(kind, leading)
    ours = attend(query, key, value, mask=mask, scale=scale)
    if mask is not None:
        mask = mask.expand(*leading, T, S)
    close(
        ours,
        scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale),
    )


@pytest.mark.parametrize("leading", LEADING, ids=str)
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


@pytest.mark.parametrize("kind", ["none", "full", "with empty rows"])
@BOTH
def test_gradients_equal_differences(attend, kind) -> None:
    mask = mask_of(kind, (B,))
    tensors = [x.requires_grad_() for x in drawn((B,), D)]
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, mask=mask), tensors)


@pytest.mark.parametrize("kind", ["with empty rows", "empty", "a query"])
@BOTH
def test_an_empty_row_is_zero_and_so_is_its_gradient(attend, kind) -> None:
    mask = mask_of(kind, (B,))
    empty = ~mask.expand(B, T, S).any(dim=-1)
    query, key, value = (x.requires_grad_() for x in drawn((B,)))
    context = attend(query, key, value, mask=mask)
    assert empty.any()
    assert context[empty].eq(0).all()
    context.sum().backward()
    assert query.grad[empty].eq(0).all()
    for tensor in (query, key, value):
        assert tensor.grad.isfinite().all()


@BOTH
def test_no_key_at_all_is_zero_too(attend) -> None:
    query, key, value = draw(B, T, D), draw(B, 0, D), draw(B, 0, V)
    close(attend(query, key, value), torch.zeros(B, T, V).double())


@BOTH
def test_an_empty_batch_is_an_empty_batch(attend) -> None:
    mask = torch.ones(T, S, dtype=torch.bool)
    for given in (None, mask):
        context = attend(draw(0, T, D), draw(0, S, D), draw(0, S, V), mask=given)
        assert context.shape == (0, T, V)


HALF = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


@pytest.mark.parametrize("kind", KINDS)
@HALF
@BOTH
def test_half_precision_errs_by_its_rounding(attend, dtype, kind) -> None:
    """Bound the error of each number by what rounding each step once may do.

    With u the unit roundoff and A the row's largest sum of |q_d k_d| times the scale, a
    scaled score errs by at most 2uA, once for the scaled query and once for the sum. A
    share then errs by 4uA + 2u of itself, and the context by that and two more u of the
    mixed absolute values. An empty row may not err at all.
    """
    query, key, value = (x.to(dtype) for x in drawn((B, H)))
    mask = mask_of(kind, (B, H))
    ours = attend(query, key, value, mask=mask)
    assert ours.dtype == dtype
    query, key, value = query.double(), key.double(), value.double()
    u = torch.finfo(dtype).eps / 2
    A = (query.abs() @ key.abs().mT).amax(-1, keepdim=True) / math.sqrt(D)
    bound = u * (4 * A + 4) * oracles.attention(query, key, value.abs(), mask)
    exact = oracles.attention(query, key, value, mask)
    assert ((ours.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("kind", ["none", "full", "with empty rows"])
@HALF
@BOTH
def test_half_precision_does_not_overflow(attend, dtype, kind) -> None:
    """The products exceed the largest 16-bit float, the scaled scores do not."""
    width = 64
    query = torch.full((B, T, width), 60.0, dtype=dtype)
    key = torch.full((B, S, width), 60.0, dtype=dtype)
    key[:, 0] += 1
    assert width * 60.0**2 > torch.finfo(torch.float16).max
    value = draw(B, S, width).to(dtype)
    mask = mask_of(kind, (B,))
    context = attend(query, key, value, mask=mask)
    assert context.isfinite().all()
    exact = oracles.attention(query.double(), key.double(), value.double(), mask)
    torch.testing.assert_close(context.double(), exact, rtol=0.02, atol=0.02)


@BOTH
def test_dropout_one_half_keeps_or_doubles(attend) -> None:
    query, key = draw(B, T, D), draw(B, T, D)
    identity = torch.eye(T).double().expand(B, T, T)
    weights = attention_weights(query, key)
    dropped = attend(query, key, identity, dropout_p=0.5)
    kept = dropped != 0
    assert 0 < kept.sum() < kept.numel()
    close(dropped, torch.where(kept, 2 * weights, 0.0))


def test_figures_a03_to_a09_one_token_by_hand() -> None:
    inputs = six_tokens().vectors
    torch.manual_seed(42)
    w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
    query, key, value = inputs[1:2] @ w_query, inputs @ w_key, inputs @ w_value
    printed(query, [[1.0760, 1.7344]])
    printed(
        attention_scores(query, key),
        [[2.7084, 3.3338, 3.3013, 1.7563, 1.7869, 2.1966]],
    )
    printed(
        attention_weights(query, key),
        [[0.1723, 0.2681, 0.2620, 0.0879, 0.0898, 0.1200]],
    )
    printed(attention(query, key, value), [[1.4201, 0.8892]])
    printed(fused_attention(query, key, value), [[1.4201, 0.8892]])


@pytest.mark.parametrize("scale", [0.0, -0.7])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_scale_that_is_not_positive_hides_the_future_too(scale, dtype) -> None:
    tensors = [draw(B, H, T, D, dtype=dtype) for _ in range(3)]
    ours = [tensor.clone().requires_grad_() for tensor in tensors]
    plain = [tensor.clone().requires_grad_() for tensor in tensors]
    fused = fused_attention(*ours, scale=scale, causal=True)
    expected = attention(*plain, scale=scale, mask=causal_mask(T))
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    close(fused, expected, tolerance)
    fused.square().sum().backward()
    expected.square().sum().backward()
    for our, their in zip(ours, plain, strict=True):
        close(our.grad, their.grad, tolerance)


@pytest.mark.parametrize(
    ("shape", "masks"),
    [
        ((61, 67), 1),
        ((67,), 1),
        ((1, 1, 61, 67), 1),
        ((B, 1, 61, 67), B),
        ((B, 1, 1, 67), B),
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


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_no_kernel_ever_meets_an_empty_row(monkeypatch, leading, kind) -> None:
    """What a kernel gives for an empty row is its own affair: this one gives nan."""

    def kernel(query, key, value, *, attn_mask, dropout_p, is_causal, scale):
        scores = query @ key.mT * (scale or query.shape[-1] ** -0.5)
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        return scores.softmax(dim=-1) @ value

    query, key, value = (x.requires_grad_() for x in drawn(leading))
    mask = mask_of(kind, leading)
    monkeypatch.setattr(torch.nn.functional, SDPA, kernel)
    context = fused_attention(query, key, value, mask=mask)
    close(context, oracles.attention(query, key, value, mask))
    context.sum().backward()
    for tensor in (query, key, value):
        assert tensor.grad.isfinite().all()
