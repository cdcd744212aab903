"""Small decoders of tutorials: a triangle in a buffer, a config or a few numbers."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import dropout, scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import (
    ALWAYS_DROPS,
    BY_MODEL,
    CONTEXT,
    MERGED,
    WIDTH,
    D,
    H,
    style,
    wrong,
)


@dataclass
class GPTConfig:
    block_size: int = CONTEXT
    n_head: int = H
    n_embd: int = WIDTH
    dropout: float = 0.0
    bias: bool = True


class CausalSelfAttention(nn.Module):
    def __init__(self, config, flash=True):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        self.dropout, self.flash = config.dropout, flash
        if not flash:
            past = torch.ones(config.block_size, config.block_size).tril()
            self.register_buffer("bias", past[None, None])

    def rate(self):
        return self.dropout if self.training else 0.0

    def mix(self, q, k, v):
        if self.flash:
            return scaled_dot_product_attention(
                q, k, v, dropout_p=self.rate(), is_causal=True
            )
        T = q.size(2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        return self.attn_dropout(softmax(att, dim=-1)) @ v

    def heads(self, x):
        return x.view(*x.shape[:2], self.n_head, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = map(self.heads, self.c_attn(x).split(self.n_embd, dim=2))
        y = self.mix(q, k, v).transpose(1, 2).contiguous().view(x.shape)
        return self.resid_dropout(self.c_proj(y))


@style(causal=True)
def nanogpt_flash():
    """In the style of nanoGPT, with PyTorch's fused function."""
    return CausalSelfAttention(GPTConfig())


@style(causal=True)
def nanogpt_slow():
    """In the style of nanoGPT, with the triangle in a buffer named bias."""
    return CausalSelfAttention(GPTConfig(dropout=0.2), flash=False)


class AlwaysDropping(CausalSelfAttention):
    def rate(self):
        return self.dropout


@style(
    causal=True,
    defects=(ALWAYS_DROPS,),
)
def nanogpt_dropping():
    """In the style of nanoGPT, with a rate that is never set to zero."""
    return AlwaysDropping(GPTConfig(dropout=0.2))


class MergedWrongly(CausalSelfAttention):
    def forward(self, x):
        q, k, v = map(self.heads, self.c_attn(x).split(self.n_embd, dim=2))
        return self.c_proj(self.mix(q, k, v).contiguous().view(x.shape))


@style(
    causal=True,
    defects=(MERGED,),
)
def nanogpt_merged():
    """In the style of a transformer from scratch that merged heads as they lay."""
    return MergedWrongly(GPTConfig())


class MinGPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.key = nn.Linear(config.n_embd, config.n_embd)
        self.query = nn.Linear(config.n_embd, config.n_embd)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop = nn.Dropout(0.1)
        self.resid_drop = nn.Dropout(0.1)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        square = torch.ones(config.block_size, config.block_size)
        self.register_buffer("mask", torch.tril(square)[None, None])
        self.n_head = config.n_head

    def forward(self, x, layer_past=None):
        B, T, C = x.size()
        size = (B, T, self.n_head, C // self.n_head)
        k = self.key(x).view(size).transpose(1, 2)
        q = self.query(x).view(size).transpose(1, 2)
        v = self.value(x).view(size).transpose(1, 2)
        att = (q @ k.mT) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        y = self.attn_drop(softmax(att, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_drop(self.proj(y))


@style(causal=True)
def mingpt_first():
    """In the style of the first minGPT: separate layers, layer_past that is unused."""
    return MinGPT(GPTConfig())


class Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size, by_model=False):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(0.2)
        self.by_model = by_model

    def forward(self, x):
        _, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * (C if self.by_model else k.shape[-1]) ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(softmax(wei, dim=-1)) @ self.value(x)


class Heads(nn.Module):
    def __init__(self, n_embd, num_heads, block_size, by_model=False):
        super().__init__()
        size = n_embd // num_heads
        made = [Head(n_embd, size, block_size, by_model) for _ in range(num_heads)]
        self.heads = nn.ModuleList(made)
        self.proj = nn.Linear(size * num_heads, n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return self.dropout(self.proj(out))


@style(causal=True)
def lecture_head():
    """In the style of ng-video-lecture: one head, without biases."""
    return Head(WIDTH, 7, CONTEXT)


@style(causal=True)
def lecture_heads():
    """In the style of ng-video-lecture: a list of heads."""
    return Heads(WIDTH, H, CONTEXT)


@style(
    causal=True,
    defects=(BY_MODEL,),
)
def lecture_heads_early():
    """In the style of the first ng-video-lecture: the scale of the whole width."""
    return Heads(WIDTH, H, CONTEXT, by_model=True)


class Raschka(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out, self.num_heads = d_out, num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", future)

    def heads(self, x):
        return x.view(*x.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x):
        b, num_tokens, _ = x.shape
        keys, values = self.heads(self.W_key(x)), self.heads(self.W_value(x))
        queries = self.heads(self.W_query(x))
        attn_scores = queries @ keys.transpose(2, 3)
        hidden = self.mask.bool()[:num_tokens, :num_tokens]
        attn_scores.masked_fill_(hidden, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vec = (self.dropout(attn_weights) @ values).transpose(1, 2)
        return self.out_proj(context_vec.reshape(b, num_tokens, self.d_out))


@style(causal=True)
def rasbt_multi_head():
    """In the style of LLMs-from-scratch, chapter 3: input of another width."""
    return Raschka(11, WIDTH, CONTEXT, 0.0, H)


class RaschkaSingle(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", future)

    def forward(self, x):
        num_tokens = x.shape[1]
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2)
        scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        return weights @ values


@style(causal=True)
def rasbt_wrapper():
    """In the style of LLMs-from-scratch, chapter 3: stacked single heads."""

    class MultiHeadAttentionWrapper(nn.Module):
        def __init__(self):
            super().__init__()
            made = [RaschkaSingle(11, D, CONTEXT, 0.0) for _ in range(H)]
            self.heads = nn.ModuleList(made)

        def forward(self, x):
            return torch.cat([head(x) for head in self.heads], dim=-1)

    return MultiHeadAttentionWrapper()


def one_by_one(m, x):
    return torch.stack([m(text) for text in x])


@style(call=one_by_one)
def rasbt_parameters():
    """In the style of LLMs-from-scratch, chapter 3: parameters, and one text alone."""

    class SelfAttentionV1(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.W_query = nn.Parameter(torch.rand(d_in, d_out))
            self.W_key = nn.Parameter(torch.rand(d_in, d_out))
            self.W_value = nn.Parameter(torch.rand(d_in, d_out))

        def forward(self, x):
            keys, queries, values = x @ self.W_key, x @ self.W_query, x @ self.W_value
            scores = queries @ keys.T
            return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1) @ values

    return SelfAttentionV1(11, 7)


class RaschkaCombined(nn.Module):
    def __init__(self, d_in, d_out, num_heads, context_length):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=False)
        self.proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(0.0)
        future = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", future)

    def forward(self, x):
        b, num_tokens, _ = x.shape
        qkv = self.qkv(x).view(b, num_tokens, 3, self.num_heads, self.head_dim)
        queries, keys, values = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = queries @ keys.transpose(-2, -1)
        hidden = self.mask.bool()[:num_tokens, :num_tokens]
        scores = scores.masked_fill(hidden, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        context = self.dropout(weights) @ values
        return self.proj(context.transpose(1, 2).reshape(b, num_tokens, -1))


@style(causal=True)
def rasbt_combined():
    """In the style of LLMs-from-scratch: one layer for queries, keys and values."""
    return RaschkaCombined(11, WIDTH, H, CONTEXT)


@style(causal=True)
def rasbt_pytorch():
    """In the style of LLMs-from-scratch: PyTorch's module, and a layer after it."""

    class MHAPyTorchClass(nn.Module):
        def __init__(self, d_in, d_out, num_heads, context_length):
            super().__init__()
            self.context_length = context_length
            self.multihead_attn = nn.MultiheadAttention(
                d_out, num_heads, bias=False, add_bias_kv=False, batch_first=True
            )
            self.need_weights = False
            self.proj = nn.Linear(d_out, d_out)
            future = torch.ones(context_length, context_length).triu(1).bool()
            self.register_buffer("mask", future)

        def forward(self, x):
            T = x.shape[1]
            hidden = self.mask[:T, :T] if self.context_length >= T else self.mask
            rows, _ = self.multihead_attn(
                x, x, x, attn_mask=hidden, need_weights=self.need_weights
            )
            return self.proj(rows)

    return MHAPyTorchClass(WIDTH, WIDTH, H, CONTEXT)


class RaschkaCached(Raschka):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("cache_k", None, persistent=False)
        self.register_buffer("cache_v", None, persistent=False)
        self.ptr_current_pos = 0

    def reset_cache(self):
        self.cache_k = self.cache_v = None
        self.ptr_current_pos = 0

    def cached(self, keys, values):
        if self.cache_k is None:
            self.cache_k, self.cache_v = keys, values
        else:
            self.cache_k = torch.cat([self.cache_k, keys], dim=1)
            self.cache_v = torch.cat([self.cache_v, values], dim=1)
        return self.cache_k, self.cache_v

    def forward(self, x, use_cache=False):
        b, T, _ = x.shape
        keys, values, queries = self.W_key(x), self.W_value(x), self.W_query(x)
        start = self.ptr_current_pos if use_cache else 0
        if use_cache:
            keys, values = self.cached(keys, values)
            self.ptr_current_pos += T
        queries, keys, values = map(self.heads, (queries, keys, values))
        scores = queries @ keys.transpose(2, 3)
        S = keys.shape[2]
        hidden = self.mask.bool()[start : start + T, :S]
        scores.masked_fill_(hidden, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        rows = (self.dropout(weights) @ values).transpose(1, 2)
        return self.out_proj(rows.reshape(b, T, self.d_out))


@style(causal=True)
def rasbt_cached():
    """In the style of LLMs-from-scratch: a cache in buffers, use_cache=False."""
    return RaschkaCached(11, WIDTH, CONTEXT, 0.0, H)


class Dropping(nn.Module):
    def __init__(self, d_model, n_heads, rate):
        super().__init__()
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.n_heads, self.rate = n_heads, rate

    def heads(self, x):
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = (self.heads(one(x)) for one in (self.wq, self.wk, self.wv))
        weights = softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
        weights = dropout(weights, self.rate)
        return self.wo((weights @ v).transpose(1, 2).reshape(x.shape))


@style(
    defects=(
        ALWAYS_DROPS,
        wrong(
            "The mask is taken and never used.",
            r"mask.*(nothing|not used|ignor|no effect|changes)|no mask acts",
            "masks",
            "padding",
        ),
    )
)
def functional_dropout():
    """In the style of many repositories: dropout as a function, mask forgotten."""
    return Dropping(WIDTH, H, 0.3)


class DroppedMask(CausalSelfAttention):
    def mix(self, q, k, v):
        if self.dropout and self.training:
            weights = softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
            return self.attn_dropout(weights) @ v
        return super().mix(q, k, v)


@style(
    causal=True,
    defects=(
        wrong(
            "The causal mask is lost wherever dropout is on.",
            r"training|train mode|dropout.*mask|mask.*dropout",
        ),
    ),
)
def keras_mask_lost():
    """In the style of Keras's layer while its causal mask was lost with dropout."""
    return DroppedMask(GPTConfig(dropout=0.2))


class Wide(nn.Module):
    def __init__(self, emb, heads, mask):
        super().__init__()
        self.emb, self.heads, self.mask = emb, heads, mask
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)

    def forward(self, x):
        b, t, _ = x.size()
        h, s = self.heads, self.emb // self.heads

        def stacked(one):
            return one(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)

        keys, queries, values = map(
            stacked, (self.tokeys, self.toqueries, self.tovalues)
        )
        queries, keys = queries / s ** (1 / 4), keys / s ** (1 / 4)
        dot = torch.bmm(queries, keys.transpose(1, 2))
        if self.mask:
            rows, columns = torch.triu_indices(t, t, offset=1)
            dot[:, rows, columns] = float("-inf")
        out = torch.bmm(softmax(dot, dim=2), values).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, s * h))


@style()
def pbloem_plain():
    """In the style of former: scaled on both sides, mask=False."""
    return Wide(WIDTH, H, mask=False)


@style(causal=True)
def pbloem_masked():
    """In the style of former: scaled on both sides, mask=True."""
    return Wide(WIDTH, H, mask=True)


class Narrow(nn.Module):
    def __init__(self, emb, heads, by_model):
        super().__init__()
        self.emb, self.heads, self.by_model = emb, heads, by_model
        s = emb // heads
        self.tokeys = nn.Linear(s, s, bias=False)
        self.toqueries = nn.Linear(s, s, bias=False)
        self.tovalues = nn.Linear(s, s, bias=False)
        self.unifyheads = nn.Linear(heads * s, emb)

    def forward(self, x):
        b, t, e = x.size()
        h, s = self.heads, e // self.heads
        x = x.view(b, t, h, s)
        width = e if self.by_model else s

        def stacked(one):
            return one(x).transpose(1, 2).reshape(b * h, t, s)

        keys, queries = stacked(self.tokeys), stacked(self.toqueries)
        dot = torch.bmm(queries / width**0.25, keys.mT / width**0.25)
        out = torch.bmm(softmax(dot, dim=2), stacked(self.tovalues)).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, s * h))


SHARED = wrong(
    "All heads share one small matrix, and each sees only its own part of a token.",
    r"share|own part|part of (a|the) token",
)


@style(defects=(SHARED,))
def pbloem_narrow():
    """In the style of former's narrow attention: one small matrix for all heads."""
    return Narrow(WIDTH, H, by_model=False)


@style(
    defects=(
        SHARED,
        BY_MODEL,
    )
)
def pbloem_narrow_early():
    """In the style of former's first narrow attention: the scale of all heads."""
    return Narrow(WIDTH, H, by_model=True)
