"""QK-norm, gates and differences against the attention of models in `transformers`.

Qwen 3, OLMo 2, Hunyuan, Qwen3-Next and DiffLlama, written by others.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    DiffLlamaConfig,
    HunYuanDenseV1Config,
    Olmo2Config,
    Qwen3Config,
    Qwen3NextConfig,
)
from transformers.models.diffllama.modeling_diffllama import DiffLlamaAttention
from transformers.models.hunyuan_v1_dense.modeling_hunyuan_v1_dense import (
    HunYuanDenseV1Attention,
)
from transformers.models.olmo2.modeling_olmo2 import Olmo2Attention
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention
from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextAttention

from headway import (
    DifferentialAttention,
    GatedAttention,
    GroupedQueryAttention,
    QKNorm,
    Rotary,
    add_qk_norm,
    halves_to_neighbours_weight,
    rotary_frequencies,
)

pytestmark = pytest.mark.filterwarnings("ignore")
B, T, D, HEADS, GROUPS, LAYER = 2, 7, 4, 6, 2, 3
E, CONTEXT, EPS = HEADS * D, 16, 0.01
SIZES = {
    "hidden_size": E,
    "head_dim": D,
    "num_attention_heads": HEADS,
    "num_key_value_heads": GROUPS,
    "rms_norm_eps": EPS,
    "num_hidden_layers": LAYER,
    "attn_implementation": "sdpa",
}


def tables() -> tuple[Tensor, Tensor]:
    """Give cosines and sines in 64 bits; theirs have 32."""
    angles = torch.arange(T).double()[:, None] * rotary_frequencies(D)
    angles = angles.repeat(1, 2).expand(B, T, D)
    return angles.cos(), angles.sin()


def theirs(kind: type[nn.Module], config: object, layer: int = 0) -> nn.Module:
    """Build theirs, with all weights drawn: norms of ones would hide their place."""
    made = kind(config, layer_idx=layer).double().eval()
    for name, weight in made.named_parameters():
        spread = 0.6 if weight.ndim == 1 else 0.4
        nn.init.normal_(weight, 1.0 if "norm" in name else 0.0, spread)
    return made


def ours(made: nn.Module, **options: object) -> GroupedQueryAttention:
    result = GroupedQueryAttention(
        E,
        E,
        CONTEXT,
        0.0,
        HEADS,
        num_kv_heads=GROUPS,
        rotate=Rotary(D, halves=True),
        **options,
    ).double()
    load(result, made)
    return result


def load(result: nn.Module, made: nn.Module) -> None:
    """Share all projections but that of the queries; ours ends with a bias."""
    result.W_query.weight = made.q_proj.weight
    result.W_key.weight = made.k_proj.weight
    result.W_value.weight = made.v_proj.weight
    result.out_proj.weight = made.o_proj.weight
    nn.init.zeros_(result.out_proj.bias)


def same(one: nn.Module, other: nn.Module, leaves: list[Tensor], tolerance: float):
    """Compare results, and gradients of the tokens and of weights that both have."""
    x = torch.randn(B, T, E).double().requires_grad_()
    found = one(x)
    expected = other(x, position_embeddings=tables(), attention_mask=None)[0]
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    weight, leaves = torch.randn_like(found), [x, *leaves]
    for mine, their in zip(
        torch.autograd.grad((found * weight).sum(), leaves, retain_graph=True),
        torch.autograd.grad((expected * weight).sum(), leaves),
        strict=True,
    ):
        largest = max(their.abs().max().item(), 1.0)
        torch.testing.assert_close(
            mine, their, rtol=tolerance, atol=tolerance * largest
        )
    return (found - expected).abs().max().item()


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(
    ("kind", "config", "across_heads"),
    [
        (Qwen3Attention, Qwen3Config(**SIZES), False),
        (Olmo2Attention, Olmo2Config(**SIZES), True),
    ],
    ids=["Qwen 3, each head", "OLMo 2, all heads together"],
)
def test_norms_before_the_rotation(kind, config, across_heads) -> None:
    """Theirs normalise in 32 bits."""
    other = theirs(kind, config)
    one = add_qk_norm(ours(other), across_heads=across_heads, eps=EPS)
    for layer, norm in ((one.W_query, other.q_norm), (one.W_key, other.k_norm)):
        assert layer.norm.weight.shape == norm.weight.shape
        layer.norm.weight = norm.weight
    off = same(one, other, [*other.parameters()], 2e-6)
    print(f"{kind.__name__}: {off:.1e}")


def test_norms_after_the_rotation_are_those_of_hunyuan() -> None:
    other = theirs(HunYuanDenseV1Attention, HunYuanDenseV1Config(**SIZES))
    attend = QKNorm(D, eps=EPS).double()
    attend.query_norm.weight = other.query_layernorm.weight
    attend.key_norm.weight = other.key_layernorm.weight
    off = same(ours(other, attend=attend), other, [*other.parameters()], 2e-6)
    print(f"HunYuanDenseV1Attention: {off:.1e}")

    before = add_qk_norm(ours(other), eps=EPS)
    before.W_query.norm.weight = other.query_layernorm.weight
    before.W_key.norm.weight = other.key_layernorm.weight
    x = torch.randn(B, T, E).double()
    expected = other(x, position_embeddings=tables(), attention_mask=None)[0]
    assert (before(x) - expected).abs().max() > 0.05


def test_a_gate_and_norms_are_those_of_qwen3_next() -> None:
    """Their norms add one to a weight; a head's query and gate lie side by side."""
    other = theirs(Qwen3NextAttention, Qwen3NextConfig(**SIZES))
    both = other.q_proj.weight.detach().unflatten(0, (HEADS, 2, D))
    inner = ours_without_query(other)
    inner.W_query.weight = nn.Parameter(both[:, 0].flatten(0, 1))
    one = GatedAttention(add_qk_norm(inner, eps=EPS))
    one.W_gate.weight = nn.Parameter(both[:, 1].flatten(0, 1))
    with torch.no_grad():
        inner.W_query.norm.weight.copy_(1.0 + other.q_norm.weight)
        inner.W_key.norm.weight.copy_(1.0 + other.k_norm.weight)
    shared = [other.k_proj.weight, other.v_proj.weight, other.o_proj.weight]
    off = same(one, other, shared, 2e-6)
    print(f"Qwen3NextAttention: {off:.1e}")

    x = torch.randn(B, T, E).double()
    other(x, position_embeddings=tables(), attention_mask=None)[0].sum().backward()
    one(x).sum().backward()
    of_query, of_gate = other.q_proj.weight.grad.unflatten(0, (HEADS, 2, D)).unbind(1)
    for mine, their in (
        (inner.W_query.weight.grad, of_query),
        (one.W_gate.weight.grad, of_gate),
    ):
        torch.testing.assert_close(mine, their.flatten(0, 1), rtol=2e-6, atol=2e-5)


