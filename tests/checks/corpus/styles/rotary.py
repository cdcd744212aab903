"""Decoders with rotary positions: both pairings, angles inside or handed in."""

import math

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import CONTEXT, EVEN, style, wrong

HEADS, GROUPS = 6, 2
MODEL = HEADS * EVEN
LENGTH = 4 * CONTEXT

NEVER_TURNED = wrong(
    "Angles are made, and queries and keys are never turned by them.",
    r"never|not felt|do(es)? not (matter|act|turn)|nothing.*position|position.*nothing"
    r"|not used|unused|left out|missing",
)
OVER_HEADS = wrong(
    "Queries and keys are turned by the number of the head, not of the token.",
    r"\bheads?\b.*(position|rotat|turn|angle)|(position|rotat|turn|angle).*\bheads?\b",
)
TILED = wrong(
    "Groups of keys are repeated as a whole, so that heads get the keys of others.",
    r"tile|repeat|group",
)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return (
            self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        )


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def frequencies(dim, base=10000.0):
    return 1.0 / base ** (torch.arange(0, dim, 2).double() / dim)


def repeat_kv(x, n_rep):
    texts, groups, length, width = x.shape
    wide = x[:, :, None].expand(texts, groups, n_rep, length, width)
    return wide.reshape(texts, groups * n_rep, length, width)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.dim, self.base = dim, base
        self.register_buffer("inv_freq", frequencies(dim, base), persistent=False)

    def forward(self, x, position_ids):
        freqs = position_ids[..., None].to(x.dtype) * self.inv_freq.to(x.dtype)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos()[:, None], emb.sin()[:, None]


class LlamaAttention(nn.Module):
    """Grouped queries, halves, and angles made inside or handed in."""

    def __init__(self, hidden_size, num_heads, num_key_value_heads, rope_theta=10000.0):
        super().__init__()
        self.hidden_size, self.num_heads = hidden_size, num_heads
        self.head_dim = hidden_size // num_heads
        self.num_key_value_heads = num_key_value_heads
        self.num_key_value_groups = num_heads // num_key_value_heads
        narrow = num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, narrow, bias=False)
        self.v_proj = nn.Linear(hidden_size, narrow, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.rotary_emb = RotaryEmbedding(self.head_dim, rope_theta)

    def split(self, x, heads):
        return x.view(*x.shape[:2], heads, self.head_dim).transpose(1, 2)

    def project(self, x):
        q = self.split(self.q_proj(x), self.num_heads)
        k = self.split(self.k_proj(x), self.num_key_value_heads)
        return q, k, self.split(self.v_proj(x), self.num_key_value_heads)

    def turn(self, q, k, cos, sin):
        return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin

    def repeat(self, x):
        return repeat_kv(x, self.num_key_value_groups)

    def visible(self, rows, columns):
        return torch.ones(rows, columns, dtype=torch.bool).tril(columns - rows)

    def weigh(self, scores):
        return softmax(scores, dim=-1)

    def mix(self, q, k, v, attention_mask=None):
        k, v = self.repeat(k), self.repeat(v)
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        lowest = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~self.visible(*scores.shape[-2:]), lowest)
        if attention_mask is not None:
            scores = scores + attention_mask
        rows = self.weigh(scores) @ v
        return self.o_proj(rows.transpose(1, 2).flatten(2))

    def forward(
        self,
        hidden_states,
        attention_mask=None,
        position_ids=None,
        past_key_value=None,
        use_cache=False,
    ):
        q, k, v = self.project(hidden_states)
        past = 0 if past_key_value is None else past_key_value[0].shape[2]
        if position_ids is None:
            position_ids = torch.arange(past, past + q.shape[2])[None]
        q, k = self.turn(q, k, *self.rotary_emb(v, position_ids))
        if past_key_value is not None:
            k = torch.cat([past_key_value[0], k], dim=2)
            v = torch.cat([past_key_value[1], v], dim=2)
        return self.mix(q, k, v, attention_mask), None, (k, v) if use_cache else None


@style(causal=True)
def llama_with_past():
    """In the style of transformers' first Llama: halves, groups, a past of tuples."""
    return LlamaAttention(MODEL, HEADS, GROUPS)


