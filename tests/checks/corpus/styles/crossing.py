"""Attention to other tokens: of another number, and of another width."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tests.checks.corpus.ground_truth import (
    CONTEXT,
    FUTURE_SEEN,
    WIDTH,
    D,
    H,
    style,
    wrong,
)


class CrossAttention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64, dropout=0.0):
        super().__init__()
        inner = dim_head * heads
        context_dim = query_dim if context_dim is None else context_dim
        self.scale, self.heads = dim_head**-0.5, heads
        self.to_q = nn.Linear(query_dim, inner, bias=False)
        self.to_k = nn.Linear(context_dim, inner, bias=False)
        self.to_v = nn.Linear(context_dim, inner, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, query_dim), nn.Dropout(dropout))

    def split(self, x):
        x = x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return x.flatten(0, 1)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = map(
            self.split, (self.to_q(x), self.to_k(context), self.to_v(context))
        )
        sim = torch.einsum("bid,bjd->bij", q, k) * self.scale
        if mask is not None:
            wide = mask.flatten(1).repeat_interleave(self.heads, dim=0)[:, None]
            sim = sim.masked_fill(~wide, -torch.finfo(sim.dtype).max)
        out = torch.einsum("bij,bjd->bid", sim.softmax(dim=-1), v)
        out = out.unflatten(0, (-1, self.heads)).transpose(1, 2).flatten(2)
        return self.to_out(out)


@style()
def diffusion_self():
    """In the style of latent diffusion: cross-attention used on its own tokens."""
    return CrossAttention(WIDTH, None, H, 7, 0.1)


@style()
def diffusion_cross():
    """In the style of latent diffusion: a context of another width."""
    return CrossAttention(WIDTH, 11, H, 7, 0.1)


class Perceiver(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64):
        super().__init__()
        inner = dim_head * heads
        self.scale, self.heads = dim_head**-0.5, heads
        self.to_q = nn.Linear(query_dim, inner, bias=False)
        self.to_kv = nn.Linear(context_dim or query_dim, inner * 2, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.to_out = nn.Linear(inner, query_dim)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, (k, v) = self.to_q(x), self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (
            one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (q, k, v)
        )
        sim = q @ k.transpose(-2, -1) * self.scale
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None], -torch.finfo(sim.dtype).max)
        out = self.dropout(sim.softmax(dim=-1)) @ v
        return self.to_out(out.transpose(1, 2).flatten(2))


@style()
def perceiver_cross():
    """In the style of Perceiver: one layer for keys and values of a wide context."""
    return Perceiver(WIDTH, 23, H, D)


@style()
def perceiver_self():
    """In the style of Perceiver: the same among its latents."""
    return Perceiver(WIDTH, None, H, D)


class Decoder(nn.Module):
    """Queries of the decoder, memory of the encoder."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def sources(self, x, memory):
        return memory, memory

    def forward(self, x, memory, memory_mask=None):
        def heads(one):
            return one.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        of_keys, of_values = self.sources(x, memory)
        rows = scaled_dot_product_attention(
            heads(self.q_proj(x)),
            heads(self.k_proj(of_keys)),
            heads(self.v_proj(of_values)),
            attn_mask=memory_mask,
        )
        return self.out_proj(rows.transpose(1, 2).flatten(2))


@style()
def decoder_memory():
    """In the style of a decoder of translation: x and memory must both be given."""
    return Decoder(WIDTH, H)


class MemoryForgotten(Decoder):
    def sources(self, x, memory):
        return x, x


@style(
    defects=(
        wrong(
            "Keys and values are made of x, and memory is never looked at.",
            r"memory|context|other tokens|never looks?|attends? to itself",
        ),
    )
)
def decoder_memory_forgotten():
    """In the style of a decoder that attends to itself where it should look over."""
    return MemoryForgotten(WIDTH, H)


class XTransformers(nn.Module):
    """Flags for what it does; keys of one head as well."""

    def __init__(self, dim, heads, dim_head, *, causal=False, one_kv=False, hides=True):
        super().__init__()
        self.heads, self.causal, self.hides = heads, causal, hides
        self.scale = dim_head**-0.5
        kv = dim_head if one_kv else dim_head * heads
        self.to_q = nn.Linear(dim, dim_head * heads, bias=False)
        self.to_k = nn.Linear(dim, kv, bias=False)
        self.to_v = nn.Linear(dim, kv, bias=False)
        self.to_out = nn.Linear(dim_head * heads, dim, bias=False)
        self.dim_head = dim_head

    def forward(self, x, context=None, mask=None, context_mask=None):
        given = x if context is None else context
        seen = mask if context is None else context_mask
        q, k, v = (
            one.unflatten(-1, (-1, self.dim_head)).transpose(1, 2)
            for one in (self.to_q(x), self.to_k(given), self.to_v(given))
        )
        dots = q @ k.transpose(-2, -1) * self.scale
        lowest = -torch.finfo(dots.dtype).max
        if seen is not None:
            dots = dots.masked_fill(~seen[:, None, None, :], lowest)
        if self.causal and self.hides:
            T, S = dots.shape[-2:]
            future = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
            dots = dots.masked_fill(future, lowest)
        return self.to_out((dots.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))


@style(causal=True)
def x_transformers():
    """In the style of x-transformers: a flag, a context, masks for both."""
    return XTransformers(WIDTH, H, 7, causal=True)


@style()
def x_transformers_one_kv():
    """In the style of x-transformers and PaLM: one pair of keys and values for all."""
    return XTransformers(WIDTH, H, 7, one_kv=True)


@style(causal=True, defects=(FUTURE_SEEN,))
def x_transformers_leaks():
    """In the style of libraries with a flag named causal that one path forgets."""
    return XTransformers(WIDTH, H, 7, causal=True, hides=False)


class Block(nn.Module):
    """Attention with what stands around it."""

    def __init__(self, dim, heads, *, before, gated=False, unused=False):
        super().__init__()
        self.before, self.gated, self.unused = before, gated, unused
        self.ln = nn.LayerNorm(dim)
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        if gated:
            self.gate_proj = nn.Linear(dim, dim)
        past = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril()
        self.register_buffer("past", past, persistent=False)

    def attend(self, x):
        T = x.shape[1]
        q, k, v = (
            one(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        rows = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        if self.gated:
            rows = rows * torch.sigmoid(self.gate_proj(x))
        return self.o_proj(rows)

    def forward(self, x):
        if self.unused:
            return x + self.attend(x)
        if self.before:
            return x + self.attend(self.ln(x))
        return self.ln(x + self.attend(x))


@style(causal=True)
def block_norm_before():
    """In the style of GPT-2's block: norm before, residual around."""
    return Block(WIDTH, H, before=True)


@style(causal=True)
def block_norm_after():
    """In the style of the first transformer's block: residual, then a norm."""
    return Block(WIDTH, H, before=False)


@style(causal=True)
def block_gated():
    """In the style of gated attention: a sigmoid of the token gates each number."""
    return Block(WIDTH, H, before=True, gated=True)


@style(
    causal=True,
    defects=(
        wrong(
            "The norm is made and never used.",
            r"\b(ln|norm)\b.*(never|not|no gradient|unused)"
            r"|(never|not|no).*\b(ln|norm)\b",
        ),
    ),
)
def block_norm_unused():
    """In the style of a diffusion model whose block makes a norm and never uses it."""
    return Block(WIDTH, H, before=True, unused=True)
