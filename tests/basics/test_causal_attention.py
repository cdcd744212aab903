"""One causal head: equal to the loops, to PyTorch, and to the figures."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from headway import CausalAttention, six_tokens
from tests.support import oracles
from tests.support.compare import close, printed
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import CONTEXT, D_IN, B, T, V, draw


def build(qkv_bias: bool = False, dropout: float = 0.0) -> CausalAttention:
    return CausalAttention(D_IN, V, CONTEXT, dropout, qkv_bias).double()


@pytest.mark.parametrize("qkv_bias", [False, True])
@EVERY_LEADING
def test_it_equals_the_loops(leading, qkv_bias) -> None:
    attend, x = build(qkv_bias), draw(*leading, T, D_IN)
    close(attend(x), oracles.self_attention(x, attend.state_dict(), causal=True))


@EVERY_LEADING
def test_it_equals_pytorch_with_gradients(leading) -> None:
    attend, x = build(True), draw(*leading, T, D_IN).requires_grad_()
    query, key, value = attend.W_query(x), attend.W_key(x), attend.W_value(x)
    theirs = scaled_dot_product_attention(query, key, value, is_causal=True)
    ours = attend(x)
    close(ours, theirs)
    weight = draw(*ours.shape)
    inputs = (x, *attend.parameters())
    for a, b in zip(
        torch.autograd.grad((ours * weight).sum(), inputs),
        torch.autograd.grad((theirs * weight).sum(), inputs),
        strict=True,
    ):
        close(a, b)


@pytest.mark.parametrize("length", [1, T, CONTEXT])
def test_any_length_up_to_the_context(length: int) -> None:
    attend, x = build(), draw(length, D_IN)
    close(attend(x), oracles.self_attention(x, attend.state_dict(), causal=True))


def test_a_mask_is_built_where_the_tokens_are() -> None:
    attend, x = build(), draw(B, T, D_IN)
    with torch.device("meta"):
        assert attend(x).device == x.device


def test_the_dropout_is_the_one_that_was_asked_for() -> None:
    assert build(dropout=0.25).dropout.p == 0.25
    assert build(dropout=0.25).training


def test_the_dropout_layer_says_whether_it_acts() -> None:
    attend = CausalAttention(D_IN, V, CONTEXT, 0.5).double().eval()
    x = draw(B, T, D_IN)
    expected = attend(x)
    attend.dropout.train()
    assert not torch.equal(attend(x), attend(x))
    attend.train()
    attend.dropout.eval()
    assert torch.equal(attend(x), expected)


def test_figure_e34_and_the_last_row_of_a21() -> None:
    rows = [
        [-0.4519, 0.2216],
        [-0.5874, 0.0058],
        [-0.6300, -0.0632],
        [-0.5675, -0.0843],
        [-0.5526, -0.0981],
        [-0.5299, -0.1081],
    ]
    inputs = six_tokens().vectors
    torch.manual_seed(123)
    attend = CausalAttention(3, 2, context_length=6, dropout=0.0)
    printed(attend(torch.stack([inputs, inputs])).detach(), [rows, rows])


def test_weights_are_made_where_and_how_one_says() -> None:
    module = CausalAttention(
        D_IN, V, CONTEXT, 0.0, True, device="meta", dtype=torch.bfloat16
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