class HandedIn(LlamaAttention):
    def forward(self, hidden_states, position_embeddings, attention_mask=None):
        q, k, v = self.project(hidden_states)
        q, k = self.turn(q, k, *position_embeddings)
        return self.mix(q, k, v, attention_mask), None


def with_angles(m, x):
    return m(x, m.rotary_emb(x, torch.arange(x.shape[1])[None]))[0]


@style(causal=True, call=with_angles)
def llama_handed_in():
    """In the style of transformers' Llama of today: cosines and sines are handed in."""
    return HandedIn(MODEL, HEADS, GROUPS)


class NeverTurned(LlamaAttention):
    def turn(self, q, k, cos, sin):
        return q, k


@style(causal=True, defects=(NEVER_TURNED,))
def llama_never_turned():
    """In the style of Llama, with angles that nobody uses."""
    return NeverTurned(MODEL, HEADS, GROUPS)


class TurnedByHead(LlamaAttention):
    def forward(self, hidden_states):
        q, k, v = self.project(hidden_states)

        def turned(x):
            number = torch.arange(x.shape[1])[None]
            cos, sin = self.rotary_emb(x, number)
            cos, sin = cos.transpose(1, 2), sin.transpose(1, 2)
            return x * cos + rotate_half(x) * sin

        return self.mix(turned(q), turned(k), v)


@style(causal=True, defects=(OVER_HEADS,))
def llama_turned_by_head():
    """In the style of a rotary layer that took the axis of heads for that of time."""
    return TurnedByHead(MODEL, HEADS, GROUPS)


class Tiled(LlamaAttention):
    def repeat(self, x):
        return x.repeat(1, self.num_key_value_groups, 1, 1)


@style(causal=True, defects=(TILED,))
def llama_tiled():
    """In the style of Llama, with groups that are repeated as a whole."""
    return Tiled(MODEL, HEADS, GROUPS)


class ValuesTurned(LlamaAttention):
    def forward(self, hidden_states):
        q, k, v = self.project(hidden_states)
        cos, sin = self.rotary_emb(v, torch.arange(q.shape[2])[None])
        q, k = self.turn(q, k, cos, sin)
        return self.mix(q, k, v * cos + rotate_half(v) * sin)


@style(
    causal=True,
    defects=(
        wrong(
            "Values are turned as well.",
            r"values?\b.*(rotat|turn)|(rotat|turn)\w*.*\bvalues?",
        ),
    ),
)
def llama_values_turned():
    """In the style of Llama, with values that are turned as well."""
    return ValuesTurned(MODEL, HEADS, GROUPS)


class StartsAgain(LlamaAttention):
    def forward(self, hidden_states, past_key_value=None, use_cache=False):
        q, k, v = self.project(hidden_states)
        here = torch.arange(q.shape[2])[None]
        q, k = self.turn(q, k, *self.rotary_emb(v, here))
        if past_key_value is not None:
            k = torch.cat([past_key_value[0], k], dim=2)
            v = torch.cat([past_key_value[1], v], dim=2)
        return self.mix(q, k, v), (k, v) if use_cache else None


@style(
    causal=True,
    defects=(
        wrong(
            "With a past, positions start at zero again.",
            r"(cache|past).*(position|start|zero)|position.*(cache|past|again)",
        ),
    ),
)
def llama_starts_again():
    """In the style of Llama with a cache, with positions that start again."""
    return StartsAgain(MODEL, HEADS, GROUPS)


class UpperLeft(LlamaAttention):
    def visible(self, rows, columns):
        return torch.ones(rows, columns, dtype=torch.bool).tril()


@style(
    causal=True,
    defects=(
        wrong(
            "With a past, the triangle is cut from the upper left corner.",
            r"(cache|past).*(corner|triangle|mask)|(corner|triangle).*(cache|past)",
        ),
    ),
)
def llama_upper_left():
    """In the style of decoders with a cache and a triangle that forgets it."""
    return UpperLeft(MODEL, HEADS, GROUPS)


def precompute(dim, end, theta=10000.0):
    angles = torch.outer(torch.arange(end).double(), frequencies(dim, theta))
    return angles.cos(), angles.sin()


