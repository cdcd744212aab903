"""Chosen keys equal those of DeepSeek-V3.2 in transformers, and what they give.

Their norms compute in 32 bits, whatever they are given; torch's own stand in their
place. Their indexer scores in 32 bits.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention
from transformers.models.deepseek_v32.configuration_deepseek_v32 import (
    DeepseekV32Config,
)
from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32Attention

from headway import LatentAttention, Rotary, causal_mask, indexer_scores, topk_mask

# Width of the text, heads, heads of the indexer; no two widths are the same.
B, T, D, H, SMALL = 2, 13, 30, 5, 17
NOPE, ROPE, VALUE, LATENT, QUERY_LATENT, INDEX, BASE = 6, 4, 11, 14, 19, 7, 100.0
SIZES = {
    "hidden_size": D,
    "num_attention_heads": H,
    "num_key_value_heads": H,
    "kv_lora_rank": LATENT,
    "q_lora_rank": QUERY_LATENT,
    "qk_rope_head_dim": ROPE,
    "v_head_dim": VALUE,
    "qk_nope_head_dim": NOPE,
    "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
    "attn_implementation": "sdpa",
}

# What they warn of is theirs to fix.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(7)


def choosing(keep: int) -> DeepseekV32Attention:
    """Make theirs, with random weights."""
    config = DeepseekV32Config(
        index_n_heads=SMALL, index_head_dim=INDEX, index_topk=keep, **SIZES
    )
    theirs = with_our_norms(DeepseekV32Attention(config, 0).double())
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.3)
    return theirs


def with_our_norms(theirs: nn.Module) -> nn.Module:
    double = {"eps": 1e-6, "dtype": torch.float64}
    theirs.kv_a_layernorm = nn.RMSNorm(LATENT, **double)
    theirs.q_a_layernorm = nn.RMSNorm(QUERY_LATENT, **double)
    return theirs


def dense(choosing: nn.Module) -> DeepseekV3Attention:
    """Make the model before it: the same weights, and no indexer."""
    before = with_our_norms(DeepseekV3Attention(DeepseekV3Config(**SIZES), 0).double())
    missing = before.load_state_dict(choosing.state_dict(), strict=False)
    assert not missing.missing_keys
    assert all(name.startswith("indexer.") for name in missing.unexpected_keys)
    return before


def angles() -> tuple[Tensor, Tensor]:
    speeds = BASE ** (-torch.arange(0, ROPE, 2, dtype=torch.float64) / ROPE)
    turns = (torch.arange(T)[:, None] * speeds).repeat(1, 2).expand(B, -1, -1)
    return turns.cos(), turns.sin()


def answer(theirs: nn.Module, x: Tensor) -> Tensor:
    mask = causal_mask(T).expand(B, 1, -1, -1)
    return theirs(x, angles(), mask)[0]


def our_choice(theirs: DeepseekV32Attention, x: Tensor, keep: int) -> Tensor:
    """Score and choose by the package, from the weights of their indexer."""
    own = theirs.indexer
    turn = Rotary(ROPE, base=BASE, halves=True)
    small = theirs.q_a_layernorm(theirs.q_a_proj(x))
    query = own.wq_b(small).unflatten(-1, (SMALL, INDEX)).transpose(1, 2)
    key = own.k_norm(own.wk(x))
    rotated = [
        torch.cat([turn(v[..., :ROPE], torch.arange(T)), v[..., ROPE:]], dim=-1)
        for v in (query, key)
    ]
    scores = indexer_scores(*rotated, own.weights_proj(x))
    return topk_mask(scores, keep=keep, mask=causal_mask(T))


@pytest.mark.parametrize("keep", [1, 2, 5, 8, T - 1])
def test_the_same_keys_are_chosen(keep: int) -> None:
    """Of their choice only what the mask leaves is compared: they choose hidden ones.

    Positive factors, which they have and we do not, change no order.
    """
    theirs, x = choosing(keep), torch.randn(B, T, D, dtype=torch.float64)
    small = theirs.q_a_layernorm(theirs.q_a_proj(x))
    mask = causal_mask(T)
    chosen = theirs.indexer(x, small, angles(), mask.expand(B, -1, -1), None)
    expected = torch.zeros(B, T, T, dtype=torch.bool)
    expected = expected.scatter(-1, chosen.long(), True) & mask
    # Seventeen heads are not silent at once, so no two scores are equal.
    assert torch.equal(our_choice(theirs, x, keep), expected)


@pytest.mark.parametrize("keep", [2, 5, 8])
def test_so_is_what_attention_gives_with_gradients(keep: int) -> None:
    theirs, ours = choosing(keep), latent()
    ours.load_state_dict(as_ours(theirs))
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    mine = ours(x, mask=our_choice(theirs, x, keep))
    other = answer(theirs, y)
    torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-12)
    gradient = torch.randn_like(mine)
    mine.backward(gradient)
    other.backward(gradient)
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-12, atol=1e-12)
    for name, weight in theirs.named_parameters():
        assert (weight.grad is None) == name.startswith("indexer.")


@pytest.mark.parametrize("keep", [T, T + 1, 100])
def test_with_all_keys_it_is_the_model_before_it(keep: int) -> None:
    theirs, x = choosing(keep), torch.randn(B, T, D, dtype=torch.float64)
    assert torch.equal(answer(theirs, x), answer(dense(theirs), x))
    assert our_choice(theirs, x, keep).equal(causal_mask(T).expand(B, -1, -1))


@pytest.mark.parametrize("keep", [1, 4, 7])
def test_the_first_rows_are_dense(keep: int) -> None:
    theirs, x = choosing(keep), torch.randn(B, T, D, dtype=torch.float64)
    found, expected = answer(theirs, x), answer(dense(theirs), x)
    torch.testing.assert_close(found[:, :keep], expected[:, :keep])
    assert ((found - expected)[:, keep:].abs().amax(dim=(0, 2)) > 1e-6).all()


def latent() -> LatentAttention:
    return LatentAttention(
        D,
        D,
        T,
        0.0,
        H,
        d_latent=LATENT,
        d_rope=ROPE,
        d_nope=NOPE,
        d_value=VALUE,
        d_query_latent=QUERY_LATENT,
        rotate=Rotary(ROPE, base=BASE),
        dtype=torch.float64,
    )


def as_ours(theirs: nn.Module) -> dict[str, Tensor]:
    """Say by our names what they have by theirs."""
    have = theirs.state_dict()
    down, turned = have["kv_a_proj_with_mqa.weight"].split([LATENT, ROPE])
    heads = have["kv_b_proj.weight"].unflatten(0, (H, NOPE + VALUE))
    keys, values = heads.split([NOPE, VALUE], dim=1)
    return {
        "W_query_latent.weight": have["q_a_proj.weight"],
        "W_query.weight": have["q_b_proj.weight"],
        "W_latent.weight": down,
        "W_rope.weight": turned,
        "W_key.weight": keys.flatten(0, 1),
        "W_value.weight": values.flatten(0, 1),
        "query_norm.weight": have["q_a_layernorm.weight"],
        "latent_norm.weight": have["kv_a_layernorm.weight"],
        "out_proj.weight": have["o_proj.weight"],
        "out_proj.bias": torch.zeros(D, dtype=torch.float64),
    }
