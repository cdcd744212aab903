"""Self-attention with matrices and with linear layers: the same thing, once copied."""

import pytest
import torch
from torch import Tensor

from headway import (
    SelfAttentionV1,
    SelfAttentionV2,
    attention_weights,
    nine_words,
    six_tokens,
)
from tests.support import oracles
from tests.support.compare import close, printed
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import D_IN, B, D, T, V, draw


def as_layers(matrices: SelfAttentionV1) -> dict[str, Tensor]:
    return {f"{name}.weight": matrix.T for name, matrix in matrices.named_parameters()}


@pytest.mark.parametrize("d_qk", [None, D])
@EVERY_LEADING
def test_matrices_equal_the_loops(leading, d_qk) -> None:
    attend = SelfAttentionV1(D_IN, V, d_qk=d_qk).double()
    x = draw(*leading, T, D_IN)
    close(attend(x), oracles.self_attention(x, as_layers(attend), causal=False))


@pytest.mark.parametrize("qkv_bias", [False, True])
def test_all_three_projections_have_a_bias_or_none(qkv_bias) -> None:
    """A bias of the keys changes no result, but a checkpoint holds it."""
    names = SelfAttentionV2(D_IN, V, qkv_bias).state_dict().keys()
    assert {name.partition(".")[0] for name in names if "bias" in name} == (
        {"W_query", "W_key", "W_value"} if qkv_bias else set()
    )


@pytest.mark.parametrize("qkv_bias", [False, True])
@EVERY_LEADING
def test_layers_equal_the_loops(leading, qkv_bias) -> None:
    attend = SelfAttentionV2(D_IN, V, qkv_bias).double()
    x = draw(*leading, T, D_IN)
    close(attend(x), oracles.self_attention(x, attend.state_dict(), causal=False))


def test_v1_draws_queries_then_keys_then_values() -> None:
    calls = []

    def init(rows: int, columns: int) -> Tensor:
        calls.append((rows, columns))
        return torch.full((rows, columns), float(len(calls)))

    attend = SelfAttentionV1(D_IN, V, d_qk=D, init=init)
    assert calls == [(D_IN, D), (D_IN, D), (D_IN, V)]
    drawn = [attend.W_query, attend.W_key, attend.W_value]
    assert [matrix.unique().item() for matrix in drawn] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "build",
    [
        lambda: SelfAttentionV1(D_IN, V, d_qk=D, init=torch.randn),
        lambda: SelfAttentionV2(D_IN, V, qkv_bias=True),
    ],
    ids=["V1", "V2"],
)
def test_gradients_equal_differences(build) -> None:
    attend = build().double()
    x = draw(3, D_IN).requires_grad_()
    assert all(weight.requires_grad for weight in attend.parameters())
    assert torch.autograd.gradcheck(
        lambda x, *_: attend(x), (x, *attend.parameters()), fast_mode=True
    )


def test_equal_weights_give_equal_results() -> None:
    """A linear layer stores the transpose of the matrix."""
    layers = SelfAttentionV2(D_IN, V, dtype=torch.float64)
    matrices = SelfAttentionV1(D_IN, V, dtype=torch.float64)
    x = draw(B, T, D_IN)
    assert not torch.allclose(layers(x), matrices(x))
    with torch.no_grad():
        for name, matrix in matrices.named_parameters():
            matrix.copy_(layers.get_submodule(name).weight.T)
    close(layers(x), matrices(x))


@pytest.mark.parametrize("kind", [SelfAttentionV1, SelfAttentionV2])
def test_weights_are_made_where_and_how_one_says(kind) -> None:
    module = kind(D_IN, V, device="meta", dtype=torch.bfloat16)
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
    assert {weight.dtype for weight in kind(D_IN, V).parameters()} == {torch.float32}


FIGURES_V1 = {
    "E23": (
        torch.rand,
        [
            [0.2996, 0.8053],
            [0.3061, 0.8210],
            [0.3058, 0.8203],
            [0.2948, 0.7939],
            [0.2927, 0.7891],
            [0.2990, 0.8040],
        ],
    ),
    "A10": (
        torch.randn,
        [
            [0.2845, 0.4071],
            [0.2854, 0.4081],
            [0.2854, 0.4075],
            [0.2864, 0.3974],
            [0.2863, 0.3910],
            [0.2860, 0.4039],
        ],
    ),
}


@pytest.mark.parametrize("figure", FIGURES_V1)
def test_figures_of_v1(figure: str) -> None:
    init, rows = FIGURES_V1[figure]
    torch.manual_seed(123)
    printed(SelfAttentionV1(3, 2, init=init)(six_tokens().vectors).detach(), rows)


FIGURES_V2 = {
    "A11": (
        768,
        [
            [-0.0256, -0.0702],
            [-0.0175, -0.0742],
            [-0.0175, -0.0744],
            [-0.0177, -0.0735],
            [-0.0187, -0.0765],
            [-0.0175, -0.0721],
        ],
    ),
    "E24": (
        789,
        [
            [-0.0739, 0.0713],
            [-0.0748, 0.0703],
            [-0.0749, 0.0702],
            [-0.0760, 0.0685],
            [-0.0763, 0.0679],
            [-0.0754, 0.0693],
        ],
    ),
}


@pytest.mark.parametrize("figure", FIGURES_V2)
def test_figures_of_v2(figure: str) -> None:
    seed, rows = FIGURES_V2[figure]
    torch.manual_seed(seed)
    printed(SelfAttentionV2(3, 2)(six_tokens().vectors).detach(), rows)


def test_figure_e25_the_weights_behind_e24() -> None:
    torch.manual_seed(789)
    attend = SelfAttentionV2(3, 2)
    inputs = six_tokens().vectors
    printed(
        attention_weights(attend.W_query(inputs), attend.W_key(inputs)).detach(),
        [
            [0.1921, 0.1646, 0.1652, 0.1550, 0.1721, 0.1510],
            [0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477],
            [0.2036, 0.1659, 0.1662, 0.1498, 0.1664, 0.1480],
            [0.1869, 0.1667, 0.1668, 0.1571, 0.1661, 0.1564],
            [0.1830, 0.1669, 0.1670, 0.1588, 0.1658, 0.1585],
            [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
        ],
    )


def test_figures_b12_and_b20_one_text_and_two() -> None:
    rows = [
        [0.2654, 0.4334, -0.1496],
        [0.2663, 0.4363, -0.1505],
        [0.2663, 0.4363, -0.1505],
        [0.2666, 0.4380, -0.1534],
        [0.2661, 0.4364, -0.1522],
        [0.2667, 0.4382, -0.1530],
        [0.2662, 0.4371, -0.1535],
        [0.2662, 0.4360, -0.1508],
        [0.2656, 0.4338, -0.1492],
    ]
    inputs = nine_words().vectors
    torch.manual_seed(123)
    attend = SelfAttentionV2(3, 3)
    printed(attend(inputs).detach(), rows)
    printed(attend(torch.stack([inputs, inputs])).detach(), [rows, rows])
