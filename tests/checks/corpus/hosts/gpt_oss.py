"""Attention of a GPT-OSS: a learned sink in each head, and a window of keys."""

import math

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, head_dim, base):
        super().__init__()
        self.head_dim = head_dim
        self.base = base

    def forward(self, query, key):
        """Turn (batch, length, heads, head_dim); the length is the second axis."""
        steps = torch.arange(0, self.head_dim, 2, device=query.device).double()
        inv_freq = self.base ** (-steps / self.head_dim)
        inv_freq = inv_freq.to(query.dtype)
        t = torch.arange(query.shape[1], device=query.device).to(query.dtype)
        freqs = torch.einsum("i,j->ij", t, inv_freq)
        cos, sin = freqs.cos()[:, None, :], freqs.sin()[:, None, :]
        query = self._rotate(query, cos, sin)
        key = self._rotate(key, cos, sin)
        return query, key

    def _rotate(self, x, cos, sin):
        x1, x2 = torch.chunk(x, 2, dim=-1)
        o1 = x1 * cos - x2 * sin
        o2 = x2 * cos + x1 * sin
        return torch.cat((o1, o2), dim=-1)


def sdpa(Q, K, V, S, sm_scale, sliding_window=0):
    """Scores against keys and one sink, softmax over both, and the sum of values.

    Q is (batch, queries, kv_heads, group, head_dim), K and V without the group.
    """
    bsz, n_tokens, n_kv, q_mult, _ = Q.shape
    K = K[:, :, :, None, :].expand(-1, -1, -1, q_mult, -1)
    V = V[:, :, :, None, :].expand(-1, -1, -1, q_mult, -1)
    S = S.reshape(1, n_kv, q_mult, 1, 1).expand(bsz, -1, -1, n_tokens, -1)
    mask = torch.triu(Q.new_full((n_tokens, n_tokens), -float("inf")), diagonal=1)
    if sliding_window > 0:
        old = torch.tril(torch.ones_like(mask), diagonal=-sliding_window).bool()
        mask = mask.masked_fill(old, -float("inf"))
    QK = torch.einsum("bqhmd,bkhmd->bhmqk", Q, K)
    QK = QK * sm_scale
    QK = QK + mask[None, None, None, :, :]
    QK = torch.cat([QK, S], dim=-1)
    W = torch.softmax(QK, dim=-1)
    W = W[..., :-1]
    attn = torch.einsum("bhmqk,bkhmd->bqhmd", W, V)
    return attn.reshape(bsz, n_tokens, -1)


class AttentionBlock(nn.Module):
    def __init__(
        self,
        hidden_size=40,
        head_dim=8,
        num_attention_heads=6,
        num_key_value_heads=2,
        sliding_window=5,
        rope_theta=150000.0,
    ):
        super().__init__()
        self.head_dim = head_dim
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.sliding_window = sliding_window
        self.sinks = nn.Parameter(torch.empty(num_attention_heads))
        nn.init.normal_(self.sinks)
        qkv_dim = head_dim * (num_attention_heads + 2 * num_key_value_heads)
        self.qkv = nn.Linear(hidden_size, qkv_dim)
        self.out = nn.Linear(head_dim * num_attention_heads, hidden_size)
        self.sm_scale = 1 / math.sqrt(head_dim)
        self.rope = RotaryEmbedding(head_dim, rope_theta)

    def forward(self, x):
        bsz, n_tokens, _ = x.shape
        n_q = self.num_attention_heads * self.head_dim
        n_kv = self.num_key_value_heads * self.head_dim
        q, k, v = self.qkv(x).split([n_q, n_kv, n_kv], dim=-1)
        q = q.view(bsz, n_tokens, self.num_attention_heads, self.head_dim)
        k = k.view(bsz, n_tokens, self.num_key_value_heads, self.head_dim)
        v = v.view(bsz, n_tokens, self.num_key_value_heads, self.head_dim)
        q, k = self.rope(q, k)
        q = q.view(bsz, n_tokens, self.num_key_value_heads, -1, self.head_dim)
        t = sdpa(q, k, v, self.sinks, self.sm_scale, self.sliding_window)
        return self.out(t)


options = {}


def make():
    return AttentionBlock()
