"""Heads side by side: each of them alone, and their weights."""

import pytest
import torch
from torch import Tensor

from headway import CausalAttention, MultiHeadAttentionWrapper, six_tokens
from tests.support import oracles
from tests.support.compare import close, printed
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import CONTEXT, D_IN, D, H, T, draw


def build(num_heads: int = H, qkv_bias: bool = True) -> MultiHeadAttentionWrapper:
    return MultiHeadAttentionWrapper(
        D_IN, D, CONTEXT, 0.0, num_heads, qkv_bias
    ).double()


def head(state: dict[str, Tensor], h: int) -> dict[str, Tensor]:
    prefix = f"heads.{h}."
    return {
        name.removeprefix(prefix): weight
        for name, weight in state.items()
        if name.startswith(prefix)
    }


@pytest.mark.parametrize("qkv_bias", [False, True])
@EVERY_LEADING
def test_it_is_each_head_alone_in_order(leading, qkv_bias) -> None:
    attend, x = build(H, qkv_bias), draw(*leading, T, D_IN)
    result = attend(x)
    assert result.shape == (*leading, T, H * D)
    for h, mine in enumerate(result.split(D, dim=-1)):
        weights = head(attend.state_dict(), h)
        assert len(weights) == (6 if qkv_bias else 3)
        close(mine, oracles.self_attention(x, weights, causal=True))


@pytest.mark.parametrize("num_heads", [1, 2, H])
def test_every_head_draws_weights_of_its_own(num_heads: int) -> None:
    attend = build(num_heads)
    assert len(attend.heads) == num_heads
    drawn = {weight.data_ptr() for weight in attend.parameters()}
    assert len(drawn) == 6 * num_heads
    firsts = {one.W_query.weight[0, 0].item() for one in attend.heads}
    assert len(firsts) == num_heads


def test_every_head_gets_the_sizes_and_the_dropout() -> None:
    attend = MultiHeadAttentionWrapper(D_IN, D, CONTEXT, 0.25, H)
    for one in attend.heads:
        assert isinstance(one, CausalAttention)
        assert one.dropout.p == 0.25
        assert one.context_length == CONTEXT
        assert one.W_value.bias is None
        assert (one.W_value.in_features, one.W_value.out_features) == (D_IN, D)


FIGURES = {
    "D02": [
        [-0.4519, 0.2216, 0.4772, 0.1063],
        [-0.5874, 0.0058, 0.5891, 0.3257],
        [-0.6300, -0.0632, 0.6202, 0.3860],
        [-0.5675, -0.0843, 0.5478, 0.3589],
        [-0.5526, -0.0981, 0.5321, 0.3428],
        [-0.5299, -0.1081, 0.5077, 0.3493],
    ],
    "D05": [
        [-0.4519, 0.2216, 0.4772, 0.1063, 0.4566, 0.2729],
        [-0.5874, 0.0058, 0.5891, 0.3257, 0.5792, 0.3011],
        [-0.6300, -0.0632, 0.6202, 0.3860, 0.6249, 0.3102],
        [-0.5675, -0.0843, 0.5478, 0.3589, 0.5691, 0.2785],
        [-0.5526, -0.0981, 0.5321, 0.3428, 0.5543, 0.2520],
        [-0.5299, -0.1081, 0.5077, 0.3493, 0.5337, 0.2499],
    ],
}


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_two_and_three_heads(figure: str) -> None:
    rows = FIGURES[figure]
    inputs = six_tokens().vectors
    torch.manual_seed(123)
    attend = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=len(rows[0]) // 2)
    printed(attend(torch.stack([inputs, inputs])).detach(), [rows, rows])


def test_weights_are_made_where_and_how_one_says() -> None:
    module = MultiHeadAttentionWrapper(
        D_IN, D, CONTEXT, 0.0, H, True, device="meta", dtype=torch.bfloat16
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
