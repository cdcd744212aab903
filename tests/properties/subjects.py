"""All in the package that attends, in one form, so that one question fits each."""

import math
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor, nn

from headway import (
    CausalAttention,
    CrossAttention,
    GatedAttention,
    GroupedQueryAttention,
    LatentAttention,
    LearnedSinks,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
    attention,
    attention_scores,
    attention_weights,
    attention_with_lse,
    causal_mask,
    context_vectors,
    differential_attention,
    document_mask,
    flash_attention,
    flash_forward,
    from_gpt2,
    from_heads,
    from_torch,
    fused_attention,
    hide_by_minus_infinity,
    hide_by_renormalising,
    masked_softmax,
    merge_attention,
    merge_heads,
    naive_softmax,
    pack,
    repeat_heads,
    similarity_scores,
    sink_attention,
    softcap_attention,
    sparse_attention,
    split_heads,
    stable_softmax,
    to_torch,
    unpack,
)
from tests.support.sizes import H, T

WIDTH = 17  # of a head; wide enough to write every token's number into it twice
D_IN = 23
Weights = tuple[Tensor, Tensor, Tensor]  # queries, keys, values: (heads, d_in, WIDTH)


class Subject(NamedTuple):
    """Something that attends, and what is to be expected of it."""

    build: Callable[[Weights, float], nn.Module]
    causal: bool = False
    heads: int = 1
    d_in: int = D_IN
    drops: bool = False
    tied: bool = False  # the tokens are queries, keys and values; there are no weights
    exact: bool = True  # the future cancels to the last bit, however loud it is


# How to build each subject from given matrices.


class OnWeights(nn.Module):
    """Any function of queries, keys and values, with weights, as a module."""

    def __init__(self, function: Callable[..., Tensor], weights: Weights, p: float):
        super().__init__()
        self.function, self.p = function, p
        self.weights = nn.ParameterList(weights)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        p = self.p if self.training else 0.0
        return torch.cat(self.function(q, k, v, p).unbind(-3), dim=-1)


class Tied(nn.Module):
    """Any function of tokens alone, as a module."""

    def __init__(self, function: Callable[[Tensor], Tensor]):
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


class CausalPyTorch(nn.Module):
    """PyTorch's module, told not to look ahead."""

    def __init__(self, inner: nn.MultiheadAttention):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        mask = ~causal_mask(x.shape[-2])
        return self.inner(x, x, x, attn_mask=mask, need_weights=False)[0]


class IntoItself(nn.Module):
    """Cross-attention in which a text is its own memory."""

    def __init__(self, inner: CrossAttention, **options: Tensor):
        super().__init__()
        self.inner, self.options = inner, options

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x, x, **self.options)


class Latent(nn.Module):
    """Attention over latents, in one of its two forms."""

    def __init__(self, inner: LatentAttention, absorb: bool):
        super().__init__()
        self.inner, self.absorb = inner, absorb

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x, absorb=self.absorb)


class Open(nn.Module):
    """A gate that stands open: its sigmoid is one."""

    def __init__(self, gates: int):
        super().__init__()
        self.gates = gates

    def forward(self, x: Tensor) -> Tensor:
        return x.new_full((*x.shape[:-1], self.gates), 800.0)


class Packed(nn.Module):
    """All texts of a batch in one row, kept apart by their numbers alone."""

    def __init__(self, inner: MultiHeadAttention):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        texts = [*x.flatten(0, -3)] if x.ndim > 2 else [x]
        row, ids = pack(texts, length=len(texts) * T + 2)
        result = self.inner(row, mask=document_mask(ids))
        return torch.stack(unpack(result, ids)).reshape(*x.shape[:-1], -1)


def function(attend: Callable[..., Tensor], **expected: bool) -> Subject:
    """Make a subject of a function of (query, key, value, dropout_p)."""
    return Subject(lambda w, p: OnWeights(attend, w, p), **{"heads": H} | expected)


def in_layers(module: nn.Module, weights: Weights, bias: bool = False) -> None:
    """Write the matrices, heads below each other, into the module's layers."""
    for name, matrices in zip(("W_query", "W_key", "W_value"), weights, strict=True):
        layer = module.get_submodule(name)
        layer.weight = nn.Parameter(torch.cat([*matrices.mT]))
    if hasattr(module, "out_proj"):
        nn.init.eye_(module.out_proj.weight)
        nn.init.zeros_(module.out_proj.bias)


