"""Our delta rule equals those of attention-gym and of Qwen3-Next, for all chunks."""

import pytest
import torch
from attn_gym.linear.gdn.impl.reference import chunk_forward, recurrent_forward
from torch import Tensor
from transformers.models.qwen3_next.modeling_qwen3_next import (
    torch_chunk_gated_delta_rule,
    torch_recurrent_gated_delta_rule,
)

from headway import delta_rule

B, H, T, D, V = 2, 3, 13, 5, 7
CHUNKS = pytest.mark.parametrize("chunk", [None, 1, 2, 5])


def draw(dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Draw queries, unit keys, values, shares, factors and a state."""
    torch.manual_seed(7)
    rows = [torch.randn(B, H, T, width, dtype=dtype) for width in (D, D, V)]
    rows[1] = torch.nn.functional.normalize(rows[1], dim=-1)
    beta, decay = torch.rand(2, B, H, T, dtype=dtype)
    return [*rows, beta, 0.2 + 0.8 * decay, torch.randn(B, H, D, V, dtype=dtype)]


def run_ours(tensors: list[Tensor], chunk: int | None) -> tuple[Tensor, Tensor]:
    *four, decay, state = tensors
    return delta_rule(*four, decay=decay, chunk=chunk, state=state)


def attention_gym(function, tensors: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Bring the tokens before the heads; their state has the values first."""
    *rows, decay, state = tensors
    query, key, value, beta, log = (x.transpose(1, 2) for x in (*rows, decay.log()))
    out, last = function(
        query,
        key,
        value,
        log,
        beta,
        scale=1.0,
        initial_state=state.mT,
        output_final_state=True,
    )
    return out.transpose(1, 2), last.mT


def qwen(function, tensors: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Undo their scale, which ours does not have."""
    query, key, value, beta, decay, state = tensors
    query = query * D**0.5
    rows = (x.transpose(1, 2) for x in (query, key, value, decay.log(), beta))
    out, last = function(*rows, initial_state=state, output_final_state=True)
    return out.transpose(1, 2), last


def both(ours, theirs, tensors: list[Tensor], tolerance: float) -> None:
    """Compare what is read, the last state, and all gradients."""
    dtype = tensors[0].dtype
    losses = torch.randn(B, H, T, V, dtype=dtype), torch.randn(B, H, D, V, dtype=dtype)
    found = []
    for run in (ours, theirs):
        leaves = [x.clone().requires_grad_() for x in tensors]
        results = run(leaves)
        sum((x * y).sum() for x, y in zip(results, losses, strict=True)).backward()
        found.append([*results, *(x.grad for x in leaves)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@CHUNKS
@pytest.mark.parametrize("function", [recurrent_forward, chunk_forward])
def test_it_is_that_of_attention_gym(function, chunk) -> None:
    both(
        lambda leaves: run_ours(leaves, chunk),
        lambda leaves: attention_gym(function, leaves),
        draw(),
        1e-12,
    )


@CHUNKS
@pytest.mark.parametrize(
    "function", [torch_recurrent_gated_delta_rule, torch_chunk_gated_delta_rule]
)
def test_it_is_that_of_qwen3_next(function, chunk) -> None:
    """They compute in 32 bits, whatever they are handed."""
    both(
        lambda leaves: run_ours(leaves, chunk),
        lambda leaves: qwen(function, leaves),
        draw(torch.float32),
        1e-4,
    )
    ours, _ = run_ours(draw(torch.float32), chunk)
    assert (ours - qwen(function, draw(torch.float32))[0]).abs().max() < 5e-6
