"""Latent attention equals DeepSeek's in transformers, weight for weight, and its cache.

Their norms compute in 32 bits, whatever they are given: they stand in the test of 32
bits, and torch's own in their place where twelve digits are compared.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers import DynamicCache
from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention

from headway import KeyValueCache, LatentAttention, Rotary

# Width of the text, heads; no two widths are the same.
B, T, D, H = 2, 7, 30, 5
NOPE, ROPE, VALUE, LATENT, QUERY_LATENT, BASE = 6, 4, 11, 13, 19, 100.0
NAMES = {
    "W_query_latent": "q_a_proj",
    "query_norm": "q_a_layernorm",
    "latent_norm": "kv_a_layernorm",
    "out_proj": "o_proj",
}
ABSORB = pytest.mark.parametrize("absorb", [False, True])
COMPRESSED = pytest.mark.parametrize("compressed", [False, True])

# What they warn of is theirs to fix.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(7)


def both(
    compressed: bool, dtype: torch.dtype
) -> tuple[LatentAttention, DeepseekV3Attention]:
    """Make the same module twice: theirs with random weights, ours with theirs."""
    rank = QUERY_LATENT if compressed else None
    config = DeepseekV3Config(
        hidden_size=D,
        num_attention_heads=H,
        num_key_value_heads=H,
        kv_lora_rank=LATENT,
        q_lora_rank=rank,
        qk_rope_head_dim=ROPE,
        v_head_dim=VALUE,
        qk_nope_head_dim=NOPE,
        rope_parameters={"rope_type": "default", "rope_theta": BASE},
        attn_implementation="sdpa",
    )
    theirs = DeepseekV3Attention(config, 0).to(dtype)
    if dtype == torch.float64:
        theirs.kv_a_layernorm = nn.RMSNorm(LATENT, eps=1e-6, dtype=dtype)
        if compressed:
            theirs.q_a_layernorm = nn.RMSNorm(QUERY_LATENT, eps=1e-6, dtype=dtype)
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.3)
    ours = LatentAttention(
        D,
        D,
        T,
        0.0,
        H,
        d_latent=LATENT,
        d_rope=ROPE,
        d_nope=NOPE,
        d_value=VALUE,
        d_query_latent=rank,
        rotate=Rotary(ROPE, base=BASE),
        dtype=dtype,
    )
    ours.load_state_dict(
        as_ours({name: weight.detach() for name, weight in theirs.named_parameters()})
    )
    return ours, theirs


def as_ours(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Say by our names what they have by theirs: weights, or their gradients."""
    bias = torch.zeros(D, dtype=theirs["o_proj.weight"].dtype)
    queries = "q_b_proj" if "q_b_proj.weight" in theirs else "q_proj"
    ours = {"W_query.weight": theirs[f"{queries}.weight"], "out_proj.bias": bias}
    joined = theirs["kv_a_proj_with_mqa.weight"]
    ours["W_latent.weight"], ours["W_rope.weight"] = joined.split([LATENT, ROPE])
    heads = theirs["kv_b_proj.weight"].unflatten(0, (H, NOPE + VALUE))
    keys, values = heads.split([NOPE, VALUE], dim=1)
    ours["W_key.weight"], ours["W_value.weight"] = (
        keys.flatten(0, 1),
        values.flatten(0, 1),
    )
    for name, other in NAMES.items():
        if f"{other}.weight" in theirs:
            ours[f"{name}.weight"] = theirs[f"{other}.weight"]
    return ours


def angles(positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Make their tables in 64 bits; theirs would be of 32."""
    speeds = BASE ** (-torch.arange(0, ROPE, 2, dtype=torch.float64) / ROPE)
    turns = (positions[:, None] * speeds).repeat(1, 2).expand(B, -1, -1)
    return turns.cos().to(dtype), turns.sin().to(dtype)


def answer(theirs: DeepseekV3Attention, x: Tensor, cache=None, kept: int = 0) -> Tensor:
    """Ask theirs, with the mask that their model would make."""
    end = kept + x.shape[1]
    allowed = torch.ones(end, end, dtype=torch.bool).tril()[kept:].expand(B, 1, -1, -1)
    tables = angles(torch.arange(kept, end), x.dtype)
    return theirs(x, tables, allowed, past_key_values=cache)[0]


@COMPRESSED
@ABSORB
def test_values_and_gradients(absorb: bool, compressed: bool) -> None:
    ours, theirs = both(compressed, torch.float64)
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    mine, other = ours(x, absorb=absorb), answer(theirs, y)
    torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-12)
    gradient = torch.randn_like(mine)
    mine.backward(gradient)
    other.backward(gradient)
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-12, atol=1e-12)
    expected = as_ours({name: w.grad for name, w in theirs.named_parameters()})
    for name, weight in ours.named_parameters():
        if name != "out_proj.bias":  # theirs has none
            torch.testing.assert_close(
                weight.grad, expected[name], rtol=1e-12, atol=1e-12
            )


@COMPRESSED
@ABSORB
def test_with_their_own_norms(absorb: bool, compressed: bool) -> None:
    ours, theirs = both(compressed, torch.float32)
    x = torch.randn(B, T, D)
    torch.testing.assert_close(
        ours(x, absorb=absorb), answer(theirs, x), rtol=2e-5, atol=2e-5
    )


class Showing(KeyValueCache):
    """A cache that shows all that it keeps."""

    def append(self, *new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.kept = super().append(*new)
        return self.kept


@ABSORB
@pytest.mark.parametrize("cut", [[1] * T, [2, 5], [4, 1, 2], [6, 1]], ids=str)
def test_the_same_is_kept(cut: list[int], absorb: bool) -> None:
    ours, theirs = both(True, torch.float64)
    x = torch.randn(B, T, D, dtype=torch.float64)
    mine, other = Showing(), DynamicCache()
    whole, kept = answer(theirs, x), 0
    for new in cut:
        part = x[:, kept : kept + new]
        result = ours(part, cache=mine, absorb=absorb)
        torch.testing.assert_close(result, answer(theirs, part, other, kept))
        torch.testing.assert_close(result, whole[:, kept : kept + new])
        kept += new
    latent, rotated, _ = mine.kept
    layer = other.layers[0]
    torch.testing.assert_close(latent, layer.keys, rtol=1e-12, atol=1e-12)
    # They keep the first numbers of all pairs before the second ones.
    halves = torch.cat([rotated[..., 0::2], rotated[..., 1::2]], dim=-1)
    torch.testing.assert_close(halves, layer.values, rtol=1e-12, atol=1e-12)
