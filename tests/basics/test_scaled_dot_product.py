"""The function all else calls: equal to loops, to PyTorch, to itself when fused."""

import itertools
import math

import pytest
import torch
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
from tests.support import oracles
from tests.support.compare import close, printed
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

BOTH = pytest.mark.parametrize("attend", [attention, fused_attention])


@EVERY_LEADING
def test_scores_are_all_dot_products(leading: tuple[int, ...]) -> None:
    query, key, _ = qkv(leading)
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
    query, key, _ = qkv(leading)
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
    query, key, value = qkv(leading)
    mask = mask_of(kind, leading)
    ours = attend(query, key, value, mask=mask, scale=scale)
    close(ours, oracles.attention(query, key, value, mask, scale))


@EVERY_LEADING
@pytest.mark.parametrize("kind", ["none", "a key", "queries and keys", "full"])
@pytest.mark.parametrize("scale", [None, 0.37])
@BOTH
def test_attention_equals_pytorch(attend, leading, kind, scale) -> None:
    query, key, value = qkv(leading)
    mask = mask_of(kind, leading)
    ours = attend(query, key, value, mask=mask, scale=scale)
    if mask is not None:
        mask = mask.expand(*leading, T, S)
    close(
        ours,
        scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale),
    )


@pytest.mark.parametrize("kind", ["none", "full", "with fully masked rows"])
@BOTH
def test_gradients_equal_differences(attend, kind) -> None:
    mask = mask_of(kind, (B,))
    tensors = [x.requires_grad_() for x in qkv((B,), D)]
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, mask=mask), tensors)


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
    mixed absolute values. A fully masked row may not err at all.
    """
    query, key, value = (x.to(dtype) for x in qkv((B, H)))
    mask = mask_of(kind, (B, H))
    ours = attend(query, key, value, mask=mask)
    assert ours.dtype == dtype
    query, key, value = query.double(), key.double(), value.double()
    u = torch.finfo(dtype).eps / 2
    A = (query.abs() @ key.abs().mT).amax(-1, keepdim=True) / math.sqrt(D)
    bound = u * (4 * A + 4) * oracles.attention(query, key, value.abs(), mask)
    exact = oracles.attention(query, key, value, mask)
    assert ((ours.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("kind", ["none", "full", "with fully masked rows"])
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


BIASES = {
    "scores": lambda leading: (*leading, T, S),
    "one for all": lambda leading: (T, S),
    "a key": lambda leading: (1, S),
    "a query": lambda leading: (T, 1),
    "each head": lambda leading: (*leading[-1:], T, S),
}


@pytest.mark.parametrize("kind", ["none", "full", "with fully masked rows", "empty"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("added", BIASES)
@EVERY_LEADING
@BOTH
def test_a_bias_is_added_to_the_scaled_scores(
    attend, leading, added, causal, kind
) -> None:
    query, key, value = qkv(leading)
    bias, mask = draw(*BIASES[added](leading)), mask_of(kind, leading)
    ours = attend(query, key, value, mask=mask, bias=bias, causal=causal, scale=0.37)
    theirs = oracles.attention(query, key, value, mask, 0.37, bias=bias, causal=causal)
    close(ours, theirs)


@pytest.mark.parametrize("causal", [False, True])
def test_weights_with_a_bias_equal_the_loops(causal: bool) -> None:
    query, key, _ = qkv((B, H))
    bias, mask = draw(H, T, S), mask_of("with fully masked rows", (B, H))
    ours = attention_weights(query, key, mask=mask, bias=bias, causal=causal)
    theirs = oracles.attention_weights(query, key, mask, bias=bias, causal=causal)
    close(ours, theirs)


@pytest.mark.parametrize("causal", [False, True])
@BOTH
def test_a_bias_can_be_trained(attend, causal) -> None:
    """Gradients equal differences; where nothing may be seen there are none."""
    mask = mask_of("with fully masked rows", (B,))
    tensors = [x.requires_grad_() for x in (*qkv((B,), D), draw(T, S))]
    assert torch.autograd.gradcheck(
        lambda q, k, v, b: attend(q, k, v, mask=mask, bias=b, causal=causal), tensors
    )
    query, key, value, bias = tensors
    context = attend(query, key, value, mask=mask, bias=bias, causal=causal)
    context.sum().backward()
    assert bias.grad[[1, T - 1]].eq(0).all()
    assert bias.grad[2].ne(0).any()


@HALF
@BOTH
def test_a_bias_takes_the_type_of_the_query(attend, dtype) -> None:
    query, key, value = (x.to(dtype) for x in qkv((B,)))
    bias = draw(T, S)
    ours = attend(query, key, value, bias=bias)
    assert ours.dtype == dtype
    close(ours, attend(query, key, value, bias=bias.to(dtype)))


@pytest.mark.parametrize(
    ("queries", "keys"), [(T, T), (T, S), (S, T), (1, S), (S, 1), (1, 1)]
)
@pytest.mark.parametrize("kind", ["no mask", "mask", "mask with fully masked rows"])
@EVERY_LEADING
@BOTH
def test_causal_hides_the_future_besides_the_mask(
    attend, leading, kind, queries, keys
) -> None:
    query, key = draw(*leading, queries, D), draw(*leading, keys, D)
    value = draw(*leading, keys, V)
    mask = None
    if kind != "no mask":
        mask = random_mask(*leading, queries, keys)
        mask[..., queries // 2, :] &= kind == "mask"
    ours = attend(query, key, value, mask=mask, causal=True, scale=0.37)
    close(ours, oracles.attention(query, key, value, mask, 0.37, causal=True))
    both = causal_mask(queries, keys)
    both = both if mask is None else both & mask
    close(ours, attend(query, key, value, mask=both, scale=0.37))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
@BOTH
def test_leading_axes_broadcast(
    attend, of_query, of_key, of_value, causal, masked
) -> None:
    query, key = draw(*of_query, T, D), draw(*of_key, S, D)
    value = draw(*of_value, S, V)
    mask = bias = None
    if masked:
        scores = torch.broadcast_shapes(of_query, of_key)
        mask, bias = random_mask(*scores, T, S), draw(*scores[-1:], T, S)
        mask[..., 3, :] = False
    ours = attend(query, key, value, mask=mask, bias=bias, causal=causal)
    theirs = oracles.attention(query, key, value, mask, bias=bias, causal=causal)
    close(ours, theirs)
    if not masked:
        weights = attention_weights(query, key, causal=causal)
        close(weights, oracles.attention_weights(query, key, causal=causal))


@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
@BOTH
def test_what_is_shared_gets_the_gradients_of_all(
    attend, of_query, of_key, of_value
) -> None:
    leading = torch.broadcast_shapes(of_query, of_key, of_value)
    shared = [
        draw(*of_query, T, D).requires_grad_(),
        draw(*of_key, S, D).requires_grad_(),
        draw(*of_value, S, V).requires_grad_(),
    ]
    copies = [
        x.detach().expand(*leading, *x.shape[-2:]).clone().requires_grad_()
        for x in shared
    ]
    gradient = draw(*leading, T, V)
    attend(*shared, causal=True).backward(gradient)
    attend(*copies, causal=True).backward(gradient)
    for ours, theirs in zip(shared, copies, strict=True):
        close(ours.grad, theirs.grad.sum_to_size(ours.shape))


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