def turn_pairs(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    cos, sin = cos[None, :, None].to(x.dtype), sin[None, :, None].to(x.dtype)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class OfNumbers(nn.Module):
    """Pairs, and angles that are handed in."""

    def __init__(self, dim, n_heads, n_kv_heads, max_seq_len):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.head_dim = dim // n_heads
        self.n_rep = n_heads // n_kv_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)
        hidden = torch.full((1, 1, max_seq_len, max_seq_len), float("-inf"))
        self.register_buffer("mask", torch.triu(hidden, diagonal=1))

    def forward(self, x, freqs_cos, freqs_sin):
        texts, T, _ = x.shape
        xq = self.wq(x).view(texts, T, self.n_heads, self.head_dim)
        xk = self.wk(x).view(texts, T, self.n_kv_heads, self.head_dim)
        xv = self.wv(x).view(texts, T, self.n_kv_heads, self.head_dim)
        xq, xk = (turn_pairs(one, freqs_cos, freqs_sin) for one in (xq, xk))
        xk, xv = (one.repeat_interleave(self.n_rep, dim=2) for one in (xk, xv))
        xq, xk, xv = (one.transpose(1, 2) for one in (xq, xk, xv))
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        scores = softmax(scores + self.mask[:, :, :T, :T], dim=-1)
        output = torch.matmul(scores, xv).transpose(1, 2).contiguous()
        return self.wo(output.view(texts, T, -1))


def with_freqs(m, x):
    cos, sin = precompute(m.head_dim, LENGTH)
    return m(x, cos[: x.shape[1]], sin[: x.shape[1]])


@style(causal=True, call=with_freqs)
def llama2_c():
    """In the style of llama2.c: pairs, freqs_cos and freqs_sin by place."""
    return OfNumbers(MODEL, HEADS, GROUPS, LENGTH)


class WithStart(nn.Module):
    """A cache in tensors of full size, filled from start_pos on."""

    def __init__(self, dim, n_heads, n_kv_heads, max_batch_size, max_seq_len):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.head_dim, self.n_rep = dim // n_heads, n_heads // n_kv_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)
        shape = (max_batch_size, max_seq_len, n_kv_heads, self.head_dim)
        self.cache_k, self.cache_v = torch.zeros(shape), torch.zeros(shape)

    def forward(self, x, start_pos, freqs_cis, mask=None):
        texts, T, _ = x.shape
        end = start_pos + T

        def turned(one):
            wide = one.float() if one.itemsize < 4 else one
            pairs = torch.view_as_complex(wide.reshape(*one.shape[:-1], -1, 2))
            turned = pairs * freqs_cis[None, :, None].to(pairs.dtype)
            return torch.view_as_real(turned).flatten(3).to(one.dtype)

        xq = turned(self.wq(x).view(texts, T, self.n_heads, self.head_dim))
        xk = turned(self.wk(x).view(texts, T, self.n_kv_heads, self.head_dim))
        xv = self.wv(x).view(texts, T, self.n_kv_heads, self.head_dim)
        self.cache_k, self.cache_v = self.cache_k.to(xq), self.cache_v.to(xq)
        self.cache_k[:texts, start_pos:end] = xk
        self.cache_v[:texts, start_pos:end] = xv
        keys = self.cache_k[:texts, :end].repeat_interleave(self.n_rep, dim=2)
        values = self.cache_v[:texts, :end].repeat_interleave(self.n_rep, dim=2)
        q, k, v = (one.transpose(1, 2) for one in (xq, keys, values))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        rows = softmax(scores.float(), dim=-1).type_as(q) @ v
        return self.wo(rows.transpose(1, 2).reshape(texts, T, -1))


def from_the_start(m, x):
    with torch.no_grad():
        m.cache_k, m.cache_v = m.cache_k.detach(), m.cache_v.detach()
    angles = torch.outer(torch.arange(x.shape[1]).double(), frequencies(m.head_dim))
    future = torch.full((x.shape[1],) * 2, float("-inf")).triu(1)
    return m(x, 0, torch.polar(torch.ones_like(angles), angles), future.to(x.dtype))


@style(
    causal=True,
    call=from_the_start,
    harmless={
        "state": "It is a cache, as was asked for.",
        "gradients": "A cache that is written in place is for generation.",
    },
)
def llama_meta():
    """In the style of Meta's Llama: complex angles, start_pos, a cache of full size."""
    return WithStart(MODEL, HEADS, GROUPS, 11, LENGTH)


class MistralAttention(LlamaAttention):
    def __init__(self, *sizes, sliding_window, off=0):
        super().__init__(*sizes)
        self.sliding_window, self.off = sliding_window, off

    def visible(self, rows, columns):
        past = super().visible(rows, columns)
        return past.triu(columns - rows - self.sliding_window + 1 - self.off)


@style(causal=True)
def mistral_window():
    """In the style of Mistral: a window of three keys, itself included."""
    return MistralAttention(MODEL, HEADS, GROUPS, sliding_window=3)


@style(
    causal=True,
    defects=(
        wrong(
            "The window shows one key more than its number says.",
            r"window.*\b(one|1|4|four)\b|one (key )?(more|too many).*window",
        ),
    ),
)
def mistral_window_wide():
    """In the style of Mistral, with a window that is one key too wide."""
    return MistralAttention(MODEL, HEADS, GROUPS, sliding_window=3, off=1)


class Qwen3Attention(LlamaAttention):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.q_norm, self.k_norm = RMSNorm(self.head_dim), RMSNorm(self.head_dim)

    def project(self, x):
        q, k, v = super().project(x)
        return self.q_norm(q), self.k_norm(k), v


@style(causal=True)
def qwen3():
    """In the style of Qwen 3: queries and keys are normed, then turned."""
    return Qwen3Attention(MODEL, HEADS, GROUPS)


class NormUnused(Qwen3Attention):
    def project(self, x):
        q, k, v = LlamaAttention.project(self, x)
        return self.q_norm(q), k, v


@style(
    causal=True,
    defects=(
        wrong(
            "The norm of the keys is made and never used.",
            r"k_norm|norm of (the )?keys?|keys?.*\bnorm",
        ),
    ),
)
def qwen3_norm_unused():
    """In the style of Qwen 3, with a norm that is made and never used."""
    return NormUnused(MODEL, HEADS, GROUPS)


class Gemma2Attention(LlamaAttention):
    def __init__(self, *sizes, attn_logit_softcapping, query_pre_attn_scalar):
        super().__init__(*sizes)
        self.attn_logit_softcapping = attn_logit_softcapping
        self.scaling = query_pre_attn_scalar**-0.5

    def mix(self, q, k, v, attention_mask=None):
        k, v = self.repeat(k), self.repeat(v)
        scores = q @ k.mT * self.scaling
        scores = torch.tanh(scores / self.attn_logit_softcapping)
        scores = scores * self.attn_logit_softcapping
        hidden = ~self.visible(*scores.shape[-2:])
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        if attention_mask is not None:
            scores = scores + attention_mask
        rows = softmax(scores, dim=-1) @ v
        return self.o_proj(rows.transpose(1, 2).flatten(2))


@style(causal=True)
def gemma2():
    """In the style of Gemma 2: scores are capped, and scaled by a number of its own."""
    return Gemma2Attention(
        MODEL, HEADS, GROUPS, attn_logit_softcapping=50.0, query_pre_attn_scalar=EVEN
    )


@style(causal=True, scale=17**-0.5)
def gemma2_scalar():
    """In the style of Gemma 2, where the scalar is not the width of a head."""
    return Gemma2Attention(
        MODEL, HEADS, GROUPS, attn_logit_softcapping=30.0, query_pre_attn_scalar=17
    )


class GptOss(LlamaAttention):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.sinks = nn.Parameter(torch.randn(self.num_heads))

    def weigh(self, scores):
        sinks = self.sinks.view(1, -1, 1, 1).expand(*scores.shape[:-1], 1)
        together = torch.cat([scores, sinks], dim=-1)
        together = together - together.max(dim=-1, keepdim=True).values
        return softmax(together, dim=-1)[..., :-1]


@style(causal=True)
def gpt_oss():
    """In the style of gpt-oss: a learned sink in every head takes its share."""
    return GptOss(MODEL, HEADS, GROUPS)


class GPTJ(nn.Module):
    def __init__(self, embed_dim, num_heads, rotary_dim, max_positions):
        super().__init__()
        past = torch.ones(max_positions, max_positions, dtype=torch.bool).tril()
        self.register_buffer("bias", past[None, None], persistent=False)
        self.embed_dim, self.num_attention_heads = embed_dim, num_heads
        self.head_dim, self.rotary_dim = embed_dim // num_heads, rotary_dim
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        angles = torch.outer(torch.arange(max_positions), frequencies(rotary_dim))
        table = torch.cat((angles.sin(), angles.cos()), dim=1)
        self.register_buffer("embed_positions", table, persistent=False)

    def turned(self, x, start):
        table = self.embed_positions[start : start + x.shape[1]].to(x.dtype)
        both = table.repeat_interleave(2, dim=1)[None, :, None]
        sin, cos = both.chunk(2, dim=-1)
        part, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        return torch.cat((part * cos + rotate_every_two(part) * sin, rest), dim=-1)

    def forward(self, hidden_states, layer_past=None, attention_mask=None):
        shape = (*hidden_states.shape[:2], self.num_attention_heads, self.head_dim)
        start = 0 if layer_past is None else layer_past[0].shape[-2]
        query = self.turned(self.q_proj(hidden_states).view(shape), start)
        key = self.turned(self.k_proj(hidden_states).view(shape), start)
        value = self.v_proj(hidden_states).view(shape)
        query, key, value = (one.transpose(1, 2) for one in (query, key, value))
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=-2)
            value = torch.cat((layer_past[1], value), dim=-2)
        T, S = query.size(-2), key.size(-2)
        scores = query @ key.transpose(-1, -2)
        scores = scores.masked_fill(
            ~self.bias[:, :, S - T : S, :S], torch.finfo(scores.dtype).min
        )
        scores = scores / math.sqrt(self.head_dim)
        if attention_mask is not None:
            scores = scores + attention_mask
        rows = softmax(scores, dim=-1) @ value
        rows = self.out_proj(rows.transpose(1, 2).flatten(2))
        return rows, (key, value)


