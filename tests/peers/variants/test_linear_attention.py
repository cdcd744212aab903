"""Our linear attention equals that of MiniMax, whose blocks are our chunks.

Theirs fades by a slope of each head and has neither features nor a sum to divide by. So
it is asked without slopes, with features that we made, and with values whose last
number is one: then that number of the result is the sum.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers import MiniMaxConfig
from transformers.models.minimax.modeling_minimax import (
    MiniMaxCache,
    MiniMaxLightningAttention,
)

from headway import linear_attention, positive_features

B, H, T, D = 2, 3, 13, 6


class Open(nn.Module):
    """Open their gate: a sigmoid of infinity is one."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.full_like(x[..., : H * D], torch.inf)


def minimax(block: int) -> MiniMaxLightningAttention:
    config = MiniMaxConfig(
        hidden_size=H * D,
        num_attention_heads=H,
        head_dim=D,
        block_size=block,
        num_hidden_layers=1,
        layer_types=["linear_attention"],
    )
    theirs = MiniMaxLightningAttention(config, layer_idx=0).double()
    theirs.act_fn = theirs.norm = theirs.qkv_proj = theirs.out_proj = nn.Identity()
    theirs.output_gate = Open()
    for name in ("slope_rate", "query_decay", "key_decay"):
        buffer = getattr(theirs, name)
        decay = 0.0 if name == "slope_rate" else 1.0
        setattr(theirs, name, torch.full_like(buffer, decay, dtype=torch.float64))
    theirs.diagonal_decay = torch.ones_like(theirs.diagonal_decay).double().tril()
    return theirs


def run_theirs(
    theirs: MiniMaxLightningAttention, query, key, value, cache=None
) -> Tensor:
    joined = torch.cat([query, key, value], dim=-1).transpose(1, 2).flatten(-2)
    out = theirs(joined, None, None, past_key_values=cache)[0]
    return out.unflatten(-1, (H, D)).transpose(1, 2)


def draw() -> list[Tensor]:
    torch.manual_seed(7)
    return [torch.randn(B, H, T, D, dtype=torch.float64) for _ in range(3)]


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("chunk", [None, 1, 2, 5])
@pytest.mark.parametrize("block", [1, 4, 13])
def test_sums_are_theirs_with_gradients(chunk, block) -> None:
    tensors, loss = draw(), torch.randn(B, H, T, D, dtype=torch.float64)
    theirs, found = minimax(block), []
    for attend in (
        lambda *qkv: linear_attention(
            *qkv, features=None, normalise=False, chunk=chunk
        )[0],
        lambda *qkv: run_theirs(theirs, *qkv),
    ):
        leaves = [x.clone().requires_grad_() for x in tensors]
        result = attend(*leaves)
        result.backward(loss)
        found.append([result, *(x.grad for x in leaves)])
    for one, other in zip(*found, strict=True):
        close(one, other)


@pytest.mark.parametrize("chunk", [None, 1, 2, 5])
def test_means_are_theirs(chunk) -> None:
    query, key, value = draw()
    value[..., -1] = 1.0
    sums = run_theirs(minimax(4), *map(positive_features, (query, key)), value)
    ours, _ = linear_attention(query, key, value[..., :-1], chunk=chunk)
    close(ours, sums[..., :-1] / sums[..., -1:])


def test_the_state_is_what_they_keep() -> None:
    tensors, theirs, cache = draw(), minimax(4), MiniMaxCache()
    state, options = None, {"features": None, "normalise": False}
    for new in (slice(0, 7), slice(7, 8), slice(8, 9)):
        pieces = [x[:, :, new] for x in tensors]
        ours, state = linear_attention(*pieces, chunk=2, state=state, **options)
        close(ours, run_theirs(theirs, *pieces, cache=cache))
        close(state, cache.get_linear_cache(0))