def ours_without_query(made: nn.Module) -> GroupedQueryAttention:
    weight = made.q_proj.weight
    made.q_proj.weight = nn.Parameter(weight[:E])
    result = ours(made)
    made.q_proj.weight = weight
    return result


@pytest.mark.parametrize("groups", [HEADS, GROUPS])
@pytest.mark.parametrize("layer", [0, 4])
def test_the_difference_is_that_of_diffllama(groups, layer) -> None:
    """Six heads there are three here, each with two queries; layers count from one."""
    config = DiffLlamaConfig(**(SIZES | {"num_key_value_heads": groups}))
    other = theirs(DiffLlamaAttention, config, layer)
    one = DifferentialAttention(
        E,
        E,
        CONTEXT,
        0.0,
        HEADS // 2,
        num_kv_heads=groups // 2,
        layer=layer + 1,
        eps=EPS,
        rotate=Rotary(D, halves=True),
    ).double()
    load(one, other)
    # Theirs pair heads that are a half apart; a copy keeps gradients.
    weights = dict(one.named_parameters())
    for name, projection, heads in (
        ("W_query", other.q_proj, HEADS),
        ("W_key", other.k_proj, groups),
        ("W_value", other.v_proj, groups),
    ):
        weights[f"{name}.weight"] = halves_to_neighbours_weight(
            projection.weight, heads
        )
    for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
        weights[name] = other.get_parameter(name)
    assert one.lambda_init == other.lambda_init

    def call(x: Tensor) -> Tensor:
        return torch.func.functional_call(one, weights, (x,))

    off = same(call, other, [*other.parameters()], 2e-6)
    print(f"DiffLlamaAttention, {groups} heads of keys: {off:.1e}")

    weights["W_query.weight"] = other.q_proj.weight  # halves, taken for neighbours
    x = torch.randn(B, T, E).double()
    expected = other(x, position_embeddings=tables(), attention_mask=None)[0]
    assert (call(x) - expected).abs().max() > 0.1