@style(causal=True)
def gptj():
    """In the style of GPT-J: pairs, in a part of each head alone, from a table."""
    return GPTJ(30, 3, 4, CONTEXT)


class GPTNeoX(nn.Module):
    def __init__(self, hidden_size, heads, rotary_pct, max_positions):
        super().__init__()
        self.num_attention_heads, self.head_size = heads, hidden_size // heads
        self.rotary_ndims = int(self.head_size * rotary_pct)
        past = torch.ones(max_positions, max_positions, dtype=torch.bool).tril()
        self.register_buffer("bias", past[None, None], persistent=False)
        self.rotary_emb = RotaryEmbedding(self.rotary_ndims)
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        texts, T, width = hidden_states.shape
        shape = (texts, T, self.num_attention_heads, 3 * self.head_size)
        qkv = self.query_key_value(hidden_states).view(shape)
        query, key, value = qkv.transpose(1, 2).chunk(3, dim=-1)
        cos, sin = self.rotary_emb(value, torch.arange(T)[None])

        def turned(x):
            part, rest = x[..., : self.rotary_ndims], x[..., self.rotary_ndims :]
            return torch.cat((part * cos + rotate_half(part) * sin, rest), dim=-1)

        scores = turned(query) @ turned(key).mT * self.head_size**-0.5
        lowest = torch.finfo(scores.dtype).min
        scores = torch.where(self.bias[:, :, :T, :T], scores, lowest)
        if attention_mask is not None:
            scores = scores + attention_mask
        rows = softmax(scores, dim=-1) @ value
        return self.dense(rows.transpose(1, 2).reshape(texts, T, width))