def v1(weights: Weights, p: float) -> nn.Module:
    module = SelfAttentionV1(D_IN, WIDTH).double()
    for name, matrices in zip(("W_query", "W_key", "W_value"), weights, strict=True):
        setattr(module, name, nn.Parameter(matrices[0].clone()))
    return module


def v2(weights: Weights, p: float) -> nn.Module:
    module = SelfAttentionV2(D_IN, WIDTH).double()
    in_layers(module, weights)
    return module


def one_head(weights: Weights, p: float) -> CausalAttention:
    module = CausalAttention(D_IN, WIDTH, T, p).double()
    in_layers(module, weights)
    return module


def stacked(weights: Weights, p: float) -> MultiHeadAttentionWrapper:
    module = MultiHeadAttentionWrapper(D_IN, WIDTH, T, p, num_heads=H).double()
    for h, head in enumerate(module.heads):
        in_layers(head, tuple(matrices[h : h + 1] for matrices in weights))
    return module


def split(**options) -> Callable[[Weights, float], MultiHeadAttention]:
    def build(weights: Weights, p: float) -> MultiHeadAttention:
        d_in = weights[0].shape[1]
        module = MultiHeadAttention(d_in, H * WIDTH, T, p, H, **options).double()
        in_layers(module, weights)
        return module

    return build


def gate_open(weights: Weights, p: float) -> GatedAttention:
    """Open the gate for good: else it takes its share of each weight."""
    module = GatedAttention(split()(weights, p), per_head=True)
    module.W_gate = Open(H)
    return module


