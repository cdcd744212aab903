"""ALiBi and T5's bias against four libraries' own."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from functools import partial

import pytest
import torch
from torch import Tensor
from transformers import T5Config
from transformers.models.bloom import modeling_bloom
from transformers.models.falcon import modeling_falcon
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from headway import (
    ALiBi,
    MultiHeadAttention,
    T5Bias,
    alibi_slopes,
    attention,
    fused_attention,
    relative_buckets,
)

# A library may use what is deprecated: in tests of ours that would be an error.
pytestmark = pytest.mark.filterwarnings("ignore")

B, T, H, D, WIDTH = 2, 7, 5, 3, 17
LONG = 300  # beyond the last bucket
HEADS = pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 12, 16, 40, 112])
WAYS = pytest.mark.parametrize("bidirectional", [False, True], ids=["one", "both"])


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def exactly(ours: Tensor, theirs: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


# ALiBi.


def alibi_of_x_transformers() -> type:
    from x_transformers.x_transformers import AlibiPositionalBias  # warns

    return AlibiPositionalBias


@HEADS
def test_slopes_of_x_transformers(heads: int) -> None:
    theirs = alibi_of_x_transformers()._get_slopes(heads)
    exactly(alibi_slopes(heads), torch.tensor(theirs, dtype=torch.float64))


@HEADS
def test_slopes_of_bloom(heads: int) -> None:
    theirs = modeling_bloom._get_alibi_slopes(heads, torch.device("cpu"))
    exactly(alibi_slopes(heads), theirs.double(), 1e-6)


@HEADS
def test_key_index_form_of_bloom(heads: int) -> None:
    keys = torch.arange(T)
    ones = torch.ones(1, T, dtype=torch.int64)
    theirs = modeling_bloom.build_alibi_tensor(ones, heads, torch.float64)
    ours = ALiBi(heads)(keys, keys)
    # A row differs by one number, which a softmax does not see.
    gap = theirs - ours
    gap = (gap - gap[..., :1]).tril()
    exactly(gap, torch.zeros(heads, T, T, dtype=torch.float64), 1e-5)


@HEADS
def test_slopes_of_falcon_in_its_sixteen_bits(heads: int) -> None:
    ones = torch.ones(1, 2, dtype=torch.int64)
    theirs = modeling_falcon.build_alibi_tensor(ones, heads, torch.bfloat16)
    # It raises a rounded number to a power, so that the last bit may differ.
    exactly(alibi_slopes(heads).bfloat16(), theirs[:, 0, 1], 2**-8)


@HEADS
def test_distance_form_of_mpt(heads: int) -> None:
    theirs = build_mpt_alibi_tensor(heads, T).double()
    ours = ALiBi(heads)(torch.tensor([T - 1]), torch.arange(T))
    exactly(ours, theirs, 1e-6)


@pytest.mark.parametrize("heads", [5, 8, 12])
def test_values_and_gradients_with_the_bias_of_x_transformers(heads: int) -> None:
    query, key, value = (draw(B, heads, T, D).requires_grad_() for _ in range(3))
    theirs = alibi_of_x_transformers()(heads).double()(T, T)
    ours = ALiBi(heads)(torch.arange(T), torch.arange(T))
    exactly(ours, theirs.expand_as(ours), 1e-6)
    theirs_exactly = -alibi_slopes(heads)[:, None, None] * (
        torch.arange(T)[:, None] - torch.arange(T)
    )
    loud = draw(B, heads, T, D)
    results = [
        fused_attention(query, key, value, bias=ours, causal=True),
        torch.nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=theirs_exactly.masked_fill(
                torch.ones(T, T).triu(1).bool(), -torch.inf
            ),
        ),
    ]
    exactly(*results)
    gradients = [
        torch.autograd.grad((result * loud).sum(), [query, key, value])
        for result in results
    ]
    for one, other in zip(*gradients, strict=True):
        exactly(one, other)


# T5.


@WAYS
@pytest.mark.parametrize(
    ("num_buckets", "max_distance"), [(32, 128), (8, 20), (64, 1000)]
)
def test_buckets_of_t5(num_buckets, max_distance, bidirectional) -> None:
    query, key = torch.arange(LONG) + 700, torch.arange(1700)
    options = {
        "bidirectional": bidirectional,
        "num_buckets": num_buckets,
        "max_distance": max_distance,
    }
    theirs = T5Attention._relative_position_bucket(
        key[None, :] - query[:, None], **options
    )
    assert torch.equal(relative_buckets(query, key, **options), theirs)


def build(bidirectional: bool, attend=fused_attention):
    config = T5Config(
        d_model=WIDTH,
        d_kv=D,
        num_heads=H,
        dropout_rate=0.0,
        is_decoder=not bidirectional,
        attn_implementation="sdpa",
    )
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    bias = T5Bias(H, bidirectional=bidirectional)
    ours = MultiHeadAttention(
        WIDTH,
        H * D,
        LONG,
        0.0,
        H,
        causal=not bidirectional,
        bias=bias,
        attend=partial(attend, scale=1.0),
    )
    ours.out_proj = torch.nn.Linear(H * D, WIDTH, bias=False)
    pairs = {
        theirs.q: ours.W_query,
        theirs.k: ours.W_key,
        theirs.v: ours.W_value,
        theirs.o: ours.out_proj,
        theirs.relative_attention_bias: bias,
    }
    theirs.double()
    ours.double()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    for one, other in pairs.items():
        other.weight.data.copy_(one.weight.data)
    return ours, theirs, [(b.weight, a.weight) for a, b in pairs.items()]


@WAYS
@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_the_whole_attention_of_t5_with_gradients(bidirectional, attend) -> None:
    ours, theirs, pairs = build(bidirectional, attend)
    x = draw(B, LONG, WIDTH)
    mask = None
    if not bidirectional:
        future = torch.ones(LONG, LONG).triu(1).bool()
        mask = torch.zeros(LONG, LONG).double().masked_fill(future, -torch.inf)
        mask = mask.expand(B, 1, LONG, LONG)
    ours_result, theirs_result = ours(x), theirs(x, mask=mask)[0]
    exactly(ours_result, theirs_result, 1e-10)
    loud = draw(B, LONG, WIDTH)
    (ours_result * loud).sum().backward()
    (theirs_result * loud).sum().backward()
    for one, other in pairs:
        assert other.grad.ne(0).any()
        exactly(one.grad, other.grad, 1e-9)