@style(causal=True)
def gpt_neox():
    """In the style of GPT-NeoX: each head's three in a row, a quarter is turned."""
    return GPTNeoX(48, 3, 0.25, CONTEXT)


class Falcon(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, hidden_size // num_heads
        fused = hidden_size + 2 * self.head_dim
        self.query_key_value = nn.Linear(hidden_size, fused, bias=False)
        self.dense = nn.Linear(hidden_size, hidden_size, bias=False)
        self.rotary = RotaryEmbedding(self.head_dim)

    def forward(self, hidden_states):
        texts, T, _ = hidden_states.shape
        fused = self.query_key_value(hidden_states)
        fused = fused.view(texts, T, self.num_heads + 2, self.head_dim).transpose(1, 2)
        q, k, v = fused[:, :-2], fused[:, [-2]], fused[:, [-1]]
        cos, sin = self.rotary(v, torch.arange(T)[None])
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = k.expand_as(q), v.expand_as(q)
        rows = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(rows.transpose(1, 2).reshape(texts, T, -1))


@style(causal=True)
def falcon():
    """In the style of Falcon: many queries and one pair of keys and values, fused."""
    return Falcon(50, 5)


class EsmAttention(nn.Module):
    def __init__(self, hidden_size, heads):
        super().__init__()
        self.num_attention_heads = heads
        self.attention_head_size = hidden_size // heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.rotary_embeddings = RotaryEmbedding(self.attention_head_size)

    def forward(self, hidden_states, attention_mask=None):
        texts, T, _ = hidden_states.shape
        shape = (texts, T, self.num_attention_heads, self.attention_head_size)
        q = self.query(hidden_states).view(shape).transpose(1, 2)
        k = self.key(hidden_states).view(shape).transpose(1, 2)
        v = self.value(hidden_states).view(shape).transpose(1, 2)
        q = q * self.attention_head_size**-0.5
        cos, sin = self.rotary_embeddings(v, torch.arange(T)[None])
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        scores = q @ k.mT
        if attention_mask is not None:
            scores = scores + attention_mask
        return (softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2)


@style()
def esm():
    """In the style of ESM: rotary positions in an encoder, scaled before the turn."""
    return EsmAttention(30, 3)


class AlibiAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_seq_len):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, d_model // n_heads
        self.softmax_scale = 1 / math.sqrt(self.head_dim)
        self.Wqkv = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
        distance = torch.arange(1 - max_seq_len, 1).view(1, 1, 1, -1)
        bias = slopes.view(1, n_heads, 1, 1) * distance
        self.register_buffer("attn_bias", bias, persistent=False)

    def forward(self, x, key_padding_mask=None):
        texts, T, width = x.shape
        q, k, v = self.Wqkv(x).chunk(3, dim=2)
        shape = (texts, T, self.n_heads, self.head_dim)
        q, k, v = (one.reshape(shape).transpose(1, 2) for one in (q, k, v))
        scores = q @ k.transpose(-2, -1) * self.softmax_scale
        scores = scores + self.attn_bias[..., -T:]
        lowest = torch.finfo(scores.dtype).min
        if key_padding_mask is not None:
            seen = key_padding_mask.view(texts, 1, 1, T).bool()
            scores = scores.masked_fill(~seen, lowest)
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, lowest)
        rows = softmax(scores, dim=-1) @ v
        return self.out_proj(rows.transpose(1, 2).reshape(texts, T, width))