def first_of_two(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Take nothing of the second table away: queries and keys have changed places."""
    query, key = torch.stack([q, k], dim=-3), torch.stack([k, q], dim=-3)
    return differential_attention(query, key, v, lam=0.0, causal=True, dropout_p=p)


def sinks_off(weights: Weights, p: float) -> MultiHeadAttention:
    """Let no sink take a share: with one, weights sum to less than one."""
    module = split(attend=LearnedSinks(H))(weights, p)
    nn.init.constant_(module.attend.sinks, -torch.inf)
    return module


def grouped(**options) -> Callable[[Weights, float], GroupedQueryAttention]:
    """Take no group of several heads: the weights that are given are all different."""

    def build(weights: Weights, p: float) -> GroupedQueryAttention:
        d_in = weights[0].shape[1]
        module = GroupedQueryAttention(
            d_in, H * WIDTH, T, p, H, num_kv_heads=H, **options
        ).double()
        in_layers(module, weights)
        return module

    return build


def cross(**options) -> Callable[[Weights, float], CrossAttention]:
    def build(weights: Weights, p: float) -> CrossAttention:
        d_in = weights[0].shape[1]
        E = H * WIDTH
        module = CrossAttention(d_in, d_in, E, p, H, **options).double()
        in_layers(module, weights)
        return module

    return build


def latent(absorb: bool) -> Callable[[Weights, float], Latent]:
    """Let the latent be the token itself, and let what is turned be nothing."""

    def build(weights: Weights, p: float) -> Latent:
        module = LatentAttention(
            D_IN,
            H * WIDTH,
            T,
            p,
            H,
            d_latent=D_IN,
            d_rope=2,
            rotate=lambda x, positions: x,
            norm=False,
            scale=WIDTH**-0.5,
        ).double()
        query, key, value = weights
        nothing = torch.zeros(H, D_IN, 2).double()
        in_layers(module, (torch.cat([query, nothing], dim=-1), key, value))
        nn.init.eye_(module.W_latent.weight)
        return Latent(module, absorb)

    return build


def packed(weights: Weights, p: float) -> Packed:
    # A row holds the texts of a whole batch.
    module = MultiHeadAttention(D_IN, H * WIDTH, 300 * T, p, H).double()
    in_layers(module, weights)
    return Packed(module)


def in_pytorch(weights: Weights, p: float) -> nn.MultiheadAttention:
    return to_torch(split()(weights, p))


def in_gpt2(weights: Weights, p: float) -> MultiHeadAttention:
    columns = [torch.cat([*matrices], dim=-1) for matrices in weights]
    E = H * WIDTH
    state = {
        "c_attn.weight": torch.cat(columns, dim=-1),
        "c_attn.bias": torch.zeros(3 * E).double(),
        "c_proj.weight": torch.eye(E).double(),
        "c_proj.bias": torch.zeros(E).double(),
    }
    return from_gpt2(state, H, T)


def scaled(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query / math.sqrt(WIDTH), key)


def hiding(hide: Callable[[Tensor, Tensor], Tensor]) -> Subject:
    def attend(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
        return hide(scaled(q, k), causal_mask(T)) @ v

    return function(attend, causal=True)


def sharing(softmax: Callable[[Tensor], Tensor]) -> Subject:
    return function(lambda q, k, v, p: softmax(scaled(q, k)) @ v)


def by_similarity(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Go through the tables one by one: it takes one set of inputs at a time."""
    tables = zip(*(x.reshape(-1, T, WIDTH) for x in (q, k, v)), strict=True)
    results = [
        torch.softmax(similarity_scores(q, k) / math.sqrt(WIDTH), dim=-1) @ v
        for q, k, v in tables
    ]
    return torch.stack(results).reshape(v.shape)


def without_weights(x: Tensor) -> Tensor:
    texts = [context_vectors(text, text) for text in x.reshape(-1, T, D_IN)]
    return torch.stack(texts).reshape(x.shape)


def by_hand(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Take the heads apart and join them by the two functions for it."""
    q, k, v = (split_heads(merge_heads(x), H) for x in (q, k, v))
    return attention(q, k, v, mask=causal_mask(T), dropout_p=p)


def repeated(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Give two query heads each head of keys and values, and keep one of the two."""
    q, k, v = (repeat_heads(x, 2) for x in (q, k, v))
    return attention(q, k, v, causal=True, dropout_p=p)[..., ::2, :, :]


def in_pieces(mask: Tensor) -> Callable[..., Tensor]:
    """Attend to every third key, three times, and put the results together."""

    def attend(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
        pieces = [
            attention_with_lse(
                q, k[..., n::3, :], v[..., n::3, :], mask=mask[..., n::3]
            )
            for n in range(3)
        ]
        return reduce(merge_attention, pieces)[0]

    return attend


def masked(attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda q, k, v, p: attend(q, k, v, mask=causal_mask(T), dropout_p=p)


def unmasked(attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda q, k, v, p: attend(q, k, v, dropout_p=p)


def in_tiles(causal: bool) -> Callable[..., Tensor]:
    def attend(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
        return flash_forward(q, k, v, causal=causal, query_tile=3, key_tile=2)[0]

    return attend


# A public name stands before the colon.
SUBJECTS = {
    "similarity_scores": function(by_similarity),
    "naive_softmax": sharing(naive_softmax),
    "stable_softmax": sharing(stable_softmax),
    "context_vectors": Subject(lambda w, p: Tied(without_weights), tied=True),
    "attention_scores": sharing(lambda scores: scores.softmax(dim=-1)),
    "masked_softmax": hiding(masked_softmax),
    "masked_softmax: no mask": sharing(masked_softmax),
    "attention_weights": function(
        lambda q, k, v, p: attention_weights(q, k, mask=causal_mask(T)) @ v, causal=True
    ),
    "attention_weights: no mask": function(
        lambda q, k, v, p: attention_weights(q, k) @ v
    ),
    "attention": function(masked(attention), causal=True, drops=True),
    "attention: no mask": function(unmasked(attention), drops=True),
    "fused_attention": function(masked(fused_attention), causal=True, drops=True),
    "fused_attention: no mask": function(unmasked(fused_attention), drops=True),
    "flash_forward": function(in_tiles(causal=True), causal=True),
    "flash_forward: no mask": function(in_tiles(causal=False)),
    "fused_attention: causal": function(
        lambda q, k, v, p: fused_attention(q, k, v, causal=True, dropout_p=p),
        causal=True,
        drops=True,
    ),
    "attention: causal": function(
        lambda q, k, v, p: attention(q, k, v, causal=True, dropout_p=p),
        causal=True,
        drops=True,
    ),
    "SelfAttentionV1": Subject(v1),
    "SelfAttentionV2": Subject(v2),
    "hide_by_renormalising": hiding(hide_by_renormalising)._replace(exact=False),
    "hide_by_minus_infinity": hiding(hide_by_minus_infinity),
    "CausalAttention": Subject(one_head, causal=True, drops=True),
    "MultiHeadAttentionWrapper": Subject(stacked, causal=True, heads=H, drops=True),
    "split_heads": function(by_hand, causal=True, drops=True),
    "merge_heads": function(by_hand, causal=True, drops=True),
    "MultiHeadAttention": Subject(split(), causal=True, heads=H, drops=True),
    "MultiHeadAttention: plain": Subject(
        split(attend=attention), causal=True, heads=H, drops=True
    ),
    "MultiHeadAttention: packed": Subject(packed, causal=True, heads=H),
    "GroupedQueryAttention": Subject(grouped(), causal=True, heads=H, drops=True),
    "GroupedQueryAttention: plain": Subject(
        grouped(attend=attention), causal=True, heads=H, drops=True
    ),
    "GroupedQueryAttention: a wide window": Subject(
        grouped(window=T), causal=True, heads=H, drops=True
    ),
    "repeat_heads": function(repeated, causal=True, drops=True),
    "from_heads": Subject(
        lambda w, p: from_heads(stacked(w, p)),
        causal=True,
        heads=H,
        drops=True,
    ),
    "to_torch": Subject(
        lambda w, p: CausalPyTorch(in_pytorch(w, p)),
        causal=True,
        heads=H,
        d_in=H * WIDTH,
        drops=True,
    ),
    "from_torch": Subject(
        lambda w, p: from_torch(in_pytorch(w, p), T),
        causal=True,
        heads=H,
        d_in=H * WIDTH,
        drops=True,
    ),
    "from_gpt2": Subject(in_gpt2, causal=True, heads=H, d_in=H * WIDTH),
    "CrossAttention": Subject(
        lambda w, p: IntoItself(cross()(w, p)), heads=H, drops=True
    ),
    "CrossAttention: plain": Subject(
        lambda w, p: IntoItself(cross(attend=attention)(w, p)), heads=H, drops=True
    ),
    "CrossAttention: a mask": Subject(
        lambda w, p: IntoItself(cross()(w, p), mask=causal_mask(T)),
        causal=True,
        heads=H,
        drops=True,
    ),
    "flash_attention": function(masked(flash_attention), causal=True, drops=True),
    "flash_attention: no mask": function(unmasked(flash_attention), drops=True),
    "flash_attention: small tiles": function(
        lambda q, k, v, p: flash_attention(
            q, k, v, causal=True, dropout_p=p, query_tile=2, key_tile=3
        ),
        causal=True,
        drops=True,
    ),
    "MultiHeadAttention: in tiles": Subject(
        split(attend=flash_attention), causal=True, heads=H, drops=True
    ),
    "LatentAttention": Subject(latent(False), causal=True, heads=H, drops=True),
    "LatentAttention: absorbed": Subject(
        latent(True), causal=True, heads=H, drops=True
    ),
    "attention_with_lse": function(
        lambda q, k, v, p: attention_with_lse(q, k, v, causal=True)[0], causal=True
    ),
    "attention_with_lse: no mask": function(
        lambda q, k, v, p: attention_with_lse(q, k, v)[0]
    ),
    "merge_attention": function(in_pieces(causal_mask(T)), causal=True),
    "merge_attention: no mask": function(in_pieces(torch.ones(T, T).bool())),
    "sink_attention: off": function(
        lambda q, k, v, p: sink_attention(
            q, k, v, sinks=torch.tensor(-torch.inf), causal=True, dropout_p=p
        ),
        causal=True,
        drops=True,
    ),
    "LearnedSinks: off": Subject(sinks_off, causal=True, heads=H, drops=True),
    "softcap_attention: a large cap": function(
        lambda q, k, v, p: softcap_attention(
            q, k, v, cap=1e9, causal=True, dropout_p=p
        ),
        causal=True,
        drops=True,
    ),
    "sparse_attention": function(
        lambda q, k, v, p: sparse_attention(
            q, k, v, block=2, keep=T, causal=True, dropout_p=p
        ),
        causal=True,
        drops=True,
    ),
    "GatedAttention: open": Subject(gate_open, causal=True, heads=H, drops=True),
    "differential_attention: lambda 0": function(first_of_two, causal=True, drops=True),
}