@style(
    causal=True,
    harmless={"masks": "True is a token, as is said where it is meant."},
)
def mpt_alibi():
    """In the style of MPT: ALiBi in a buffer, and a mask where True is a token."""
    return AlibiAttention(40, 4, LENGTH)


class BloomAttention(nn.Module):
    def __init__(self, hidden_size, n_head):
        super().__init__()
        self.num_heads, self.head_dim = n_head, hidden_size // n_head
        self.inv_norm_factor = 1.0 / math.sqrt(self.head_dim)
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.hidden_dropout = nn.Dropout(0.1)

    def forward(self, hidden_states, residual, alibi, attention_mask):
        texts, T, width = hidden_states.shape
        shape = (texts, T, self.num_heads, 3, self.head_dim)
        q, k, v = self.query_key_value(hidden_states).view(shape).unbind(3)
        flat = (texts * self.num_heads, T, self.head_dim)
        q, k, v = (one.transpose(1, 2).reshape(flat) for one in (q, k, v))
        scores = alibi.baddbmm(q, k.mT, beta=1.0, alpha=self.inv_norm_factor)
        scores = scores.view(texts, self.num_heads, T, T)
        hidden = attention_mask.bool()
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        rows = (softmax(scores, dim=-1).view(-1, T, T) @ v).view(
            texts, self.num_heads, T, -1
        )
        rows = self.dense(rows.transpose(1, 2).reshape(texts, T, width))
        return self.hidden_dropout(rows) + residual


def with_alibi(m, x):
    texts, T, _ = x.shape
    slopes = 2.0 ** (-8.0 * torch.arange(1, m.num_heads + 1) / m.num_heads)
    alibi = slopes.to(x.dtype)[:, None, None] * torch.arange(T).to(x.dtype)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)[None, None]
    return m(x, x, alibi.repeat(texts, 1, 1), future)


@style(causal=True, call=with_alibi)
def bloom():
    """In the style of BLOOM: alibi, mask and residual are all handed in."""
    return BloomAttention(40, 4)
